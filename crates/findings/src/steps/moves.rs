//! The one plan of moves for all roles: those that ask for it are its goals, the others may not get worse.

use slotscope_engine::metric::Metric;

use crate::plan::cluster::PlanCluster;
use crate::plan::goals::{self, band_of, tolerance_of};
use crate::plan::moves::{Move, between};
use crate::plan::problem::{Goal, Guard, Problem};
use crate::plan::solve::plan;
use crate::steps::situation::{Known, RoleNow, Situation};
use crate::summary::Summary;
use crate::topology::Topology;

/// A plan that is worth carrying out.
#[derive(Debug, Clone)]
pub(super) struct Moves {
    /// The node that owns each slot then.
    pub owner: Vec<Option<usize>>,
    /// The limits of all plans: the metric, the slots that keep it up, and the least ratio that it can reach.
    pub proofs: Vec<(Metric, Vec<u16>, f64)>,
    /// The metrics of its goals.
    pub goals: Vec<Metric>,
}

/// The slots that may move.
pub(super) struct Movable {
    /// The nodes, and the slots that stay where they are.
    pub cluster: PlanCluster,
    /// Loads that are not judged, as the user chose others, and may not get worse: each with its band.
    pub unasked: Vec<(Metric, f64)>,
}

impl Movable {
    /// All slots but those on their way and `pinned` ones.
    pub(super) fn new(topology: &Topology, pinned: impl Iterator<Item = u16>) -> Self {
        let mut cluster = PlanCluster::new(topology, 0);
        for slot in pinned {
            if let Some(is_fixed) = cluster.fixed.get_mut(usize::from(slot)) {
                *is_fixed = true;
            }
        }
        Movable {
            cluster,
            unasked: Vec::new(),
        }
    }

    /// The plan of `situation` for the roles that are `goals`, the others being guards; `None` where it is not a step.
    pub(super) fn plan(
        &self,
        situation: &Situation<'_>,
        price: Option<&[u64]>,
        is_goal: impl Fn(&RoleNow<'_>) -> bool,
    ) -> Option<Moves> {
        // Sums beyond what the planner can hold are left alone.
        let is_small = |role: &&RoleNow<'_>| {
            role.slots
                .iter()
                .map(|load| u128::from(*load))
                .sum::<u128>()
                < 1 << 62
        };
        let known = || {
            let roles = situation.roles.iter();
            roles.filter(|role| role.known < Known::No).filter(is_small)
        };
        let goals = known().filter(|role| is_goal(role)).map(|role| Goal {
            metric: role.verdict.by(),
            loads: &role.slots,
            capacity: role.load.weights.clone(),
            tolerance: tolerance_of(role.verdict.by()),
            hard: situation.hard_limits(role),
        });
        let goals: Vec<Goal<'_>> = goals.collect();
        let guards = known().filter(|role| !is_goal(role)).map(|role| Guard {
            metric: role.verdict.by(),
            loads: &role.slots,
            capacity: role.load.weights.clone(),
            band: band_of(role.verdict.by()),
        });
        let unasked = self.unasked.iter().filter_map(|(metric, band)| {
            let loads = situation.loads_of(*metric)?;
            Some(Guard {
                metric: *metric,
                loads,
                capacity: self.cluster.capacity.clone(),
                band: *band,
            })
        });
        let metrics: Vec<Metric> = goals.iter().map(|goal| goal.metric).collect();
        // The slots of a failed node stay its own.
        let is_up = |node: &usize| !self.cluster.leaves[*node];
        let owners = situation.owner.iter().map(|owner| owner.filter(is_up));
        let cluster = PlanCluster {
            owner: owners.collect(),
            ..self.cluster.clone()
        };
        let problem = Problem::with_goals(&cluster, goals, guards.chain(unasked).collect(), price)?;
        let planned = plan(&problem);
        let today = &situation.owner;
        let owner = planned
            .owner
            .iter()
            .zip(today)
            .map(|(then, now)| then.or(*now));
        let owner = owner.collect();
        let proofs = planned
            .goals
            .iter()
            .zip(&metrics)
            .filter_map(|(goal, metric)| {
                let proof = goal.proof.as_ref()?;
                Some((*metric, proof.slots.clone(), proof.least))
            });
        (planned.is_step && planned.slots > 0).then(|| Moves {
            owner,
            proofs: proofs.collect(),
            goals: metrics.clone(),
        })
    }
}

/// Whether a plan is made for a role.
pub(super) fn can_be_goal(summary: &Summary, role: &RoleNow<'_>) -> bool {
    goals::can_be_goal(summary, role.verdict.by())
}

/// Slots, keys and bytes that move.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moved {
    /// Slots.
    pub slots: u64,
    /// Keys; absent if the input has no keys.
    pub keys: Option<u64>,
    /// Bytes, where sizes are known.
    pub bytes: Option<u64>,
}

/// The moves from the owners `before` to those of `after`, with the loads of slots after it.
pub(super) fn moved(before: &[Option<usize>], after: &Situation<'_>) -> (Moved, Vec<u16>) {
    let moves = between(before, &after.owner);
    let slots: Vec<u16> = moves.iter().flat_map(Move::slots).collect();
    let sum = |loads: &[u64]| {
        let loads = slots
            .iter()
            .filter_map(|slot| loads.get(usize::from(*slot)));
        loads.fold(0u64, |sum, load| sum.saturating_add(*load))
    };
    let of = |metric| after.loads_of(metric).map(sum);
    let moved = Moved {
        slots: slots.len() as u64,
        keys: of(Metric::Keys).filter(|_| after.are_keys_known()),
        bytes: of(Metric::Bytes),
    };
    (moved, slots)
}
