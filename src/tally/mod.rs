//! Stage 4, COUNTS: batches of slots come in, counts go out. A tally is a value: it can be added to another,
//! stored, and made on another machine; what is in it does not depend on the order of the keys.

pub mod buckets;
pub mod distinct;
pub mod followed;
pub mod hash;
pub mod heavy;
pub mod lengths;
pub mod recount;
pub mod rejects;
pub mod slots;
pub mod table;
pub mod tagged;

use serde::{Deserialize, Serialize};

use crate::slot::SlotBatch;
use heavy::HeavyTags;
use lengths::Lengths;
use slots::SlotCounts;

/// Something that is counted over all keys.
pub trait Tally: Send {
    /// Counts a batch of keys.
    fn add(&mut self, keys: &SlotBatch<'_>);
    /// Takes over what another tally of the same kind counted.
    fn merge(&mut self, other: Self);
}

/// All that `analyze` counts in its first pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tallies {
    /// Keys by slot.
    pub slots: SlotCounts,
    /// Hash tags; absent where only slots are wanted.
    pub tags: Option<HeavyTags>,
    /// Key lengths; absent where only slots are wanted.
    pub lengths: Option<Lengths>,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Slots alone.
    Slots,
    /// Everything; heavy tags past the table are left to a second pass.
    All,
    /// Everything; heavy tags past the table are followed by name.
    InOnePass,
}

impl Tallies {
    /// Nothing counted yet.
    pub fn new(parts: Parts) -> Self {
        let all = parts != Parts::Slots;
        Tallies {
            slots: SlotCounts::default(),
            tags: all.then(|| HeavyTags::new(parts == Parts::InOnePass)),
            lengths: all.then(Lengths::default),
        }
    }
}

impl Tally for Tallies {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.slots.add(keys);
        self.tags.add(keys);
        self.lengths.add(keys);
    }

    fn merge(&mut self, other: Self) {
        self.slots.merge(other.slots);
        self.tags.merge(other.tags);
        self.lengths.merge(other.lengths);
    }
}

/// A tally that may be left out counts nothing where it is.
impl<T: Tally> Tally for Option<T> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        if let Some(tally) = self {
            tally.add(keys);
        }
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Some(tally), Some(other)) => tally.merge(other),
            (none @ None, other) => *none = other,
            (Some(_), None) => {}
        }
    }
}
