//! The names of tags in the table: it knows only hashes, so the names that are wanted are found where their keys are.

use std::collections::HashMap;
use std::sync::Arc;

use super::word::Word;
use super::{TagTable, lock};
use crate::name::Name;
use crate::slot::{SlotBatch, slot_of_part};
use crate::tally::Tally;
use crate::tally::tagged::Tagged;

/// Longer names are not listed, as many of them would fill the memory.
const MAX_NAME: usize = 512;
/// Bits of the filter before the table is asked for a tag.
const FILTER_BITS: u32 = 16;

/// Names of tags without a place.
#[derive(Default)]
pub(super) struct KeptNames {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl KeptNames {
    pub(super) fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let spans = starts.zip(&self.ends);
        spans.map(|(start, end)| &self.bytes[start..*end])
    }
}

/// The tags that are wanted by name.
struct Wanted {
    table: Arc<TagTable>,
    /// The place of each, by its cell.
    places: HashMap<usize, u32>,
    filter: Vec<u64>,
}

/// Looks for the names of tags among keys.
#[derive(Clone)]
pub struct FindNames {
    wanted: Arc<Wanted>,
    /// By cell; `None` where the name is too long.
    found: HashMap<usize, Option<Name>>,
    tagged: Tagged,
}

impl FindNames {
    /// The names of the tags of these cells; those that are kept are found already.
    pub(super) fn of(table: Arc<TagTable>, tags: impl Iterator<Item = (usize, Word)>) -> Self {
        let mut filter = vec![0; 1 << (FILTER_BITS - 6)];
        let mut places = HashMap::new();
        for (cell, word) in tags {
            places.insert(cell, word.place());
            let (at, bit) = bit_of(word);
            filter[at] |= bit;
        }
        let mut names = FindNames {
            wanted: Arc::new(Wanted {
                table: table.clone(),
                places,
                filter,
            }),
            found: HashMap::new(),
            tagged: Tagged::default(),
        };
        for name in lock(&table.names).iter() {
            names.look_at(table.hashing.of_name(name), slot_of_part(name), name);
        }
        names
    }

    /// The blocks that keys of tags start in whose names are not found yet, each with its input, in order.
    pub fn blocks(&self) -> Vec<(usize, u64)> {
        let places = &self.wanted.table.places;
        let wanted = self.wanted.places.iter();
        let missing = wanted.filter(|(cell, _)| !self.found.contains_key(cell));
        let mut blocks: Vec<_> = missing.map(|(_, place)| places.block(*place)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// Bytes of such a block.
    pub fn block_bytes(&self) -> usize {
        self.wanted.table.places.block_bytes()
    }

    /// Whether every name is found.
    pub fn is_done(&self) -> bool {
        self.found.len() == self.wanted.places.len()
    }

    /// The names by cell; `None` for those that are too long to be listed.
    pub(super) fn into_names(self) -> HashMap<usize, Option<Name>> {
        self.found
    }

    /// Takes a name if it is wanted.
    #[inline]
    fn look_at(&mut self, hash: u64, slot: u16, name: &[u8]) {
        let Wanted {
            table,
            places,
            filter,
        } = &*self.wanted;
        let (at, bit) = bit_of(Word::new(hash, slot, 0));
        if filter[at] & bit == 0 {
            return;
        }
        if let Some(cell) = table.find(hash, slot)
            && places.contains_key(&cell)
        {
            let listed = || (name.len() <= MAX_NAME).then(|| Name::from(name));
            self.found.entry(cell).or_insert_with(listed);
        }
    }
}

impl Tally for FindNames {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let mut tagged = std::mem::take(&mut self.tagged);
        self.wanted.table.hashing.find_tagged(keys, &mut tagged);
        for (hash, key) in tagged.hashes.iter().zip(&tagged.keys) {
            let key = *key as usize;
            let name = keys.hashed.get(keys.batch.base, key);
            self.look_at(*hash, keys.slots[key], name);
        }
        self.tagged = tagged;
    }

    fn merge(&mut self, other: Self) {
        self.found.extend(other.found);
    }
}

/// The bit of a tag in the filter.
fn bit_of(word: Word) -> (usize, u64) {
    let bit = word.hash() as usize % (1 << FILTER_BITS);
    (bit / 64, 1 << (bit % 64))
}
