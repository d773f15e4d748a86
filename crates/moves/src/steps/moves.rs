//! Steps that move slots: today's plan, and the plan after application changes. A managed service gets slot ranges for
//! restoring a backup, if it accepts them.

use slotscope_base::metric::Metric;
use slotscope_base::text::short;
use slotscope_planner::solve::{plan, plan_of_ranges};

use crate::plan::moves::{Move, between};
use crate::plan::placement::Placement;
use crate::plan::planned::Planned;
use crate::plan::requests::request_of;
use crate::steps::Steps;
use crate::steps::repair::step;
use crate::wording as said;
use slotscope_findings::summary::explanation::named;
use slotscope_model::cause::CauseKind;
use slotscope_model::keys::TypeLoad;
use slotscope_model::limit;
use slotscope_model::state::Role;
use slotscope_model::step::{After, RoleAfter, Step, StepKind};

/// Streams of fewer bytes each shrink when they move key by key: one of a single entry takes 4,700 bytes where it was
/// written, and 800 where it was restored.
const SMALL_STREAM: f64 = 16_384.0;
/// With this part of all bytes in them, the ratios after moves are about.
const MANY_STREAMS: f64 = 0.02;

/// Restoring a backup loses later writes and changes the endpoint, so it must remove this fraction of an excess.
const RESTORED: f64 = 0.2;

impl<'a> Steps<'a> {
    /// Adds the moves due today.
    pub(super) fn add_moves(&mut self) {
        let Some((mut moves, after)) = self.moves(false) else {
            return;
        };
        moves.command = match self.commands.service() {
            Some(_) => self.commands.slot_ranges(),
            None => self.commands.plan(&[], self.topology),
        };
        moves.estimated = self.has_small_streams();
        debug_assert!(
            self.commands.service().is_some()
                || moves.request == Some(self.cluster.requested(self.summary)),
            "the command of a row makes another plan than the row"
        );
        let others = [self.instead_of_filling(), self.meant()];
        moves.alternatives.extend(others.into_iter().flatten());
        moves.findings = self.skews(|finding| {
            self.is_improved([&self.now, &after], finding) || finding.limit_use.is_some()
        });
        self.now = after;
        self.is_actionable = true;
        let is_relief = moves.request.as_ref().is_some_and(|request| request.relief);
        self.list.push(moves);
        if is_relief && let Some((mut rest, after)) = self.moves_after(false) {
            rest.sentence = format!(
                "later: even out: {}",
                said::moves(rest.slots_moved, None, Some(rest.bytes_moved.unwrap_or(0)))
            );
            // About the same keys, and exact if the roles are evened out in the same order then.
            rest.estimated = self.has_small_streams() || !self.keeps_order(&after);
            self.list.push(rest);
            self.now = after;
        }
    }

    /// The moves due after a change, and the resulting placement; maybe without those slots that move before it. The
    /// command typed later depends on the key names at that time.
    pub(super) fn moves_after(&self, once: bool) -> Option<(Step, Placement<'a>)> {
        let (mut moves, after) = self.moves(once)?;
        moves.estimated = true;
        moves.findings = self.skews(|finding| self.is_improved([&self.now, &after], finding));
        // If loads are approximate, other plans are just as good, and their effect on other roles differs.
        if self.now.roles.iter().any(|role| role.is_approximate) {
            let before = self.now.after(&self.cluster);
            for role in [Some(Role::Memory), Some(Role::Load), None] {
                let helped = before.of(role).zip(moves.after.of(role));
                let helped = helped
                    .filter(|(now, then)| now.max_over_mean - then.max_over_mean >= limit::WORTH);
                moves.after.set(role, helped.map(|(_, then)| then));
            }
        }
        Some((moves, after))
    }

    /// The plan for the placement so far, given the servers' abilities, as a step, and the placement after it; `None` if
    /// it is not worth it. `once`: no slot moves that has moved in a step before.
    fn moves(&self, once: bool) -> Option<(Step, Placement<'a>)> {
        let mut request = request_of(self.summary, &self.cluster, &self.now);
        let owners = self.now.owner.iter().zip(&self.today.owner);
        for (fixed, (now, today)) in request.fixed.iter_mut().zip(owners) {
            *fixed |= once && now != today;
        }
        let plan = match self.commands.service() {
            None => plan(&request),
            Some(service) if service.has_ranges => plan_of_ranges(&request)?.1,
            Some(_) => return None,
        };
        let after = self.now.with_owner(&plan.owner);
        let is_worth_it = self.commands.service().is_none() || self.is_worth_a_restore(&after);
        let planned = Planned {
            summary: self.summary,
            cluster: &self.cluster,
            placement: &self.now,
            request,
            plan,
        };
        let is_step = planned.plan.is_step && is_worth_it;
        is_step.then(|| (self.move_row(&planned, &after), after))
    }

    /// Whether a plan removes enough excess of a judged role to justify restoring a backup.
    fn is_worth_a_restore(&self, after: &Placement<'_>) -> bool {
        let mut roles = self.now.roles.iter().zip(&after.roles);
        roles.any(|(role, moved)| {
            let before = self.now.role_after(&self.cluster, role).max_over_mean;
            let gain = before - after.role_after(&self.cluster, moved).max_over_mean;
            role.is_judged && gain >= RESTORED * (before - 1.0).max(limit::WORTH)
        })
    }

