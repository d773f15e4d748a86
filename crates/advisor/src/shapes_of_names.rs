//! Literal names become patterns: numbers and ids at once, words if enough of them differ that they must be values.
//!
//! A shape is a name with its numbers and ids wiped out. Its words stay until a level of the trie of shapes shows more of
//! them than kinds of things have names (`MOST_WORDS`), or until the same words come with several endings, as tenants do and
//! kinds of tables do not.

use std::collections::{BTreeMap, HashMap, HashSet};

use slotscope_engine::hash::{fold, hash};

use crate::places::FIELD;
use crate::seeded::SeededMap;
use crate::tokens::{Braces, TokenKind, Tokens};

/// Different words at one place that are kinds; more are values.
const MOST_WORDS: usize = 64;
/// Different words from which on common endings show that they are values; those endings, and the part of the words that
/// each of them comes with.
const LEAST_VALUES: usize = 8;
const LEAST_ENDINGS: usize = 3;
const COMMON: f64 = 0.8;
/// Rounds of the search for common endings: a value may hide another.
const ROUNDS: usize = 3;
/// Shapes that are kept, and their steps; names of others keep their spelling.
const MOST_SHAPES: usize = 1 << 16;
const MOST_STEPS: usize = 1 << 18;

/// A separator and a word, as numbers of an `Interner`; 0 in place of a word is a field.
pub(super) type Step = (u32, u32);

/// A shape: its steps, and the number of its ending.
pub(super) type Shape = (Vec<Step>, u32);

/// The text after the last token, and the braces.
pub(super) type Ending = (Vec<u8>, Option<Braces>);

/// Texts by numbers from 1 on.
#[derive(Debug, Default)]
pub(super) struct Interner<T> {
    numbers: HashMap<T, u32>,
    texts: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Interner<T> {
    fn number<Q>(&mut self, text: &Q) -> u32
    where
        T: std::borrow::Borrow<Q>,
        Q: ToOwned<Owned = T> + Eq + std::hash::Hash + ?Sized,
    {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.texts.push(text.to_owned());
        let number = self.texts.len() as u32;
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The text of a number.
    pub(super) fn text(&self, number: u32) -> &T {
        &self.texts[number as usize - 1]
    }
}

/// Shapes of names, counted.
#[derive(Debug, Default)]
pub(super) struct NameShapes {
    /// Separators and words.
    pub texts: Interner<Vec<u8>>,
    /// Endings.
    pub endings: Interner<Ending>,
    /// By the hash of a shape.
    counts: SeededMap<u64, (Shape, u64)>,
}

/// In place of what follows a name of too many tokens.
const REST: &[u8] = b"<rest>";

/// A hash of the text after the last token, and of the braces.
pub(super) fn end_hash(tail: &[u8], braces: Option<Braces>) -> u64 {
    let place = |tokens: u8, bytes: u16| u64::from(tokens) << 16 | u64::from(bytes);
    let braces = braces.map_or(0, |of| {
        1 + (place(of.open.tokens, of.open.bytes) << 32 | place(of.close.tokens, of.close.bytes))
    });
    fold(hash(tail) ^ 5, braces)
}

/// The text after the last token of a name.
pub(super) fn ending(tokens: &Tokens) -> Ending {
    let tail = if tokens.is_cut { REST } else { tokens.tail() };
    (tail.to_vec(), tokens.braces)
}

/// A hash of all that makes the shape of a name.
fn hash_of(tokens: &Tokens) -> u64 {
    let mut state = u64::from(tokens.is_cut);
    for at in 0..tokens.list.len() {
        let word = match tokens.list[at].kind {
            TokenKind::Word => hash(tokens.bytes(at)),
            _ => FIELD,
        };
        state = fold(state ^ hash(tokens.separator(at)), word);
    }
    let tail = if tokens.is_cut { REST } else { tokens.tail() };
    fold(state, end_hash(tail, tokens.braces))
}

impl NameShapes {
    /// Counts a name.
    pub(super) fn add(&mut self, tokens: &Tokens) {
        let hash = hash_of(tokens);
        if let Some((_, count)) = self.counts.get_mut(&hash) {
            *count += 1;
            return;
        }
        let steps = (0..tokens.list.len()).map(|at| {
            let separator = self.texts.number(tokens.separator(at));
            let word = match tokens.list[at].kind {
                TokenKind::Word => self.texts.number(tokens.bytes(at)),
                _ => 0,
            };
            (separator, word)
        });
        let steps: Vec<Step> = steps.collect();
        let ending = self.endings.number(&ending(tokens));
        self.counts.insert(hash, ((steps, ending), 1));
    }

    /// The patterns of all shapes.
    pub(super) fn patterns(&mut self) -> BTreeMap<Shape, u64> {
        let mut shapes: Vec<(Shape, u64)> =
            std::mem::take(&mut self.counts).into_values().collect();
        shapes.sort_unstable();
        widen_levels(&mut shapes);
        let mut patterns = merged(shapes);
        for _ in 0..ROUNDS {
            let values = self.places_of_values(&patterns);
            if values.is_empty() {
                break;
            }
            patterns = merged(
                patterns
                    .into_iter()
                    .map(|(shape, count)| (widened(shape, &values), count)),
            );
        }
        patterns
    }

    /// Places, as the steps before them and their separators, whose words are values by their endings.
    fn places_of_values(&self, patterns: &BTreeMap<Shape, u64>) -> HashSet<(Vec<Step>, u32)> {
        // By place the endings, each with its words, and whether the place is in the tag.
        let many = places_of_many(patterns);
        type Endings<'a> = HashMap<(&'a [Step], u32), (HashSet<u32>, bool)>;
        let mut places: HashMap<(&[Step], u32), Endings<'_>> = HashMap::new();
        for (steps, ending) in patterns.keys() {
            let braces = self.endings.text(*ending).1;
            for (at, (separator, word)) in steps.iter().enumerate().filter(|(_, step)| step.1 != 0)
            {
                let in_tag = braces.is_some_and(|of| {
                    (usize::from(of.open.tokens)..usize::from(of.close.tokens)).contains(&at)
                });
                if !many.contains(&(&steps[..at], *separator)) {
                    continue;
                }
                let endings = places.entry((&steps[..at], *separator)).or_default();
                let of_ending = endings.entry((&steps[at + 1..], *ending)).or_default();
                of_ending.0.insert(*word);
                of_ending.1 |= in_tag;
            }
        }
        let are_values = |endings: &Endings<'_>| {
            let words: HashSet<u32> = endings
                .values()
                .flat_map(|(words, _)| words)
                .copied()
                .collect();
            let is_common =
                |words_of: &HashSet<u32>| words_of.len() as f64 >= COMMON * words.len() as f64;
            let common: Vec<bool> = endings
                .values()
                .filter(|of| is_common(&of.0))
                .map(|of| of.1)
                .collect();
            words.len() >= LEAST_VALUES && (common.len() >= LEAST_ENDINGS || common.contains(&true))
        };
        let values = places.iter().filter(|(_, endings)| are_values(endings));
        values
            .map(|((before, separator), _)| (before.to_vec(), *separator))
            .collect()
    }
}

