//! Steps on a managed service, where slots cannot be moved one by one: ranges of slots for a restored backup where the
//! service takes them, changes of the application, and more shards.

use crate::steps::Steps;
use crate::steps::moves::{can_be_goal, moved};
use crate::steps::repair::step;
use crate::steps::service::Service;
use crate::steps::situation::Situation;
use crate::summary::limit;
use crate::summary::slot_ranges::even_ranges;
use crate::summary::state::Role;
use crate::summary::step::{Step, StepKind, StepText};

impl Steps<'_> {
    /// The steps that are possible there.
    pub(super) fn add_managed(&mut self, service: &'static Service) {
        self.add_ranges(service, false);
        let pressing: Vec<usize> = (0..self.now.roles.len())
            .filter(|at| self.now.is_pressing(&self.now.roles[*at]))
            .collect();
        let mut changed = self.now.clone();
        let chosen = self.changes(&mut changed, &pressing);
        if !chosen.is_empty() {
            self.push_changes(chosen);
            self.add_ranges(service, true);
        }
    }

    /// A backup restored into shards with other ranges, where that evens out a role and worsens none.
    fn add_ranges(&mut self, service: &Service, is_after_change: bool) {
        let needing = self.now.roles.iter();
        let role = needing
            .filter(|role| self.now.is_needing(role) && can_be_goal(self.summary, role))
            .min_by_key(|role| role.verdict.role != Some(Role::Memory));
        let (Some(role), true) = (role, service.has_ranges) else {
            return;
        };
        let (metric, slots) = (role.verdict.by(), role.slots.clone());
        let owning: Vec<usize> = (0..self.topology.nodes.len())
            .filter(|node| self.topology.nodes[*node].slots > 0)
            .collect();
        let Some(ranges) = even_ranges(&slots, owning.len()) else {
            return;
        };
        let mut owner = self.now.owner.clone();
        for ((first, last), node) in ranges.iter().zip(&owning) {
            owner[usize::from(*first)..=usize::from(*last)].fill(Some(*node));
        }
        let after = self.now.with_owner(owner);
        if after.gain_over(&self.now) < limit::WORTH || self.is_worse(&after) {
            return;
        }
        let text = StepText::SlotRanges {
            shards: ranges.len() as u64,
        };
        let (moved, _) = moved(&self.now.owner, &after);
        let command = (!is_after_change).then(|| self.commands.slot_ranges(metric));
        self.is_actionable |= !is_after_change;
        self.list.push(Step {
            findings: self.skews(|found| found.role == role.verdict.role),
            command: command.map(|command| command.as_str().into()),
            slots_moved: moved.slots,
            keys_moved: moved.keys.filter(|_| !is_after_change),
            bytes_moved: moved.bytes.filter(|_| !is_after_change),
            estimated: is_after_change,
            ..step(StepKind::Move, text, &after.after())
        });
        self.now = after;
    }

    /// Whether a role is above its band then, and higher than now.
    fn is_worse(&self, after: &Situation<'_>) -> bool {
        let mut roles = self.now.roles.iter().zip(&after.roles);
        roles.any(|(now, then)| {
            let ratio = after.max_over_mean(then);
            ratio
                > then
                    .verdict
                    .bands
                    .lower
                    .max(self.now.max_over_mean(now) + limit::WORTH)
        })
    }
}
