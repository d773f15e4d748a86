//! Families: names of one pattern, as reports list them, and the fields in them that may become a tag.

use std::collections::BTreeMap;

use rayon::prelude::*;
use slotscope_engine::hash::hash;
use slotscope_keyname::families::{Row, Rules, families, is_little};

pub use crate::field_kinds::FieldKind;
use crate::field_kinds::KINDS;
use crate::matcher::Matcher;
use crate::places::{FIELD, PlaceKind, Places, Prefix};
use crate::seeded::SeededMap;
use crate::tokens::{Braces, INSIDE, TokenKind, Tokens};

/// The separator of segments in patterns.
const SEPARATOR: &[u8] = b":";

/// A token of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternToken {
    /// The text before it.
    pub separator: Vec<u8>,
    /// The word or the mark.
    pub text: Vec<u8>,
    /// Its kind: of a mark, that of the values that it is for.
    pub kind: TokenKind,
}

impl PatternToken {
    /// The word; `None` if the token is a field of values.
    pub fn literal(&self) -> Option<&[u8]> {
        let is_field = self.kind.mark().is_some();
        (!is_field).then_some(self.text.as_slice())
    }
}

/// Names of one pattern.
#[derive(Debug, Clone)]
pub struct Family {
    /// The pattern, with the braces that its names have.
    pub pattern: Vec<u8>,
    /// Its tokens.
    pub tokens: Vec<PatternToken>,
    /// The text after them.
    pub tail: Vec<u8>,
    /// Where its names have their effective braces.
    pub braces: Option<Braces>,
    /// The tokens that are fields: values, and words that batches show to be common to all keys.
    pub fields: Vec<usize>,
    /// The kinds of those.
    pub kinds: Vec<FieldKind>,
    /// Its names, as numbers of the sample.
    pub names: Vec<u32>,
    /// Their load.
    pub load: u64,
    /// How often batches touch them.
    pub accesses: u64,
}

impl Family {
    /// The one of names that no pattern fits: they keep their spelling.
    fn other() -> Self {
        Family {
            pattern: b"(other names)".to_vec(),
            tokens: Vec::new(),
            tail: Vec::new(),
            braces: None,
            fields: Vec::new(),
            kinds: Vec::new(),
            names: Vec::new(),
            load: 0,
            accesses: 0,
        }
    }

    /// The family of a pattern; `None` if the pattern is too long.
    fn of(pattern: &[u8], tokens: &mut Tokens, places: &Places) -> Option<Self> {
        if !tokens.parse(pattern) {
            return None;
        }
        let token = |at: usize| PatternToken {
            separator: tokens.separator(at).to_vec(),
            text: tokens.bytes(at).to_vec(),
            kind: tokens.list[at].kind,
        };
        let list: Vec<PatternToken> = (0..tokens.list.len()).map(token).collect();
        let mut before = Prefix::default();
        let is_field = |token: &PatternToken| {
            let place = before.place(&token.separator);
            let is_word = token.kind == TokenKind::Word;
            let word = if is_word { hash(&token.text) } else { FIELD };
            before.push(&token.separator, word);
            token.kind.mark().is_some() || places.get(place) == Some(PlaceKind::Constant)
        };
        let are_fields: Vec<bool> = list.iter().map(is_field).collect();
        Some(Family {
            pattern: pattern.to_vec(),
            tail: tokens.tail().to_vec(),
            braces: tokens.braces,
            fields: (0..list.len()).filter(|at| are_fields[*at]).collect(),
            tokens: list,
            ..Family::other()
        })
    }

    /// Whether a field is a word of the pattern, the same in all names.
    pub(crate) fn is_constant(&self, field: usize) -> bool {
        self.tokens[self.fields[field]].literal().is_some()
    }

    /// The fields whose values differ.
    pub(crate) fn values(&self) -> impl Iterator<Item = usize> {
        (0..self.fields.len()).filter(|field| !self.is_constant(*field))
    }

