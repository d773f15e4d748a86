//! The only constructor of a request for moves, shared by the report and `slotscope plan`, and the latter's plan.

use slotscope_engine::error::{Error, Result};
use slotscope_engine::metric::Metric;
use slotscope_planner::move_request::{Caps, MoveLimits, MoveRequest, Role};
use slotscope_planner::solve::{MovePlan, plan, plan_of_ranges};

use crate::plan::block_time::blocking_keys;
use crate::plan::cluster::Cluster;
use crate::plan::doubts;
use crate::plan::inputs::{PlanInputs, PlannedNode};
use crate::plan::outcome::PlanOutcome;
use crate::plan::placement::{PlacedRole, Placement};
use slotscope_model::Summary;
use slotscope_model::balance::tidy;
use slotscope_model::measure::Measure;
use slotscope_model::state::{self, State};
use slotscope_model::step::{After, Requested, RequestedRole};

/// How far above its fair share a node may end up. Below the report's balanced band, so that slight growth needs no
/// second plan; wider for load, which varies more.
const MEMORY_TOLERANCE: f64 = 0.03;
const LOAD_TOLERANCE: f64 = 0.10;

/// The request for a placement: the only place where goals, guards, limits and denominators are chosen.
pub(crate) fn request_of<'p>(
    summary: &'p Summary,
    cluster: &Cluster<'_>,
    placement: &'p Placement<'_>,
) -> MoveRequest<'p> {
    let flags = &cluster.flags;
    let is_up = |node: &usize| !cluster.nodes[*node].failed;
    let owner: Vec<_> = placement
        .owner
        .iter()
        .map(|owner| owner.filter(is_up))
        .collect();
    let is_held = |role: &&PlacedRole<'_>| {
        let owned = owner.iter().zip(&role.slots);
        let owned = owned.filter(|(owner, _)| owner.is_some());
        let total: u128 = owned.map(|(_, load)| u128::from(*load)).sum();
        // Sums beyond what the planner can hold are left alone.
        (1..1 << 62).contains(&total)
    };
    let is_any_judged = placement.roles.iter().any(|role| role.is_judged);
    // A load may be next to nothing after a step.
    let is_uneven = |role: &PlacedRole<'_>| {
        role.is_judged && placement.role_after(cluster, role).state != State::Unjudged
    };
    let is_asked =
        summary.asked.by.is_empty() && (flags.ask_for_moves() || flags.force) && !is_any_judged;
    let mut roles: Vec<Role<'_>> = placement
        .roles
        .iter()
        .filter(is_held)
        .map(|role| Role {
            metric: role.load.measure.metric(),
            loads: role.slots.as_slice().into(),
            capacity: cluster.capacity(&role.load.weights),
            tolerance: if role.load.measure.metric().is_of_use() {
                LOAD_TOLERANCE
            } else {
                MEMORY_TOLERANCE
            },
            band: role.bands.lower,
            is_goal: (is_uneven(role) || is_asked || role.is_asked) && role.is_by_slot(),
        })
        .collect();
    if let (Some(first), Some(tolerance)) = (roles.first_mut(), flags.tolerance) {
        (first.tolerance, first.band) = (tolerance, 1.0 + tolerance);
    }
    let bytes = placement.bytes();
    let caps = placement.taken().and_then(|taken| {
        let [aimed, hard] = cluster.caps(summary, &taken, &owner)?;
        roles.push(cluster.limited_role(taken));
        Some(Caps {
            role: roles.len() - 1,
            aimed,
            hard,
        })
    });
    let is_leaving = |node: &PlannedNode| node.capacity <= 0.0;
    let mut order: Vec<usize> = (0..cluster.nodes.len()).collect();
    let added = cluster.nodes.len() - flags.add;
    order.sort_by_key(|at| (*at >= added, &cluster.nodes[*at].id));
    MoveRequest {
        roles,
        order,
        leaves: cluster.nodes.iter().map(is_leaving).collect(),
        fixed: cluster.fixed.clone(),
        caps,
        price: bytes.or_else(|| placement.loads_of(Metric::Keys)),
        limits: flags.limits,
        // Whoever asks for another plan gets it as a whole.
        relieves_first: flags.limits == MoveLimits::default()
            && !flags.ask_for_moves()
            && summary.asked.by.is_empty(),
        owner,
    }
}

