//! Proofs that two loads cannot both be even: slots heavy in one load strand their nodes' room in the other.
//!
//! The k heaviest slots of a load h that cannot share a node are on k nodes, which have little room left for h. Filled
//! with the other slots by o/h, the last one fractionally, they carry at most A of the other load o; the other n - k
//! nodes carry n - A. If that exceeds their ceilings, no placement satisfies both. Fractional filling only helps,
//! and limits and pinned slots only hinder, so this is a proof. A linear program misses it because it splits the heavy
//! slot.

use crate::aims::Aims;
use crate::shares::Shares;

/// Heavy slots tried.
const HEAVIEST: usize = 24;
/// Slots below this share strand too little to matter.
const HEAVY: f64 = 0.2;
/// With more kinds of nodes than this, nothing is proven.
const KINDS: usize = 8;
/// Bisection steps in the search for the least ratio.
const HALVINGS: usize = 40;
/// Loads are mutually exclusive if the least ratio of one is this much above its floor.
const EXCLUDED: f64 = 1.03;
/// A proof of less than this is rounding.
const NEAR: f64 = 1e-6;

/// Proof that a load cannot be evened out while another is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// Index of the load that is kept.
    pub kept: usize,
    /// A lower bound on the fullest node in the other load, in fair shares.
    pub least: f64,
    /// The slots that strand room on their nodes, heaviest first.
    pub slots: Vec<u16>,
}

/// The least ratio found for one load while another is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    least: f64,
    heaviest: usize,
    by_kept: bool,
}

/// The strongest proof that a role stays above its band while another one is kept within its own.
pub(crate) fn of(shares: &Shares<'_>, aims: &Aims, asked: usize) -> Option<Proof> {
    let inputs = ProofInputs::new(shares, &aims.bands, &aims.beside);
    let judged = (0..aims.bands.len()).filter(|role| aims.bands[*role].is_finite());
    let proofs = judged
        .filter(|kept| *kept != asked)
        .filter_map(|kept| exclusion(&inputs, kept, asked));
    let strongest = proofs.max_by(|a, b| a.least.total_cmp(&b.least));
    let least = f64::max(aims.bands[asked], EXCLUDED * aims.floors[asked].over_fair);
    strongest.filter(|proof| proof.least > least)
}

/// Proves that any placement within `targets[kept]` has a node above `targets[asked]` in the role `asked`. A node may
/// always hold its heaviest slot and a little more.
fn exclusion(shares_of: &ProofInputs, kept: usize, asked: usize) -> Option<Proof> {
    let bound = shares_of.least(kept, asked)?;
    let heavy = if bound.by_kept { kept } else { asked };
    let slots: Vec<u16> = shares_of.heaviest[heavy]
        .iter()
        .take(bound.heaviest)
        .map(|slot| *slot as u16)
        .collect();
    Some(Proof {
        kept,
        least: bound.least,
        slots,
    })
}

/// Role loads in shares, with their orders.
struct ProofInputs {
    /// The maximum a node may hold.
    targets: Vec<f64>,
    /// The maximum a node may hold, as a multiple of its heaviest slot.
    factors: Vec<f64>,
    /// By role and slot.
    load: Vec<Vec<f64>>,
    /// By role and staying node.
    capacity: Vec<Vec<f64>>,
    /// By role: its heavy slots.
    heaviest: Vec<Vec<usize>>,
}

/// The demands on one load while the other is kept.
struct Sides<'s> {
    heavy: &'s [f64],
    other: &'s [f64],
    slots: &'s [usize],
    /// All loaded slots, by most of the other load per unit of this one.
    dense: Vec<usize>,
    by_kept: bool,
    kept: usize,
    asked: usize,
}

impl ProofInputs {
    fn new(shares: &Shares<'_>, targets: &[f64], factors: &[f64]) -> Self {
        let request = shares.request;
        let roles = shares.weighed();
        let load = |role: usize| {
            (0..shares.slots)
                .map(|slot| shares.load(slot, role))
                .collect()
        };
        let loads: Vec<Vec<f64>> = (0..roles).map(load).collect();
        let capacity = |role: usize| {
            let nodes = request.staying();
            nodes.map(|node| shares.capacity(node, role)).collect()
        };
        let heaviest = |load: &Vec<f64>| {
            let mut heavy: Vec<usize> = (0..load.len())
                .filter(|slot| load[*slot] >= HEAVY)
                .collect();
            heavy.sort_by(|a, b| load[*b].total_cmp(&load[*a]).then(a.cmp(b)));
            heavy.truncate(HEAVIEST);
            heavy
        };
        ProofInputs {
            targets: targets.to_vec(),
            factors: factors.to_vec(),
            capacity: (0..roles).map(capacity).collect(),
            heaviest: loads.iter().map(heaviest).collect(),
            load: loads,
        }
    }

