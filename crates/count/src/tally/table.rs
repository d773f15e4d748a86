//! An exact count of up to 65,536 distinct names: a hash table whose layout depends only on its content.
//!
//! Entries are in the order of their hashes, each at or a little past its home (Amble & Knuth, "Ordered hash
//! tables", 1974). So whether the table is full is a property of the set of names, not of the order they came in,
//! and no choice of names makes a key cost more than `REACH` compares.

use serde::{Deserialize, Serialize};

use slotscope_base::hash::hash;
use slotscope_base::metric::Load;
use slotscope_base::name::Name;
use slotscope_base::simd::prefetch;

/// Distinct names that fit.
pub(crate) const MAX_NAMES: usize = 1 << 16;
/// Bytes of names that fit, all together.
const MAX_NAME_BYTES: usize = 8 << 20;
/// At most half of the homes are taken.
const MAX_BITS: u32 = MAX_NAMES.trailing_zeros() + 1;
const MIN_BITS: u32 = 6;
/// How far past its home an entry may be. Half full, a random entry is further with probability e^-25.
const REACH: usize = 128;

/// Prefetch distance in names, for the bytes of names and again for their entries.
const AHEAD: usize = 8;

/// Loads by name.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "SerializedTable", try_from = "SerializedTable")]
pub struct NameTable {
    bits: u32,
    len: usize,
    /// 0 for empty entries.
    hashes: Vec<u64>,
    entries: Vec<Entry>,
    names: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    name_at: u32,
    name_len: u32,
    load: Load,
}

/// The table cannot take another name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Default for NameTable {
    fn default() -> Self {
        NameTable::with_bits(MIN_BITS)
    }
}

impl NameTable {
    fn with_bits(bits: u32) -> Self {
        let places = (1 << bits) + REACH;
        NameTable {
            bits,
            len: 0,
            hashes: vec![0; places],
            entries: vec![Entry::default(); places],
            names: Vec::new(),
        }
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no name.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Every name, its hash and its load, in the order of the hashes.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64, Load)> {
        let entries = self
            .hashes
            .iter()
            .zip(&self.entries)
            .filter(|(hash, _)| **hash != 0);
        entries.map(|(hash, entry)| (self.name(entry), *hash, entry.load))
    }

    /// Adds `load` to `name`, whose hash is `hash`.
    ///
    /// # Errors
    /// `Full`, with nothing changed, where the name is new and does not fit.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64, name: &[u8], load: Load) -> Result<(), Full> {
        if let Some(known) = self.find(hash, name) {
            *known += load;
            return Ok(());
        }
        self.insert(hash.max(1), name, load)
    }

    /// The load of `name`, whose hash is `hash`; `None` if it is not in the table.
    #[inline]
    pub(crate) fn find(&mut self, hash: u64, name: &[u8]) -> Option<&mut Load> {
        let hash = hash.max(1);
        let mut place = self.home(hash);
        while place < self.hashes.len() && self.hashes[place] != 0 && self.hashes[place] <= hash {
            if self.hashes[place] == hash && self.name(&self.entries[place]) == name {
                return Some(&mut self.entries[place].load);
            }
            place += 1;
        }
        None
    }

    /// Prefetches the places that `find` reads for the next hashes, then the names that are most likely there: a large table
    /// is not in the caches.
    #[inline(always)]
    pub(crate) fn look_ahead(&self, coming: &[u64]) {
        if let Some(hash) = coming.get(2 * AHEAD) {
            let home = self.home(*hash);
            prefetch(&self.hashes[home]);
            prefetch(&self.entries[home]);
        }
        if let Some(hash) = coming.get(AHEAD)
            && let Some(name) = self
                .names
                .get(self.entries[self.home(*hash)].name_at as usize)
        {
            prefetch(name);
        }
    }

    #[cold]
    fn insert(&mut self, hash: u64, name: &[u8], load: Load) -> Result<(), Full> {
        if self.len == MAX_NAMES || self.names.len() + name.len() > MAX_NAME_BYTES {
            return Err(Full);
        }
        let entry = Entry {
            name_at: self.names.len() as u32,
            name_len: name.len() as u32,
            load,
        };
        while self.len >= 1 << (self.bits - 1) || !self.place(hash, entry) {
            self.grow()?;
        }
        self.names.extend_from_slice(name);
        self.len += 1;
        Ok(())
    }

    /// Puts a new entry where its hash belongs and moves those after it; false, with nothing changed, where one
    /// of them would be too far from its home.
    fn place(&mut self, hash: u64, entry: Entry) -> bool {
        let behind = |place: usize, hash: u64, bits: u32| place - (hash >> (64 - bits)) as usize;
        let mut place = self.home(hash);
        while place < self.hashes.len() && self.hashes[place] != 0 && self.hashes[place] <= hash {
            place += 1;
        }
        let Some(gap) = self.hashes[place..].iter().position(|hash| *hash == 0) else {
            return false;
        };
        let moved = &self.hashes[place..place + gap];
        let too_far = moved
            .iter()
            .enumerate()
            .any(|(i, hash)| behind(place + i + 1, *hash, self.bits) > REACH);
        if too_far || behind(place, hash, self.bits) > REACH {
            return false;
        }
        self.hashes.copy_within(place..place + gap, place + 1);
        self.entries.copy_within(place..place + gap, place + 1);
        self.hashes[place] = hash;
        self.entries[place] = entry;
        true
    }

    fn grow(&mut self) -> Result<(), Full> {
        for bits in self.bits + 1..=MAX_BITS {
            let mut larger = NameTable::with_bits(bits);
            let mut entries = self
                .hashes
                .iter()
                .zip(&self.entries)
                .filter(|(hash, _)| **hash != 0);
            if entries.all(|(hash, entry)| larger.place(*hash, *entry)) {
                larger.len = self.len;
                larger.names = std::mem::take(&mut self.names);
                *self = larger;
                return Ok(());
            }
        }
        Err(Full)
    }

    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    fn name(&self, entry: &Entry) -> &[u8] {
        &self.names[entry.name_at as usize..][..entry.name_len as usize]
    }
}

