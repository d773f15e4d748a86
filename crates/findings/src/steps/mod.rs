//! Remedies: one ordered list of steps for all findings, each computed on the result of the steps before it.
//!
//! Repairs come first, and end the list while slots are not served or the dump is incomplete. Then one plan of moves for
//! all roles, changes of the application, the moves that are due after that, and more nodes where a limit is near.

mod application;
mod commands;
mod equal_slots;
mod evening;
mod left;
mod managed;
mod moves;
mod repair;
mod retag;
mod service;
mod situation;

pub use commands::Commands;
pub use service::Service;

use slotscope_engine::metric::Metric;

use crate::plan::block_time::{BlockingKey, MAX_BLOCK, blocking_keys};
use crate::plan::goals::{Carried, Goals};
use crate::steps::moves::{Movable, Moves, can_be_goal, moved};
use crate::steps::repair::{frees, more_nodes, repairs, step, take_again};
use crate::steps::situation::{RoleNow, Situation};
use crate::summary::Summary;
use crate::summary::cause::CauseKind;
use crate::summary::explanation::named;
use crate::summary::finding::{Finding, FindingKind};
use crate::summary::limit;
use crate::summary::observed::Observed;
use crate::summary::reason::Reason;
use crate::summary::state::State;
use crate::summary::step::{Actor, After, Left, Step, StepKind, StepText};
use crate::topology::Topology;

/// Moves that lower a ratio by this much at once are worth it as relief, though a change of the application is due.
const RELIEF: f64 = 0.20;
/// Changes of the application that are offered, for each role one.
const CHANGES: usize = 2;

/// Adds the steps to the verdict of a summary, and links its findings to them.
pub fn add(summary: &mut Summary, topology: &Topology, observed: &Observed, commands: &Commands) {
    let steps = Steps::of(summary, topology, observed, commands);
    let (list, left, is_actionable) = (steps.list, steps.left, steps.is_actionable);
    let verdict = &mut summary.verdict;
    verdict.actionable = is_actionable && list.iter().any(|step| step.by == Actor::Operator);
    for (at, step) in list.iter().enumerate() {
        for found in &mut verdict.findings {
            if step.findings.contains(&found.id) && !found.steps.contains(&at) {
                found.steps.push(at);
            }
        }
    }
    (verdict.steps, verdict.left) = (list, left);
}

/// The steps so far, and where they have led.
struct Steps<'a> {
    summary: &'a Summary,
    topology: &'a Topology,
    commands: &'a Commands,
    movable: Movable,
    keys: Vec<BlockingKey>,
    pinned: Vec<BlockingKey>,
    price: Option<&'a [u64]>,
    reads: Option<f64>,
    now: Situation<'a>,
    list: Vec<Step>,
    left: Vec<Left>,
    /// Proofs about a metric: the slots that keep it above a ratio.
    proven: Vec<(Metric, Vec<u16>, f64)>,
    is_actionable: bool,
}

impl<'a> Steps<'a> {
    fn of(
        summary: &'a Summary,
        topology: &'a Topology,
        observed: &'a Observed,
        commands: &'a Commands,
    ) -> Self {
        let slots = summary.slots.loads.keys.len();
        let owner = (0..slots).map(|slot| topology.owner(slot as u16)).collect();
        let now = Situation::today(summary, owner);
        let is_atomic = commands.migration.is_atomic();
        let keys = blocking_keys(summary);
        // If slots move as a whole, no single key blocks.
        let is_pinned = |key: &&BlockingKey| !is_atomic && key.block_time() > MAX_BLOCK;
        let pinned: Vec<BlockingKey> = keys.iter().filter(is_pinned).cloned().collect();
        let mut steps = Steps {
            summary,
            topology,
            commands,
            movable: Movable {
                unasked: unasked(summary, commands),
                ..Movable::new(topology, pinned.iter().map(|key| key.slot))
            },
            keys,
            pinned,
            price: summary.slots.loads.get(Metric::Bytes).map(Vec::as_slice),
            reads: observed
                .captures
                .as_ref()
                .and_then(|captures| captures.reads),
            list: Vec::new(),
            left: Vec::new(),
            proven: Vec::new(),
            is_actionable: false,
            now,
        };
        let today = steps.now.after();
        steps.list = repairs(summary, topology, commands, &today);
        steps.is_actionable = !steps.list.is_empty();
        let verdict = &summary.verdict;
        let mut findings = verdict.findings.iter();
        let is_suspicious = findings.any(|found| found.kind == FindingKind::Suspicious);
        // A dump that may lack keys is nothing to plan for.
        let is_doubtful = summary.input.doubt().is_some()
            && verdict.roles.iter().any(|role| role.state.is_uneven());
        if is_suspicious || is_doubtful {
            steps.list.push(take_again(summary, &today));
        }
        match verdict.state {
            State::Down | State::Suspicious => {}
            _ => steps.add_all(observed, &today, is_doubtful),
        }
        steps
    }