    fn move_row(&self, planned: &Planned<'_>, after: &Placement<'_>) -> Step {
        let moves = between(&self.now.owner, &after.owner);
        let slots: Vec<u16> = moves.iter().flat_map(Move::slots).collect();
        let sum = |metric: Metric| {
            let loads = self.now.loads_of(metric)?;
            let loads = slots
                .iter()
                .filter_map(|slot| loads.get(usize::from(*slot)));
            Some(loads.fold(0u64, |sum, load| sum.saturating_add(*load)))
        };
        let keys = sum(Metric::Keys).filter(|_| self.summary.verdict.keys_known);
        let bytes = sum(Metric::Bytes);
        let text = match self.commands.service() {
            None if planned.plan.is_relief => {
                let fullest = [&self.now, after].map(fullest_part);
                said::relieve(&slots, bytes.unwrap_or(0), fullest)
            }
            None => {
                let others = self.evened(after);
                format!("{}{others}", said::moves(slots.len() as u64, keys, bytes))
            }
            Some(_) => said::slot_ranges(planned.request.staying().count() as u64),
        };
        Step {
            slots_moved: slots.len() as u64,
            keys_moved: keys,
            bytes_moved: bytes,
            longest_block_ms: self.longest_block(&slots),
            request: Some(planned.requested()),
            ..step(StepKind::Move, text, &after.after(&self.cluster))
        }
    }

    /// The purpose of moves that do not lower the fullest node.
    fn evened(&self, after: &Placement<'_>) -> String {
        let roles = self.now.roles.iter().zip(&after.roles);
        let judged = roles.filter(|(role, _)| role.is_judged).map(|(now, then)| {
            let now = self.now.role_after(&self.cluster, now);
            (now, after.role_after(&self.cluster, then))
        });
        let mut judged: Vec<_> = judged.collect();
        let is_lower = |(now, then): &(RoleAfter, RoleAfter)| {
            now.max_over_mean - then.max_over_mean >= limit::WORTH / 2.0
        };
        if judged.iter().any(is_lower) {
            return String::new();
        }
        judged.retain(|(now, then)| now.rest - then.rest >= limit::WORTH);
        match judged.first() {
            Some((now, then)) => said::evens_others(now.rest, then.rest),
            None => String::new(),
        }
    }

    /// Whether many small streams move key by key.
    fn has_small_streams(&self) -> bool {
        let types = self.summary.types.iter().flatten();
        let bytes = |load: &TypeLoad| load.load.get(Metric::Bytes).copied().unwrap_or(0) as f64;
        let total: f64 = types.clone().map(bytes).sum();
        let mut streams = types.filter(|load| load.kind.to_string() == "stream");
        let are_small = |load: &TypeLoad| {
            let size = bytes(load);
            size >= MANY_STREAMS * total && size < SMALL_STREAM * load.load.keys as f64
        };
        !self.commands.migration.is_atomic() && streams.any(are_small)
    }

    /// Whether the roles are evened out in the same order after a step as today: memory first where a node is near its
    /// limit.
    fn keeps_order(&self, after: &Placement<'_>) -> bool {
        let is_close = |placement| fullest_part(placement) >= limit::CLOSE;
        is_close(&self.today) == is_close(after)
    }

    /// The milliseconds that the largest key in `slots` blocks its node; `None` if sizes are unknown.
    fn longest_block(&self, slots: &[u16]) -> Option<f64> {
        self.summary.slots.loads.get(Metric::Bytes)?;
        if self.commands.migration.is_atomic() {
            return Some(0.0);
        }
        let here = self.keys.iter().filter(|key| slots.contains(&key.slot));
        Some(here.map(|key| key.block_ms).max().unwrap_or(0) as f64)
    }

    /// If only slot counts are uneven, nodes may be meant to differ in size.
    fn meant(&self) -> Option<Step> {
        let roles = self
            .summary
            .verdict
            .roles
            .iter()
            .zip(&self.summary.role_loads);
        let mut uneven = roles.filter(|(role, _)| role.state.is_uneven()).peekable();
        uneven.peek()?;
        let are_meant = uneven.all(|(role, load)| {
            let causes = named(&role.causes);
            let is_equal = load.weights.windows(2).all(|pair| pair[0] == pair[1]);
            let are_slots = causes.iter().all(|cause| cause.kind == CauseKind::Slots);
            is_equal && !causes.is_empty() && are_slots
        });
        let command = self
            .commands
            .weighted(self.topology)
            .filter(|_| are_meant)?;
        let text = "if the nodes are meant to own different numbers of slots: say so with --weight";
        Some(Step {
            command: Some(command),
            ..step(StepKind::Move, text, &After::default())
        })
    }

    /// A primary with few or no slots is filled, unless it is to be removed.
    fn instead_of_filling(&self) -> Option<Step> {
        if self.commands.service().is_some() {
            return None;
        }
        let nodes = &self.summary.nodes;
        let up = || nodes.list.iter().filter(|node| !node.failed);
        let share =
            up().map(|node| f64::from(node.slots)).sum::<f64>() / up().count().max(1) as f64;
        let few = up().find(|node| f64::from(node.slots) < limit::MOVING * share)?;
        let mut turned = step(
            StepKind::Move,
            match few.slots {
                0 => format!("forget {} instead: it has no slots", short(&few.label())),
                _ => format!("empty {} instead", short(&few.label())),
            },
            &After::default(),
        );
        if few.slots > 0 {
            let name = few.name().to_string();
            turned.command = self.commands.plan(&["--remove", &name], self.topology);
        }
        (turned.keys_moved, turned.bytes_moved) = (None, None);
        Some(turned)
    }
}

/// The part of its limit of memory that the fullest node uses.
fn fullest_part(placement: &Placement<'_>) -> f64 {
    let parts = placement.parts_of_limit().into_iter().flatten();
    parts.fold(0.0, f64::max)
}
