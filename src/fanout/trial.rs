//! A tag that might bring the batches of a kind together, and what speaks for and against it.

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_engine::hash::hash;

use crate::fanout::dates::is_date;
use crate::fanout::frequent::Frequent;
use crate::fanout::suggestion::{Parsed, TagSuggestion};

/// The share of batches that must reach one slot.
const TOGETHER: f64 = 0.95;
/// A tag is hot where one value is in more than this share of the batches.
const HOT: f64 = 0.05;
/// Ids are dates where more than this share of them look so: among many ids some are years by chance.
const DATES: f64 = 0.2;

/// Why no tag is suggested for a kind of batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoSuggestion {
    /// Fewer than 100 batches were seen.
    FewBatches,
    /// No id is common to the keys of 95% of the batches.
    NoCommonId,
    /// The common id is a year or a date, or a part of one.
    Date,
    /// One value of the common id is in more than 5% of the batches: its slot would be hot.
    FewValues,
}

/// A tag on trial.
#[derive(Debug)]
pub struct Trial {
    /// The tag.
    pub suggestion: TagSuggestion,
    /// Batches since it is on trial.
    pub batches: u64,
    together: u64,
    slots: u64,
    dates: u64,
    values: Frequent,
}

impl Trial {
    /// It starts.
    pub(crate) fn of(suggestion: TagSuggestion) -> Self {
        Trial {
            suggestion,
            batches: 0,
            together: 0,
            slots: 0,
            dates: 0,
            values: Frequent::default(),
        }
    }

    /// Takes in a batch of the kind.
    pub(crate) fn add(&mut self, keys: &[Parsed<'_>]) {
        let mut slots: Vec<Option<u16>> =
            keys.iter().map(|key| self.suggestion.slot(key)).collect();
        slots.sort_unstable();
        slots.dedup();
        self.batches += 1;
        self.slots += slots.len() as u64;
        self.together += u64::from(matches!(slots.as_slice(), [Some(_)]));
        let first = keys
            .first()
            .and_then(|key| Some((key, self.suggestion.place(key)?)));
        if let Some((key, (start, end))) = first {
            self.values.add(hash(&key.key[start..end]));
            self.dates += u64::from(is_date(key.key, start, end));
        }
    }

    /// Slots of a batch with the tag, in the mean.
    pub fn mean_slots(&self) -> f64 {
        self.slots as f64 / self.batches.max(1) as f64
    }

    /// Whether it brings nearly all batches to one slot each.
    pub(crate) fn brings_together(&self) -> bool {
        self.share(self.together) >= TOGETHER
    }

    /// Why it is not a good tag all the same.
    pub(crate) fn why_not(&self) -> Option<NoSuggestion> {
        if self.share(self.dates) > DATES {
            Some(NoSuggestion::Date)
        } else if self.values.largest_share() > HOT {
            Some(NoSuggestion::FewValues)
        } else {
            None
        }
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.batches.max(1) as f64
    }
}
