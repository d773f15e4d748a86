//! Properties of every plan, on random clusters. PLAN_CASES: number of clusters.

use super::campaign::cpu_secs;
use super::clusters::Cluster;
use slotscope::metric::Metric;
use slotscope::plan::moves::{Move, between};
use slotscope::planner::move_request::{Caps, MoveRequest, Role};
use slotscope::planner::solve::{MovePlan, plan};
use slotscope::slot::SLOTS;
use testkit::env::size;
use testkit::rng::Rng;
use testkit::run::near;

fn cases() -> u64 {
    size("PLAN_CASES", 5)
}

/// Loads of various kinds: even, as from many keys, from few keys, from Zipf-distributed tags.
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

/// Owners of slots for `nodes` nodes: even ranges, uneven ones, or dealt out.
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

/// A request with one load, within 1%.
fn request<'a>(loads: &'a [u64], owner: Vec<Option<usize>>, nodes: usize) -> MoveRequest<'a> {
    MoveRequest::new(vec![Role::even(Metric::Keys, loads, nodes, 0.01)], owner)
}

fn moved(request: &MoveRequest<'_>, plan: &MovePlan) -> Vec<u16> {
    let moves = between(&request.owner, &plan.owner);
    moves.iter().flat_map(Move::slots).collect()
}

/// The properties of every plan.
fn check_laws(request: &MoveRequest<'_>, plan: &MovePlan, case: u64) {
    check_moves(request, plan, case);
    check_limits(request, plan, case);
    for (role, planned) in request.roles.iter().zip(&plan.roles) {
        let fair = request.fair(&role.loads, &role.capacity);
        let sums = request.loads_under(&role.loads, &plan.owner);
        let shares = request.staying().map(|node| sums[node] as f64 / fair[node]);
        let found = shares.fold(0.0, f64::max);
        near(found, planned.after, 1e-6);
        let (is_whole, floor) = (is_whole(request, plan), planned.floor.over_fair);
        assert!(
            !is_whole || found >= floor - 1e-9,
            "case {case}: {found} beats {floor}"
        );
    }
}

/// Every slot moves at most once, from its owner; nothing is lost; fixed slots stay; leaving nodes get nothing.
fn check_moves(request: &MoveRequest<'_>, plan: &MovePlan, case: u64) {
    let moves = between(&request.owner, &plan.owner);
    let mut replayed = request.owner.clone();
    for of in &moves {
        assert_ne!(of.from, of.to, "case {case}");
        assert!(
            !request.leaves[of.to],
            "case {case}: node {} gets slots",
            of.to
        );
        for slot in of.slots().map(usize::from) {
            assert_eq!(replayed[slot], Some(of.from), "case {case}: slot {slot}");
            assert!(!request.fixed[slot], "case {case}: slot {slot} was to stay");
            replayed[slot] = Some(of.to);
        }
    }
    assert_eq!(replayed, plan.owner, "case {case}");
    assert_eq!(moved(request, plan).len(), plan.slots, "case {case}");
}

/// The slots left on nodes that leave.
fn left(request: &MoveRequest<'_>, plan: &MovePlan) -> usize {
    let owners = plan.owner.iter().flatten();
    owners.filter(|node| request.leaves[**node]).count()
}

fn is_whole(request: &MoveRequest<'_>, plan: &MovePlan) -> bool {
    left(request, plan) == 0 && !plan.limited
}

/// Limits on slots and bytes, hard limits of nodes, and guards.
fn check_limits(request: &MoveRequest<'_>, plan: &MovePlan, case: u64) {
    let slots = moved(request, plan);
    let prices = slots
        .iter()
        .map(|slot| request.prices()[usize::from(*slot)]);
    let (count, bytes) = (slots.len() as u64, prices.sum::<u64>());
    for (moved, most) in [(count, request.limits.slots), (bytes, request.limits.bytes)] {
        assert!(
            most.is_none_or(|most| moved <= most),
            "case {case}: {moved}"
        );
    }
    if let Some(caps) = &request.caps {
        let loads = &request.roles[caps.role].loads;
        let sums = |owner: &[Option<usize>]| request.loads_under(loads, owner);
        let (before, after) = (sums(&request.owner), sums(&plan.owner));
        for (node, cap) in caps.hard.iter().enumerate() {
            let most = cap.map_or(f64::INFINITY, |cap| cap.max(before[node] as f64));
            let held = after[node] as f64;
            let is_kept = held <= most + 1e-6 || request.leaves.contains(&true);
            assert!(is_kept, "case {case}: node {node} holds {held}, not {most}");
        }
    }
    // No role exceeds its ceiling: its band, or today's fullest node, or the consequence of a slot that fills a node.
    for (role, planned) in request.roles.iter().zip(&plan.roles) {
        let fair = request.fair(&role.loads, &role.capacity);
        let fair = fair.iter().copied().fold(0.0, f64::max);
        let heaviest = *role.loads.iter().max().unwrap_or(&0) as f64 / fair;
        let beside = 1.03f64.max(planned.before / heaviest.max(1.0));
        let most = planned.ceiling.max(planned.before).max(beside * heaviest);
        let is_whole = plan.lifted.is_empty() && is_whole(request, plan);
        let is_kept = planned.after <= most + 1e-6 || !is_whole || heaviest > 1.0;
        assert!(is_kept, "case {case}: {planned:?}, not {most}");
    }
}

