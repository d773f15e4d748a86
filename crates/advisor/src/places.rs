//! Places of names where batches show a value or a constant, by equality: segments that all keys of a command share are
//! candidates for the tag whatever they look like, nanoids, slugs, e-mail addresses and words of any script.
//!
//! A segment is the text between two delimiters. A place is the text before it, with ids wiped out. Of the segments that
//! the keys of a batch share, the one that takes the most different values over all batches is the id.

use std::collections::HashMap;
use std::sync::Arc;

use slotscope_engine::hash::{fold, hash};

use crate::batches::Batches;
use crate::seeded::{SeededMap, SeededSet};
use crate::shapes_of_names::FIELD;
use crate::tokens::{Segment, TokenKind, Tokens};

/// Delimiters of segments: a key is divided by the first one that it has.
const DELIMITERS: &[u8] = b":|/.-_";
/// Different segments from which on those of a place are values.
const LEAST_VALUES: usize = 3;
/// Rounds of learning: what is a value tells places after it.
const ROUNDS: usize = 4;

/// The segments of a place, taken whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// They are values of one field.
    Value,
    /// They are words of the pattern that may become a tag all the same.
    Constant,
}

/// The places that batches show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places(Option<Arc<HashMap<u64, PlaceKind>>>);

/// The text before a place, as a hash.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prefix(u64);

impl Prefix {
    /// The place after this prefix and a separator.
    pub(crate) fn place(self, separator: &[u8]) -> u64 {
        fold(self.0 ^ FIELD, hash(separator))
    }

    /// Adds a separator and a token: the hash of a word, or `FIELD`.
    pub(crate) fn push(&mut self, separator: &[u8], word: u64) {
        self.0 = fold(self.place(separator), word);
    }
}

/// The delimiter of the segments of a key.
pub(crate) fn delimiter(key: &[u8]) -> Option<u8> {
    let mut delimiters = DELIMITERS.iter().copied();
    delimiters.find(|byte| memchr::memchr(*byte, key).is_some())
}

impl Places {
    /// The places that these batches show.
    pub(crate) fn of(batches: &Batches) -> Places {
        let mut places = Places(Some(Arc::default()));
        for _ in 0..ROUNDS {
            let learned = places.learned(batches);
            if learned == places {
                break;
            }
            places = learned;
        }
        places
    }

    /// Whether any place is known, or may become so.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn get(&self, place: u64) -> Option<PlaceKind> {
        self.0.as_ref()?.get(&place).copied()
    }

    /// These values, and what is shown by batches whose keys are read with them.
    fn learned(&self, batches: &Batches) -> Places {
        let mut values: SeededMap<u64, SeededSet<u64>> = SeededMap::default();
        self.each_batch(batches, |batch| {
            for shared in batch.shared() {
                values
                    .entry(shared.structure)
                    .or_default()
                    .insert(shared.text);
            }
        });
        let mut found: HashMap<u64, Found> = HashMap::new();
        self.each_batch(batches, |batch| {
            let count = |shared: &Shared| values.get(&shared.structure).map_or(0, SeededSet::len);
            // Of equals the last: what comes first is the name of an application.
            let Some(id) = batch.shared().into_iter().max_by_key(count) else {
                return;
            };
            let is_value = count(&id) >= LEAST_VALUES;
            for key in &batch.keys {
                for segment in key.segments.iter().filter(|of| of.text == id.text) {
                    let found = found.entry(segment.place).or_default();
                    if found.shapes.len() < LEAST_VALUES {
                        found.shapes.insert(segment.shape);
                    }
                    found.is_candidate |=
                        segment.is_of_words && (is_value || batch.needs_a_constant());
                }
            }
        });
        let kind = |found: Found| match found.shapes.len() {
            LEAST_VALUES.. => Some(PlaceKind::Value),
            _ => found.is_candidate.then_some(PlaceKind::Constant),
        };
        let found = found
            .into_iter()
            .filter_map(|(place, found)| Some((place, kind(found)?)));
        let known = self.0.iter().flat_map(|places| places.iter());
        let known = known.filter(|(_, kind)| **kind == PlaceKind::Value);
        let known = known.map(|(place, kind)| (*place, *kind));
        Places(Some(Arc::new(found.chain(known).collect())))
    }

    /// Calls `seen` with each batch of several keys that share no tag.
    fn each_batch(&self, batches: &Batches, mut seen: impl FnMut(&SegmentedBatch)) {
        let mut tokens = Tokens::with(self);
        for at in (0..batches.len()).filter(|at| batches.numbers(*at).len() > 1) {
            let mut tags = batches.keys(at).map(|key| &key[hashslot::hashed_part(key)]);
            let first = tags.next();
            if tags.all(|tag| Some(tag) == first) {
                continue;
            }
            let mut keys = batches.keys(at).map(|key| {
                let is_read = tokens.parse(key);
                is_read.then(|| SegmentedKey::of(&tokens))
            });
            let keys: Option<Vec<SegmentedKey>> = keys.by_ref().collect();
            if let Some(keys) = keys {
                let must_be_together = batches.must_be_together(at);
                seen(&SegmentedBatch {
                    keys,
                    must_be_together,
                });
            }
        }
    }
}

