//! Properties of every plan, on random clusters. PLAN_CASES: how many.

use std::time::Instant;

use super::clusters::Cluster;
use slotscope::metric::Metric;
use slotscope::plan::moves::{Move, between};
use slotscope::plan::problem::{Goal, Guard, Problem};
use slotscope::plan::solve::{Planned, plan};
use slotscope::slot::SLOTS;
use testkit::env::size;
use testkit::rng::Rng;

fn cases() -> u64 {
    size("PLAN_CASES", 5)
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

/// One goal, within 1%.
fn problem<'a>(loads: &'a [u64], owner: Vec<Option<usize>>, nodes: usize) -> Problem<'a> {
    Problem::new(vec![Goal::even(Metric::Keys, loads, nodes, 0.01)], owner)
}

fn moved(problem: &Problem<'_>, plan: &Planned) -> Vec<u16> {
    let moves = between(&problem.owner, &plan.owner);
    moves.iter().flat_map(Move::slots).collect()
}

/// The fullest node that stays, in fair shares.
fn fullest(problem: &Problem<'_>, loads: &[u64], owner: &[Option<usize>]) -> f64 {
    let fair = problem.fair(loads, &problem.goals[0].capacity);
    let sums = problem.loads_under(loads, owner);
    let staying = problem.staying();
    staying
        .map(|node| sums[node] as f64 / fair[node])
        .fold(0.0, f64::max)
}

/// The properties of every plan.
fn check_laws(problem: &Problem<'_>, plan: &Planned, case: u64) {
    check_moves(problem, plan, case);
    check_limits(problem, plan, case);
    for (goal, planned) in problem.goals.iter().zip(&plan.goals) {
        let fair = problem.fair(goal.loads, &goal.capacity);
        let sums = problem.loads_under(goal.loads, &plan.owner);
        let shares = problem.staying().map(|node| sums[node] as f64 / fair[node]);
        let found = shares.fold(0.0, f64::max);
        let told = planned.after;
        assert!(
            (found - told).abs() < 1e-6,
            "case {case}: {found} is reported as {told}"
        );
        let is_whole = plan.left == 0 && !plan.limited;
        let floor = planned.floor.over_fair;
        assert!(
            !is_whole || found >= floor - 1e-9,
            "case {case}: {found} beats {floor}"
        );
        if let Some(proof) = planned.proof.as_ref().filter(|_| is_whole) {
            let kept = &plan.goals[proof.kept];
            let is_kept = kept.met;
            assert!(
                !is_kept || found >= proof.least - 1e-6,
                "case {case}: {found} beats {proof:?}"
            );
        }
    }
}

/// Every slot moves once at most, from its owner; nothing is lost; fixed slots stay; nodes that leave get nothing.
fn check_moves(problem: &Problem<'_>, plan: &Planned, case: u64) {
    let moves = between(&problem.owner, &plan.owner);
    let mut replayed = problem.owner.clone();
    for of in &moves {
        assert_ne!(of.from, of.to, "case {case}");
        assert!(
            !problem.leaves[of.to],
            "case {case}: node {} gets slots",
            of.to
        );
        for slot in of.slots().map(usize::from) {
            assert_eq!(replayed[slot], Some(of.from), "case {case}: slot {slot}");
            assert!(!problem.fixed[slot], "case {case}: slot {slot} was to stay");
            replayed[slot] = Some(of.to);
        }
    }
    assert_eq!(replayed, plan.owner, "case {case}");
    assert_eq!(moved(problem, plan).len(), plan.slots, "case {case}");
    let left = plan
        .owner
        .iter()
        .flatten()
        .filter(|node| problem.leaves[**node]);
    assert_eq!(left.count(), plan.left, "case {case}");
}

/// Limits of slots and bytes, hard limits of nodes, and guards.
fn check_limits(problem: &Problem<'_>, plan: &Planned, case: u64) {
    let slots = moved(problem, plan);
    let bytes: u64 = slots
        .iter()
        .map(|slot| problem.prices()[usize::from(*slot)])
        .sum();
    assert_eq!(bytes, plan.price, "case {case}");
    assert!(
        problem
            .limits
            .slots
            .is_none_or(|most| slots.len() as u64 <= most),
        "case {case}"
    );
    assert!(
        problem.limits.bytes.is_none_or(|most| bytes <= most),
        "case {case}"
    );
    for goal in &problem.goals {
        let sums = |owner: &[Option<usize>]| problem.loads_under(goal.loads, owner);
        let (before, after) = (sums(&problem.owner), sums(&plan.owner));
        for (node, hard) in goal.hard.iter().enumerate() {
            let most = hard.unwrap_or(u64::MAX).max(before[node]);
            assert!(
                after[node] <= most,
                "case {case}: node {node} holds {}, not {most}",
                after[node]
            );
        }
    }
    for guard in &problem.guards {
        let today = fullest(problem, guard.loads, &problem.owner);
        let then = fullest(problem, guard.loads, &plan.owner);
        let leaving = problem.loads_under(guard.loads, &problem.owner);
        let fair = problem.fair(guard.loads, &guard.capacity);
        let fair = fair.iter().copied().fold(0.0, f64::max);
        let leaving = (0..problem.nodes())
            .filter(|node| problem.leaves[*node])
            .map(|node| leaving[node]);
        let leaving = leaving.max().unwrap_or(0) as f64 / fair;
        let heaviest = *guard.loads.iter().max().unwrap_or(&0) as f64 / fair;
        let most = guard.band.max(today).max(leaving).max(1.5 * heaviest);
        assert!(
            then <= most + 1e-6,
            "case {case}: the guard goes from {today} to {then}"
        );
    }
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
        let fair = problem.fair(&loads, &problem.goals[0].capacity)[0];
        let heaviest = *loads.iter().max().unwrap() as f64 / fair;
        let (found, floor) = (plan.goals[0].after, plan.goals[0].floor.over_fair);
        // A load within 1.02 of the target is left alone.
        let bound = if heaviest <= 0.01 {
            1.02 * 1.01 * floor
        } else {
            1.5 * floor
        };
        assert!(
            found <= bound + 1e-9,
            "case {case}: {found}, floor {floor}, {nodes} nodes, {heaviest}"
        );
        if heaviest <= 0.01 && plan.is_step {
            let (price, least) = (plan.price as f64, plan.least_price);
            let slack = nodes as f64 * fair * 0.01;
            assert!(
                price <= least + slack,
                "case {case}: {price} moved, {least} were needed"
            );
        }
    }
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
        let after = problem.loads_under(&loads, &plan.owner);
        let most = *after[1..].iter().max().unwrap() as f64;
        let mean = after[1..].iter().sum::<u64>() as f64 / (nodes - 1) as f64;
        assert!(most <= 1.05 * mean, "{nodes}: {after:?}");
        assert!(
            plan.goals[0].rest_after <= 1.05,
            "{nodes}: {:?}",
            plan.goals[0]
        );
        assert!(plan.slots <= SLOTS / nodes, "{nodes}: {}", plan.slots);
    }
}

