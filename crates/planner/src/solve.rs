//! The planner: assigns slots to nodes so that they meet their aims role by role, at the least price.
//!
//! First the maximum per node is computed (`aims`). Overfull nodes shed runs of slots (`shed`), and
//! unneeded moves are given back (`greedy`); missed aims are relaxed (`search`), and what is left above them is placed at
//! prices of room (`multipliers`, `line`). A plan is then replanned on its own result until that moves nothing more. All of
//! it is deterministic: budgets count work, not time.

use crate::aims::{Aims, LEAST_EXCESS, max_over_mean, rest_over_mean};
use crate::budget::Budget;
use crate::even_ranges::even_ranges;
use crate::limited::{exceeds_limits, within_limits};
use crate::lower_bound::LowerBound;
use crate::move_request::{MoveLimits, MoveRequest, Role};
use crate::order::sorted;
use crate::prices::least_bytes;
use crate::relief::relief;
use crate::search::{rank, search};
use crate::shares::Shares;
use crate::state::{NEAR, PlanState};

/// Maximum number of replanning rounds.
const AGAIN: usize = 4;
/// Work of a plan, in slots and pairs of slots.
const WORK: u64 = 2_500_000;
/// A ratio within this factor of its aim is not missed.
const MISSED: f64 = 1.02;

/// A plan: the slots' new owners, and what that achieves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MovePlan {
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// In the order of the request.
    pub roles: Vec<PlannedRole>,
    /// Whether the plan is worth carrying out; otherwise nothing moves.
    pub is_step: bool,
    /// Whether it only brings nodes below their limits: to even out the rest is another plan.
    pub is_relief: bool,
    /// The roles that rise above their ceilings, to keep a limit of memory.
    pub lifted: Vec<usize>,
    /// Whether the limits stopped further moves.
    pub limited: bool,
    /// Slots that move.
    pub slots: usize,
    /// Approximate lower bound on the price of any plan for these targets that leaves giants in place, in the unit of
    /// `MoveRequest::prices`.
    pub least_price: f64,
}

/// A plan's result in one role. Nodes are compared with their fair shares.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRole {
    /// Whether slots move to even it out.
    pub is_goal: bool,
    /// T: the most a node may hold if none of its slots is heavier than a share.
    pub target: f64,
    /// No move brings a node without a filling slot above this.
    pub ceiling: f64,
    /// The fullest staying node, before.
    pub before: f64,
    /// The fullest staying node, after.
    pub after: f64,
    /// M_rest before: not counting slots heavier than their node's share.
    pub rest_before: f64,
    /// M_rest after.
    pub rest_after: f64,
    /// A lower bound on the fullest node in this role alone.
    pub floor: LowerBound,
    /// Whether nodes end up even, or so near their targets that another plan is not worth its moves.
    pub is_near: bool,
}

/// The plan for a request.
pub fn plan(request: &MoveRequest<'_>) -> MovePlan {
    plan_within(request, WORK)
}

/// By role: the least that the fullest node can reach in it alone.
pub fn floors(request: &MoveRequest<'_>) -> Vec<f64> {
    let floor = |role: &Role<'_>| {
        let fair = request.fair(&role.loads, &role.capacity);
        LowerBound::new(&role.loads, &request.owner, &fair).over_fair
    };
    request.roles.iter().map(floor).collect()
}

/// The plan of one range of slots for each node, as a restored backup has them: for the role above its band, also given,
/// by which such ranges come out best and help enough for all data to move.
pub fn plan_of_ranges(request: &MoveRequest<'_>) -> Option<(usize, MovePlan)> {
    let shares = Shares::new(request);
    let before = PlanState::new(&shares);
    let aims = Aims::new(&before);
    let staying: Vec<usize> = request.staying().collect();
    let goals = (0..request.roles.len()).filter(|role| aims.is_goal[*role]);
    let plans = goals.filter_map(|role| {
        let ranges = even_ranges(&request.roles[role].loads, staying.len())?;
        let mut owner = request.owner.clone();
        for ((first, last), node) in ranges.iter().zip(&staying) {
            owner[usize::from(*first)..=usize::from(*last)].fill(Some(*node));
        }
        let mut after = before.clone();
        after.carry_out(&owner);
        let is_within = |role: usize| {
            let most = max_over_mean(&before, role).max(request.roles[role].band);
            max_over_mean(&after, role) <= most + NEAR
        };
        let is_step = aims.helps(&before, &after, 1.0, true);
        let keeps = (0..request.roles.len()).all(is_within);
        (is_step && keeps).then(|| (rank(&after, &aims, 0.0), role, owner))
    });
    let best = plans.reduce(|best, plan| if plan.0 < best.0 { plan } else { best });
    best.map(|(_, role, owner)| (role, MovePlan::of(request, owner, false)))
}

