//! Patterns that differ in a single word: if there are many, the word is an id that its form did not reveal.
//!
//! Names are compared part by part from the left. Words that follow the same parts are siblings. Numbers of one or two
//! digits after a word are ids if more than `MANY_NUMBERS` siblings differ in them. Words with little load are ids if
//! more than `MANY_RANDOM` of them look random, or if there are more than `MANY_WORDS`; a word with much load keeps its
//! row. Parts joined to such an id belong to it, unless they have much load.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use crate::ids::Id;
use crate::parts::{Kind, Part, joined, parts};

const MANY_NUMBERS: usize = 9;
const MANY_RANDOM: usize = 9;
const MANY_WORDS: usize = 100;

/// One in 1,500 eight-digit hexadecimal ids consists of letters only; fewer of longer ones.
const RARE: u64 = 20;

/// Patterns with fewer than one in this many of their twins' keys are merged into them.
const TWIN: u64 = 20;

/// Fewer keys than this are little in any dump.
const FEW_KEYS: u64 = 10;
/// Less than one in this many of all keys is little, and so is less than one in this many of a weight.
const PART_OF_KEYS: u128 = 1000;
const PART_OF_WEIGHT: u128 = 100;

/// Whether a word has too little to deserve a row: few of all keys and little of each weight, given with the total of
/// that weight.
pub fn is_little(
    keys: u64,
    all_keys: u128,
    weights: impl IntoIterator<Item = (u64, u128)>,
) -> bool {
    let part = |total: u128, divisor| u64::try_from(total / divisor).unwrap_or(u64::MAX);
    let is_light = |(weight, total): (u64, u128)| weight < part(total, PART_OF_WEIGHT).max(1);
    keys < part(all_keys, PART_OF_KEYS).max(FEW_KEYS) && weights.into_iter().all(is_light)
}

/// A row for a pattern, which may be merged into another.
pub trait Row: Default {
    /// The load of its keys.
    type Load: Copy + Default + AddAssign;
    /// The load of its keys.
    fn load(&self) -> Self::Load;
    /// Number of its keys.
    fn keys(&self) -> u64;
    /// Adds another row to it.
    fn take_in(&mut self, other: Self);
}

/// Parameters for building families from patterns.
pub struct Rules<'a, L> {
    /// The separator of segments.
    pub separator: &'a [u8],
    /// Whether every `<id>` is a folded word, as in patterns that were made coarser.
    pub are_coarse: bool,
    /// Whether a load is too little to deserve a row.
    pub is_little: &'a dyn Fn(&L) -> bool,
}

/// The families of `patterns`: the rows of twins, and of large groups of siblings, are merged.
pub fn families<R: Row>(
    mut patterns: BTreeMap<Vec<u8>, R>,
    rules: &Rules<'_, R::Load>,
) -> BTreeMap<Vec<u8>, R> {
    fold_twins(&mut patterns, Id::Number, Id::Hex);
    let mut families = fold(patterns, rules);
    fold_twins(&mut families, Id::Hex, Id::Mixed);
    families
}

/// Merges patterns with one placeholder into those with another in its place, as the few ids that happen to lack a
/// letter, or a letter past f.
fn fold_twins<R: Row>(patterns: &mut BTreeMap<Vec<u8>, R>, from: Id, into: Id) {
    let twin = |name: &Vec<u8>| Some((name.clone(), with_mark(name, from, into)?));
    let twins: Vec<(Vec<u8>, Vec<u8>)> = patterns.keys().filter_map(twin).collect();
    for (name, twin) in twins {
        let few = patterns
            .get(&twin)
            .is_some_and(|twin| patterns[&name].keys().saturating_mul(TWIN) < twin.keys());
        if few && let Some(row) = patterns.remove(&name) {
            patterns.entry(twin).or_default().take_in(row);
        }
    }
}