impl PartialEq for NameTable {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len
            && SerializedTable::from(self.clone()) == SerializedTable::from(other.clone())
    }
}

impl std::fmt::Debug for NameTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", SerializedTable::from(self.clone()))
    }
}

/// The serialized table: names in order with their loads, and a hash if it is not that of the name.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SerializedTable(Vec<(Name, Load, Option<u64>)>);

impl From<NameTable> for SerializedTable {
    fn from(table: NameTable) -> Self {
        let odd_hash = |known: u64, name: &[u8]| Some(known).filter(|_| known != hash(name).max(1));
        let row = |(name, known, load)| (Name::from(name), load, odd_hash(known, name));
        let mut rows: Vec<_> = table.iter().map(row).collect();
        rows.sort();
        SerializedTable(rows)
    }
}

impl TryFrom<SerializedTable> for NameTable {
    type Error = &'static str;

    fn try_from(SerializedTable(rows): SerializedTable) -> Result<Self, &'static str> {
        let mut table = NameTable::default();
        for (name, load, odd_hash) in rows {
            table
                .add(odd_hash.unwrap_or_else(|| hash(&name.0)), &name.0, load)
                .map_err(|Full| "more names than a table holds")?;
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slotscope_base::metric::Metric;
    use std::collections::BTreeMap;

    fn count(names: impl IntoIterator<Item = Vec<u8>>) -> NameTable {
        let mut table = NameTable::default();
        names
            .into_iter()
            .for_each(|name| table.add(hash(&name), &name, Load::KEY).unwrap());
        table
    }

    #[test]
    fn it_holds_as_many_names_as_it_promises_and_not_one_more() {
        let mut table = count((0..MAX_NAMES).map(|i| format!("cart:{i}").into_bytes()));
        assert_eq!(table.len(), MAX_NAMES);
        assert_eq!(table.add(7, b"one more", Load::KEY), Err(Full));
        assert_eq!(table.add(hash(b"cart:7"), b"cart:7", Load::KEY), Ok(()));
        let keys = table.iter().map(|(_, _, load)| load[Metric::Keys]);
        assert_eq!(keys.sum::<u64>(), MAX_NAMES as u64 + 1);
        let long = vec![b'x'; MAX_NAME_BYTES + 1];
        assert_eq!(NameTable::default().add(9, &long, Load::KEY), Err(Full));
    }

    #[test]
    fn names_with_the_same_hash_are_counted_separately_until_there_are_too_many() {
        for hash in [0, 1, 5 << 40, u64::MAX] {
            let mut table = NameTable::default();
            let took = (0..1000u32)
                .take_while(|i| table.add(hash, &i.to_le_bytes(), Load::KEY).is_ok())
                .count();
            assert_eq!(took, REACH + 1);
            assert_eq!(table.add(hash, &3u32.to_le_bytes(), Load::KEY), Ok(()));
            let keys = table.iter().map(|(_, _, load)| load[Metric::Keys]);
            assert_eq!(keys.filter(|keys| *keys == 2).count(), 1);
        }
    }

    proptest! {
        #[test]
        fn it_counts_like_a_map_in_any_order(names in prop::collection::vec(prop::collection::vec(0u8..4, 0..4), 0..600)) {
            let mut truth = BTreeMap::new();
            names.iter().for_each(|name| *truth.entry(Name(name.clone())).or_insert(Load::default()) += Load::KEY);
            let table = count(names.clone());
            prop_assert_eq!(&table, &count(names.into_iter().rev()));
            let rows = truth.into_iter().map(|(name, load)| (name, load, None));
            prop_assert_eq!(SerializedTable::from(table).0, rows.collect::<Vec<_>>());
        }
    }
}
