//! Keys by type and encoding, their elements, and of each type the keys with most elements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::format::batch::{MISSING, Number, Word};
use crate::metric::Load;
use crate::name::Name;
use crate::slot::SlotBatch;
use crate::tally::Tally;

/// More kinds than any server has: past this the column holds something else.
const MAX_KINDS: usize = 4096;
/// Of each type and encoding, keys that are kept.
pub const KEPT: usize = 20;
/// What is kept of a long name.
const MAX_NAME: usize = 512;
/// What is kept of a type and an encoding.
const MAX_WORD: usize = 64;

/// Keys by type and encoding, in the order of their names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "Listed", from = "Listed")]
pub struct Kinds {
    kinds: BTreeMap<Vec<u8>, Kind>,
    /// There are too many for them to be types and encodings.
    too_many: bool,
    /// The name of the kind that is looked up; empty between two calls, as it is no part of the value.
    sought: Vec<u8>,
}

/// The value of all kinds; none where there are too many.
type Listed = Option<Vec<Kind>>;

impl From<Kinds> for Listed {
    fn from(kinds: Kinds) -> Self {
        (!kinds.too_many).then(|| kinds.kinds.into_values().collect())
    }
}

impl From<Listed> for Kinds {
    fn from(listed: Listed) -> Self {
        let mut kinds = Kinds {
            too_many: listed.is_none(),
            ..Kinds::default()
        };
        for listed in listed.into_iter().flatten() {
            if let Some(kind) = kinds.kind(&listed.type_name.0, &listed.encoding.0) {
                *kind = listed;
            }
        }
        kinds
    }
}

/// The keys of one type and encoding.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kind {
    /// The name of the type.
    pub type_name: Name,
    /// The name of the encoding; empty where rows have none.
    pub encoding: Name,
    /// What its keys hold.
    pub load: Load,
    /// Keys whose elements are known.
    pub counted: u64,
    /// Their elements.
    pub elements: u64,
    /// Those with most elements, unsorted, and up to as many again.
    largest: Vec<LargeKey>,
    /// Keys with fewer elements are not among the largest.
    floor: u64,
}

/// A key with many elements.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LargeKey {
    /// Its elements.
    pub elements: u64,
    /// Its first 512 bytes.
    pub name: Name,
    /// Its slot.
    pub slot: u16,
    /// Its load.
    pub load: Load,
}

/// What was looked up last is not part of the value.
impl PartialEq for Kinds {
    fn eq(&self, other: &Self) -> bool {
        (&self.kinds, self.too_many) == (&other.kinds, other.too_many)
    }
}

impl Kinds {
    /// All kinds; none where there are too many for them to be such.
    pub fn iter(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.values()
    }

    /// The kind of a type and an encoding; `None` where there are too many.
    fn kind(&mut self, type_name: &[u8], encoding: &[u8]) -> Option<&mut Kind> {
        if self.too_many {
            return None;
        }
        self.sought.clear();
        self.sought.extend_from_slice(type_name);
        // No name of a type has this byte.
        self.sought.push(0);
        self.sought.extend_from_slice(encoding);
        if !self.kinds.contains_key(&self.sought) {
            if self.kinds.len() == MAX_KINDS {
                self.forget();
                return None;
            }
            self.kinds
                .insert(self.sought.clone(), Kind::new(type_name, encoding));
        }
        self.kinds.get_mut(&self.sought)
    }

    fn forget(&mut self) {
        self.too_many = true;
        self.kinds.clear();
    }
}

impl Kind {
    fn new(type_name: &[u8], encoding: &[u8]) -> Self {
        Kind {
            type_name: Name::from(type_name),
            encoding: Name::from(encoding),
            load: Load::default(),
            counted: 0,
            elements: 0,
            largest: Vec::new(),
            floor: 0,
        }
    }

    /// Those with most elements, largest first.
    pub fn largest(&self) -> Vec<LargeKey> {
        let mut largest = self.clone();
        largest.cut();
        largest.largest
    }

    fn add_elements(&mut self, elements: u64, key: impl FnOnce() -> LargeKey) {
        self.counted += 1;
        self.elements = self.elements.saturating_add(elements);
        // A key of one element is no large one.
        if elements >= self.floor && elements > 1 {
            self.push(key());
        }
    }

    fn push(&mut self, key: LargeKey) {
        self.largest.push(key);
        if self.largest.len() >= 2 * KEPT {
            self.cut();
        }
    }

    /// Keeps the largest, ties by name, then by all else: a key may be listed twice with two sizes.
    fn cut(&mut self) {
        let by_size = |a: &LargeKey, b: &LargeKey| b.elements.cmp(&a.elements);
        self.largest
            .sort_by(|a, b| by_size(a, b).then_with(|| a.cmp(b)));
        self.largest.truncate(KEPT);
        if self.largest.len() == KEPT {
            self.floor = self.largest[KEPT - 1].elements;
        }
    }

    fn merge(&mut self, other: Kind) {
        self.load += other.load;
        self.counted += other.counted;
        self.elements = self.elements.saturating_add(other.elements);
        // As many keys as are kept are no smaller than either floor.
        self.floor = self.floor.max(other.floor);
        other.largest.into_iter().for_each(|key| self.push(key));
    }
}

/// How far the lists were cut is not part of the value.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        let rest = |kind: &Kind| {
            let names = (kind.type_name.clone(), kind.encoding.clone());
            (
                names,
                kind.load,
                kind.counted,
                kind.elements,
                kind.largest(),
            )
        };
        rest(self) == rest(other)
    }
}

impl Tally for Kinds {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let (base, values) = (keys.batch.base, keys.batch.values);
        let [types, encodings] = Word::ALL.map(|word| values.word(word));
        let elements = values.number(Number::Elements);
        if types.is_empty() {
            return;
        }
        let cut = |word: &'_ [u8]| word.len().min(MAX_WORD);
        let words = |i: usize| {
            let type_name = types.get(base, i);
            let encoding = if encodings.is_empty() {
                &b""[..]
            } else {
                encodings.get(base, i)
            };
            (&type_name[..cut(type_name)], &encoding[..cut(encoding)])
        };
        let mut next = 0;
        while next < types.len() {
            // Neighbours often are of one kind: a run is one look-up.
            let first = words(next);
            let end = (next..types.len()).find(|i| words(*i) != first);
            let run = next..end.unwrap_or(types.len());
            next = run.end;
            let Some(kind) = self.kind(first.0, first.1).filter(|_| !first.0.is_empty()) else {
                continue;
            };
            for i in run {
                let load = values.load(i);
                kind.load += load;
                if let Some(elements) = elements.get(i).filter(|elements| **elements != MISSING) {
                    kind.add_elements(*elements, || {
                        let name = keys.batch.keys.get(base, i);
                        LargeKey {
                            elements: *elements,
                            name: Name::from(&name[..name.len().min(MAX_NAME)]),
                            slot: keys.slots[i],
                            load,
                        }
                    });
                }
            }
        }
        self.sought.clear();
    }

    fn merge(&mut self, other: Self) {
        if other.too_many {
            self.forget();
        }
        for kind in other.kinds.into_values() {
            if let Some(mine) = self.kind(&kind.type_name.0, &kind.encoding.0) {
                mine.merge(kind);
            }
        }
        self.sought.clear();
    }
}