/// The same as `plan` with as much work at most.
pub fn plan_within(request: &MoveRequest<'_>, work: u64) -> MovePlan {
    if let Some(sorted) = sorted(request) {
        let mut plan = plan_within(&sorted, work);
        let nodes = plan.owner.iter_mut().flatten();
        nodes.for_each(|node| *node = request.order[*node]);
        return plan;
    }
    let mut owner = request.owner.clone();
    if request.roles.is_empty() || request.staying().next().is_none() {
        return MovePlan::of(request, owner, false);
    }
    let unlimited = MoveRequest {
        limits: MoveLimits::default(),
        ..request.clone()
    };
    for round in 0..=AGAIN {
        // The next report's plan has a full budget, so this plan must already contain what it would ask for.
        let next = unlimited.with_owner(owner.clone());
        match step(&next, &mut Budget::new(work), round > 0) {
            Some(next) => owner = next,
            None => break,
        }
    }
    let shares = Shares::new(request);
    let before = PlanState::new(&shares);
    let aims = Aims::new(&before);
    let mut whole = before.clone();
    whole.carry_out(&owner);
    let limited = exceeds_limits(&whole);
    if limited {
        owner = within_limits(&before, &aims).owners();
    }
    let relieved = relief(&before, whole.moved().0);
    let is_relief = relieved.is_some();
    MovePlan {
        is_relief,
        ..MovePlan::of(request, relieved.unwrap_or(owner), limited)
    }
}

/// The owners after a plan that passes the gate.
fn step(
    request: &MoveRequest<'_>,
    budget: &mut Budget,
    is_begun: bool,
) -> Option<Vec<Option<usize>>> {
    let shares = Shares::new(request);
    let before = PlanState::new(&shares);
    let aims = Aims::new(&before);
    if !aims.asks_for_a_plan(&before) {
        return None;
    }
    let after = search(&before, &aims, budget);
    aims.is_step(&before, &after, is_begun)
        .then(|| after.owners())
}

impl MovePlan {
    fn of(request: &MoveRequest<'_>, owner: Vec<Option<usize>>, limited: bool) -> Self {
        let mut plan = MovePlan {
            is_step: owner != request.owner,
            limited,
            owner,
            ..MovePlan::default()
        };
        if request.roles.is_empty() || request.staying().next().is_none() {
            return plan;
        }
        let shares = Shares::new(request);
        let mut before = PlanState::new(&shares);
        let aims = Aims::new(&before);
        before.set_bounds(&aims.bounds(&aims.aims));
        let mut after = before.clone();
        after.carry_out(&plan.owner);
        plan.slots = after.moved().0 as usize;
        plan.least_price = least_bytes(&before) * shares.mean_price();
        let rises = |role: &usize| {
            let [now, then] = [&before, &after].map(|state| aims.above_ceiling(state, *role));
            then > now + LEAST_EXCESS
        };
        plan.lifted = (0..request.roles.len()).filter(rises).collect();
        plan.roles = (0..request.roles.len())
            .map(|role| planned_role(&before, &after, &aims, role))
            .collect();
        plan
    }
}

