//! What every plan keeps to, on random clusters. PLAN_CASES: how many.

use std::time::{Duration, Instant};

use slotscope::advice::plan::moves::{Move, between};
use slotscope::advice::plan::{Limits, Plan, Problem, plan};
use slotscope::slot::SLOTS;

/// Numbers without a pattern, the same every time (xorshift64*).
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: usize) -> Noise {
        Noise((seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

fn cases() -> usize {
    std::env::var("PLAN_CASES").map_or(60, |cases| cases.parse().expect("PLAN_CASES is a number"))
}

/// Loads of one kind or another: even, like those of many keys, of few keys, of Zipf's tags.
fn loads(noise: &mut Noise) -> Vec<u64> {
    let kind = noise.below(4);
    let mut loads: Vec<u64> = (0..SLOTS)
        .map(|_| match kind {
            0 => 1000,
            1 => 900 + noise.below(200) as u64,
            2 => u64::from(noise.one_in(9)) * (1 + noise.below(50)) as u64,
            _ => 100 + noise.below(100) as u64,
        })
        .collect();
    if kind == 3 {
        let heaviest = 1 + noise.below(3_000_000) as u64;
        (1..200).for_each(|rank| loads[noise.below(SLOTS)] += heaviest / rank);
    }
    loads
}

/// Slots of `nodes` nodes: even ranges, uneven ones, or dealt out.
fn owners(nodes: usize, noise: &mut Noise) -> Vec<Option<usize>> {
    match noise.below(3) {
        0 => (0..SLOTS).map(|slot| Some(slot * nodes / SLOTS)).collect(),
        1 => {
            let mut cuts: Vec<usize> = (1..nodes).map(|_| noise.below(SLOTS)).collect();
            cuts.sort_unstable();
            (0..SLOTS).map(|slot| Some(cuts.partition_point(|cut| *cut <= slot))).collect()
        }
        _ => (0..SLOTS).map(|_| Some(noise.below(nodes)).filter(|_| !noise.one_in(50))).collect(),
    }
}

fn problem<'a>(loads: &'a [u64], owner: Vec<Option<usize>>, nodes: usize) -> Problem<'a> {
    Problem {
        loads,
        bytes: None,
        owner,
        capacity: vec![1.0; nodes],
        fixed: vec![false; SLOTS],
        limits: Limits::default(),
        tolerance: 0.01,
    }
}

fn slots_moved(moves: &[Move]) -> u64 {
    moves.iter().flat_map(Move::slots).count() as u64
}

/// What holds for every plan.
fn check_laws(problem: &Problem<'_>, plan: &Plan, case: usize) {
    let moves = between(&problem.owner, &plan.owner);
    let mut replayed = problem.owner.clone();
    for of in &moves {
        assert_ne!(of.from, of.to, "case {case}");
        assert!(of.ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0), "case {case}: ranges that touch: {of:?}");
        for slot in of.slots().map(usize::from) {
            assert_eq!(replayed[slot], Some(of.from), "case {case}: slot {slot} moves twice or from elsewhere");
            assert!(!problem.fixed[slot], "case {case}: slot {slot} was to stay");
            replayed[slot] = Some(of.to);
        }
    }
    assert_eq!(replayed, plan.owner, "case {case}");
    let sum = |owner: &[Option<usize>]| problem.loads_under(owner).iter().sum::<u64>();
    assert_eq!(sum(&problem.owner), sum(&plan.owner), "case {case}");
    assert!(problem.limits.slots.is_none_or(|most| slots_moved(&moves) <= most), "case {case}");
    let bytes = |slot: u16| problem.bytes.map_or(0, |bytes| bytes[usize::from(slot)]);
    let moved: u64 = moves.iter().flat_map(Move::slots).map(bytes).sum();
    assert!(problem.limits.bytes.is_none_or(|most| moved <= most), "case {case}");
    for (node, capacity) in problem.capacity.iter().enumerate() {
        let owns = plan.owner.iter().filter(|owner| **owner == Some(node)).count();
        assert!(*capacity > 0.0 || plan.limited || owns == 0, "case {case}: node {node} is not empty");
        assert!(*capacity > 0.0 || !moves.iter().any(|of| of.to == node), "case {case}: node {node} gets slots");
    }
    let over = problem.loads_under(&plan.owner).into_iter().zip(problem.fair()).map(|(load, fair)| load as f64 / fair);
    let fullest = over.filter(|over| over.is_finite()).fold(0.0, f64::max);
    assert!((fullest - plan.over_fair).abs() < 1e-9, "case {case}: {fullest} is told as {}", plan.over_fair);
    let someone_else = problem.fixed.contains(&true) || plan.limited;
    assert!(someone_else || fullest >= plan.floor.over_fair - 1e-9, "case {case}: {fullest} beats {:?}", plan.floor);
}