    fn add_all(&mut self, observed: &Observed, today: &After, is_doubtful: bool) {
        self.list
            .extend(frees(self.summary, observed, self.commands, today));
        match self.commands.service() {
            _ if is_doubtful => {}
            Some(service) => self.add_managed(service),
            None if self.is_moving() => {
                self.add_finish(today);
                return;
            }
            None => self.add_moves_and_changes(),
        }
        let more = more_nodes(self.summary, self.commands);
        self.list.extend(more.filter(|_| self.is_near_limit()));
        if !is_doubtful {
            self.add_left();
        }
    }

    /// Whether a node is near a limit after the steps so far. A role that is not compared changes by none of them.
    fn is_near_limit(&self) -> bool {
        let findings = self.summary.verdict.findings.iter();
        let mut near = findings.filter(|found| found.kind == FindingKind::NearLimit);
        near.any(|found| {
            let mut roles = self.now.roles.iter();
            let role = roles.find(|role| role.verdict.role == found.role);
            role.is_none_or(|role| self.now.role_after(role).state == State::Limit)
        })
    }

    /// Whether a node is being filled or drained, and nothing is near a limit.
    fn is_moving(&self) -> bool {
        let verdict = &self.summary.verdict;
        let mut roles = verdict.roles.iter();
        verdict.state <= State::Watch && roles.any(|role| role.reason == Some(Reason::Moving))
    }

    /// In a cluster in motion all that can be done are alternatives: continue, or turn back.
    fn add_finish(&mut self, today: &After) {
        let summary = self.summary;
        let mut loads = summary.role_loads.iter();
        let moving = loads.find_map(|load| load.moving(&summary.nodes));
        let Some(node) = moving else { return };
        let mut finish = step(StepKind::Move, StepText::Finish(node.clone(), true), today);
        finish.findings = self.skews(|_| true);
        let mut turned = step(
            StepKind::Move,
            StepText::Finish(node.clone(), false),
            &After::default(),
        );
        turned.command = Some(
            self.commands
                .plan_without(&node.to_string(), self.topology)
                .as_str()
                .into(),
        );
        (turned.keys_moved, turned.bytes_moved) = (None, None);
        if let Some(planned) = self.planned(&self.now, |role| can_be_goal(self.summary, role)) {
            let after = self.now.with_owner(planned.owner.clone());
            let moves = self.move_step(&self.now, &after, false, &[]);
            finish = Step {
                sentence: finish.sentence,
                ..moves
            };
        }
        finish.alternatives = vec![turned];
        self.list.push(finish);
    }

    /// The plan of a situation: for the roles that ask for it, if that is enough, else for all.
    fn best_plan(&mut self, situation: &Situation<'a>) -> Option<Moves> {
        let summary = self.summary;
        let is_goal = |role: &RoleNow<'_>| can_be_goal(summary, role);
        let needing = |role: &RoleNow<'_>| situation.is_needing(role) && is_goal(role);
        if !situation.roles.iter().any(needing) {
            return None;
        }
        let narrow = self.planned(situation, needing);
        let is_all = situation
            .roles
            .iter()
            .filter(|role| is_goal(role))
            .all(needing);
        let is_enough = |planned: &Option<Moves>| {
            planned.as_ref().is_some_and(|planned| {
                let after = situation.with_owner(planned.owner.clone());
                let mut roles = after.roles.iter().enumerate();
                !roles.any(|(at, role)| {
                    is_goal(role) && (after.is_needing(role) || after.is_worse_than(situation, at))
                })
            })
        };
        let wide = if is_all || is_enough(&narrow) {
            None
        } else {
            self.planned(situation, is_goal)
                .filter(|planned| is_enough(&Some(planned.clone())))
        };
        // Without --by a plan is for the roles that ask for it.
        let narrow = narrow.map(|planned| Moves {
            goals: Vec::new(),
            ..planned
        });
        let best = wide.or(narrow)?;
        self.note_proofs(&best);
        let after = situation.with_owner(best.owner.clone());
        (after.gain_over(situation) >= limit::WORTH).then_some(best)
    }

