//! Other hash tags in place of one that is too coarse, where the commands among the inputs show which.

use crate::steps::application::{Change, Trial};
use crate::steps::situation::{Known, RoleNow};
use crate::summary::independent_units::{Unit, UnitKind};
use crate::summary::limit;
use crate::summary::step::{StepKind, StepText};
use slotscope_advisor::findings::Advice;
use slotscope_advisor::reasons::KeepReason;

impl Change {
    /// Whether other tags take the place of today's.
    pub(super) fn brings_tags(&self) -> bool {
        matches!(&self.text, StepText::ChooseTags { tags, .. } if !tags.is_empty())
    }

    /// Whether it is of the names of all keys with a tag, so that it may cure several roles.
    pub(super) fn is_of_names(&self) -> bool {
        matches!(self.kind, StepKind::ChooseTags | StepKind::Untag)
    }
}

impl Trial<'_> {
    /// The tags of the advice, if a tag fills a node and they help.
    pub(super) fn retag(&self, unit: &Unit) -> Option<Change> {
        let (advice, moved) = (
            self.summary.advice.as_ref()?,
            self.summary.retagged.as_ref()?,
        );
        let best = advice.schemes.first()?;
        let roles = &self.situation.roles;
        // The advice does not know names that an earlier change has made.
        let are_todays = roles.iter().all(|role| role.slots == role.load.slots);
        if advice.advice == Advice::Keep || unit.kind != UnitKind::Tag || !are_todays {
            return None;
        }
        let known = |role: &RoleNow<'_>| match () {
            () if !moved.has(role.verdict.by()) => Known::No,
            () if role.load.scale.is_empty() => role.known,
            () => role.known.max(Known::About),
        };
        let after = |role: &RoleNow<'_>| (moved.after(role.verdict.by(), &role.slots), known(role));
        let its = RoleNow {
            slots: after(self.role).0,
            ..self.role.clone()
        };
        let gain = self.situation.max_over_mean(self.role) - self.situation.max_over_mean(&its);
        let tags = best.tags.iter().filter(|tag| !tag.0.is_empty());
        (gain >= limit::WORTH).then(|| Change {
            kind: StepKind::ChooseTags,
            text: StepText::ChooseTags {
                tags: tags.cloned().collect(),
                patterns: best.patterns_renamed as u64,
                keys: best.keys_renamed,
            },
            split: Vec::new(),
            untag: None,
            roles: roles.iter().map(after).collect(),
        })
    }

    /// Whether commands are refused without the tags of today.
    pub(super) fn is_needed(&self) -> bool {
        let advice = self.summary.advice.as_ref();
        advice.is_some_and(|advice| advice.why == Some(KeepReason::MustStayTogether))
    }
}