#[test]
fn without_limits_the_fullest_node_comes_near_the_floor_and_little_moves() {
    for case in 0..cases() {
        let rng = &mut Rng::new(case);
        let most = if rng.one_in(10) { 1000 } else { 12 };
        let nodes = 1 + rng.below(most);
        let loads = loads(rng);
        let request = request(&loads, owners(nodes, rng), nodes);
        let plan = plan(&request);
        check_laws(&request, &plan, case);
        let fair = request.fair(&loads, &request.roles[0].capacity)[0];
        let heaviest = *loads.iter().max().unwrap() as f64 / fair;
        let (found, floor) = (plan.roles[0].after, plan.roles[0].floor.over_fair);
        // A gain below 0.02 is not worth moving for.
        let is_light = heaviest <= 0.01;
        let bound = if is_light {
            1.01 * floor + 0.03
        } else {
            1.5 * floor
        };
        let what = format!("case {case}: {nodes} nodes, {heaviest}");
        assert!(found <= bound + 1e-9, "{what}: {found}, floor {floor}");
        if is_light && plan.is_step {
            let moved = moved(&request, &plan).into_iter();
            let price: f64 = moved.map(|slot| loads[usize::from(slot)] as f64).sum();
            let least = plan.least_price;
            let slack = nodes as f64 * fair * 0.01;
            assert!(
                price <= least + slack,
                "{what}: {price} moved, {least} were needed"
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
        let request = request(&loads, owner, nodes);
        let plan = plan(&request);
        check_laws(&request, &plan, nodes as u64);
        let after = request.loads_under(&loads, &plan.owner);
        let most = *after[1..].iter().max().unwrap() as f64;
        let mean = after[1..].iter().sum::<u64>() as f64 / (nodes - 1) as f64;
        // 3% stay next to the giant, and the others are filled to 1% above their initial share.
        assert!(most <= 1.12 * mean, "{nodes}: {after:?}");
        assert!(plan.roles[0].rest_after <= 1.12, "{nodes}: {plan:?}");
        assert!(plan.slots <= SLOTS / nodes, "{nodes}: {}", plan.slots);
    }
}

#[test]
fn limits_guards_and_fixed_slots_are_kept_to_and_the_same_plan_is_made_twice() {
    for case in 0..cases() {
        let rng = &mut Rng::new(case + 1_000_000);
        let nodes = 2 + rng.below(10);
        let lists = [loads(rng), loads(rng), loads(rng)];
        let mut request = request(&lists[0], owners(nodes, rng), nodes);
        let goals = 1 + rng.below(3);
        let capacity: Vec<f64> = (0..nodes)
            .map(|_| *rng.pick(&[1.0, 1.0, 2.0, 0.5]))
            .collect();
        request.roles[0].capacity.clone_from(&capacity);
        for (at, loads) in lists.iter().enumerate().skip(1) {
            request.roles.push(Role {
                capacity: capacity.clone(),
                is_goal: at < goals,
                band: 1.2,
                ..Role::even(Metric::Ops, loads, nodes, 0.1)
            });
        }
        if rng.one_in(2) {
            request.leaves[rng.below(nodes)] = true;
        }
        for slot in 0..SLOTS {
            let stays = request.owner[slot].is_some_and(|node| !request.leaves[node]);
            request.fixed[slot] = stays && rng.one_in(20);
        }
        request.price = Some(&lists[rng.below(3)]);
        request.limits.slots = rng.one_in(3).then(|| rng.below(5000) as u64);
        request.limits.bytes = rng.one_in(3).then(|| rng.below(2_000_000) as u64);
        if rng.one_in(2) {
            let fair = request.fair(&lists[0], &capacity);
            let hard = fair
                .iter()
                .map(|fair| Some(fair * (1.02 + 0.3 * rng.unit())));
            let hard: Vec<Option<f64>> = hard.collect();
            let aimed = hard.iter().map(|cap| cap.map(|cap| 0.98 * cap));
            request.caps = Some(Caps {
                role: 0,
                aimed: aimed.collect(),
                hard,
            });
        }
        let planned = plan(&request);
        check_laws(&request, &planned, case);
        assert_eq!(plan(&request), planned, "case {case}");
        if !planned.limited {
            let again = plan(&request.with_owner(planned.owner.clone()));
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
        let mut request = request(&loads, owners(nodes, rng), nodes);
        request.leaves[rng.below(nodes)] = true;
        let plan = plan(&request);
        check_laws(&request, &plan, case);
        assert_eq!(left(&request, &plan), 0, "case {case}");
    }
}

#[test]
fn limits_are_used_for_what_helps_most() {
    let rng = &mut Rng::new(7);
    let loads: Vec<u64> = (0..SLOTS).map(|_| 90 + rng.below(20) as u64).collect();
    let owner = (0..SLOTS)
        .map(|slot| Some(usize::from(slot >= 8000) + usize::from(slot >= 12000)))
        .collect();
    let mut request = request(&loads, owner, 3);
    let mut last = f64::INFINITY;
    for most in [0, 1, 100, 1000, 2000, 5000] {
        request.limits.slots = Some(most);
        let plan = plan(&request);
        let (moved, after) = (plan.slots as u64, plan.roles[0].after);
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
fn a_later_role_does_not_cost_an_earlier_one_its_band() {
    for case in 0..cases() {
        let cluster = Cluster::new(case + 300, 3 + case as usize % 6);
        let both = cluster.request((0.03, 0.10));
        let mut first = both.clone();
        first.roles[1].is_goal = false;
        let [both, first] = [both, first].map(|request| plan(&request));
        let is_near = |plan: &MovePlan| plan.roles[0].is_near;
        let is_same = is_near(&both) || !is_near(&first);
        assert!(is_same, "case {case}: {:?}, {:?}", both.roles, first.roles);
    }
}

#[test]
fn nodes_in_another_order_get_the_same_slots() {
    for case in 0..cases() {
        let nodes = 3 + case as usize % 6;
        let cluster = Cluster::new(case + 600, nodes);
        let rng = &mut Rng::new(case);
        let mut order: Vec<usize> = (0..nodes).collect();
        (1..nodes).for_each(|node| order.swap(node, rng.below(node + 1)));
        let another = |node: &Option<usize>| node.map(|node| order[node]);
        let mut other = cluster.clone();
        other.owner = cluster.owner.iter().map(another).collect();
        for (node, place) in order.iter().enumerate() {
            other.leaves[*place] = cluster.leaves[node];
            other.weights[*place] = cluster.weights[node];
        }
        let mut request = other.request((0.03, 0.10));
        request.order.clone_from(&order);
        let planned = plan(&cluster.request((0.03, 0.10))).owner;
        let planned: Vec<Option<usize>> = planned.iter().map(another).collect();
        assert!(plan(&request).owner == planned, "case {case}: {order:?}");
    }
}

#[test]
fn time_does_not_grow_with_the_square_of_the_nodes() {
    let rng = &mut Rng::new(3);
    let loads: Vec<u64> = (0..SLOTS).map(|_| 500 + rng.below(1000) as u64).collect();
    let took = |nodes: usize| {
        let owner = (0..SLOTS).map(|slot| Some(slot * nodes / SLOTS)).collect();
        let request = request(&loads, owner, nodes);
        let start = cpu_secs();
        let plan = plan(&request);
        let took = cpu_secs() - start;
        check_laws(&request, &plan, nodes as u64);
        let found = plan.roles[0].after;
        assert!(found < 1.05, "{nodes} nodes: {found}");
        took
    };
    // In turns, taking the shorter of two, so that a busy machine slows down both. The square would be 100.
    let [few, many] = (0..2)
        .map(|_| [took(100), took(1000)])
        .reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1])])
        .unwrap();
    let is_below = many < 60.0 * few;
    assert!(is_below, "{many} s for 1000 nodes, {few} s for 100");
}
