//! Clusters for campaigns of plans, harsher than real ones: few keys with heavy-tailed sizes, Zipf tags, giant keys,
//! hot tags, operations unrelated to memory, and slots scattered by earlier scale-outs.

use slotscope::metric::Metric;
use slotscope::planner::move_request::{MoveRequest, Role};
use slotscope::slot::SLOTS;
use testkit::rng::Rng;

/// A cluster with two loads.
#[derive(Clone)]
pub(super) struct Cluster {
    pub nodes: usize,
    pub memory: Vec<u64>,
    pub load: Vec<u64>,
    pub owner: Vec<Option<usize>>,
    pub leaves: Vec<bool>,
    pub fixed: Vec<bool>,
    pub weights: Vec<f64>,
}

/// How the operations on a key relate to its size.
#[derive(Debug, Clone, Copy)]
enum Traffic {
    Independent,
    Correlated,
    Opposed,
    Sparse,
}

impl Cluster {
    /// The cluster for a seed.
    pub(super) fn new(seed: u64, nodes: usize) -> Self {
        let rng = &mut Rng::new(seed.wrapping_mul(7919).wrapping_add(nodes as u64));
        let (mut memory, mut load) = keys(nodes, rng);
        add_tags(&mut memory, &mut load, nodes, rng);
        let giant = add_giant(&mut memory, nodes, (0.3, 1.5), rng);
        add_giant(&mut load, nodes, (0.3, 3.0), rng);
        let (owner, leaving) = owners(nodes, rng);
        let weights = weights(nodes, rng);
        let mut fixed = vec![false; SLOTS];
        let stays = |slot: usize| Some(owner[slot]) != leaving;
        if rng.one_in(5) {
            (0..SLOTS).for_each(|slot| fixed[slot] = rng.one_in(20) && stays(slot));
        }
        if let Some(slot) = giant.filter(|slot| rng.one_in(4) && stays(*slot)) {
            fixed[slot] = true;
        }
        Cluster {
            nodes,
            memory: rounded(&memory),
            load: rounded(&load),
            owner: owner.into_iter().map(Some).collect(),
            leaves: (0..nodes).map(|node| Some(node) == leaving).collect(),
            fixed,
            weights,
        }
    }

    /// Memory first, then load, each with its band from reports.
    pub(super) fn request(&self, tolerances: (f64, f64)) -> MoveRequest<'_> {
        let role = |metric, loads, capacity: &[f64], tolerance, band| Role {
            capacity: capacity.to_vec(),
            band,
            ..Role::even(metric, loads, self.nodes, tolerance)
        };
        let even = vec![1.0; self.nodes];
        let roles = vec![
            role(
                Metric::Bytes,
                &self.memory,
                &self.weights,
                tolerances.0,
                1.05,
            ),
            role(Metric::Ops, &self.load, &even, tolerances.1, 1.20),
        ];
        MoveRequest {
            leaves: self.leaves.clone(),
            fixed: self.fixed.clone(),
            price: Some(&self.memory),
            ..MoveRequest::new(roles, self.owner.clone())
        }
    }

    /// The same after growth: each slot by up to `slot`, and all slots of a node by up to `node`.
    pub(super) fn grown(&self, owner: &[Option<usize>], rng: &mut Rng) -> Self {
        let by_node: Vec<f64> = (0..self.nodes).map(|_| 1.0 + 0.02 * rng.unit()).collect();
        let mut grow = |loads: &[u64]| -> Vec<u64> {
            let slots = loads.iter().zip(owner);
            slots
                .map(|(load, owner)| {
                    let node = owner.map_or(1.0, |node| by_node[node]);
                    (*load as f64 * node * (1.0 + 0.02 * rng.unit())) as u64
                })
                .collect()
        };
        Cluster {
            memory: grow(&self.memory),
            load: grow(&self.load),
            owner: owner.to_vec(),
            ..self.clone()
        }
    }

    /// The same with loads changed by up to `part`.
    pub(super) fn noisy(&self, part: f64, rng: &mut Rng) -> Self {
        let mut noisy = |loads: &[u64]| -> Vec<u64> {
            let slots = loads.iter();
            slots
                .map(|load| (*load as f64 * (1.0 + part * (2.0 * rng.unit() - 1.0))) as u64)
                .collect()
        };
        Cluster {
            memory: noisy(&self.memory),
            load: noisy(&self.load),
            ..self.clone()
        }
    }
}

/// The loads of the slots from ordinary keys.
fn keys(nodes: usize, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    let (mut memory, mut load) = (vec![0.0; SLOTS], vec![0.0; SLOTS]);
    let keys = (nodes * *rng.pick(&[200, 1000])).clamp(20_000, 400_000);
    let sigma = *rng.pick(&[0.5, 1.5]);
    let is_pareto = rng.one_in(4);
    let traffic = *rng.pick(&[
        Traffic::Independent,
        Traffic::Correlated,
        Traffic::Opposed,
        Traffic::Sparse,
    ]);
    for _ in 0..keys {
        let slot = rng.below(SLOTS);
        let size = if is_pareto {
            100.0 * (1.0 - rng.unit()).powf(-1.0 / 1.4)
        } else {
            (6.0 + sigma * rng.normal()).exp()
        };
        let size = size.min(1e7) + 40.0;
        let ops = match traffic {
            Traffic::Independent => (1.0 - rng.unit()).powf(-1.0 / 1.5),
            Traffic::Correlated => size * (0.5 * rng.normal()).exp(),
            Traffic::Opposed => 1e4 / size * (0.5 * rng.normal()).exp(),
            Traffic::Sparse if rng.one_in(10) => (1.0 - rng.unit()).powf(-1.0 / 1.2),
            Traffic::Sparse => 0.0,
        };
        memory[slot] += size;
        load[slot] += ops.min(1e6);
    }
    (memory, load)
}