    fn sides(&self, kept: usize, asked: usize, by_kept: bool) -> Sides<'_> {
        let (heavy, other) = if by_kept {
            (kept, asked)
        } else {
            (asked, kept)
        };
        let (h, o) = (&self.load[heavy], &self.load[other]);
        let density = |slot: usize| {
            if h[slot] > 0.0 {
                o[slot] / h[slot]
            } else {
                f64::INFINITY
            }
        };
        let mut dense: Vec<usize> = (0..h.len()).filter(|slot| o[*slot] > 0.0).collect();
        dense.sort_by(|a, b| density(*b).total_cmp(&density(*a)).then(a.cmp(b)));
        Sides {
            heavy: h,
            other: o,
            slots: &self.heaviest[heavy],
            dense,
            by_kept,
            kept,
            asked,
        }
    }

    /// The largest least ratio of `asked` found.
    fn least(&self, kept: usize, asked: usize) -> Option<Found> {
        let kinds = self.kinds(kept, asked);
        if kinds.len() > KINDS {
            return None;
        }
        let largest = self.capacity[asked].iter().copied().fold(0.0, f64::max);
        let heaviest = self.heaviest[asked].first();
        let alone = heaviest.map_or(0.0, |slot| self.load[asked][*slot] / largest);
        let nodes = self.capacity[asked].len();
        // Several heavy slots on several kinds of nodes could be placed in many ways.
        let most = if kinds.len() > 1 {
            1
        } else {
            HEAVIEST.min(nodes.saturating_sub(1))
        };
        let mut best: Option<Found> = None;
        for by_kept in [false, true] {
            let sides = self.sides(kept, asked, by_kept);
            for count in 1..=most.min(sides.slots.len()) {
                let is_possible = |ratio: f64| {
                    let mut kinds = kinds.iter();
                    kinds.any(|kind| self.is_possible(&sides, count, *kind, ratio))
                };
                let (mut low, mut high) =
                    (best.map_or(alone.max(1.0), |best| best.least), nodes as f64);
                if is_possible(low) {
                    continue;
                }
                for _ in 0..HALVINGS {
                    let middle = (low + high) / 2.0;
                    if is_possible(middle) {
                        high = middle;
                    } else {
                        low = middle;
                    }
                }
                best = Some(Found {
                    least: low,
                    heaviest: count,
                    by_kept,
                });
            }
        }
        best.filter(|best| best.least > alone.max(1.0) + NEAR)
    }

    /// The distinct node capacities in both roles.
    fn kinds(&self, kept: usize, asked: usize) -> Vec<(f64, f64)> {
        let capacities = self.capacity[kept].iter().zip(&self.capacity[asked]);
        let mut kinds: Vec<(f64, f64)> = capacities.map(|(kept, asked)| (*kept, *asked)).collect();
        kinds.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        kinds.dedup();
        kinds
    }

    /// Whether `count` nodes with the heaviest slots can absorb enough of the other load for the remaining nodes to
    /// stay within their bounds.
    fn is_possible(&self, sides: &Sides<'_>, count: usize, kind: (f64, f64), ratio: f64) -> bool {
        let factor = self.factors[sides.kept];
        let kept_target = self.targets[sides.kept];
        let (heavy_limit, heavy_factor, other_capacity, other_target) = if sides.by_kept {
            (kept_target * kind.0, factor, kind.1, ratio)
        } else {
            (ratio * kind.1, 1.0, kind.0, kept_target)
        };
        let slots = &sides.slots[..count];
        let limit = |slot: &usize| heavy_limit.max(heavy_factor * sides.heavy[*slot]);
        let loads = |slot: &usize| sides.heavy[*slot];
        if let [.., second, last] = slots
            && loads(second) + loads(last) <= limit(&slots[0])
        {
            return true;
        }
        let mut room: f64 = slots.iter().map(|slot| limit(slot) - loads(slot)).sum();
        if room < 0.0 {
            return false;
        }
        let mut carried: f64 = slots.iter().map(|slot| sides.other[*slot]).sum();
        for slot in sides.dense.iter().filter(|slot| !slots.contains(slot)) {
            let load = sides.heavy[*slot];
            if load > room {
                carried += sides.other[*slot] * room / load;
                break;
            }
            room -= load;
            carried += sides.other[*slot];
        }
        let bonus = if sides.by_kept {
            0.0
        } else {
            self.bonus(sides.kept, factor)
        };
        let count = count as f64;
        let carried = carried.min(count * other_capacity * other_target + bonus);
        let other_goal = if sides.by_kept {
            sides.asked
        } else {
            sides.kept
        };
        let whole: f64 = self.capacity[other_goal].iter().sum();
        let total: f64 = self.load[other_goal].iter().sum();
        let rest = (whole - count * other_capacity) * other_target + bonus;
        total - carried <= rest + NEAR / 10.0
    }

    /// The load of a kept goal that nodes may hold above T because of their heaviest slots.
    fn bonus(&self, goal: usize, factor: f64) -> f64 {
        let smallest = self.capacity[goal]
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let target = self.targets[goal] * smallest;
        let loads = self.load[goal].iter();
        loads.map(|load| (factor * load - target).max(0.0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::move_request::{MoveRequest, Role};
    use slotscope_engine::metric::Metric;

    /// The proof for two loads on nodes that may hold `target` of the first.
    fn proof(loads: [&[u64]; 2], nodes: usize, target: f64) -> Option<Proof> {
        let roles = loads.map(|loads| Role::even(Metric::Keys, loads, nodes, target - 1.0));
        let request = MoveRequest::new(roles.to_vec(), vec![Some(0); loads[0].len()]);
        let shares = Shares::new(&request);
        let targets = [target, target];
        exclusion(&ProofInputs::new(&shares, &targets, &targets), 0, 1)
    }

    #[test]
    fn a_slot_that_is_hot_and_small_strands_memory() {
        // One slot holds three of six shares of load: its node may hold no other load, and so no memory.
        let memory = [0, 100, 100, 100, 100, 100, 100];
        let load = [300, 50, 50, 50, 50, 50, 50];
        let found = proof([&memory, &load], 3, 1.0).unwrap();
        assert_eq!(found.slots, [0]);
        // Each node holds two of the others: 400 with the hot one, with a mean of 200.
        assert!(found.least > 1.9 && found.least <= 2.0, "{found:?}");
    }

    #[test]
    fn loads_that_go_together_exclude_nothing() {
        let loads = [50, 40, 30, 30, 20, 10];
        assert_eq!(proof([&loads, &loads], 3, 1.03), None);
    }

    /// The least ratio of the second load over all placements that keep the first; infinite if there are none.
    fn brute_force(loads: [&[u64]; 2], nodes: usize, target: f64) -> f64 {
        let slots = loads[0].len();
        let means = loads.map(|loads| loads.iter().sum::<u64>() as f64 / nodes as f64);
        let mut least = f64::INFINITY;
        for code in 0..nodes.pow(slots as u32) {
            let (mut sums, mut heaviest) = (vec![[0u64; 2]; nodes], vec![0u64; nodes]);
            let mut rest = code;
            for (first, second) in loads[0].iter().zip(loads[1]) {
                let node = rest % nodes;
                rest /= nodes;
                sums[node][0] += first;
                sums[node][1] += second;
                heaviest[node] = heaviest[node].max(*first);
            }
            let keeps = |node: usize| {
                let most = (target * means[0]).max(target * heaviest[node] as f64);
                sums[node][0] as f64 <= most + 1e-9
            };
            if (0..nodes).all(keeps) {
                let fullest = sums.iter().map(|sums| sums[1]).max().unwrap_or(0);
                least = least.min(fullest as f64 / means[1]);
            }
        }
        least
    }

    #[test]
    fn the_proof_never_exceeds_the_best_of_all_placements() {
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let mut proven = 0;
        for case in 0..300 {
            let nodes = 2 + (case % 2);
            let slots = if nodes == 2 { 10 } else { 7 };
            let mut memory: Vec<u64> = (0..slots).map(|_| 1 + random(40)).collect();
            let mut load: Vec<u64> = (0..slots).map(|_| 1 + random(40)).collect();
            load[random(slots) as usize] += random(300);
            memory[random(slots) as usize] += random(200);
            let target = 1.03 + 0.3 * (case % 4) as f64;
            let best = brute_force([&memory, &load], nodes as usize, target);
            if let Some(proof) = proof([&memory, &load], nodes as usize, target) {
                proven += 1;
                assert!(
                    proof.least <= best + 1e-6,
                    "{case}: {memory:?} {load:?} {proof:?} {best}"
                );
            }
        }
        assert!(proven >= 30, "{proven}");
    }
}
