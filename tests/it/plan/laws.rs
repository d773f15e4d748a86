//! Properties of every plan, on random clusters. PLAN_CASES: how many.

use std::time::Instant;

use crate::support::env::size;
use crate::support::rng::Rng;
use slotscope::plan::moves::{Move, between};
use slotscope::plan::problem::{MoveLimits, Problem};
use slotscope::plan::solve::{Assignment, plan};
use slotscope::slot::SLOTS;

fn cases() -> u64 {
    size("PLAN_CASES", 60)
}

/// Loads of one kind or another: even, like those of many keys, of few keys, of Zipf's tags.
fn loads(rng: &mut Rng) -> Vec<u64> {
    let kind = rng.below(4);
    let mut loads: Vec<u64> = (0..SLOTS)
        .map(|_| match kind {
            0 => 1000,
            1 => 900 + rng.below(200) as u64,
            2 => u64::from(rng.one_in(9)) * (1 + rng.below(50)) as u64,
            _ => 100 + rng.below(100) as u64,
        })
        .collect();
    if kind == 3 {
        let heaviest = 1 + rng.below(3_000_000) as u64;
        (1..200).for_each(|rank| loads[rng.below(SLOTS)] += heaviest / rank);
    }
    loads
}

/// Slots of `nodes` nodes: even ranges, uneven ones, or dealt out.
fn owners(nodes: usize, rng: &mut Rng) -> Vec<Option<usize>> {
    match rng.below(3) {
        0 => (0..SLOTS).map(|slot| Some(slot * nodes / SLOTS)).collect(),
        1 => {
            let mut cuts: Vec<usize> = (1..nodes).map(|_| rng.below(SLOTS)).collect();
            cuts.sort_unstable();
            (0..SLOTS)
                .map(|slot| Some(cuts.partition_point(|cut| *cut <= slot)))
                .collect()
        }
        _ => (0..SLOTS)
            .map(|_| Some(rng.below(nodes)).filter(|_| !rng.one_in(50)))
            .collect(),
    }
}

fn problem<'a>(loads: &'a [u64], owner: Vec<Option<usize>>, nodes: usize) -> Problem<'a> {
    Problem {
        loads,
        others: Vec::new(),
        bytes: None,
        owner,
        capacity: vec![1.0; nodes],
        fixed: vec![false; SLOTS],
        limits: MoveLimits::default(),
        tolerance: 0.01,
    }
}

fn slots_moved(moves: &[Move]) -> u64 {
    moves.iter().flat_map(Move::slots).count() as u64
}

/// What holds for every plan.
fn check_laws(problem: &Problem<'_>, plan: &Assignment, case: u64) {
    let moves = between(&problem.owner, &plan.owner);
    let mut replayed = problem.owner.clone();
    for of in &moves {
        assert_ne!(of.from, of.to, "case {case}");
        assert!(
            of.ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0),
            "case {case}: ranges that touch: {of:?}"
        );
        for slot in of.slots().map(usize::from) {
            assert_eq!(
                replayed[slot],
                Some(of.from),
                "case {case}: slot {slot} moves twice or from elsewhere"
            );
            assert!(!problem.fixed[slot], "case {case}: slot {slot} was to stay");
            replayed[slot] = Some(of.to);
        }
    }
    assert_eq!(replayed, plan.owner, "case {case}");
    let sum = |owner: &[Option<usize>]| problem.loads_under(owner).iter().sum::<u64>();
    assert_eq!(sum(&problem.owner), sum(&plan.owner), "case {case}");
    assert!(
        problem
            .limits
            .slots
            .is_none_or(|most| slots_moved(&moves) <= most),
        "case {case}"
    );
    let bytes = |slot: u16| problem.bytes.map_or(0, |bytes| bytes[usize::from(slot)]);
    let moved: u64 = moves.iter().flat_map(Move::slots).map(bytes).sum();
    assert!(
        problem.limits.bytes.is_none_or(|most| moved <= most),
        "case {case}"
    );
    for (node, capacity) in problem.capacity.iter().enumerate() {
        let owns = plan
            .owner
            .iter()
            .filter(|owner| **owner == Some(node))
            .count();
        assert!(
            *capacity > 0.0 || plan.limited || owns == 0,
            "case {case}: node {node} is not empty"
        );
        assert!(
            *capacity > 0.0 || !moves.iter().any(|of| of.to == node),
            "case {case}: node {node} gets slots"
        );
    }
    let over = problem
        .loads_under(&plan.owner)
        .into_iter()
        .zip(problem.fair())
        .map(|(load, fair)| load as f64 / fair);
    let fullest = over.filter(|over| over.is_finite()).fold(0.0, f64::max);
    assert!(
        (fullest - plan.over_fair).abs() < 1e-9,
        "case {case}: {fullest} is reported as {}",
        plan.over_fair
    );
    let someone_else = problem.fixed.contains(&true) || plan.limited;
    assert!(
        someone_else || fullest >= plan.floor.over_fair - 1e-9,
        "case {case}: {fullest} beats {:?}",
        plan.floor
    );
}

