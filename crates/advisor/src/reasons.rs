//! The reason for keeping names as they are: the first that applies.

use crate::decision::{Decision, Evidence};
use crate::joins::BatchShape;
use crate::model::Model;
use crate::scheme::{MOST_FIELDS, Scheme};
use crate::soundness::Soundness;

/// Batches have an id in common if this fraction of them does.
const CURED: f64 = 0.2;
/// If this fraction of batches is already in one slot, there is little to gain.
const GOOD_SHARE: f64 = 0.9;
/// A key is hot above this fraction of a fair share of twice the nodes.
const HOT: f64 = 0.7;

/// Why nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeepReason {
    /// Tags are sound, and there is no batch to judge more by.
    NamesAreFine,
    /// Fewer than a hundred batches: too few to say what belongs together.
    FewBatches,
    /// Nearly all batches are in one slot already, and tags are sound.
    AlreadyGood,
    /// Commands take one key each.
    SingleKeys,
    /// One key is so hot that no tag helps.
    HotKey,
    /// Batches that must be in one slot need today's tag.
    MustStayTogether,
    /// The common id has too few values for the nodes, or one of them is too heavy.
    FewValues,
    /// The keys of a batch have no id in common.
    NoCommonId,
}

impl Model<'_> {
    /// The reason for no change.
    pub(crate) fn keep_reason(&self, decision: &Decision) -> KeepReason {
        let today = decision.today();
        let share = today.batches.share().unwrap_or(0.0);
        let nodes = 2.0 * self.owners.nodes as f64;
        let is_sound = today.soundness == Soundness::Good;
        let is_hot = self.judges_accesses() && nodes * self.hottest_key > HOT;
        match () {
            () if decision.evidence == Evidence::NamesAlone => KeepReason::NamesAreFine,
            () if decision.evidence == Evidence::FewBatches => KeepReason::FewBatches,
            () if is_sound && share >= GOOD_SHARE => KeepReason::AlreadyGood,
            () if !decision.judges_locality && !is_hot => KeepReason::SingleKeys,
            () if is_hot => KeepReason::HotKey,
            () if today
                .batches
                .must_share()
                .is_some_and(|share| share > GOOD_SHARE)
                && !is_sound =>
            {
                KeepReason::MustStayTogether
            }
            () if self.has_common_id(decision) => KeepReason::FewValues,
            () => KeepReason::NoCommonId,
        }
    }

    /// Whether batches have a field in common whose tag is unsound.
    fn has_common_id(&self, decision: &Decision) -> bool {
        let today = decision.today().batches.share().unwrap_or(0.0);
        let curable = self.joins.shapes.iter().filter(|(shape, _)| {
            !shape.is_in_one_slot(&Scheme::default()) && has_common_class(shape)
        });
        let cured: u64 = curable.map(|(_, count)| count.batches).sum();
        cured as f64 > CURED * self.joins.multi as f64 && today < GOOD_SHARE
    }
}

/// Whether the families of a shape have a value in common.
fn has_common_class(shape: &BatchShape) -> bool {
    let Some((first, others)) = shape.families.split_first() else {
        return false;
    };
    if others.is_empty() && !first.has_several {
        return false;
    }
    let mut classes = first.fields.iter().take(MOST_FIELDS).flatten();
    classes.any(|class| {
        others.iter().all(|member| {
            member
                .fields
                .iter()
                .take(MOST_FIELDS)
                .flatten()
                .any(|field| field == class)
        })
    })
}
