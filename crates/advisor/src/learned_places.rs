//! The places that batches reveal by equality: segments shared by all keys of a command are candidates for the tag
//! whatever they look like: nanoids, slugs, e-mail addresses, words of any script.
//!
//! A segment is the text between two delimiters. Its place is the text before it, with ids masked. Among the segments
//! shared by the keys of a batch, the one with the most distinct values over all batches is the id.

use std::collections::{HashMap, HashSet};

use slotscope_base::hash::{fold, hash};

use crate::batches::Batches;
use crate::places::{FIELD, PlaceKind, Places, Prefix};
use crate::tokens::{Segment, TokenKind, Tokens};

/// The segments of a place are values if at least this many are distinct.
const LEAST_VALUES: usize = 3;
/// Batches that are examined, spread evenly over all.
const MOST_BATCHES: usize = 1 << 16;
/// The minimum fraction of the batches with a place that share its segment; below that it is an accident.
const SHARING: f64 = 0.25;
/// Rounds of learning: each learned value may change the places after it.
const ROUNDS: usize = 4;

impl Places {
    /// The places that these batches reveal.
    pub(crate) fn of(batches: &Batches) -> Places {
        let mut places = Places::from(HashMap::new());
        for _ in 0..ROUNDS {
            let learned = places.learned(batches);
            if learned == places {
                break;
            }
            places = learned;
        }
        places
    }

    /// Adds the places that batches reveal when their keys are read with these values.
    fn learned(&self, batches: &Batches) -> Places {
        let mut values: HashMap<u64, HashSet<u64>> = HashMap::default();
        self.each_batch(batches, |batch| {
            for shared in batch.shared().into_iter().filter(|_| !batch.is_together) {
                values
                    .entry(shared.structure)
                    .or_default()
                    .insert(shared.text);
            }
        });
        let mut occurrences: HashMap<u64, Found> = HashMap::new();
        self.each_batch(batches, |batch| {
            for place in batch.places() {
                occurrences.entry(place).or_default().batches += 1;
            }
            if batch.is_together {
                return;
            }
            let count = |shared: &Shared| values.get(&shared.structure).map_or(0, HashSet::len);
            // The last of equals: the first segment is usually the name of the application.
            let Some(id) = batch.shared().into_iter().max_by_key(count) else {
                return;
            };
            let is_value = count(&id) >= LEAST_VALUES;
            for place in batch.places_of(id.text) {
                occurrences.entry(place).or_default().sharing += 1;
            }
            for key in &batch.keys {
                for segment in key.segments.iter().filter(|part| part.text == id.text) {
                    let occurrence = occurrences.entry(segment.place).or_default();
                    if occurrence.shapes.len() < LEAST_VALUES {
                        occurrence.shapes.insert(segment.shape);
                    }
                    occurrence.is_candidate |=
                        segment.is_of_words && (is_value || batch.needs_a_constant());
                }
            }
        });
        let kind = |occurrence: Found| match occurrence.shapes.len() {
            _ if (occurrence.sharing as f64) < SHARING * occurrence.batches as f64 => None,
            LEAST_VALUES.. => Some(PlaceKind::Value),
            _ => occurrence.is_candidate.then_some(PlaceKind::Constant),
        };
        let learned = occurrences
            .into_iter()
            .filter_map(|(place, occurrence)| Some((place, kind(occurrence)?)));
        let known = self.all().filter(|(_, kind)| *kind == PlaceKind::Value);
        Places::from(learned.chain(known).collect::<HashMap<_, _>>())
    }

