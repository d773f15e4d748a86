//! Keys by type and encoding, their elements, and the keys of each type with the most elements.

use serde::{Deserialize, Serialize};

use slotscope_base::batch::{MISSING, Number, Spans, Word};
use slotscope_base::metric::Load;
use slotscope_base::name::Name;
use slotscope_base::slot::{self, SlotBatch};

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kinds {
    /// In the order of their names; `None` if there are too many for them to be types and encodings.
    kinds: Option<Vec<Kind>>,
}

impl Default for Kinds {
    fn default() -> Self {
        Kinds {
            kinds: Some(Vec::new()),
        }
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
    /// Whether these may be counts of keys.
    pub(super) fn is_sound(&self) -> bool {
        let kinds = self.kinds.as_deref().unwrap_or_default();
        kinds.len() <= MAX_KINDS && kinds.is_sorted_by(|a, b| a.name() < b.name())
    }

    /// All kinds by name; none if there are too many.
    pub fn sorted(&self) -> &[Kind] {
        self.kinds.as_deref().unwrap_or_default()
    }

    /// The place of a type and encoding, and whether it is new, so that others moved; `None` if there are too many.
    fn place(&mut self, type_name: &[u8], encoding: &[u8]) -> Option<(usize, bool)> {
        let kinds = self.kinds.as_mut()?;
        match kinds.binary_search_by(|kind| kind.name().cmp(&(type_name, encoding))) {
            Ok(place) => Some((place, false)),
            Err(_) if kinds.len() == MAX_KINDS => {
                self.kinds = None;
                None
            }
            Err(place) => {
                kinds.insert(place, Kind::new(type_name, encoding));
                Some((place, true))
            }
        }
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

    fn name(&self) -> (&[u8], &[u8]) {
        (&self.type_name.0, &self.encoding.0)
    }

    /// The keys with the most elements, largest first.
    pub fn largest(&self) -> Vec<LargeKey> {
        self.largest.heaviest().0
    }

    fn merge(&mut self, other: Kind) {
        self.load += other.load;
        self.counted = self.counted.saturating_add(other.counted);
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
            let place = match known {
                Some((_, place)) => *place,
                None if type_name.is_empty() => continue,
                None => {
                    let Some((place, is_new)) = self.place(type_name, encoding) else {
                        break;
                    };
                    if is_new {
                        recent.clear();
                    }
                    if recent.len() < RECENT {
                        recent.push((words, place));
                    }
                    place
                }
            };
            let Some(kinds) = &mut self.kinds else { break };
            let kind = &mut kinds[place];
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
        let Some(theirs) = other.kinds else {
            self.kinds = None;
            return;
        };
        for kind in theirs {
            let place = self.place(&kind.type_name.0, &kind.encoding.0);
            if let (Some((place, _)), Some(kinds)) = (place, &mut self.kinds) {
                kinds[place].merge(kind);
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