#[test]
fn without_limits_the_fullest_node_comes_near_the_floor_and_little_moves() {
    for case in 0..cases() {
        let rng = &mut Rng::new(case);
        let nodes = if rng.one_in(10) {
            1 + rng.below(1000)
        } else {
            1 + rng.below(12)
        };
        let loads = loads(rng);
        let problem = problem(&loads, owners(nodes, rng), nodes);
        let plan = plan(&problem);
        check_laws(&problem, &plan, case);
        let fair = problem.fair()[0];
        let heaviest = *loads.iter().max().unwrap() as f64 / fair;
        let floor = plan.floor.over_fair;
        let bound = if heaviest <= 0.01 {
            floor.max(1.01)
        } else {
            1.5 * floor
        };
        let found = plan.over_fair;
        assert!(
            found <= bound + 1e-9,
            "case {case}: {found} for a floor of {floor}, {nodes} nodes, {heaviest}"
        );
        // No plan moves less than the load above the bound.
        if heaviest <= 0.01 {
            let (before, bound) = (problem.loads_under(&problem.owner), fair * floor * 1.01);
            let least: f64 = before
                .iter()
                .map(|load| (*load as f64 - bound).max(0.0))
                .sum();
            let moves = between(&problem.owner, &plan.owner);
            let moved: u64 = moves
                .iter()
                .flat_map(Move::slots)
                .map(|slot| loads[usize::from(slot)])
                .sum();
            let slack = nodes as f64 * fair * 0.01;
            assert!(
                moved as f64 <= least + slack,
                "case {case}: {moved} moved, {least} were needed"
            );
        }
    }
}

/// The fullest node in fair shares of `loads`.
fn fullest(problem: &Problem<'_>, loads: &[u64], owner: &[Option<usize>]) -> f64 {
    let other = problem.by(loads);
    let shares = other.loads_under(owner).into_iter().zip(other.fair());
    let staying = shares.filter(|(_, fair)| *fair > 0.0);
    staying
        .map(|(load, fair)| load as f64 / fair)
        .fold(0.0, f64::max)
}

#[test]
fn what_a_node_with_a_giant_sheds_is_shared_by_the_others() {
    for nodes in [3, 4, 7] {
        let mut loads = vec![1000; SLOTS];
        loads[42] = SLOTS as u64 * 3000;
        let owner = (0..SLOTS).map(|slot| Some(slot * nodes / SLOTS)).collect();
        let problem = problem(&loads, owner, nodes);
        let plan = plan(&problem);
        check_laws(&problem, &plan, nodes as u64);
        let after = problem.loads_under(&plan.owner);
        let others = after[1..].iter();
        let [least, most] = [others.clone().min(), others.max()].map(|load| *load.unwrap() as f64);
        assert!(most <= 1.1 * least, "{nodes}: {after:?}");
        let moved = slots_moved(&between(&problem.owner, &plan.owner));
        assert!(moved <= (SLOTS / nodes) as u64, "{nodes}: {moved}");
    }
}

#[test]
fn another_load_is_evened_out_too_where_slots_differ_in_it() {
    let rng = &mut Rng::new(11);
    let loads: Vec<u64> = (0..SLOTS).map(|_| 100 + rng.below(100) as u64).collect();
    let other: Vec<u64> = (0..SLOTS)
        .map(|slot| (rng.below(2000) + if slot < 6000 { 200 } else { 0 }) as u64)
        .collect();
    let owner = (0..SLOTS).map(|slot| Some([7301, 11_901].partition_point(|cut| *cut <= slot)));
    let mut problem = problem(&loads, owner.collect(), 3);
    let alone = plan(&problem);
    assert!(
        fullest(&problem, &other, &alone.owner) > 1.06,
        "no case for it"
    );
    problem.others = vec![&other];
    let both = plan(&problem);
    check_laws(&problem, &both, 0);
    assert!(both.over_fair <= 1.01, "{}", both.over_fair);
    let then = fullest(&problem, &other, &both.owner);
    assert!(then <= 1.04, "{then}");
    let moved = |plan: &Assignment| slots_moved(&between(&problem.owner, &plan.owner));
    assert!(moved(&both) <= moved(&alone) + 2 * 256);
}