    /// Calls `seen` with each batch of several keys.
    fn each_batch(&self, batches: &Batches, mut seen: impl FnMut(&SegmentedBatch)) {
        let mut tokens = Tokens::with(self);
        let step = 1 + batches.len() / MOST_BATCHES;
        let looked_at = (0..batches.len()).step_by(step);
        for at in looked_at.filter(|at| batches.numbers(*at).len() > 1) {
            let mut tags = batches.keys(at).map(|key| &key[hashslot::hashed_part(key)]);
            let first = tags.next();
            let is_together = tags.all(|tag| Some(tag) == first);
            let keys = batches.keys(at).map(|key| {
                let is_read = tokens.parse(key);
                is_read.then(|| SegmentedKey::of(&tokens))
            });
            let keys: Option<Vec<SegmentedKey>> = keys.collect();
            if let Some(keys) = keys {
                let must_be_together = batches.must_be_together(at);
                seen(&SegmentedBatch {
                    keys,
                    must_be_together,
                    is_together,
                });
            }
        }
    }
}

/// The evidence for a place in batches.
#[derive(Default)]
struct Found {
    /// Segments with ids masked: `queue7` and `queue8` are one.
    shapes: HashSet<u64>,
    is_candidate: bool,
    /// Number of batches with this place, and of those that share its segment.
    batches: usize,
    sharing: usize,
}

/// The keys of a batch as segments.
struct SegmentedBatch {
    keys: Vec<SegmentedKey>,
    must_be_together: bool,
    /// Whether its keys already share a tag: then there is nothing to learn from it.
    is_together: bool,
}

/// A key as segments.
struct SegmentedKey {
    segments: Vec<SegmentOfKey>,
    shape: u64,
}

/// A segment of a key, as hashes.
#[derive(Clone, Copy)]
struct SegmentOfKey {
    place: u64,
    text: u64,
    /// Its text, with ids masked.
    shape: u64,
    is_of_words: bool,
    is_date: bool,
}

/// A segment that all keys of a batch share.
struct Shared {
    text: u64,
    /// A hash of the segments before it, shared or not.
    structure: u64,
}

impl SegmentedKey {
    fn of(tokens: &Tokens) -> Self {
        let shaped = tokens
            .segments
            .iter()
            .map(|segment| of_segment(tokens, segment));
        let segments: Vec<SegmentOfKey> = shaped.collect();
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
        let word = match token.kind.mark() {
            None => hash(&tokens.bare[token.start..token.end]),
            Some(_) => FIELD,
        };
        shape.push(&tokens.bare[end..token.start], word);
        end = token.end;
        kinds.push(token.kind);
    }
    let are_all = |allowed: &[TokenKind]| kinds.iter().all(|kind| allowed.contains(kind));
    SegmentOfKey {
        place: segment.place,
        text: hash(&tokens.bare[segment.start..segment.end]),
        shape: shape.place(&tokens.bare[end.min(segment.end)..segment.end]),
        is_of_words: are_all(&[TokenKind::Word, TokenKind::Short]),
        is_date: !kinds.is_empty() && are_all(&[TokenKind::Date, TokenKind::Time]),
    }
}

impl SegmentedBatch {
    /// The distinct places of its keys.
    fn places(&self) -> HashSet<u64> {
        let segments = self.keys.iter().flat_map(|key| &key.segments);
        segments.map(|segment| segment.place).collect()
    }

    /// The places with this text.
    fn places_of(&self, text: u64) -> HashSet<u64> {
        let segments = self.keys.iter().flat_map(|key| &key.segments);
        let with_text = segments.filter(|segment| segment.text == text);
        with_text.map(|segment| segment.place).collect()
    }

    /// The segments shared by all keys, except dates.
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

