//! The only constructor of a request for moves, shared by the report and `slotscope plan`, and the latter's plan.

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::Metric;
use slotscope_planner::move_request::{Caps, MoveLimits, MoveRequest, Role};
use slotscope_planner::solve::{plan, plan_of_ranges};

use crate::plan::cluster::Cluster;
use crate::plan::inputs::PlannedNode;
use crate::plan::outcome::PlanOutcome;
use crate::plan::placement::{PlacedRole, Placement};
use crate::plan::planned::Planned;
use slotscope_model::Summary;
use slotscope_model::state::State;
use slotscope_model::step::Requested;

/// How far above its fair share a node may end up. Below the report's balanced band, so that slight growth needs no
/// second plan; wider for load, which varies more.
const MEMORY_TOLERANCE: f64 = 0.03;
const LOAD_TOLERANCE: f64 = 0.10;
/// The part of a tolerance that is left where a node owns no slots: what each of the others may hold beyond its share adds up to
/// much of what this one is due, and few more bytes bring it that.
const OF_TOLERANCE: f64 = 1.0 / 6.0;

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
    let mut request = MoveRequest {
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
    };
    if request.has_empty() && flags.tolerance.is_none() {
        share_out(&mut request);
    }
    request
}

/// Brings nodes nearer to their shares of memory, or of load where that alone is judged: of both at once takes many more ranges.
fn share_out(request: &mut MoveRequest<'_>) {
    let is_load = |role: &Role<'_>| role.metric.is_of_use();
    let judged = || request.roles.iter().filter(|role| role.is_judged());
    let are_loads = judged().all(is_load);
    let shared = |role: &&mut Role<'_>| role.is_judged() && is_load(role) == are_loads;
    for role in request.roles.iter_mut().filter(shared) {
        role.tolerance *= OF_TOLERANCE;
    }
}

impl<'p> Planned<'p> {
    /// The request for a placement, and its plan.
    pub(super) fn new(
        summary: &'p Summary,
        cluster: &'p Cluster<'p>,
        placement: &'p Placement<'p>,
    ) -> Self {
        let request = request_of(summary, cluster, placement);
        Planned {
            plan: plan(&request),
            summary,
            cluster,
            placement,
            request,
        }
    }
}

impl Cluster<'_> {
    /// The request of `slotscope plan` with these flags.
    pub(crate) fn requested(&self, summary: &Summary) -> Requested {
        Planned::new(summary, self, &Placement::today(summary, self)).requested()
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
    pub fn plan(self, summary: &Summary) -> Result<PlanOutcome> {
        if self.flags.limits.bytes.is_some() {
            summary.slots.loads.required(Metric::Bytes, "--max-bytes")?;
        }
        let cluster = self.pinning(summary)?;
        let placement = Placement::today(summary, &cluster);
        let planned = Planned::new(summary, &cluster, &placement);
        if planned.judged().next().is_none() {
            let reason = "no slot of these nodes holds any; redis-cli --cluster rebalance evens out slot counts";
            return Err(Error::bad("no load", reason));
        }
        Ok(planned.outcome())
    }
}