/// A pattern with placeholder `into` for `from`; `None` if it does not contain `from`.
fn with_mark(pattern: &[u8], from: Id, into: Id) -> Option<Vec<u8>> {
    let (mut twin, mut rest) = (Vec::new(), pattern);
    while let Some((first, after)) = rest.split_first() {
        let after_mark = rest.strip_prefix(from.mark());
        match after_mark {
            Some(_) => twin.extend_from_slice(into.mark()),
            None => twin.push(*first),
        }
        rest = after_mark.unwrap_or(after);
    }
    (twin != pattern).then_some(twin)
}

/// A pattern during folding.
struct Sibling<'a, R> {
    parts: Vec<Part<'a>>,
    row: R,
}

/// Patterns with the same parts before a position.
struct Group<'a, R> {
    at: usize,
    /// Whether the part before the position is a joiner, and an id is before it or in its place.
    is_in_id: bool,
    siblings: Vec<Sibling<'a, R>>,
}

/// The rows of `patterns`, with large groups of siblings merged.
fn fold<R: Row>(
    patterns: BTreeMap<Vec<u8>, R>,
    rules: &Rules<'_, R::Load>,
) -> BTreeMap<Vec<u8>, R> {
    let names: Vec<Vec<u8>> = patterns.keys().cloned().collect();
    let sibling = |(name, row)| Sibling {
        parts: parts(name, rules.separator),
        row,
    };
    let rows = names.iter().map(Vec::as_slice).zip(patterns.into_values());
    let mut siblings: Vec<_> = rows.map(sibling).collect();
    let parts = siblings.iter_mut().flat_map(|sibling| &mut sibling.parts);
    parts
        .filter(|part| rules.are_coarse && part.bytes == Part::FOLDED.bytes)
        .for_each(|part| *part = Part::FOLDED);
    let mut folded = BTreeMap::<Vec<u8>, R>::new();
    let mut groups = vec![Group {
        at: 0,
        is_in_id: false,
        siblings,
    }];
    while let Some(mut group) = groups.pop() {
        let at = group.at;
        for ended in group
            .siblings
            .extract_if(.., |sibling| sibling.parts.len() <= at)
        {
            let name = joined(&ended.parts);
            folded.entry(name).or_default().take_in(ended.row);
        }
        fold_numbers(&mut group);
        fold_letters(&mut group);
        let has_ids = fold_words(&mut group, rules);
        let mut by_part: BTreeMap<Part<'_>, Vec<_>> = BTreeMap::new();
        for sibling in group.siblings {
            let part = sibling.parts[at].clone();
            by_part.entry(part).or_default().push(sibling);
        }
        groups.extend(by_part.into_iter().map(|(part, siblings)| Group {
            at: at + 1,
            is_in_id: match part.kind {
                Kind::Folded => true,
                Kind::Joiner | Kind::Mark => group.is_in_id || has_ids,
                _ => false,
            },
            siblings,
        }));
    }
    folded
}

/// Turns the numbers at the end of the words at `at` into ids.
fn fold_numbers<R>(group: &mut Group<'_, R>) {
    let at = group.at;
    let mut numbers: BTreeMap<&[u8], BTreeSet<&[u8]>> = BTreeMap::new();
    for sibling in &group.siblings {
        let part = &sibling.parts[at];
        let has_mark = sibling
            .parts
            .get(at + 1)
            .is_some_and(|next| *next == Part::number());
        match part.stem() {
            Some(stem) => {
                _ = numbers
                    .entry(stem)
                    .or_default()
                    .insert(&part.bytes[stem.len()..])
            }
            // Three and more digits are already ids.
            None if has_mark => _ = numbers.entry(part.bytes).or_default().insert(b""),
            None => {}
        }
    }
    for sibling in &mut group.siblings {
        let stem = sibling.parts[at].stem();
        let is_many = |stem: &&[u8]| {
            numbers
                .get(stem)
                .is_some_and(|digits| digits.len() > MANY_NUMBERS)
        };
        if let Some(stem) = stem.filter(is_many) {
            sibling.parts[at].bytes = stem;
            sibling.parts.insert(at + 1, Part::number());
        }
    }
}

