//! A limit of memory that is raised before anything else, and the steps that are then planned with the new one.

use crate::plan::cluster::Cluster;
use crate::plan::placement::Placement;
use crate::steps::repair::{Raise, raise_to};
use crate::steps::{Steps, is_of_node};
use slotscope_findings::summary::observed::Observed;
use slotscope_model::state::State;
use slotscope_model::step::{Frees, Left, Step, StepKind};

impl<'a> Steps<'a> {
    /// The steps with a raised limit first, of which `cluster` knows nothing yet.
    pub(super) fn after_raise(
        self,
        raise: Raise,
        observed: &Observed,
        cluster: Cluster<'_>,
    ) -> (Vec<Step>, Vec<Left>) {
        // The rest is planned with the new limit.
        let mut raised = self.summary.clone();
        let maxmemory = raise.maxmemory as f64;
        raised.headroom = self.summary.headroom.with_limit(raise.node, maxmemory);
        let then = self.commands.with_maxmemory(raise.maxmemory);
        let mut then = Steps::of(&raised, self.topology, observed, &then, cluster);
        then.insert(raise, &self.today);
        // Other remedies, where hosts have no more memory.
        let is_other = |step: &Step| {
            step.kind == StepKind::AddNodes
                || step.kind == StepKind::Free && step.frees != Some(Frees::Limit)
        };
        let is_new = |step: &Step| then.list.iter().all(|own| own.sentence != step.sentence);
        let others: Vec<Step> = self
            .list
            .into_iter()
            .filter(|step| is_other(step) && is_new(step))
            .map(|step| Step {
                until: None,
                after: match step.kind {
                    StepKind::Free => then.now.after(&then.cluster),
                    _ => step.after,
                },
                ..step
            })
            .collect();
        then.list.extend(others);
        (then.list, then.left)
    }

    /// Where no few slots relieve a full node, its limit is raised before anything else.
    pub(super) fn raise(&self) -> Option<Raise> {
        let is_relief = |step: &Step| step.request.as_ref().is_some_and(|request| request.relief);
        let ends = matches!(self.summary.verdict.state, State::Down | State::Suspicious);
        if ends || self.commands.service().is_some() || self.list.iter().any(is_relief) {
            return None;
        }
        raise_to(self.summary, &self.today, self.topology, self.commands)
    }

    /// Puts a raised limit before the steps that are planned with it.
    fn insert(&mut self, raise: Raise, today: &Placement<'_>) {
        self.list.retain(|step| step.frees != Some(Frees::Limit));
        if raise.node.is_some() {
            // The flag for the limit is that of all nodes.
            let moves = self.list.iter_mut().filter(|step| step.request.is_some());
            moves.for_each(|step| step.command = None);
        }
        let is_before = |step: &&Step| {
            matches!(step.kind, StepKind::Repair | StepKind::TakeAgain) || is_of_node(step)
        };
        let at = self.list.iter().take_while(is_before).count();
        for step in &mut self.list {
            step.until = step.until.map(|until| until + usize::from(until >= at));
        }
        let after = today.after(&self.cluster);
        self.list.insert(
            at,
            Step {
                after,
                ..raise.step
            },
        );
    }
}