    /// The fields in today's tag; none where there is no tag, and no fields where it is the same for all names.
    pub(crate) fn fields_of_today(&self) -> Option<Vec<usize>> {
        let Braces { open, close } = self.braces?;
        let tagged = usize::from(open.tokens)..usize::from(close.tokens);
        let is_tagged = |field: &usize| tagged.contains(&self.fields[*field]);
        Some((0..self.fields.len()).filter(is_tagged).collect())
    }

    /// The word before a field, without another field between.
    pub fn word_before(&self, field: usize) -> Option<&[u8]> {
        let before = self.fields[field].checked_sub(1)?;
        self.tokens[before].literal()
    }

    /// Fields before the first brace that would win over ours, and whether there is no such brace.
    pub(crate) fn reachable_fields(&self) -> (usize, bool) {
        let has_brace = |bytes: &[u8]| bytes.contains(&b'{');
        let behind = self
            .tokens
            .iter()
            .position(|token| has_brace(&token.separator));
        let reachable = behind.map_or(self.fields.len(), |at| {
            self.fields.iter().filter(|field| **field < at).count()
        });
        (reachable, behind.is_none() && !has_brace(&self.tail))
    }

    /// The pattern as a name without braces, and where its tokens are in it.
    pub(crate) fn bare_pattern(&self) -> (Vec<u8>, Vec<(usize, usize)>) {
        let (mut bare, mut spans) = (Vec::new(), Vec::new());
        for token in &self.tokens {
            bare.extend_from_slice(&token.separator);
            let start = bare.len();
            bare.extend_from_slice(&token.text);
            spans.push((start, bare.len()));
        }
        bare.extend_from_slice(&self.tail);
        (bare, spans)
    }

    /// The positions of the braces in the bare pattern; none where they split a token.
    pub(crate) fn brace_positions(&self, spans: &[(usize, usize)]) -> Option<(usize, usize)> {
        let Braces { open, close } = self.braces?;
        let at = |tokens: u8, bytes: u16| {
            let end = usize::from(tokens)
                .checked_sub(1)
                .map_or(0, |last| spans[last].1);
            (bytes != INSIDE).then(|| end + usize::from(bytes))
        };
        Some((at(open.tokens, open.bytes)?, at(close.tokens, close.bytes)?))
    }

    /// The text that all names of it begin with.
    pub fn prefix(&self) -> Vec<u8> {
        let (mut bare, spans) = self.bare_pattern();
        let first = self.values().next();
        let end = first.map_or(bare.len(), |field| spans[self.fields[field]].0);
        let positions = self.brace_positions(&spans);
        if self.braces.is_some() && positions.is_none() {
            return Vec::new();
        }
        bare.truncate(end);
        // The closing brace first: it comes later.
        for (position, brace) in positions
            .into_iter()
            .flat_map(|(open, close)| [(close, b'}'), (open, b'{')])
        {
            if position <= end && (position < end || brace == b'{') {
                bare.insert(position, brace);
            }
        }
        bare
    }
}

/// The keys of a pattern and their load.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameLoad {
    /// Keys.
    pub keys: u64,
    /// Their load, where it is not their number.
    pub load: u64,
}

impl std::ops::AddAssign for NameLoad {
    fn add_assign(&mut self, other: NameLoad) {
        self.keys += other.keys;
        self.load = self.load.saturating_add(other.load);
    }
}

impl Row for NameLoad {
    type Load = NameLoad;

    fn load(&self) -> NameLoad {
        *self
    }

    fn keys(&self) -> u64 {
        self.keys
    }

    fn take_in(&mut self, other: NameLoad) {
        *self += other;
    }
}

/// All families, and how names find theirs.
#[derive(Debug)]
pub struct Families {
    /// The places that batches show.
    places: Places,
    /// By number; the last one is of names that no pattern fits.
    pub list: Vec<Family>,
    /// Finds their numbers.
    matcher: Matcher,
}