/// Places with enough different words to be values. The patterns are in order, so that equal words of a place follow each
/// other.
fn places_of_many(patterns: &BTreeMap<Shape, u64>) -> HashSet<(&[Step], u32)> {
    let mut words: HashMap<(&[Step], u32), (u32, usize)> = HashMap::new();
    for (steps, _) in patterns.keys() {
        for (at, (separator, word)) in steps.iter().enumerate().filter(|(_, step)| step.1 != 0) {
            let (last, different) = words.entry((&steps[..at], *separator)).or_default();
            *different += usize::from(*last != *word);
            *last = *word;
        }
    }
    let many = words
        .into_iter()
        .filter(|(_, (_, different))| *different >= LEAST_VALUES);
    many.map(|(place, _)| place).collect()
}

/// Makes a field of each place of the trie that has too many words, from the front to the back.
fn widen_levels(shapes: &mut [(Shape, u64)]) {
    let longest = shapes
        .iter()
        .map(|((steps, _), _)| steps.len())
        .max()
        .unwrap_or(0);
    let mut states = vec![0u32; shapes.len()];
    for level in 0..longest {
        let mut words: HashMap<(u32, u32), HashSet<u32>> = HashMap::new();
        for (((steps, _), _), state) in shapes.iter().zip(&states) {
            if let Some((separator, word)) = steps.get(level).filter(|step| step.1 != 0) {
                let known = words.entry((*state, *separator)).or_default();
                if known.len() <= MOST_WORDS {
                    known.insert(*word);
                }
            }
        }
        let mut next: HashMap<(u32, Step), u32> = HashMap::new();
        for (((steps, _), _), state) in shapes.iter_mut().zip(&mut states) {
            let Some(step) = steps.get_mut(level) else {
                continue;
            };
            if words
                .get(&(*state, step.0))
                .is_some_and(|words| words.len() > MOST_WORDS)
            {
                step.1 = 0;
            }
            let number = next.len() as u32;
            *state = *next.entry((*state, *step)).or_insert(number);
        }
    }
}

/// The first place of a shape that is one of values as a field.
fn widened((mut steps, ending): Shape, values: &HashSet<(Vec<Step>, u32)>) -> Shape {
    let is_value =
        |at: &usize| steps[*at].1 != 0 && values.contains(&(steps[..*at].to_vec(), steps[*at].0));
    if let Some(at) = (0..steps.len()).find(is_value) {
        steps[at].1 = 0;
    }
    (steps, ending)
}

/// Each shape once; the most frequent, where there are too many.
fn merged(shapes: impl IntoIterator<Item = (Shape, u64)>) -> BTreeMap<Shape, u64> {
    let mut merged: BTreeMap<Shape, u64> = BTreeMap::new();
    for (shape, count) in shapes {
        *merged.entry(shape).or_default() += count;
    }
    let steps =
        |shapes: &BTreeMap<Shape, u64>| shapes.keys().map(|shape| shape.0.len()).sum::<usize>();
    if merged.len() > MOST_SHAPES || steps(&merged) > MOST_STEPS {
        let mut ranked: Vec<(Shape, u64)> = merged.into_iter().collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut steps = 0;
        let fits = |(shape, _): &(Shape, u64)| {
            steps += shape.0.len();
            steps <= MOST_STEPS
        };
        merged = ranked
            .into_iter()
            .take(MOST_SHAPES)
            .take_while(fits)
            .collect();
    }
    merged
}
