//! Keys from key listings such as `--bigkeys`, by listing. They are not a load: these rows count nowhere else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use slotscope_base::batch::MISSING;
use slotscope_base::hash::hash;
use slotscope_base::metric::extreme::Extreme;
use slotscope_base::metric::{Load, Metric, are_counts};
use slotscope_base::slot::{SLOTS, SlotBatch};

use crate::tally::Tally;
use crate::tally::operations::add_to_command;
use crate::tally::tags::TagCounter;

/// Bytes kept of a long name.
const MAX_NAME: usize = 512;

/// The keys from key listings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    /// By the measure of the listings.
    pub lists: BTreeMap<Extreme, Listed>,
    /// By listing and key: entries counted as keys, amounts as operations. Names are built by `write_name`.
    keys: TagCounter,
}

/// Facts about the listings of one kind, apart from keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Number of entries; a key may have several.
    pub entries: u64,
    /// Entries by command, if known.
    pub commands: BTreeMap<String, u64>,
    /// Times of the first and last entry, in milliseconds since 1970, if known.
    pub range: Option<(u64, u64)>,
}

impl Default for Extremes {
    fn default() -> Self {
        Extremes {
            lists: BTreeMap::new(),
            // No second pass counts them.
            keys: TagCounter::new(true),
        }
    }
}

/// A key from listings of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedKey {
    /// Its first 512 bytes.
    pub name: Vec<u8>,
    /// Its length in bytes.
    pub length: u64,
    /// Its slot.
    pub slot: u16,
    /// Its hash tag.
    pub tag: Option<Vec<u8>>,
    /// Its entries.
    pub entries: u64,
    /// The sum of their amounts.
    pub sum: u64,
}

impl Extremes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Whether these may be counts of entries.
    pub(super) fn is_sound(&self) -> bool {
        self.keys.is_sound() && are_counts(self.lists.values().map(|list| &list.entries))
    }

    /// The keys of all listings, unordered; if there are very many, those with the largest sums.
    pub fn keys(&self) -> Vec<(Extreme, ListedKey)> {
        let keys = self.keys.listed(None).tags.into_iter();
        keys.filter_map(|key| listed_key(&key.name.0, key.load))
            .collect()
    }
}

impl Listed {
    fn add_time(&mut self, at: u64) {
        let (first, last) = self.range.unwrap_or((at, at));
        self.range = Some((first.min(at), last.max(at)));
    }

    fn merge(&mut self, other: Self) {
        self.entries = self.entries.saturating_add(other.entries);
        for (command, entries) in other.commands {
            add_to_command(&mut self.commands, command.as_bytes(), entries);
        }
        for at in other.range.into_iter().flat_map(|(from, to)| [from, to]) {
            self.add_time(at);
        }
    }
}

/// The name under which a listing's key is counted: listing, slot, length, position of its tag, and prefix.
fn write_name(name: &mut Vec<u8>, extreme: Extreme, keys: &SlotBatch<'_>, i: usize) {
    let base = keys.batch.base;
    let key = keys.batch.keys.get(base, i);
    let kept = &key[..key.len().min(MAX_NAME)];
    let start = keys.hashed.start[i].wrapping_sub(keys.batch.keys.start[i]) as usize;
    let tag = start..start + keys.hashed.get(base, i).len();
    let is_kept = keys.is_tagged(i) && tag.end <= kept.len();
    let tag = if is_kept { tag } else { 0..0 };
    name.clear();
    name.push(extreme as u8);
    name.extend(keys.slots[i].to_le_bytes());
    name.extend((key.len() as u32).to_le_bytes());
    name.extend((tag.start as u16).to_le_bytes());
    name.extend((tag.end as u16).to_le_bytes());
    name.extend_from_slice(kept);
}

fn listed_key(name: &[u8], load: Load) -> Option<(Extreme, ListedKey)> {
    let (place, name) = name.split_first()?;
    let extreme = *Extreme::ALL.get(usize::from(*place))?;
    let [low, high, a, b, c, d, from, from_high, to, to_high] =
        name.first_chunk().copied().unwrap_or_default();
    let name = name.get(10..).unwrap_or_default();
    let tag =
        u16::from_le_bytes([from, from_high]).into()..u16::from_le_bytes([to, to_high]).into();
    let key = ListedKey {
        name: name.to_vec(),
        length: u32::from_le_bytes([a, b, c, d]).into(),
        slot: u16::from_le_bytes([low, high]) % SLOTS as u16,
        tag: name.get(tag).filter(|tag| !tag.is_empty()).map(Into::into),
        entries: load[Metric::Keys],
        sum: load[Metric::Ops],
    };
    Some((extreme, key))
}

impl Tally for Extremes {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        let mut name = Vec::new();
        for (i, (extreme, amount)) in values.extremes.iter().enumerate() {
            write_name(&mut name, *extreme, keys, i);
            let load = Load::new(1, 0, *amount);
            self.keys.add_known(hash(&name).max(1), &name, load);
            let list = self.lists.entry(*extreme).or_default();
            list.entries += 1;
            if let Some(at) = values.times.get(i).filter(|at| **at != MISSING) {
                list.add_time(*at);
            }
            if !values.commands.is_empty() {
                let command = values.commands.get(keys.batch.base, i);
                add_to_command(&mut list.commands, command, 1);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for (extreme, theirs) in other.lists {
            self.lists.entry(extreme).or_default().merge(theirs);
        }
        self.keys.merge(other.keys);
    }
}