impl Families {
    /// The families of names that are read with these places.
    pub(crate) fn of(names: &[(&[u8], NameLoad)], places: Places) -> Self {
        let patterns = families_of(names, &places);
        let mut tokens = Tokens::of_patterns(&places);
        let list = patterns.iter();
        let list = list.filter_map(|pattern| Family::of(pattern, &mut tokens, &places));
        let mut list: Vec<Family> = list.collect();
        let mut matcher = Matcher::default();
        for (number, family) in list.iter().enumerate() {
            matcher.insert(family, number as u32);
        }
        list.push(Family::other());
        let mut families = Families {
            places,
            list,
            matcher,
        };
        let kinds = families.kinds(names);
        for (family, kinds) in families.list.iter_mut().zip(&kinds) {
            family.kinds = kinds.iter().map(FieldKind::of).collect();
        }
        families
    }

    /// Takes names apart as the families do.
    pub fn tokens(&self) -> Tokens {
        Tokens::with(&self.places)
    }

    /// Puts the families into this order of their numbers; the last one stays the last.
    pub fn reorder(&mut self, order: &[usize]) {
        let mut new = vec![0u32; self.list.len()];
        order
            .iter()
            .enumerate()
            .for_each(|(at, old)| new[*old] = at as u32);
        self.list = order
            .iter()
            .map(|old| std::mem::replace(&mut self.list[*old], Family::other()))
            .collect();
        self.matcher.renumber(&new);
    }

    /// The number of the family of names that no pattern fits.
    pub fn other(&self) -> usize {
        self.list.len() - 1
    }

    /// The numbers of the families of names.
    pub(crate) fn find_all(&self, names: &[&[u8]]) -> Vec<u32> {
        let found = names.par_iter().map_init(
            || self.tokens(),
            |tokens, name| self.read(name, tokens) as u32,
        );
        found.with_min_len(CHUNK).collect()
    }

    /// Takes a name apart into the tokens of its family, and returns the number of that.
    pub fn read(&self, name: &[u8], tokens: &mut Tokens) -> usize {
        let found = tokens.parse(name).then(|| self.matcher.find(tokens));
        found
            .flatten()
            .map_or(self.other(), |number| number as usize)
    }

    /// How often the values of fields are of each kind of token.
    fn kinds(&self, names: &[(&[u8], NameLoad)]) -> Kinds {
        let none = || -> Kinds {
            let fields = self.list.iter().map(|family| family.fields.len());
            fields.map(|fields| vec![[0; KINDS]; fields]).collect()
        };
        let counted = names.par_chunks(CHUNK).fold(none, |mut kinds, names| {
            let mut tokens = self.tokens();
            for (name, _) in names {
                let number = self.read(name, &mut tokens);
                let of_fields = kinds[number].iter_mut().zip(&self.list[number].fields);
                of_fields.for_each(|(kinds, token)| kinds[tokens.list[*token].kind as usize] += 1);
            }
            kinds
        });
        counted.reduce(none, |mut kinds, other| {
            let counts = kinds.iter_mut().flatten().flatten();
            let others = other.iter().flatten().flatten();
            counts
                .zip(others)
                .for_each(|(count, other)| *count += other);
            kinds
        })
    }
}

/// Names that a thread looks at at a time.
const CHUNK: usize = 1 << 14;

/// By family and field how often its values are of each kind of token.
type Kinds = Vec<Vec<[u64; KINDS]>>;

