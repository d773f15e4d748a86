//! Counts batches of keys with slots. A tally is a value: it can be merged with another, stored, and made on another
//! machine; its content does not depend on the order of keys.

#[doc(hidden)]
pub mod attributes;
mod by_place;
#[doc(hidden)]
pub mod captured;
pub mod choice;
#[doc(hidden)]
pub mod counted_pattern;
#[doc(hidden)]
pub mod duplicates;
#[doc(hidden)]
pub mod expiry;
#[doc(hidden)]
pub mod extremes;
#[doc(hidden)]
pub mod heaviest;
#[doc(hidden)]
pub mod keys_by_node;
#[doc(hidden)]
pub mod kinds;
#[doc(hidden)]
pub mod listed_tags;
#[doc(hidden)]
pub mod operations;
mod pattern_counts;
#[doc(hidden)]
pub mod patterns;
#[doc(hidden)]
pub mod present;
#[doc(hidden)]
pub mod recency;
mod recent_patterns;
#[doc(hidden)]
pub mod recount;
#[doc(hidden)]
pub mod rejects;
#[doc(hidden)]
pub mod sketch;
#[doc(hidden)]
pub mod slot_sets;
#[doc(hidden)]
pub mod slots;
#[doc(hidden)]
pub mod slots_by_input;
#[doc(hidden)]
pub mod table;
#[doc(hidden)]
pub mod tag_table;
#[doc(hidden)]
pub mod tagged;
#[doc(hidden)]
pub mod tags;
#[doc(hidden)]
pub mod weights;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use slotscope_base::metric::{Metric, are_counts};
use slotscope_base::slot::SlotBatch;

use crate::tally::attributes::Attributes;
use crate::tally::captured::Captured;
use crate::tally::duplicates::Duplicates;
use crate::tally::extremes::Extremes;
use crate::tally::heaviest::Heaviest;
use crate::tally::keys_by_node::KeysByNode;
use crate::tally::operations::Operations;
use crate::tally::patterns::Patterns;
use crate::tally::sketch::histogram::{Lengths, Sizes};
use crate::tally::slots::SlotCounts;
use crate::tally::slots_by_input::SlotsByInput;
use crate::tally::tag_table::TagTable;
use crate::tally::tags::TagCounter;
use crate::tally::weights::Weights;

/// Something counted over all keys.
pub trait Tally: Send {
    /// Counts a batch of keys.
    fn add(&mut self, keys: &SlotBatch<'_>);
    /// Merges another tally of the same kind into this one.
    fn merge(&mut self, other: Self)
    where
        Self: Sized;
    /// Whether it uses types, encodings, elements or times; if not, they are not read.
    fn reads_attributes(&self) -> bool {
        true
    }
    /// Whether it uses keys and their slots; if not, `add` is never called: only what the scan itself counts is wanted.
    fn reads_slots(&self) -> bool {
        true
    }
}

/// Everything that `analyze` counts in its first pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tallies {
    /// Loads by slot.
    pub slots: SlotCounts,
    /// The weights in the input.
    pub weights: Weights,
    /// The nodes whose keys each input holds, for several inputs.
    pub origins: KeysByNode,
    /// The slots of each input's keys, if the nodes are not known.
    pub inputs: SlotsByInput,
    /// The extent of each capture.
    #[serde(default, skip_serializing_if = "Captured::is_empty")]
    pub captured: Captured,
    /// Everything else; absent if only slots are counted.
    pub names: Option<NameTallies>,
}

/// Counts of the names and attributes of keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NameTallies {
    /// Hash tags.
    pub tags: TagCounter,
    /// The heaviest keys.
    pub heaviest: Heaviest,
    /// Key lengths.
    pub lengths: Lengths,
    /// Key sizes.
    pub sizes: Sizes,
    /// Types, expiry, databases.
    pub attributes: Attributes,
    /// Repeated keys.
    pub duplicates: Duplicates,
    /// Patterns of names; absent if not requested.
    pub patterns: Option<Patterns>,
    /// Operations in captures.
    pub operations: Operations,
    /// Keys from key listings.
    pub extremes: Extremes,
}

/// The parts to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Only slots.
    Slots,
    /// Everything; heavy tags that exceed the table are left to a second pass.
    All,
    /// Everything; heavy tags that exceed the table are tracked by name.
    InOnePass,
}

impl Tallies {
    /// An empty count.
    pub fn new(parts: Parts) -> Self {
        let names = || NameTallies {
            tags: TagCounter::new(parts == Parts::InOnePass),
            ..NameTallies::default()
        };
        Tallies {
            slots: SlotCounts::default(),
            weights: Weights::default(),
            origins: KeysByNode::default(),
            inputs: SlotsByInput::default(),
            captured: Captured::default(),
            names: (parts != Parts::Slots).then(names),
        }
    }
}