#[test]
fn without_limits_the_fullest_node_comes_near_the_floor_and_little_moves() {
    for case in 0..cases() {
        let noise = &mut Noise::new(case);
        let nodes = if noise.one_in(10) { 1 + noise.below(1000) } else { 1 + noise.below(12) };
        let loads = loads(noise);
        let problem = problem(&loads, owners(nodes, noise), nodes);
        let plan = plan(&problem);
        check_laws(&problem, &plan, case);
        let fair = problem.fair()[0];
        let heaviest = *loads.iter().max().unwrap() as f64 / fair;
        let floor = plan.floor.over_fair;
        let bound = if heaviest <= 0.01 { floor.max(1.01) } else { 1.5 * floor };
        let found = plan.over_fair;
        assert!(found <= bound + 1e-9, "case {case}: {found} for a floor of {floor}, {nodes} nodes, {heaviest}");
        // No plan moves less than what stands above the bound.
        if heaviest <= 0.01 {
            let (before, bound) = (problem.loads_under(&problem.owner), fair * floor * 1.01);
            let least: f64 = before.iter().map(|load| (*load as f64 - bound).max(0.0)).sum();
            let moves = between(&problem.owner, &plan.owner);
            let moved: u64 = moves.iter().flat_map(Move::slots).map(|slot| loads[usize::from(slot)]).sum();
            let slack = nodes as f64 * fair * 0.01;
            assert!(moved as f64 <= least + slack, "case {case}: {moved} moved, {least} were needed");
        }
    }
}

#[test]
fn exclusions_limits_weights_and_nodes_that_come_or_go_are_kept_to() {
    for case in 0..cases() {
        let noise = &mut Noise::new(case + 1_000_000);
        let nodes = 2 + noise.below(10);
        let loads = loads(noise);
        let bytes: Vec<u64> = (0..SLOTS).map(|_| noise.below(1000) as u64).collect();
        let mut problem = problem(&loads, owners(nodes, noise), nodes);
        problem.bytes = Some(&bytes);
        problem.capacity = (0..nodes).map(|_| [1.0, 1.0, 2.0, 0.5][noise.below(4)]).collect();
        problem.capacity.extend(vec![1.0; noise.below(3)]);
        if noise.one_in(2) {
            problem.capacity[noise.below(nodes)] = 0.0;
        }
        for slot in 0..SLOTS {
            let stays = problem.owner[slot].is_some_and(|node| problem.capacity[node] > 0.0);
            problem.fixed[slot] = stays && noise.one_in(20);
        }
        problem.limits.slots = noise.one_in(3).then(|| noise.below(5000) as u64);
        problem.limits.bytes = noise.one_in(3).then(|| noise.below(2_000_000) as u64);
        problem.tolerance = [0.0, 0.01, 0.05][noise.below(3)];
        let plan = plan(&problem);
        check_laws(&problem, &plan, case);
    }
}

#[test]
fn limits_are_used_for_what_helps_most() {
    let noise = &mut Noise::new(7);
    let loads: Vec<u64> = (0..SLOTS).map(|_| 90 + noise.below(20) as u64).collect();
    let owner = (0..SLOTS).map(|slot| Some(usize::from(slot >= 8000) + usize::from(slot >= 12000))).collect();
    let mut problem = problem(&loads, owner, 3);
    let mut last = f64::INFINITY;
    for most in [0, 1, 100, 1000, 2000, 5000] {
        problem.limits.slots = Some(most);
        let plan = plan(&problem);
        let moved = slots_moved(&between(&problem.owner, &plan.owner));
        assert!(moved <= most && plan.over_fair <= last, "{most}: {moved} moved, {}", plan.over_fair);
        assert!(plan.over_fair < last || most < 2, "{most}: {} again", plan.over_fair);
        assert_eq!(plan.limited, most < 3000, "{most}");
        assert!(!plan.limited || moved + 2 >= most, "{most} may move, only {moved} do");
        last = plan.over_fair;
    }
}

#[test]
fn a_thousand_nodes_are_planned_in_a_moment() {
    let noise = &mut Noise::new(3);
    let loads: Vec<u64> = (0..SLOTS).map(|_| 500 + noise.below(1000) as u64).collect();
    let problem = problem(&loads, (0..SLOTS).map(|slot| Some(slot * 1000 / SLOTS)).collect(), 1000);
    let start = Instant::now();
    let plan = plan(&problem);
    let took = start.elapsed();
    println!("{took:?}: {} for a floor of {:?}", plan.over_fair, plan.floor);
    check_laws(&problem, &plan, 0);
    assert!(plan.over_fair < 1.05, "{}", plan.over_fair);
    assert!(took < Duration::from_secs(5), "{took:?}, under a second in a release build");
}