#[test]
fn limits_guards_and_fixed_slots_are_kept_to_and_the_same_plan_is_made_twice() {
    for case in 0..cases() {
        let rng = &mut Rng::new(case + 1_000_000);
        let nodes = 2 + rng.below(10);
        let lists = [loads(rng), loads(rng), loads(rng)];
        let mut problem = problem(&lists[0], owners(nodes, rng), nodes);
        let goals = 1 + rng.below(3);
        let capacity: Vec<f64> = (0..nodes)
            .map(|_| *rng.pick(&[1.0, 1.0, 2.0, 0.5]))
            .collect();
        problem.goals[0].capacity.clone_from(&capacity);
        for (at, loads) in lists.iter().enumerate().skip(1) {
            if at < goals {
                let goal = Goal::even(Metric::Ops, loads, nodes, 0.1);
                problem.goals.push(Goal {
                    capacity: capacity.clone(),
                    ..goal
                });
            } else {
                let (metric, capacity) = (Metric::Ops, capacity.clone());
                problem.guards.push(Guard {
                    metric,
                    loads,
                    capacity,
                    band: 1.2,
                });
            }
        }
        if rng.one_in(2) {
            problem.leaves[rng.below(nodes)] = true;
        }
        for slot in 0..SLOTS {
            let stays = problem.owner[slot].is_some_and(|node| !problem.leaves[node]);
            problem.fixed[slot] = stays && rng.one_in(20);
        }
        problem.price = Some(&lists[rng.below(3)]);
        problem.limits.slots = rng.one_in(3).then(|| rng.below(5000) as u64);
        problem.limits.bytes = rng.one_in(3).then(|| rng.below(2_000_000) as u64);
        if rng.one_in(2) {
            let fair = problem.fair(&lists[0], &capacity);
            let hard = fair
                .iter()
                .map(|fair| Some((fair * (1.02 + 0.3 * rng.unit())) as u64));
            problem.goals[0].hard = hard.collect();
        }
        let planned = plan(&problem);
        check_laws(&problem, &planned, case);
        assert_eq!(plan(&problem), planned, "case {case}");
        if !planned.limited {
            let again = plan(&problem.with_owner(planned.owner.clone()));
            assert!(!again.is_step, "case {case}: a second step");
        }
    }
}

#[test]
fn nodes_that_leave_are_emptied() {
    for case in 0..cases() {
        let rng = &mut Rng::new(case + 2_000_000);
        let nodes = 3 + rng.below(10);
        let loads = loads(rng);
        let mut problem = problem(&loads, owners(nodes, rng), nodes);
        problem.leaves[rng.below(nodes)] = true;
        let plan = plan(&problem);
        check_laws(&problem, &plan, case);
        assert_eq!(plan.left, 0, "case {case}");
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
        let (moved, after) = (plan.slots as u64, plan.goals[0].after);
        assert!(
            moved <= most && after <= last,
            "{most}: {moved} moved, {after}"
        );
        assert!(after < last || most < 2, "{most}: {after} again");
        assert_eq!(plan.limited, most < 3000, "{most}");
        assert!(
            !plan.limited || moved + 2 >= most,
            "{most} may move, only {moved} do"
        );
        last = after;
    }
}

#[test]
fn a_later_goal_does_not_cost_an_earlier_one_its_target() {
    for case in 0..cases() {
        let cluster = Cluster::new(case + 300, 3 + case as usize % 6);
        let both = cluster.problem((0.03, 0.10));
        let alone = Problem {
            goals: both.goals[..1].to_vec(),
            ..both.clone()
        };
        let [both, alone] = [both, alone].map(|problem| plan(&problem));
        let is_near = |plan: &Planned| plan.goals[0].is_near;
        assert!(is_near(&both) || !is_near(&alone), "case {case}");
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
        let found = plan.goals[0].after;
        assert!(found < 1.05, "{nodes} nodes: {found}");
        took
    };
    // By turns, and the shorter of two, so that a busy machine slows down both.
    let [few, many] = (0..2)
        .map(|_| [took(100), took(1000)])
        .reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1])])
        .unwrap();
    assert!(many < 30 * few, "{many:?} for 1000 nodes, {few:?} for 100");
}
