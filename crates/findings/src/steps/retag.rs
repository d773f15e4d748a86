//! Replaces a hash tag that is too coarse, if commands among the inputs show a better one.

use crate::plan::placement::{Known, PlacedRole};
use crate::steps::Steps;
use crate::steps::application::Change;
use crate::steps::pieces::Piece;
use crate::wording::step as said;
use slotscope_advisor::findings::Advice;
use slotscope_advisor::reasons::KeepReason;
use slotscope_engine::name::Name;
use slotscope_model::independent_units::UnitKind;
use slotscope_model::limit;
use slotscope_model::step::StepKind;

impl<'a> Steps<'a> {
    /// The tags that the advice proposes, if a tag fills a node and they help.
    pub(super) fn retag(&self, role: &PlacedRole<'_>, piece: &Piece) -> Option<Change<'a>> {
        let (advice, moved) = (
            self.summary.advice.as_ref()?,
            self.summary.retagged.as_ref()?,
        );
        let best = advice.schemes.first()?;
        // The advice does not know names that an earlier change created.
        let mut roles = self.now.roles.iter();
        let are_todays = roles.all(|role| role.slots == role.load.slots);
        if advice.advice == Advice::Keep || piece.kind != UnitKind::Tag || !are_todays {
            return None;
        }
        let mut after = self.now.clone();
        for role in &mut after.roles {
            let metric = role.load.measure.metric();
            role.known = match () {
                () if !moved.has(metric) => Known::No,
                () if role.load.scale.is_empty() => role.known,
                () => role.known.max(Known::About),
            };
            role.slots = moved.after(metric, &role.slots);
        }
        let ratio = |placement: &crate::plan::placement::Placement<'_>| {
            let mut roles = placement.roles.iter();
            let same = roles.find(|placed| placed.load.measure == role.load.measure);
            same.map_or(0.0, |placed| {
                placement.role_after(&self.cluster, placed).max_over_mean
            })
        };
        let tags: Vec<&Name> = best.tags.iter().filter(|tag| !tag.0.is_empty()).collect();
        let text = said::choose_tags(&tags, best.patterns_renamed as u64, best.keys_renamed);
        (ratio(&self.now) - ratio(&after) >= limit::WORTH)
            .then(|| Change::new(StepKind::ChooseTags, text, Some(after)))
    }

    /// Whether the tags of the advice are other tags, not just none.
    pub(super) fn brings_tags(&self) -> bool {
        let best = self
            .summary
            .advice
            .iter()
            .flat_map(|advice| advice.schemes.first());
        best.flat_map(|best| &best.tags)
            .any(|tag| !tag.0.is_empty())
    }

    /// Whether commands would be refused without today's tags.
    pub(super) fn is_needed(&self) -> bool {
        let advice = self.summary.advice.as_ref();
        advice.is_some_and(|advice| advice.why == Some(KeepReason::MustStayTogether))
    }
}
