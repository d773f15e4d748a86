//! The names of tags in the table: it knows only hashes, so the names that are wanted are found where their keys are.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::name::Name;
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::tag_table::{IS_KEPT, TagTable, identity, lock};
use crate::tally::tagged::Tagged;

/// Longer names are not listed, as many of them would fill the memory.
const MAX_NAME: usize = 512;
/// Bits of the filter before the table is asked for a tag.
const FILTER_BITS: u32 = 16;

/// Names that came with no place: those that a thread had before the table was there.
#[derive(Default)]
pub(super) struct SpilledNames {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl SpilledNames {
    /// Takes a name and returns its number.
    pub(super) fn push(&mut self, name: &[u8]) -> u32 {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
        self.ends.len() as u32 - 1
    }

    fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let end = self.ends.get(number).copied().unwrap_or_default();
        let start = number
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        &self.bytes[start.copied().unwrap_or_default()..end]
    }
}

/// The tags that are wanted by name, as cells of the table.
struct Wanted {
    table: Arc<TagTable>,
    cells: HashSet<usize>,
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
    /// The names of these cells; those that are kept are found already.
    pub(super) fn of(table: Arc<TagTable>, cells: impl Iterator<Item = usize>) -> Self {
        let mut wanted = Wanted {
            cells: HashSet::new(),
            filter: vec![0; 1 << (FILTER_BITS - 6)],
            table,
        };
        let mut found = HashMap::new();
        let (reserved, names) = (wanted.table.reserved(), lock(&wanted.table.names));
        for cell in cells {
            let place = reserved.place(cell);
            if place & IS_KEPT != 0 {
                found.insert(cell, listed(names.get(place & !IS_KEPT)));
                continue;
            }
            wanted.cells.insert(cell);
            let (word, bit) = bit_of(reserved.identity(cell));
            wanted.filter[word] |= bit;
        }
        drop(names);
        FindNames {
            wanted: Arc::new(wanted),
            found,
            tagged: Tagged::default(),
        }
    }

    /// The blocks of `PLACE` bytes that keys of tags start in whose names are not found yet, each with its input, in order.
    pub fn blocks(&self) -> Vec<(usize, u64)> {
        let table = &self.wanted.table;
        let block = |cell: &usize| {
            let place = table.reserved().place(*cell);
            // The last one is that after all inputs.
            let inputs = &table.first_places[..table.first_places.len() - 1];
            let input = inputs
                .partition_point(|first| *first <= place)
                .saturating_sub(1);
            (input, u64::from(place - table.first_places[input]))
        };
        let missing = self.wanted.cells.iter();
        let missing = missing.filter(|cell| !self.found.contains_key(cell));
        let mut blocks: Vec<_> = missing.map(block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// Whether every name is found.
    pub fn is_done(&self) -> bool {
        let mut cells = self.wanted.cells.iter();
        cells.all(|cell| self.found.contains_key(cell))
    }

    /// The names by cell; `None` for those that are too long to be listed.
    pub(super) fn into_names(self) -> HashMap<usize, Option<Name>> {
        self.found
    }
}

impl Tally for FindNames {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let Wanted {
            table,
            cells,
            filter,
        } = &*self.wanted;
        table.hashing.find_tagged(keys, &mut self.tagged);
        for (hash, key) in self.tagged.hashes.iter().zip(&self.tagged.keys) {
            let tag = (*hash, keys.slots[*key as usize]);
            let (word, bit) = bit_of(identity(tag));
            if filter[word] & bit == 0 {
                continue;
            }
            if let Some(cell) = table.find(table.reserved(), tag)
                && cells.contains(&cell)
            {
                let name = || listed(keys.hashed.get(keys.batch.base, *key as usize));
                self.found.entry(cell).or_insert_with(name);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.found.extend(other.found);
    }
}

/// A name as it is listed.
fn listed(name: &[u8]) -> Option<Name> {
    (name.len() <= MAX_NAME).then(|| Name::from(name))
}

/// The bit of a tag in the filter.
fn bit_of(identity: u64) -> (usize, u64) {
    let bit = identity as usize % (1 << FILTER_BITS);
    (bit / 64, 1 << (bit % 64))
}
