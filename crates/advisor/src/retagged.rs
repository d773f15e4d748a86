//! The load of each slot under several schemes, of all names: the model has a sample of them.
//!
//! Only names with the prefix of a family that a scheme changes are tokenized; in most inputs a comparison skips all
//! others.

use slotscope_base::metric::Metric;
use slotscope_base::slot::{SLOTS, SlotBatch};
use slotscope_count::tally::Tally;

use crate::carried_out::{Scored, hashed};
use crate::families::Families;
use crate::model::Model;
use crate::names::weights;
use crate::scheme::Choice;
use crate::spelling::Renaming;
use crate::tokens::Tokens;

/// All names of an input, and what several schemes make of them.
pub struct AllRetagged<'a> {
    families: &'a Families,
    /// The metric of load.
    metric: Metric,
    schemes: Vec<Retagged<'a>>,
    tokens: Tokens,
    new: Vec<u8>,
}

/// The outcome of a scheme for all names.
struct Retagged<'a> {
    renaming: &'a Renaming,
    /// The prefixes of the names that change; none is a prefix of another.
    prefixes: Vec<Vec<u8>>,
    /// The load of each slot.
    slots: Vec<u64>,
    /// Names that change.
    renamed: u64,
}

impl<'a> Retagged<'a> {
    fn new(families: &Families, renaming: &'a Renaming) -> Self {
        let listed = families.list.iter().enumerate();
        let changed = listed.filter(|(at, _)| renaming.scheme.get(*at as u32) != Choice::Keep);
        let mut prefixes: Vec<Vec<u8>> = changed.map(|(_, family)| family.prefix()).collect();
        prefixes.sort();
        prefixes.dedup_by(|longer, shorter| longer.starts_with(shorter));
        Retagged {
            renaming,
            prefixes,
            slots: vec![0; SLOTS],
            renamed: 0,
        }
    }

    /// Whether the scheme may change a name.
    fn may_change(&self, name: &[u8]) -> bool {
        let after = self
            .prefixes
            .partition_point(|prefix| prefix.as_slice() <= name);
        let before = after.checked_sub(1);
        before.is_some_and(|at| name.starts_with(&self.prefixes[at]))
    }

    fn add(&mut self, slot: u16, load: u64) {
        let sum = &mut self.slots[usize::from(slot)];
        *sum = sum.saturating_add(load);
    }
}

impl<'a> AllRetagged<'a> {
    /// Empty counts.
    pub fn new(model: &'a Model<'_>, renamings: &'a [Renaming]) -> Self {
        let families = &model.families;
        let schemes = renamings
            .iter()
            .map(|renaming| Retagged::new(families, renaming));
        AllRetagged {
            families,
            metric: model.names.metric(),
            schemes: schemes.collect(),
            tokens: families.tokens(),
            new: Vec::new(),
        }
    }

    /// Replaces the slots and the names renamed of a sample by those of all names.
    pub fn finish(self, model: &Model<'_>, schemes: &mut [Scored]) {
        for (scored, retagged) in schemes.iter_mut().zip(self.schemes) {
            scored.names.slots = retagged.slots;
            scored.names.renamed = retagged.renamed;
            scored.weigh(&model.owners);
        }
    }
}

impl Tally for AllRetagged<'_> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let weight = weights(keys, self.metric);
        for i in 0..keys.len() {
            let (name, load) = (keys.batch.keys.get(keys.batch.base, i), weight(i));
            for scheme in &mut self.schemes {
                self.new.clear();
                if scheme.may_change(name) {
                    scheme
                        .renaming
                        .apply(self.families, name, &mut self.tokens, &mut self.new);
                }
                if self.new.is_empty() || self.new == name {
                    scheme.add(keys.slots[i], load);
                } else {
                    scheme.renamed += 1;
                    scheme.add(hashslot::slot_of_part(hashed(&self.new)), load);
                }
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.schemes.iter_mut().zip(other.schemes) {
            for (sum, load) in mine.slots.iter_mut().zip(theirs.slots) {
                *sum = sum.saturating_add(load);
            }
            mine.renamed += theirs.renamed;
        }
    }
}
