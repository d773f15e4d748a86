//! Keys by type and encoding, their elements, and the keys of each type with the most elements.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::format::batch::{MISSING, Number, Spans, Word};
use crate::metric::Load;
use crate::name::Name;
use crate::slot::{self, SlotBatch};
use crate::tally::Tally;
use crate::tally::sketch::top::Top;

/// More kinds than any server has: beyond this the column holds something else.
const MAX_KINDS: usize = 4096;
/// Keys kept per type and encoding.
pub(crate) const KEPT: usize = 20;
/// Bytes kept of a long name.
const MAX_NAME: usize = 512;
/// Bytes kept of a type or encoding.
const MAX_WORD: usize = 64;

/// Recent kinds compared before the lookup.
const RECENT: usize = 16;

/// Keys by type and encoding.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "SerializedKinds", from = "SerializedKinds")]
pub struct Kinds {
    kinds: Vec<Kind>,
    /// The index of each kind, by name.
    numbers: HashMap<Vec<u8>, usize>,
    /// There are too many for them to be types and encodings.
    too_many: bool,
    /// A buffer for the name to look up.
    sought: Vec<u8>,
}

/// All kinds by name; none if there are too many.
type SerializedKinds = Option<Vec<Kind>>;

impl From<Kinds> for SerializedKinds {
    fn from(kinds: Kinds) -> Self {
        (!kinds.too_many).then(|| kinds.sorted().into_iter().cloned().collect())
    }
}

impl From<SerializedKinds> for Kinds {
    fn from(listed: SerializedKinds) -> Self {
        let mut kinds = Kinds {
            too_many: listed.is_none(),
            ..Kinds::default()
        };
        for kind in listed.into_iter().flatten() {
            if let Some(number) = kinds.number(&kind.type_name.0, &kind.encoding.0) {
                kinds.kinds[number] = kind;
            }
        }
        kinds
    }
}

/// Ignores lookup state.
impl PartialEq for Kinds {
    fn eq(&self, other: &Self) -> bool {
        (self.sorted(), self.too_many) == (other.sorted(), other.too_many)
    }
}

/// The keys of one type and encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// The name of the type.
    pub type_name: Name,
    /// The name of the encoding; empty if rows have none.
    pub encoding: Name,
    /// The load of its keys.
    pub load: Load,
    /// Keys with a known number of elements.
    pub counted: u64,
    /// Total elements of these keys.
    pub elements: u64,
    /// The keys with the most elements.
    largest: Top<LargeKey, KEPT>,
}

/// A key with many elements.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LargeKey {
    /// Number of elements.
    pub elements: u64,
    /// Its first 512 bytes.
    pub name: Name,
    /// Its slot.
    #[serde(deserialize_with = "slot::checked")]
    pub slot: u16,
    /// Its load.
    pub load: Load,
}

impl Kinds {
    /// All kinds by name; none if there are too many.
    pub fn sorted(&self) -> Vec<&Kind> {
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by_key(|kind| (&kind.type_name, &kind.encoding));
        kinds
    }

    /// The index of a type and encoding; `None` if there are too many.
    fn number(&mut self, type_name: &[u8], encoding: &[u8]) -> Option<usize> {
        if self.too_many {
            return None;
        }
        self.sought.clear();
        self.sought.extend_from_slice(type_name);
        // Type names do not contain this byte.
        self.sought.push(0);
        self.sought.extend_from_slice(encoding);
        if let Some(number) = self.numbers.get(&self.sought) {
            return Some(*number);
        }
        let number = self.kinds.len();
        if number == MAX_KINDS {
            self.forget();
            return None;
        }
        self.kinds.push(Kind::new(type_name, encoding));
        self.numbers.insert(self.sought.clone(), number);
        Some(number)
    }

    fn forget(&mut self) {
        self.too_many = true;
        self.kinds.clear();
        self.numbers.clear();
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
            largest: Top::default(),
        }
    }

    /// The keys with the most elements, largest first.
    pub fn largest(&self) -> Vec<LargeKey> {
        self.largest.heaviest().0
    }

    fn merge(&mut self, other: Kind) {
        self.load += other.load;
        self.counted += other.counted;
        self.elements = self.elements.saturating_add(other.elements);
        self.largest.merge(other.largest);
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
        let word = |words: &Spans, i| {
            let word = words.get(base, i);
            &word[..word.len().min(MAX_WORD)]
        };
        let words = |i| {
            if encodings.is_empty() {
                [word(types, i), b""]
            } else {
                [word(types, i), word(encodings, i)]
            }
        };
        let mut recent: Vec<([&[u8]; 2], usize)> = Vec::with_capacity(RECENT);
        let mut next = 0;
        while next < types.len() {
            // Rows of one kind are consecutive, with their words at the same position.
            let i = next;
            next = types.end_of_run(i);
            if !encodings.is_empty() {
                next = next.min(encodings.end_of_run(i));
            }
            let words @ [type_name, encoding] = words(i);
            let known = recent.iter().find(|(known, _)| are_same(known, &words));
            let number = match known {
                Some((_, number)) => *number,
                None if type_name.is_empty() => continue,
                None => {
                    let Some(number) = self.number(type_name, encoding) else {
                        break;
                    };
                    if recent.len() < RECENT {
                        recent.push((words, number));
                    }
                    number
                }
            };
            let kind = &mut self.kinds[number];
            kind.load += values.load_of(i..next);
            let elements = elements.get(i..next).unwrap_or_default();
            for (i, elements) in (i..).zip(elements).filter(|(_, count)| **count != MISSING) {
                kind.counted += 1;
                kind.elements = kind.elements.saturating_add(*elements);
                // A key with one element is not large.
                if *elements > 1 {
                    let name = || {
                        let name = keys.batch.keys.get(base, i);
                        &name[..name.len().min(MAX_NAME)]
                    };
                    let is_before = |last: &LargeKey| *name() <= last.name.0[..];
                    kind.largest.offer(*elements, is_before, || LargeKey {
                        elements: *elements,
                        name: Name::from(name()),
                        slot: keys.slots[i],
                        load: values.load(i),
                    });
                }
            }
        }
    }

    fn merge(&mut self, other: Self) {
        if other.too_many {
            self.forget();
        }
        for kind in other.kinds {
            if let Some(mine) = self.number(&kind.type_name.0, &kind.encoding.0) {
                self.kinds[mine].merge(kind);
            }
        }
    }
}

/// Whether words are equal: usually they have the same address.
#[inline]
fn are_same(a: &[&[u8]; 2], b: &[&[u8]; 2]) -> bool {
    let same = |i: usize| std::ptr::eq(a[i], b[i]) || a[i] == b[i];
    same(0) && same(1)
}
