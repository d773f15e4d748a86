//! The moves of today, the changes of the application, and the moves that are due after them: each for what the others
//! leave.

use slotscope_engine::metric::Metric;

use crate::steps::application::{Change, changes};
use crate::steps::moves::{can_be_goal, moved};
use crate::steps::repair::step;
use crate::steps::situation::{RoleNow, Situation};
use crate::steps::{CHANGES, RELIEF, Steps, is_improved};
use crate::summary::limit;
use crate::summary::step::{Step, StepKind, StepText};

impl<'a> Steps<'a> {
    /// The moves of today, the changes of the application, and the moves that are due after them.
    pub(super) fn add_moves_and_changes(&mut self) {
        let start = self.now.clone();
        let joint = self.best_plan(&start);
        let goals = joint.iter().flat_map(|planned| planned.goals.clone());
        let goals: Vec<Metric> = goals.collect();
        let after_joint = match &joint {
            Some(planned) => start.with_owner(planned.owner.clone()),
            None => start.clone(),
        };
        let pressing: Vec<usize> = (0..start.roles.len())
            .filter(|at| after_joint.is_pressing(&after_joint.roles[*at]))
            .collect();
        let mut changed = start.clone();
        let chosen = self.changes(&mut changed, &pressing);
        if chosen.is_empty() {
            if joint.is_some() {
                self.push_move(after_joint, None, &goals);
            }
            return;
        }
        // Slots move for the roles that no change is due for; as relief for all, where that helps much at once.
        let summary = self.summary;
        let cured: Vec<usize> = chosen.iter().map(|(at, _)| *at).collect();
        let is_other = |role: &RoleNow<'_>| {
            let place = start
                .roles
                .iter()
                .position(|other| std::ptr::eq(other.verdict, role.verdict));
            place.is_some_and(|place| !cured.contains(&place))
                && start.is_needing(role)
                && can_be_goal(summary, role)
        };
        let others = self.planned(&start, is_other);
        let after_others = match &others {
            Some(planned) => start.with_owner(planned.owner.clone()),
            None => start.clone(),
        };
        let relief = after_joint.gain_over(&after_others);
        let by: Vec<Metric> = start
            .roles
            .iter()
            .filter(|role| is_other(role))
            .map(|role| role.verdict.by())
            .collect();
        let at = self.list.len();
        match (joint, others) {
            (Some(_), None) if relief >= RELIEF => {
                let later = self.move_after(&changed);
                self.push_move(after_joint, Some(at + 1), &goals);
                self.list[at].alternatives.extend(later);
            }
            // The need of the others moves slots anyway; and moves that the next report would suggest for relief are made now.
            (Some(_), Some(_)) if relief >= RELIEF || self.relief(&after_others) >= RELIEF => {
                self.push_move(after_joint, None, &goals);
            }
            (_, Some(_)) => self.push_move(after_others, None, &by),
            _ => {}
        }
        self.push_changes(chosen);
        if let Some(planned) = self.best_plan(&self.now.clone()) {
            let after = self.now.with_owner(planned.owner.clone());
            if after.gain_over(&self.now) >= limit::WORTH {
                // The command that is typed then depends on the names of keys then.
                let mut moves = self.move_step(&self.now, &after, false, &[]);
                (moves.command, moves.estimated) = (None, true);
                // Of loads that are nearly known there are other plans as good, and what they do to roles that they are not
                // for differs.
                let is_for = |(then, now): (&RoleNow<'_>, &RoleNow<'_>)| {
                    let gain = self.now.max_over_mean(then) - after.max_over_mean(now);
                    self.now.is_needing(then) && gain >= limit::WORTH
                };
                let both = self.now.roles.iter().zip(&after.roles);
                let are_for: Vec<bool> = both.map(is_for).collect();
                moves.after = after.after_of(|at| are_for[at]);
                self.now = after;
                self.list.push(moves);
            }
        }
    }

    /// The relief that moves bring at once in a situation.
    fn relief(&mut self, situation: &Situation<'a>) -> f64 {
        let proven = self.proven.clone();
        let planned = self.best_plan(situation);
        self.proven = proven;
        planned.map_or(0.0, |planned| {
            let after = situation.with_owner(planned.owner);
            after.gain_over(situation)
        })
    }

    /// In place of moves for relief: nothing until `changed`, then what moves still.
    fn move_after(&mut self, changed: &Situation<'a>) -> Option<Step> {
        let proven = self.proven.clone();
        let after = match self.best_plan(changed) {
            Some(planned) => changed.with_owner(planned.owner),
            None => changed.clone(),
        };
        // Problems left at this point are left by the steps of the list.
        self.proven = proven;
        let (moved, _) = moved(&changed.owner, &after);
        let text = StepText::ChangeFirst { slots: moved.slots };
        Some(Step {
            slots_moved: moved.slots,
            keys_moved: moved.keys,
            bytes_moved: moved.bytes,
            estimated: true,
            ..step(StepKind::Move, text, &after.after())
        })
    }

    /// The changes for the pressing roles, each on what the one before it leaves; `changed` is the result.
    pub(super) fn changes(
        &self,
        changed: &mut Situation<'a>,
        pressing: &[usize],
    ) -> Vec<(usize, Vec<Change>)> {
        let mut chosen: Vec<(usize, Vec<Change>)> = Vec::new();
        for at in pressing {
            let is_done = chosen.iter().any(|(_, found)| found[0].is_of_names());
            if is_done && !changed.is_pressing(&changed.roles[*at]) {
                continue;
            }
            let mut others = chosen.iter().map(|(_, found)| found[0].kind);
            let are_others = others.any(|kind| kind == StepKind::ChooseTags);
            let role = &changed.roles[*at];
            let found = changes(self.summary, changed, role, self.reads, are_others);
            let Some(first) = found.first() else { continue };
            for (role, (slots, known)) in changed.roles.iter_mut().zip(&first.roles) {
                role.slots.clone_from(slots);
                role.known = *known;
            }
            chosen.push((*at, found.into_iter().take(CHANGES).collect()));
        }
        chosen
    }

    pub(super) fn push_changes(&mut self, chosen: Vec<(usize, Vec<Change>)>) {
        for (at, mut found) in chosen {
            let alternatives = found.split_off(1);
            let by = self.now.roles[at].verdict.by();
            let name = self.now.roles[at].verdict.role;
            for change in found {
                let before = self.now.clone();
                apply(&mut self.now, &change);
                let findings = self.skews(|found| {
                    found.role == name
                        || change.is_of_names() && is_improved(&before, &self.now, found)
                });
                let mut step = self.change_step(&change, by, &self.now, findings.clone());
                let others = alternatives.iter().map(|change| {
                    let mut other = before.clone();
                    apply(&mut other, change);
                    self.change_step(change, by, &other, findings.clone())
                });
                step.alternatives = others.collect();
                self.list.push(step);
            }
        }
    }

    fn change_step(
        &self,
        change: &Change,
        by: Metric,
        after: &Situation<'_>,
        findings: Vec<String>,
    ) -> Step {
        let is_exact = change.kind == StepKind::ChooseTags;
        let command = match (&change.untag, change.split.as_slice()) {
            _ if is_exact => Some(self.commands.advise(by)),
            (Some(tag), _) => Some(self.commands.untag(tag, by)),
            (None, []) => None,
            (None, tags) => Some(self.commands.split(tags, by)),
        };
        Step {
            findings,
            command: command.map(|command| command.as_str().into()),
            estimated: !is_exact,
            ..step(change.kind, change.text.clone(), &after.after())
        }
    }
}

/// Carries a change out.
fn apply(situation: &mut Situation<'_>, change: &Change) {
    for (role, (slots, known)) in situation.roles.iter_mut().zip(&change.roles) {
        role.slots.clone_from(slots);
        role.known = *known;
    }
}
