//! A request with its plan: the one value that steps and all of `slotscope plan` are made from.

use slotscope_base::metric::Metric;
use slotscope_planner::move_request::{MoveRequest, Role};
use slotscope_planner::solve::{MovePlan, PlannedRole};

use crate::plan::cluster::Cluster;
use crate::plan::placement::Placement;
use slotscope_model::Summary;
use slotscope_model::balance::tidy;
use slotscope_model::step::{Requested, RequestedRole};

/// A request for moves, its plan, and the facts it is made on.
pub(crate) struct Planned<'p> {
    pub summary: &'p Summary,
    pub cluster: &'p Cluster<'p>,
    pub placement: &'p Placement<'p>,
    pub request: MoveRequest<'p>,
    pub plan: MovePlan,
}

impl<'p> Planned<'p> {
    /// Whether the input has this metric: captures alone do not tell the number of keys.
    pub(super) fn knows(&self, metric: Metric) -> bool {
        let mut keys = self.summary.slots.loads.keys.iter();
        metric != Metric::Keys || keys.any(|keys| *keys > 0)
    }

    /// The judged roles with their indices.
    pub(super) fn judged(&self) -> impl Iterator<Item = (usize, &Role<'p>, &PlannedRole)> {
        let roles = self.request.roles.iter().zip(&self.plan.roles).enumerate();
        let judged = roles.filter(|(_, (role, _))| role.is_judged());
        judged.map(|(at, (role, planned))| (at, role, planned))
    }

    /// The request, as a report's step and `slotscope plan` show it.
    pub(crate) fn requested(&self) -> Requested {
        let request = &self.request;
        let roles = self.judged().map(|(_, role, planned)| RequestedRole {
            metric: role.metric.name().into(),
            is_goal: planned.is_goal,
            aim: tidy(planned.target),
            ceiling: tidy(planned.ceiling),
        });
        let caps = request.caps.iter().flat_map(|caps| &caps.aimed);
        let lifted = self
            .judged()
            .filter(|(at, ..)| self.plan.lifted.contains(at));
        Requested {
            nodes: request.staying().count(),
            changes_nodes: request.changes_nodes(),
            before: self.placement.after(self.cluster),
            roles: roles.collect(),
            caps: caps.map(|cap| cap.map(|cap| cap as u64)).collect(),
            lifted: lifted
                .map(|(_, role, _)| role.metric.name().into())
                .collect(),
            relief: self.plan.is_relief,
            placement: format!("{:016x}", fingerprint(&self.plan.owner)),
        }
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