/// Tags with Zipf-distributed load, all of moderate size.
fn add_tags(memory: &mut [f64], load: &mut [f64], nodes: usize, rng: &mut Rng) {
    if rng.one_in(4) {
        return;
    }
    let tags = 100 + rng.below(400);
    let (bytes, ops): (f64, f64) = (memory.iter().sum(), load.iter().sum());
    let harmonic: f64 = (1..=tags).map(|rank| 1.0 / rank as f64).sum();
    let part = 0.1 + 0.3 * rng.unit();
    for rank in 1..=tags {
        let slot = rng.below(SLOTS);
        let share = (1.0 / rank as f64 / harmonic).min(0.3 / nodes as f64 / part);
        memory[slot] += bytes * part * share;
        load[slot] += ops * part * share * 2.0 * rng.unit();
    }
}

/// In one of three clusters, a slot with this many shares.
fn add_giant(
    loads: &mut [f64],
    nodes: usize,
    (least, most): (f64, f64),
    rng: &mut Rng,
) -> Option<usize> {
    if !rng.one_in(3) {
        return None;
    }
    let total: f64 = loads.iter().sum();
    let slot = rng.below(SLOTS);
    loads[slot] += (least + (most - least) * rng.unit()) * total / nodes as f64;
    Some(slot)
}

/// The owners of the slots, and a node to be emptied.
fn owners(nodes: usize, rng: &mut Rng) -> (Vec<usize>, Option<usize>) {
    match rng.below(5) {
        0 => (random_cuts(nodes, rng), None),
        1 => (even(nodes - 1), None),
        2 => {
            let heavy = rng.below(nodes);
            let weight = |node: usize| if node == heavy { 1.3 } else { 1.0 };
            let total: f64 = (0..nodes).map(weight).sum();
            let mut ends: Vec<f64> = (0..nodes).map(weight).collect();
            (1..nodes).for_each(|node| ends[node] += ends[node - 1]);
            let owner =
                |slot: usize| ends.partition_point(|end| end / total * SLOTS as f64 <= slot as f64);
            (
                (0..SLOTS).map(|slot| owner(slot).min(nodes - 1)).collect(),
                None,
            )
        }
        3 => (scaled_out(nodes, 1.0), None),
        _ => {
            let leaving = rng.below(nodes);
            (scaled_out(nodes, 0.7), (nodes > 3).then_some(leaving))
        }
    }
}

fn random_cuts(nodes: usize, rng: &mut Rng) -> Vec<usize> {
    let cut = |node: usize, rng: &mut Rng| {
        if nodes > 100 {
            ((node as f64 + 0.8 * (rng.unit() - 0.5)) * SLOTS as f64 / nodes as f64) as usize
        } else {
            1 + rng.below(SLOTS - 1)
        }
    };
    let mut cuts: Vec<usize> = (1..nodes).map(|node| cut(node, rng)).collect();
    cuts.sort_unstable();
    (0..SLOTS)
        .map(|slot| cuts.partition_point(|cut| *cut <= slot))
        .collect()
}

fn even(nodes: usize) -> Vec<usize> {
    (0..SLOTS).map(|slot| slot * nodes / SLOTS).collect()
}

/// Half of the nodes, then one after another, each of which takes the first slots of all before it, as redis-cli does.
fn scaled_out(nodes: usize, part: f64) -> Vec<usize> {
    let first = (nodes / 2).max(2);
    let mut owner = even(first);
    for new in first..nodes {
        let mut held: Vec<Vec<usize>> = vec![Vec::new(); new];
        (0..SLOTS).for_each(|slot| held[owner[slot]].push(slot));
        for slots in held {
            let taken = (slots.len() as f64 * part / (new + 1) as f64) as usize;
            slots[..taken].iter().for_each(|slot| owner[*slot] = new);
        }
    }
    owner
}

/// In one of six clusters some nodes have twice the memory.
fn weights(nodes: usize, rng: &mut Rng) -> Vec<f64> {
    if !rng.one_in(6) {
        return vec![1.0; nodes];
    }
    (0..nodes).map(|_| 1.0 + rng.below(2) as f64).collect()
}

fn rounded(loads: &[f64]) -> Vec<u64> {
    let total: f64 = loads.iter().sum();
    // Operations are small numbers, and a load is an integer.
    let scale = if total < 1e9 { 1e3 } else { 1.0 };
    loads.iter().map(|load| (load * scale) as u64).collect()
}