    /// Whether a cluster refuses the batch and its keys differ in more than ids: a constant tag then holds few keys
    /// together.
    fn needs_a_constant(&self) -> bool {
        let mut shapes: Vec<u64> = self.keys.iter().map(|key| key.shape).collect();
        shapes.sort_unstable();
        self.must_be_together && shapes.windows(2).all(|two| two[0] != two[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of the tokens of `key` after learning from these batches: S for a whole segment, W for a word, N for a
    /// number.
    fn read(batches: &[[&str; 2]], must_be_together: bool, key: &str) -> String {
        let mut all = Batches::default();
        for keys in batches {
            all.push(None, must_be_together, keys);
        }
        let mut tokens = Tokens::with(&Places::of(&all));
        assert!(tokens.parse(key.as_bytes()));
        let kind = |at: usize| match tokens.list[at].kind {
            TokenKind::Segment => format!("S({})", tokens.bytes(at).escape_ascii()),
            TokenKind::Word => format!("W({})", tokens.bytes(at).escape_ascii()),
            TokenKind::Short => format!("W({})", tokens.bytes(at).escape_ascii()),
            _ => String::from("N"),
        };
        (0..tokens.list.len()).map(kind).collect()
    }

    #[test]
    fn segments_that_batches_share_are_values_from_three_on() {
        let slugs = [
            ["bull:send-mail:a", "bull:send-mail:b"],
            ["bull:crop_image.x:a", "bull:crop_image.x:b"],
            ["bull:x:a", "bull:x:b"],
        ];
        assert_eq!(read(&slugs, false, "bull:any-7:c"), "W(bull)S(any-7)W(c)");
        assert_eq!(
            read(&slugs[..2], false, "bull:any-x:c"),
            "W(bull)W(any)W(x)W(c)"
        );
        // With one or two distinct names, the name is a word of the pattern, for commands that a cluster refuses.
        let of_two = read(&slugs[..2], true, "bull:send-mail:c");
        assert_eq!(of_two, "W(bull)W(send-mail)W(c)");
        // Numbers are fields without learning.
        let numbers = [["q:7:a", "q:7:b"], ["q:8:a", "q:8:b"], ["q:9:a", "q:9:b"]];
        assert_eq!(read(&numbers, false, "q:10:a"), "W(q)NW(a)");
        let hosts = [
            ["q:t7:a", "q:t7:b"],
            ["q:t8:a", "q:t8:b"],
            ["q:t9:a", "q:t9:b"],
        ];
        assert_eq!(read(&hosts, false, "q:t10:a"), "W(q)S(t10)W(a)");
    }

    #[test]
    fn names_of_kinds_are_no_values_beside_the_ids_that_differ_more() {
        let users: Vec<[String; 2]> = (0..9)
            .flat_map(|i| {
                ["user", "cart", "order"]
                    .map(|kind| ["a", "b"].map(|end| format!("{kind}:u-{i}x{i}:{end}")))
            })
            .collect();
        let users: Vec<[&str; 2]> = users.iter().map(|keys| [&*keys[0], &*keys[1]]).collect();
        assert_eq!(read(&users, false, "cart:u-1x1:a"), "W(cart)S(u-1x1)W(a)");
        // Values after values: tenants, then their users.
        let nested: Vec<[String; 2]> = (0..27)
            .map(|i| {
                let (tenant, user) = (
                    ["acme", "hooli", "wonka"][i % 3],
                    ["ann", "bob", "eve-x"][i / 3 % 3],
                );
                ["a", "b"].map(|end| format!("t:{tenant}:{}:{user}:{end}", i / 9))
            })
            .collect();
        let nested: Vec<[&str; 2]> = nested.iter().map(|keys| [&*keys[0], &*keys[1]]).collect();
        let found = read(&nested, false, "t:acme:1:eve-x:a");
        assert_eq!(found, "W(t)W(acme)NS(eve-x)W(a)");
    }

    #[test]
    fn hostile_batches_are_read_in_bounded_time() {
        let mut batches = Batches::default();
        for batch in 0..4 {
            let key = |i: usize| format!("{batch}.{i}:{}", "-:".repeat(240)).into_bytes();
            batches.push(None, true, &(0..1000).map(key).collect::<Vec<_>>());
        }
        let mut tokens = Tokens::with(&Places::of(&batches));
        assert!(tokens.parse("-:".repeat(240).as_bytes()) && tokens.segments.len() <= 24);
    }
}