/// The patterns of families, in order.
fn families_of(names: &[(&[u8], NameLoad)], places: &Places) -> Vec<Vec<u8>> {
    let mut tokens = Tokens::with(places);
    let mut counts: SeededMap<u64, (Vec<u8>, NameLoad)> = SeededMap::default();
    let (mut pattern, mut all) = (Vec::new(), NameLoad::default());
    for (name, load) in names {
        all += *load;
        if !tokens.parse(name) {
            continue;
        }
        pattern.clear();
        tokens.pattern(&mut pattern);
        let count = counts.entry(hash(&pattern));
        count
            .or_insert_with(|| (pattern.clone(), NameLoad::default()))
            .1 += *load;
    }
    let weight = |load: u64| (load, u128::from(all.load));
    let rules = Rules {
        separator: SEPARATOR,
        are_coarse: false,
        is_little: &|of: &NameLoad| {
            let weight = (all.load > 0).then(|| weight(of.load));
            is_little(of.keys, u128::from(all.keys), weight)
        },
    };
    let patterns: BTreeMap<Vec<u8>, NameLoad> = counts.into_values().collect();
    families(patterns, &rules).into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&[u8]]) -> Families {
        let key = NameLoad { keys: 1, load: 0 };
        let names: Vec<(&[u8], NameLoad)> = names.iter().map(|name| (*name, key)).collect();
        Families::of(&names, Places::default())
    }

    fn patterns(names: &[String]) -> Vec<String> {
        let names_as_bytes: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let families = of(&names_as_bytes);
        let mut tokens = families.tokens();
        for name in names {
            let found = families.read(name.as_bytes(), &mut tokens);
            assert_ne!(found, families.other(), "{name}");
        }
        let list = families.list[..families.other()].iter();
        let mut list: Vec<String> = list
            .map(|family| String::from_utf8_lossy(&family.pattern).into_owned())
            .collect();
        list.sort();
        list
    }

    fn word(number: usize) -> String {
        let letter = |place: u32| char::from(b'a' + (number / 26usize.pow(place) % 26) as u8);
        (0..3).map(letter).collect()
    }

    #[test]
    fn families_are_patterns_and_braces_make_another_one() {
        let names = [
            "{t7}:doc:5",
            "t8:doc:6",
            "m:2026-11-01",
            "rl:1.2.3.4:7",
            "s:{deadbeef01}",
        ]
        .map(String::from);
        assert_eq!(
            patterns(&names),
            [
                "m:<date>",
                "rl:<ip>:<n>",
                "s:{<hex>}",
                "t8:doc:<n>",
                "{t7}:doc:<n>"
            ]
        );
        let tenants: Vec<String> = (0..10).map(|i| format!("{{t{i}}}:doc:5{i}")).collect();
        assert_eq!(patterns(&tenants), ["{t<n>}:doc:<n>"]);
        // A few numbers among ids of eight digits are hex.
        let hex = (0..50).map(|i| format!("x:0a0b0c{i:02}"));
        let hex: Vec<String> = hex
            .chain(["x:33000000", "x:33000001"].map(String::from))
            .collect();
        assert_eq!(patterns(&hex), ["x:<hex>"]);
        // Words and pieces of words that are ids.
        let ids: Vec<String> = (0..40)
            .flat_map(|i| ["a", "b-c"].map(|end| format!("user:{}-x{i}:{end}", word(i))))
            .collect();
        assert_eq!(patterns(&ids), ["user:<id>:a", "user:<id>:b-c"]);
    }

    #[test]
    fn names_that_differ_in_a_separator_are_two_families() {
        let names = [&b"a:7:x"[..], b"a-7:x", b"a-7-x"];
        let families = of(&names);
        let found = families.find_all(&names);
        let patterns = found
            .iter()
            .map(|at| &families.list[*at as usize].pattern[..]);
        let expected = [&b"a:<n>:x"[..], b"a-<n>:x", b"a-<n>-x"];
        assert!(patterns.eq(expected), "{found:?}");
    }

    #[test]
    fn names_begin_with_the_prefix_of_their_family() {
        let names = [
            "{t7}:doc:5",
            "{a:b}:c:{7}",
            "a{b}c:7",
            "m:2026-11-01",
            "{common}:7",
            "7",
            "flags",
            "x:{9}",
        ];
        let names_as_bytes: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let families = of(&names_as_bytes);
        let mut tokens = Tokens::default();
        let prefixes = names.map(|name| {
            let number = families.read(name.as_bytes(), &mut tokens);
            let prefix = families.list[number].prefix();
            assert!(name.as_bytes().starts_with(&prefix), "{name}");
            String::from_utf8(prefix).unwrap()
        });
        assert_eq!(
            prefixes,
            [
                "{t7}:doc:",
                "{a:b}:c:{",
                "a{b}c:",
                "m:",
                "{common}:",
                "",
                "flags",
                "x:{"
            ]
        );
    }
}