/// What batches show of a place.
#[derive(Default)]
struct Found {
    /// Segments with their ids wiped out: `queue7` and `queue8` are one.
    shapes: SeededSet<u64>,
    is_candidate: bool,
}

/// A batch of keys in segments.
struct SegmentedBatch {
    keys: Vec<SegmentedKey>,
    must_be_together: bool,
}

/// A key in segments.
struct SegmentedKey {
    segments: Vec<SegmentOfKey>,
    shape: u64,
}

/// A segment of a key, as hashes.
#[derive(Clone, Copy)]
struct SegmentOfKey {
    place: u64,
    text: u64,
    /// Its text, with ids wiped out.
    shape: u64,
    is_of_words: bool,
    is_date: bool,
}

/// A segment that all keys of a batch share.
struct Shared {
    text: u64,
    /// Which segments before it are shared.
    structure: u64,
}

impl SegmentedKey {
    fn of(tokens: &Tokens) -> Self {
        let segments = tokens
            .segments
            .iter()
            .map(|segment| of_segment(tokens, segment));
        let segments: Vec<SegmentOfKey> = segments.collect();
        let shape = segments.iter().fold(hash(tokens.tail()), |shape, segment| {
            fold(shape ^ segment.place, segment.shape)
        });
        SegmentedKey { segments, shape }
    }

    fn has(&self, text: u64) -> bool {
        self.segments.iter().any(|segment| segment.text == text)
    }
}

fn of_segment(tokens: &Tokens, segment: &Segment) -> SegmentOfKey {
    let (mut shape, mut end) = (Prefix::default(), segment.start);
    let mut kinds = Vec::new();
    let within = tokens
        .list
        .iter()
        .filter(|token| token.start >= segment.start && token.end <= segment.end);
    for token in within {
        let word = match token.kind {
            TokenKind::Word => hash(&tokens.bare[token.start..token.end]),
            _ => FIELD,
        };
        shape.push(&tokens.bare[end..token.start], word);
        end = token.end;
        kinds.push(token.kind);
    }
    let are_all = |of: &[TokenKind]| kinds.iter().all(|kind| of.contains(kind));
    SegmentOfKey {
        place: segment.place,
        text: hash(&tokens.bare[segment.start..segment.end]),
        shape: shape.place(&tokens.bare[end.min(segment.end)..segment.end]),
        is_of_words: are_all(&[TokenKind::Word]),
        is_date: !kinds.is_empty() && are_all(&[TokenKind::Date, TokenKind::Time]),
    }
}

impl SegmentedBatch {
    /// The segments that all keys share; a date is no id.
    fn shared(&self) -> Vec<Shared> {
        let Some((first, others)) = self.keys.split_first() else {
            return Vec::new();
        };
        let mut structure = 0;
        let mut shared = Vec::new();
        for segment in &first.segments {
            let is_shared = others.iter().all(|key| key.has(segment.text));
            if is_shared && !segment.is_date {
                shared.push(Shared {
                    text: segment.text,
                    structure,
                });
            }
            structure = fold(structure ^ FIELD, 1 + u64::from(is_shared));
        }
        shared
    }

    /// Whether a cluster refuses the batch, and its keys differ in more than ids: a constant tag keeps few keys together.
    fn needs_a_constant(&self) -> bool {
        let mut shapes: Vec<u64> = self.keys.iter().map(|key| key.shape).collect();
        shapes.sort_unstable();
        self.must_be_together && shapes.windows(2).all(|two| two[0] != two[1])
    }
}