/// A request and its plan, as shown by a report's step and by `slotscope plan`.
pub(crate) fn requested(request: &MoveRequest<'_>, plan: &MovePlan, before: After) -> Requested {
    let roles = request.roles.iter().zip(&plan.roles);
    let judged = roles.filter(|(role, _)| role.is_judged());
    let roles = judged.map(|(role, planned)| RequestedRole {
        metric: role.metric.name().into(),
        is_goal: planned.is_goal,
        aim: tidy(planned.target),
        ceiling: tidy(planned.ceiling),
    });
    let caps = request.caps.iter().flat_map(|caps| &caps.aimed);
    let lifted = plan.lifted.iter().map(|at| &request.roles[*at]);
    let lifted = lifted.filter(|role| role.is_judged());
    let lifted = lifted.map(|role| role.metric);
    Requested {
        nodes: request.staying().count(),
        changes_nodes: request.changes_nodes(),
        before,
        roles: roles.collect(),
        caps: caps.map(|cap| cap.map(|cap| cap as u64)).collect(),
        lifted: lifted.map(|metric| metric.name().into()).collect(),
        relief: plan.is_relief,
        placement: format!("{:016x}", fingerprint(&plan.owner)),
    }
}

/// FNV-1a of the owners of all slots.
fn fingerprint(owner: &[Option<usize>]) -> u64 {
    let of_slot = |hash: u64, owner: &Option<usize>| {
        let node = owner.map_or(u64::MAX, |node| node as u64);
        (hash ^ node).wrapping_mul(0x0000_0100_0000_01b3)
    };
    owner.iter().fold(0xcbf2_9ce4_8422_2325, of_slot)
}

impl Cluster<'_> {
    /// The request and plan of `slotscope plan` with these flags.
    pub(crate) fn requested(&self, summary: &Summary) -> Requested {
        let placement = Placement::today(summary, self);
        let request = request_of(summary, self, &placement);
        requested(&request, &plan(&request), placement.after(self))
    }

    /// For a managed service that restores slot ranges from a backup: the number of shards, and the metric to cut
    /// ranges by. The first metric that such ranges improve enough, else that of the first role.
    ///
    /// # Errors
    /// As for `plan`.
    pub fn shards(self, summary: &Summary) -> Result<(usize, Option<Metric>)> {
        let cluster = self.pinning(summary)?;
        let placement = Placement::today(summary, &cluster);
        let request = request_of(summary, &cluster, &placement);
        let role = plan_of_ranges(&request).map_or(0, |(role, _)| role);
        let metric = request.roles.get(role).map(|role| role.metric);
        Ok((request.staying().count(), metric))
    }

    /// The plan for the keys of a summary: the one of its first step that moves slots, unless flags change the request.
    ///
    /// # Errors
    /// The slots are empty, or slots that cannot move would have to.
    pub fn plan(self, summary: &Summary) -> Result<(Vec<PlannedNode>, PlanOutcome)> {
        let loads = &summary.slots.loads;
        if self.flags.limits.bytes.is_some() {
            loads.required(Metric::Bytes, "--max-bytes")?;
        }
        let cluster = self.pinning(summary)?;
        let placement = Placement::today(summary, &cluster);
        let request = request_of(summary, &cluster, &placement);
        if request.roles.iter().all(|role| !role.is_judged()) {
            let reason = "no slot of these nodes holds any; redis-cli --cluster rebalance evens out slot counts";
            return Err(Error::bad("no load", reason));
        }
        let inputs = PlanInputs {
            nodes: &cluster.nodes,
            owner: &placement.owner,
            loads,
            units: &summary.units,
            headroom: &summary.headroom,
            job_bytes: cluster.flags.job_bytes,
        };
        let planned = plan(&request);
        let mut outcome = PlanOutcome::new(&request, &planned, &inputs);
        outcome.request = requested(&request, &planned, placement.after(&cluster));
        let is_used = |role: &PlacedRole<'_>| role.load.measure == Measure::UsedMemory;
        let of_servers = placement.roles.iter().any(is_used);
        for goal in &mut outcome.goals {
            goal.of_servers = of_servers && goal.role == Some(state::Role::Memory);
        }
        let most = cluster.flags.max_block;
        outcome.forced = doubts::incomplete(summary);
        outcome.warnings = cluster
            .failed_nodes()
            .chain(doubts::warnings(summary))
            .collect();
        outcome.set_keys(cluster.pinned, &blocking_keys(summary), most);
        Ok((cluster.nodes, outcome))
    }
}