/// Turns words of hexadecimal letters into ids, if ids with digits have far more keys.
fn fold_letters<R: Row>(group: &mut Group<'_, R>) {
    let at = group.at;
    let keys = |is_counted: &dyn Fn(&Part<'_>) -> bool| -> u64 {
        let siblings = group.siblings.iter();
        siblings
            .filter(|sibling| is_counted(&sibling.parts[at]))
            .map(|sibling| sibling.row.keys())
            .sum()
    };
    let mark = Part::hexadecimal();
    let with_digits = keys(&|part| *part == mark);
    if keys(&|part| part.is_hexadecimal_word()) > with_digits / RARE {
        return;
    }
    for sibling in &mut group.siblings {
        if sibling.parts[at].is_hexadecimal_word() {
            sibling.parts[at] = mark.clone();
        }
    }
}

/// Turns words with little load into ids if there are many or they are joined to an id; returns whether it found any.
/// If some are not text, or too many kinds of punctuation follow an id, punctuation with little load belongs to an id
/// too.
fn fold_words<R: Row>(group: &mut Group<'_, R>, rules: &Rules<'_, R::Load>) -> bool {
    let at = group.at;
    let mut little: BTreeMap<Part<'_>, R::Load> = BTreeMap::new();
    for sibling in &group.siblings {
        *little.entry(sibling.parts[at].clone()).or_default() += sibling.row.load();
    }
    little.retain(|_, load| (rules.is_little)(load));
    let are_ids = Ids::of(little.keys(), group.is_in_id);
    let is_punctuation =
        |part: &Part<'_>| at > 0 && matches!(part.kind, Kind::Other | Kind::Joiner | Kind::Mark);
    for sibling in &mut group.siblings {
        let part = &sibling.parts[at];
        if are_ids.words.contains(part) {
            sibling.parts[at] = Part::FOLDED;
        } else if are_ids.is_no_text && is_punctuation(part) && little.contains_key(part) {
            sibling.parts.truncate(at);
            sibling.parts.push(Part::FOLDED);
        }
    }
    !are_ids.words.is_empty()
}

/// The parts at one position that are ids.
struct Ids<'a> {
    words: BTreeSet<Part<'a>>,
    /// Whether they contain bytes that are not text, so that punctuation may be the start of an id.
    is_no_text: bool,
}