fn planned_role(
    before: &PlanState<'_>,
    after: &PlanState<'_>,
    aims: &Aims,
    role: usize,
) -> PlannedRole {
    let is_within = |level: f64| aims.is_within(after, role, level);
    let aim = aims.aims[role];
    PlannedRole {
        is_goal: aims.is_goal[role],
        target: aim,
        ceiling: aims.ceilings[role],
        is_near: is_within(MISSED * aim) || is_within(aims.bands[role]),
        before: max_over_mean(before, role),
        after: max_over_mean(after, role),
        rest_before: rest_over_mean(before, role),
        rest_after: rest_over_mean(after, role),
        floor: aims.floors[role].clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::move_request::Caps;
    use slotscope_base::metric::Metric;

    fn even(loads: &[u64], nodes: usize) -> Role<'_> {
        Role::even(Metric::Bytes, loads, nodes, 0.03)
    }

    #[test]
    fn what_is_nearly_even_is_left_alone() {
        let loads = vec![10; 1000];
        let owner = |first: usize| (0..1000).map(move |slot| Some(usize::from(slot >= first)));
        let is_step = |first: usize| {
            let mut role = even(&loads, 2);
            role.band = 1.05;
            plan(&MoveRequest::new(vec![role], owner(first).collect())).is_step
        };
        assert!(!is_step(524), "1.048 is within the band");
        assert!(is_step(526));
    }

    #[test]
    fn where_all_are_above_their_limits_none_rises() {
        let memory = vec![10; 300];
        let load: Vec<u64> = (0..300).map(|slot| 1 + u64::from(slot < 80) * 9).collect();
        let owner = (0..300).map(|slot| Some(slot / 100));
        let mut request = MoveRequest::new(vec![even(&load, 3), even(&memory, 3)], owner.collect());
        request.caps = Some(Caps {
            role: 1,
            aimed: vec![Some(900.0); 3],
            hard: vec![Some(950.0); 3],
        });
        let planned = plan(&request);
        let held = request.loads_under(&memory, &planned.owner);
        assert!(held.iter().all(|held| *held <= 1000), "{held:?}");
        assert!(planned.roles[0].after < 1.3, "{:?}", planned.roles[0]);
    }

    #[test]
    fn of_equally_good_nodes_one_without_slots_is_filled() {
        // Nodes 1, 2 and 4 have no load, node 3 has no slots, and one slot fills node 5.
        let loads = [150, 130, 120, 0, 0, 0, 1000];
        let owner = [0, 0, 0, 1, 2, 4, 5].map(Some).to_vec();
        let planned = plan(&MoveRequest::new(vec![even(&loads, 6)], owner));
        assert!(planned.owner.contains(&Some(3)), "{:?}", planned.owner);
    }

    #[test]
    fn among_many_nodes_one_without_slots_gets_its_share_though_the_others_are_within_the_band() {
        // 50 nodes have 200 slots each, and hold 1.02 fair shares.
        let loads = vec![10; 10_000];
        let role = Role {
            band: 1.05,
            ..Role::even(Metric::Bytes, &loads, 51, 0.005)
        };
        let owner = (0..10_000).map(|slot| Some(slot / 200)).collect();
        let planned = plan(&MoveRequest::new(vec![role], owner));
        let given = planned.owner.iter().filter(|node| **node == Some(50));
        assert!(given.count() >= 140, "of 196 slots: {:?}", planned.roles);
    }

    #[test]
    fn nodes_in_another_order_get_the_same_slots() {
        let loads: Vec<u64> = (0..600_u64).map(|slot| 10 + slot * slot % 37).collect();
        let hot: Vec<u64> = (0..600_u64).map(|slot| 1 + slot * 7 % 101).collect();
        let planned = |names: [usize; 5]| {
            let owner = (0..600).map(|slot| Some(names[[0, 0, 1, 2, 3][slot * slot % 5]]));
            let roles = [(Metric::Bytes, &loads), (Metric::Ops, &hot)];
            let roles = roles.map(|(metric, loads)| Role::even(metric, loads, 5, 0.03));
            let mut request = MoveRequest::new(roles.to_vec(), owner.collect());
            request.order = names.to_vec();
            let owner = plan(&request).owner;
            let name = |node: usize| names.iter().position(|name| *name == node);
            owner
                .into_iter()
                .map(|node| node.and_then(name))
                .collect::<Vec<_>>()
        };
        let first = planned([0, 1, 2, 3, 4]);
        assert_eq!(first, planned([3, 0, 4, 2, 1]));
        assert_eq!(first, planned([4, 3, 2, 1, 0]));
    }

    #[test]
    fn nothing_to_plan_is_no_plan() {
        let none = plan(&MoveRequest::new(Vec::new(), vec![Some(0); 4]));
        assert!(!none.is_step && none.roles.is_empty());
        let loads = [0, 0];
        let owner = vec![Some(0), Some(1)];
        assert!(!plan(&MoveRequest::new(vec![even(&loads, 2)], owner)).is_step);
        let loads = [5, 5];
        let mut all_leave = MoveRequest::new(vec![even(&loads, 1)], vec![Some(0); 2]);
        all_leave.leaves[0] = true;
        assert!(!plan(&all_leave).is_step);
    }
}
