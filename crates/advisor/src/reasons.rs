//! The reason for keeping names as they are: the first that applies.

use std::collections::HashMap;

use crate::batches::Batches;
use crate::decision::{Decision, Evidence};
use crate::joins::BatchShape;
use crate::model::Model;
use crate::scheme::{MOST_FIELDS, Scheme};
use crate::soundness::Soundness;

/// A family blocks if it is in the first fraction of the batches and, without it, the second could be cured.
const BLOCKING: f64 = 0.05;
const CURED: f64 = 0.2;
/// Families that are tested as the blocker.
const MOST_BLOCKERS: usize = 8;
/// If this fraction of batches is already in one slot, there is little to gain.
const GOOD_SHARE: f64 = 0.9;
/// A key is hot above this fraction of a fair share of twice the nodes.
const HOT: f64 = 0.7;
/// Batches examined for equal numbers with different spellings.
const LOOKED_AT: usize = 2000;

/// Why nothing changes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
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
    /// One family is in the way: without it batches could be cured.
    Blocker,
    /// One key is so hot that no tag helps.
    HotKey,
    /// Batches that must be in one slot need today's tag.
    MustStayTogether,
    /// The common id has too few values for the nodes, or one of them is too heavy.
    FewValues,
    /// Ids are equal as numbers and not as bytes.
    SpelledDifferently,
    /// The keys of a batch have no id in common.
    NoCommonId,
}

/// The family that blocks, and the fraction of the batches that could be cured without it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blocker {
    /// Its number.
    pub family: u32,
    /// The fraction.
    pub share: f64,
}

impl Model<'_> {
    /// The reason for no change.
    pub(crate) fn keep_reason(
        &self,
        decision: &Decision,
        batches: &Batches,
    ) -> (KeepReason, Option<Blocker>) {
        let today = decision.today();
        let share = today.batches.share().unwrap_or(0.0);
        let nodes = 2.0 * self.owners.nodes as f64;
        let is_sound = today.soundness == Soundness::Good;
        let is_hot = self.judges_accesses() && nodes * self.hottest_key > HOT;
        let blocker = self
            .blocker()
            .filter(|_| share < 0.5 && decision.judges_locality);
        let reason = match () {
            () if decision.evidence == Evidence::NamesAlone => KeepReason::NamesAreFine,
            () if decision.evidence == Evidence::FewBatches => KeepReason::FewBatches,
            () if is_sound && share >= GOOD_SHARE => KeepReason::AlreadyGood,
            () if !decision.judges_locality && !is_hot => KeepReason::SingleKeys,
            () if blocker.is_some() => KeepReason::Blocker,
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
            () if self.is_spelled_differently(batches) => KeepReason::SpelledDifferently,
            () => KeepReason::NoCommonId,
        };
        (reason, blocker.filter(|_| reason == KeepReason::Blocker))
    }

    /// Whether batches have a field in common whose tag is unsound.
    fn has_common_id(&self, decision: &Decision) -> bool {
        let today = decision.today().batches.share().unwrap_or(0.0);
        let curable = self.joins.shapes.iter().filter(|(shape, _)| {
            !shape.is_in_one_slot(&Scheme::default()) && has_common_class(shape, None)
        });
        let cured: u64 = curable.map(|(_, count)| count.batches).sum();
        cured as f64 > CURED * self.joins.multi as f64 && today < GOOD_SHARE
    }

    /// The family without which most batches could be cured.
    fn blocker(&self) -> Option<Blocker> {
        let mut batches: HashMap<u32, u64> = HashMap::new();
        for (shape, count) in &self.joins.shapes {
            shape
                .families
                .iter()
                .for_each(|member| *batches.entry(member.family).or_default() += count.batches);
        }
        let least = BLOCKING * self.joins.multi as f64;
        let mut heavy: Vec<(u32, u64)> = batches
            .into_iter()
            .filter(|(_, batches)| *batches as f64 >= least)
            .collect();
        heavy.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        heavy.truncate(MOST_BLOCKERS);
        let without = |family: u32| {
            let cured = self.joins.shapes.iter().filter(|(shape, _)| {
                let is_member = shape.families.iter().any(|member| member.family == family);
                is_member && has_common_class(shape, Some(family))
            });
            cured.map(|(_, count)| count.batches).sum::<u64>() as f64
                / self.joins.multi.max(1) as f64
        };
        let candidates = heavy.into_iter().map(|(family, _)| Blocker {
            family,
            share: without(family),
        });
        let blockers = candidates.filter(|blocker| blocker.share >= CURED);
        blockers.rev().max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// Whether keys of batches have the same number with and without leading zeros.
    fn is_spelled_differently(&self, batches: &Batches) -> bool {
        let (mut looked_at, mut different) = (0, 0);
        let mut tokens = self.families.tokens();
        for at in 0..batches.len().min(LOOKED_AT) {
            let keys = batches.get(at).keys;
            if keys.len() < 2 {
                continue;
            }
            looked_at += 1;
            let mut spelled: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
            let mut is_different = false;
            for key in keys.iter().take(MOST_FIELDS) {
                if !tokens.parse(key) {
                    continue;
                }
                for at in 0..tokens.list.len() {
                    let text = tokens.bytes(at);
                    if text.iter().all(u8::is_ascii_digit) {
                        let zeros = text.iter().take_while(|digit| **digit == b'0').count();
                        let known = spelled
                            .entry(text[zeros..].to_vec())
                            .or_insert_with(|| text.to_vec());
                        is_different |= known != text;
                    }
                }
            }
            different += usize::from(is_different);
        }
        different as f64 > CURED * f64::from(looked_at.max(1))
    }
}

/// Whether the families of a shape, except one, have a value in common.
fn has_common_class(shape: &BatchShape, but: Option<u32>) -> bool {
    let members = shape.families.iter();
    let mut families = members.filter(|member| Some(member.family) != but);
    let Some(first) = families.next() else {
        return false;
    };
    let others: Vec<_> = families.collect();
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