impl<'a> Ids<'a> {
    /// The ids among `little`, the parts with little load.
    fn of<'p>(little: impl Iterator<Item = &'p Part<'a>> + Clone, is_in_id: bool) -> Self
    where
        'a: 'p,
    {
        let of_kind =
            |kinds: &'static [Kind]| little.clone().filter(|part| kinds.contains(&part.kind));
        let mut words: BTreeSet<_> = of_kind(&[Kind::Word, Kind::Binary]).cloned().collect();
        if words.len() <= MANY_WORDS && !is_in_id {
            words.retain(Part::looks_random);
            if words.len() <= MANY_RANDOM {
                words.clear();
            }
        }
        let is_no_text = words.iter().any(|word| word.kind == Kind::Binary)
            || is_in_id && of_kind(&[Kind::Other]).count() > MANY_RANDOM;
        Ids { words, is_no_text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of keys.
    impl Row for u64 {
        type Load = u64;

        fn load(&self) -> u64 {
            *self
        }

        fn keys(&self) -> u64 {
            *self
        }

        fn take_in(&mut self, other: u64) {
            *self += other;
        }
    }

    /// The families of patterns with these numbers of keys.
    fn folded(patterns: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
        let patterns = patterns.into_iter();
        let patterns: BTreeMap<Vec<u8>, u64> = patterns
            .map(|(name, keys)| (name.into_bytes(), keys))
            .collect();
        let total: u64 = patterns.values().sum();
        let rules = Rules {
            separator: b":",
            are_coarse: false,
            is_little: &|keys: &u64| is_little(*keys, u128::from(total), []),
        };
        let rows = families(patterns, &rules).into_iter();
        rows.map(|(name, keys)| (String::from_utf8(name).unwrap(), keys))
            .collect()
    }

    fn row(name: &str, keys: u64) -> (String, u64) {
        (name.to_owned(), keys)
    }

    #[test]
    fn numbers_are_ids_where_more_than_nine_siblings_differ_in_them() {
        let games = (0..100).map(|i| row(&format!("lb:game{i}:top"), 10));
        let longer = [row("lb:game<n>:top", 1000)];
        assert_eq!(folded(games.chain(longer)), [row("lb:game<n>:top", 2000)]);
        let nine: Vec<_> = (1..10).map(|i| row(&format!("v{i}:x"), 5)).collect();
        assert_eq!(folded(nine.clone()), nine);
        let both = (0..400).map(|i| row(&format!("a{}:b{}:{}", i % 20, i / 20, i % 2), 1));
        assert_eq!(
            folded(both),
            [row("a<n>:b<n>:0", 200), row("a<n>:b<n>:1", 200)]
        );
    }

    #[test]
    fn words_of_hexadecimal_letters_are_ids_where_ids_with_digits_hold_far_more() {
        let words = ["deadbeef", "facadeaa", "abcabcab"].map(|word| row(&format!("s:{word}:x"), 1));
        let with = |keys| words.clone().into_iter().chain([row("s:<hex>:x", keys)]);
        assert_eq!(folded(with(60)), [row("s:<hex>:x", 63)]);
        assert_eq!(folded(with(59)).len(), 4);
        let other = [row("s:<hex>:x", 1000), row("s:headless:x", 1)];
        assert_eq!(folded(other.clone()), other);
    }

    #[test]
    fn random_words_are_ids_where_there_are_ten_and_what_holds_much_stays() {
        let ids = [
            "aB3dE5", "Qw9rTy", "zX1cV2", "p0OiU8", "mN4bV3", "kJ7hG6", "fD5sA4", "lK3jH2",
            "yT6rE5", "wQ1aZ2",
        ];
        let some = |count: usize| ids[..count].iter().map(|id| row(&format!("s:{id}"), 1));
        assert_eq!(folded(some(9)).len(), 9);
        assert_eq!(folded(some(10)), [row("s:<id>", 10)]);
        let much = [row("s:Xx7Yy8", 500), row("s:list", 400)];
        let rows = [row("s:<id>", 10), row("s:Xx7Yy8", 500), row("s:list", 400)];
        assert_eq!(folded(some(10).chain(much)), rows);
    }

    #[test]
    fn words_are_ids_where_there_are_more_than_a_hundred() {
        let letter = |i: u64| char::from(b'a' + (i % 26) as u8);
        let name = |i: u64| {
            format!(
                "user:{}{}nn:cart:{}{}x",
                letter(i),
                letter(i / 26),
                letter(i / 3),
                letter(i / 26)
            )
        };
        assert_eq!(folded((0..100).map(|i| row(&name(i), 1))).len(), 100);
        let many = folded((0..500).map(|i| row(&name(i), 1)));
        assert_eq!(many, [row("user:<id>:cart:<id>", 500)]);
    }

    #[test]
    fn few_numbers_beside_many_hexadecimal_ids_are_those_without_a_letter() {
        let patterns = [
            row("s:<hex>", 1000),
            row("s:<n>", 49),
            row("t:<hex>", 1000),
            row("t:<n>", 50),
        ];
        assert_eq!(
            folded(patterns),
            [row("s:<hex>", 1049), row("t:<hex>", 1000), row("t:<n>", 50)]
        );
    }
}