#[test]
fn another_load_costs_the_planned_one_nothing() {
    for case in 0..cases() / 3 {
        let rng = &mut Rng::new(case + 2_000_000);
        let nodes = 2 + rng.below(10);
        let (planned, others) = (loads(rng), [loads(rng), loads(rng)]);
        let mut problem = problem(&planned, owners(nodes, rng), nodes);
        problem.bytes = Some(&others[0]);
        // About what the plan needs without the others, so that there is little left for them.
        let moves = between(&problem.owner, &plan(&problem).owner);
        let bytes = |slot: u16| others[0][usize::from(slot)];
        let moved: u64 = moves.iter().flat_map(Move::slots).map(bytes).sum();
        let mut about = |moved: u64| {
            let most = moved * (90 + rng.below(20) as u64) / 100;
            rng.one_in(2).then_some(most)
        };
        problem.limits.slots = about(slots_moved(&moves));
        problem.limits.bytes = about(moved);
        let alone = plan(&problem);
        problem.others = others.iter().map(Vec::as_slice).collect();
        let both = plan(&problem);
        check_laws(&problem, &both, case);
        assert!(
            both.over_fair <= alone.over_fair.max(alone.floor.over_fair.max(1.0) * 1.01),
            "case {case}: {} in place of {}",
            both.over_fair,
            alone.over_fair
        );
        for other in &others {
            let [then, without] = [&both, &alone].map(|plan| fullest(&problem, other, &plan.owner));
            assert!(
                then <= without.max(1.04) + 1e-9,
                "case {case}: {then} in place of {without}"
            );
        }
    }
}

#[test]
fn exclusions_limits_weights_and_nodes_that_come_or_go_are_kept_to() {
    for case in 0..cases() {
        let rng = &mut Rng::new(case + 1_000_000);
        let nodes = 2 + rng.below(10);
        let loads = loads(rng);
        let bytes: Vec<u64> = (0..SLOTS).map(|_| rng.below(1000) as u64).collect();
        let mut problem = problem(&loads, owners(nodes, rng), nodes);
        problem.bytes = Some(&bytes);
        problem.capacity = (0..nodes)
            .map(|_| [1.0, 1.0, 2.0, 0.5][rng.below(4)])
            .collect();
        problem.capacity.extend(vec![1.0; rng.below(3)]);
        if rng.one_in(2) {
            problem.capacity[rng.below(nodes)] = 0.0;
        }
        for slot in 0..SLOTS {
            let stays = problem.owner[slot].is_some_and(|node| problem.capacity[node] > 0.0);
            problem.fixed[slot] = stays && rng.one_in(20);
        }
        problem.limits.slots = rng.one_in(3).then(|| rng.below(5000) as u64);
        problem.limits.bytes = rng.one_in(3).then(|| rng.below(2_000_000) as u64);
        problem.tolerance = [0.0, 0.01, 0.05][rng.below(3)];
        let plan = plan(&problem);
        check_laws(&problem, &plan, case);
    }
}

#[test]
fn limits_are_used_for_what_helps_most() {
    let rng = &mut Rng::new(7);
    let loads: Vec<u64> = (0..SLOTS).map(|_| 90 + rng.below(20) as u64).collect();
    let owner = (0..SLOTS)
        .map(|slot| Some(usize::from(slot >= 8000) + usize::from(slot >= 12000)))
        .collect();
    let mut problem = problem(&loads, owner, 3);
    let mut last = f64::INFINITY;
    for most in [0, 1, 100, 1000, 2000, 5000] {
        problem.limits.slots = Some(most);
        let plan = plan(&problem);
        let moved = slots_moved(&between(&problem.owner, &plan.owner));
        assert!(
            moved <= most && plan.over_fair <= last,
            "{most}: {moved} moved, {}",
            plan.over_fair
        );
        assert!(
            plan.over_fair < last || most < 2,
            "{most}: {} again",
            plan.over_fair
        );
        assert_eq!(plan.limited, most < 3000, "{most}");
        assert!(
            !plan.limited || moved + 2 >= most,
            "{most} may move, only {moved} do"
        );
        last = plan.over_fair;
    }
}

#[test]
fn time_does_not_grow_with_the_square_of_the_nodes() {
    let rng = &mut Rng::new(3);
    let loads: Vec<u64> = (0..SLOTS).map(|_| 500 + rng.below(1000) as u64).collect();
    let took = |nodes: usize| {
        let owner = (0..SLOTS).map(|slot| Some(slot * nodes / SLOTS)).collect();
        let problem = problem(&loads, owner, nodes);
        let start = Instant::now();
        let plan = plan(&problem);
        let took = start.elapsed();
        check_laws(&problem, &plan, nodes as u64);
        assert!(plan.over_fair < 1.05, "{nodes} nodes: {}", plan.over_fair);
        took
    };
    // Ten times the nodes take about twice as long, where a square would take a hundred times. By turns, and the shortest
    // of three, so that a busy machine slows down both.
    let [few, many] = (0..3)
        .map(|_| [took(100), took(1000)])
        .reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1])])
        .unwrap();
    assert!(many < 30 * few, "{many:?} for 1000 nodes, {few:?} for 100");
}
