//! Names of tags: the table has only hashes, so requested names are reread from the keys' locations.

use std::collections::HashMap;
use std::sync::Arc;

use slotscope_base::name::Name;
use slotscope_base::slot::{SlotBatch, slot_of_part};

use super::word::Word;
use super::{TagTable, lock};
use crate::tally::Tally;
use crate::tally::tagged::Tagged;

/// Longer names are not listed, to bound memory.
const MAX_NAME: usize = 512;
/// Bits of the filter checked before the table.
const FILTER_BITS: u32 = 16;

/// Names of tags without a location.
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

/// Tags whose names are requested.
struct Wanted {
    table: Arc<TagTable>,
    /// The location of each, by cell.
    places: HashMap<usize, u32>,
    filter: Vec<u64>,
}

/// Searches keys for the names of tags.
#[derive(Clone)]
pub struct FindNames {
    wanted: Arc<Wanted>,
    /// By cell; `None` if the name is too long.
    names: HashMap<usize, Option<Name>>,
    tagged: Tagged,
}

impl FindNames {
    /// Searches names for the tags of these cells; kept names are found immediately.
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
            names: HashMap::new(),
            tagged: Tagged::default(),
        };
        for name in lock(&table.names).iter() {
            names.look_at(table.hashing.of_name(name), slot_of_part(name), name);
        }
        names
    }

    /// The blocks where keys of tags without a name start, with their inputs, in order.
    pub fn blocks(&self) -> Vec<(usize, u64)> {
        let places = &self.wanted.table.places;
        let wanted = self.wanted.places.iter();
        let missing = wanted.filter(|(cell, _)| !self.names.contains_key(cell));
        let mut blocks: Vec<_> = missing.map(|(_, place)| places.block(*place)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// Size of such a block.
    pub fn block_bytes(&self) -> usize {
        self.wanted.table.places.block_bytes()
    }

    /// Whether every name is found.
    pub fn is_done(&self) -> bool {
        self.names.len() == self.wanted.places.len()
    }

    /// The names by cell; `None` for those too long to list.
    pub(super) fn into_names(self) -> HashMap<usize, Option<Name>> {
        self.names
    }

    /// Records a name if it is requested.
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
            self.names.entry(cell).or_insert_with(listed);
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
        self.names.extend(other.names);
    }
}

/// The filter bit of a tag.
fn bit_of(word: Word) -> (usize, u64) {
    let bit = word.hash() as usize % (1 << FILTER_BITS);
    (bit / 64, 1 << (bit % 64))
}