impl Tallies {
    /// Counts hash tags that exceed a table of names in this shared one, as do all tallies to be merged with this one.
    pub fn sharing(mut self, table: &Arc<TagTable>) -> Self {
        if let Some(names) = &mut self.names {
            names.tags = std::mem::take(&mut names.tags).sharing(table.clone());
        }
        self
    }

    /// Also counts patterns of names, with segments separated by `separator`.
    pub fn with_patterns(mut self, separator: &[u8]) -> Self {
        if let Some(names) = &mut self.names {
            names.patterns = Some(Patterns::new(separator));
        }
        self
    }
}

impl Tallies {
    /// Turns the operations on each key into its weight, once everything is counted.
    pub fn settle_operations(&mut self) {
        let Some(names) = &mut self.names else { return };
        if names.operations.is_empty() {
            return;
        }
        let busy = names.operations.busy_keys();
        names.heaviest.add_busy(&busy.keys);
        for metric in [Metric::Ops, Metric::Cpu] {
            let is_counted = metric == Metric::Ops || names.operations.has_cpu();
            if is_counted {
                let total = self.slots.total_of(metric);
                weights::add_busy(&mut self.weights, &busy, metric, total);
            }
        }
    }
}

impl Tallies {
    /// Whether another one counts the same things in the same way, so that both can be merged.
    pub fn is_like(&self, other: &Tallies) -> bool {
        let names = match (&self.names, &other.names) {
            (Some(mine), Some(theirs)) => mine.is_like(theirs),
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        };
        names
            && self.origins.is_like(&other.origins)
            && self.inputs.is_counted() == other.inputs.is_counted()
    }
}

impl Tallies {
    /// Whether counts read from a file may be those of an input.
    pub fn are_sound(&self) -> bool {
        let names = self.names.as_ref();
        self.slots.is_sound()
            && names.is_none_or(NameTallies::are_sound)
            && self.origins.inputs().all(are_counts)
    }
}

impl NameTallies {
    fn is_like(&self, other: &NameTallies) -> bool {
        let patterns = match (&self.patterns, &other.patterns) {
            (Some(mine), Some(theirs)) => mine.is_like(theirs),
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        };
        patterns && self.tags.is_like(&other.tags)
    }

    fn are_sound(&self) -> bool {
        self.tags.is_sound()
            && self.attributes.is_sound()
            && self.duplicates.is_sound()
            && self.patterns.as_ref().is_none_or(Patterns::is_sound)
            && self.operations.is_sound()
            && self.extremes.is_sound()
    }
}

impl Tally for Tallies {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        if !keys.batch.values.extremes.is_empty() {
            // They are neither keys nor operations.
            let names = self.names.as_mut();
            return names.map_or((), |names| names.extremes.add(keys));
        }
        self.slots.add(keys);
        if !keys.batch.values.are_operations {
            self.weights.add(keys);
        }
        self.origins.add(keys);
        self.inputs.add(keys);
        self.captured.add(keys);
        self.names.add(keys);
    }

    fn merge(&mut self, other: Self) {
        self.slots.merge(other.slots);
        self.weights.merge(other.weights);
        self.origins.merge(other.origins);
        self.inputs.merge(other.inputs);
        self.captured.merge(other.captured);
        self.names.merge(other.names);
    }

    fn reads_attributes(&self) -> bool {
        self.names.is_some()
    }
}

impl Tally for NameTallies {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.tags.add(keys);
        self.patterns.add(keys);
        if keys.batch.values.are_operations {
            // A key in a dump is known to be one, with a known load.
            return self.operations.add(keys);
        }
        self.heaviest.add(keys);
        self.lengths.add(keys);
        self.sizes.add(keys);
        self.attributes.add(keys);
        self.duplicates.add(keys);
    }

    fn merge(&mut self, other: Self) {
        self.tags.merge(other.tags);
        self.heaviest.merge(other.heaviest);
        self.lengths.merge(other.lengths);
        self.sizes.merge(other.sizes);
        self.attributes.merge(other.attributes);
        self.duplicates.merge(other.duplicates);
        self.patterns.merge(other.patterns);
        self.operations.merge(other.operations);
        self.extremes.merge(other.extremes);
    }
}

/// An absent tally counts nothing.
impl<T: Tally> Tally for Option<T> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        if let Some(tally) = self {
            tally.add(keys);
        }
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (none @ None, theirs) => *none = theirs,
            (Some(_), None) => {}
        }
    }

    fn reads_attributes(&self) -> bool {
        self.as_ref().is_some_and(T::reads_attributes)
    }
}