    fn planned(
        &self,
        situation: &Situation<'a>,
        is_goal: impl Fn(&RoleNow<'_>) -> bool,
    ) -> Option<Moves> {
        self.movable.plan(situation, self.price, is_goal)
    }

    /// Keeps what a plan has proven for the end of the list.
    fn note_proofs(&mut self, planned: &Moves) {
        for proof in &planned.proofs {
            self.proven.retain(|(metric, ..)| *metric != proof.0);
            self.proven.push(proof.clone());
        }
    }

    fn push_move(&mut self, after: Situation<'a>, until: Option<usize>, by: &[Metric]) {
        let mut moves = self.move_step(&self.now, &after, until.is_some(), by);
        moves.until = until;
        let others = [self.equal_slots(&after), self.meant()];
        moves.alternatives = others.into_iter().flatten().collect();
        self.is_actionable |= after.gain_over(&self.now) >= limit::WORTH;
        self.now = after;
        self.list.push(moves);
    }

    fn move_step(
        &self,
        before: &Situation<'_>,
        after: &Situation<'_>,
        is_relief: bool,
        by: &[Metric],
    ) -> Step {
        let (moved, slots) = moved(&before.owner, after);
        let text = StepText::Move {
            slots: moved.slots,
            keys: moved.keys,
            bytes: moved.bytes,
            is_relief,
        };
        let improved = |found: &Finding| is_improved(before, after, found);
        Step {
            findings: self.skews(improved),
            command: Some(self.commands.plan(by, self.topology).as_str().into()),
            slots_moved: moved.slots,
            keys_moved: moved.keys,
            bytes_moved: moved.bytes,
            longest_block_ms: self.longest_block(&slots),
            ..step(StepKind::Move, text, &after.after())
        }
    }

    /// For how many milliseconds the largest key in `slots` blocks its node; `None` where no sizes are known.
    fn longest_block(&self, slots: &[u16]) -> Option<f64> {
        self.summary.slots.loads.get(Metric::Bytes)?;
        let here = self.keys.iter().filter(|key| slots.contains(&key.slot));
        Some(here.map(|key| key.block_ms).max().unwrap_or(0) as f64)
    }

    /// Equal slot counts, where they come within a little of the plan.
    fn equal_slots(&self, planned: &Situation<'_>) -> Option<Step> {
        let owner = equal_slots::owners(self.topology)?;
        let after = self.now.with_owner(owner);
        let is_near = planned.roles.iter().zip(&after.roles).all(|(plan, equal)| {
            after.max_over_mean(equal) <= planned.max_over_mean(plan) + limit::WORTH
        });
        let command = self.commands.rebalance(self.topology)?;
        let (moved, _) = moved(&self.now.owner, &after);
        is_near.then(|| Step {
            command: Some(command.as_str().into()),
            slots_moved: moved.slots,
            keys_moved: moved.keys,
            bytes_moved: moved.bytes,
            ..step(
                StepKind::Move,
                StepText::EqualSlots { slots: moved.slots },
                &after.after(),
            )
        })
    }

    /// Where nothing but the numbers of slots is uneven, they may be meant: nodes of other sizes.
    fn meant(&self) -> Option<Step> {
        let uneven = || {
            let roles = self.now.roles.iter();
            roles.filter(|role| role.verdict.state.is_uneven())
        };
        let is_of_slots = |role: &RoleNow<'_>| {
            let causes = named(&role.verdict.causes);
            let is_equal = role.load.weights.windows(2).all(|pair| pair[0] == pair[1]);
            is_equal && !causes.is_empty() && causes.iter().all(|of| of.kind == CauseKind::Slots)
        };
        let command = self.commands.weighted(self.topology);
        let command = command.filter(|_| uneven().next().is_some() && uneven().all(is_of_slots))?;
        Some(Step {
            command: Some(command.as_str().into()),
            ..step(StepKind::Move, StepText::Meant, &self.now.after())
        })
    }

    /// The ids of findings of nodes that are uneven or at a limit.
    fn skews(&self, is_its: impl Fn(&Finding) -> bool) -> Vec<String> {
        let found = self.summary.verdict.findings.iter();
        let of_nodes = found.filter(|found| {
            matches!(found.kind, FindingKind::Skew | FindingKind::NearLimit) && is_its(found)
        });
        of_nodes.map(|found| found.id.clone()).collect()
    }
}

/// Whether the role of a finding is evener after steps.
fn is_improved(before: &Situation<'_>, after: &Situation<'_>, found: &Finding) -> bool {
    before.roles.iter().zip(&after.roles).any(|(then, now)| {
        let is_its = found.role == then.verdict.role;
        let gain = before.max_over_mean(then) - after.max_over_mean(now);
        is_its && gain >= limit::WORTH
    })
}

/// If the user chose the metrics to judge by, the loads that a plan must not worsen all the same.
fn unasked(summary: &Summary, commands: &Commands) -> Vec<(Metric, f64)> {
    if commands.by.is_empty() {
        return Vec::new();
    }
    let judged = summary.verdict.roles.iter();
    let by: Vec<(Metric, f64)> = judged.map(|role| (role.by(), 1.0)).collect();
    Goals::of(&Carried::of(summary), &by, None).guards
}
