//! Families: names of one pattern, and the fields in them that may become a tag.

use rayon::prelude::*;
use slotscope_engine::hash::{fold, hash};

pub use crate::field_kinds::FieldKind;
use crate::field_kinds::KINDS;
use crate::places::{FIELD, PlaceKind, Places, Prefix};
use crate::seeded::SeededMap;
use crate::shapes_of_names::{NameShapes, Shape, end_hash, ending};
use crate::tokens::{Braces, INSIDE, TokenKind, Tokens};

/// A token of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternToken {
    /// The text before it.
    pub separator: Vec<u8>,
    /// The word; `None` if the token is a field of values.
    pub literal: Option<Vec<u8>>,
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

    fn of((steps, end): &Shape, shapes: &NameShapes, places: &Places) -> Self {
        let tokens: Vec<PatternToken> = steps
            .iter()
            .map(|(separator, word)| PatternToken {
                separator: shapes.texts.text(*separator).clone(),
                literal: (*word != 0).then(|| shapes.texts.text(*word).clone()),
            })
            .collect();
        let (tail, braces) = shapes.endings.text(*end).clone();
        let mut before = Prefix::default();
        let mut is_field = |at: &usize| {
            let PatternToken { separator, literal } = &tokens[*at];
            let place = before.place(separator);
            before.push(separator, literal.as_deref().map_or(FIELD, hash));
            literal.is_none() || places.get(place) == Some(PlaceKind::Constant)
        };
        let fields = (0..tokens.len()).filter(&mut is_field).collect();
        Family {
            tokens,
            tail,
            braces,
            fields,
            ..Family::other()
        }
    }

    /// Whether a field is a word of the pattern, the same in all names.
    pub(crate) fn is_constant(&self, field: usize) -> bool {
        self.tokens[self.fields[field]].literal.is_some()
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
        self.tokens[before].literal.as_deref()
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
        let (mut bare, mut spans, mut values) = (Vec::new(), Vec::new(), self.values());
        for token in &self.tokens {
            bare.extend_from_slice(&token.separator);
            let start = bare.len();
            match &token.literal {
                Some(word) => bare.extend_from_slice(word),
                None => {
                    let kind = values.next().map(|field| self.kinds[field]);
                    bare.extend_from_slice(kind.map_or("", FieldKind::placeholder).as_bytes());
                }
            }
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

    fn spell(&mut self) {
        let (mut pattern, spans) = self.bare_pattern();
        match (self.braces, self.brace_positions(&spans)) {
            (None, _) => {}
            (Some(_), Some((open, close))) => {
                pattern.insert(close, b'}');
                pattern.insert(open, b'{');
            }
            (Some(_), None) => pattern.extend_from_slice(b" {braces inside a word}"),
        }
        self.pattern = pattern;
    }
}

/// Finds the family of a name.
#[derive(Debug, Default, Clone)]
pub struct Matcher {
    steps: SeededMap<(u32, u64), u32>,
    ends: SeededMap<(u32, u64), u32>,
}

impl Matcher {
    fn insert(&mut self, family: &Family, number: u32) {
        let mut state = 0;
        for token in &family.tokens {
            let word = token.literal.as_deref().map_or(FIELD, hash);
            let next = self.steps.len() as u32 + 1;
            state = *self
                .steps
                .entry((state, fold(hash(&token.separator), word)))
                .or_insert(next);
        }
        self.ends
            .insert((state, end_hash(&family.tail, family.braces)), number);
    }

    /// The number of the family of a name.
    pub(crate) fn find(&self, tokens: &Tokens) -> Option<u32> {
        let mut state = 0;
        for at in 0..tokens.list.len() {
            let separator = hash(tokens.separator(at));
            let step = |word: u64| self.steps.get(&(state, fold(separator, word))).copied();
            let literal = match tokens.list[at].kind {
                TokenKind::Word => step(hash(tokens.bytes(at))),
                _ => None,
            };
            state = literal.or_else(|| step(FIELD))?;
        }
        let (tail, braces) = if tokens.is_cut {
            ending(tokens)
        } else {
            return self
                .ends
                .get(&(state, end_hash(tokens.tail(), tokens.braces)))
                .copied();
        };
        self.ends.get(&(state, end_hash(&tail, braces))).copied()
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
    pub matcher: Matcher,
}

impl Families {
    /// The families of names that are read with these places.
    pub(crate) fn of(names: &[&[u8]], places: Places) -> Self {
        let mut shapes = NameShapes::default();
        let mut tokens = Tokens::with(&places);
        for name in names {
            if tokens.parse(name) {
                shapes.add(&tokens);
            }
        }
        let patterns = shapes.patterns();
        let mut list: Vec<Family> = patterns
            .keys()
            .map(|shape| Family::of(shape, &shapes, &places))
            .collect();
        drop(shapes);
        let mut matcher = Matcher::default();
        for (number, family) in list.iter().enumerate() {
            matcher.insert(family, number as u32);
        }
        let kinds = kinds_of(names, &list, &matcher, &places);
        for (family, kinds) in list.iter_mut().zip(&kinds) {
            family.kinds = kinds.iter().map(FieldKind::of).collect();
            family.spell();
        }
        list.push(Family::other());
        Families {
            places,
            list,
            matcher,
        }
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
        self.matcher
            .ends
            .values_mut()
            .for_each(|number| *number = new[*number as usize]);
    }

    /// The number of the family of names that no pattern fits.
    pub fn other(&self) -> usize {
        self.list.len() - 1
    }

    /// The numbers of the families of names.
    pub(crate) fn find_all(&self, names: &[&[u8]]) -> Vec<u32> {
        let found = names.par_iter().map_init(
            || self.tokens(),
            |tokens, name| self.find(tokens.parse(name).then_some(tokens)) as u32,
        );
        found.with_min_len(CHUNK).collect()
    }

    /// The number of the family of a name that was taken apart, or was too long for it.
    pub fn find(&self, tokens: Option<&Tokens>) -> usize {
        let found = tokens.and_then(|tokens| self.matcher.find(tokens));
        found.map_or(self.other(), |number| number as usize)
    }
}

/// Names that a thread looks at at a time.
const CHUNK: usize = 1 << 14;

/// By family and field how often its values are of each kind of token.
type Kinds = Vec<Vec<[u64; KINDS]>>;

fn kinds_of(names: &[&[u8]], list: &[Family], matcher: &Matcher, places: &Places) -> Kinds {
    let none = || -> Kinds {
        let fields = list.iter().map(|family| family.fields.len());
        fields.map(|fields| vec![[0; KINDS]; fields]).collect()
    };
    let counted = names.par_chunks(CHUNK).fold(none, |mut kinds, names| {
        let mut tokens = Tokens::with(places);
        for name in names {
            let parsed = tokens.parse(name).then_some(&tokens);
            let Some(number) = parsed.and_then(|tokens| matcher.find(tokens)) else {
                continue;
            };
            let family = &list[number as usize];
            let of_fields = kinds[number as usize].iter_mut().zip(&family.fields);
            of_fields.for_each(|(kinds, token)| kinds[tokens.list[*token].kind as usize] += 1);
        }
        kinds
    });
    counted.reduce(none, |mut kinds, other| {
        let fields = kinds.iter_mut().flatten().zip(other.iter().flatten());
        fields.for_each(|(kinds, other)| {
            kinds
                .iter_mut()
                .zip(other)
                .for_each(|(count, other)| *count += other);
        });
        kinds
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(names: &[String]) -> Vec<String> {
        let names_as_bytes: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let families = Families::of(&names_as_bytes, Places::default());
        let mut tokens = Tokens::default();
        for name in names {
            tokens.parse(name.as_bytes());
            assert_ne!(families.find(Some(&tokens)), families.other(), "{name}");
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
    fn numbers_dates_and_ids_are_fields_and_braces_make_another_family() {
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
                "t<n>:doc:<n>",
                "{t<n>}:doc:<n>"
            ]
        );
        // A few ids among numbers of eight digits are hex; dates among numbers are numbers.
        let mixed: Vec<String> = (0..50)
            .map(|i| format!("x:{}", 20_261_101 + i * 7))
            .chain([String::from("x:0a0b0c0d")])
            .collect();
        assert_eq!(patterns(&mixed[..50]), ["x:<n>"]);
        let some_hex: Vec<String> = (0..50)
            .map(|i| format!("x:{}", 33_000_000 + i))
            .chain(["x:0a0b0c0d", "x:0a0b0c0e"].map(String::from))
            .collect();
        assert_eq!(patterns(&some_hex), ["x:<hex>"]);
    }

    #[test]
    fn names_that_differ_in_a_separator_are_two_families() {
        let names = [&b"a:7:x"[..], b"a-7:x", b"a-7-x"];
        let families = Families::of(&names, Places::default());
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
        let families = Families::of(&names_as_bytes, Places::default());
        let mut tokens = Tokens::default();
        let prefixes = names.map(|name| {
            tokens.parse(name.as_bytes());
            let prefix = families.list[families.find(Some(&tokens))].prefix();
            assert!(name.as_bytes().starts_with(&prefix), "{name}");
            String::from_utf8(prefix).unwrap()
        });
        assert_eq!(
            prefixes,
            ["{t", "{a:b}:c:{", "", "m:", "{common}:", "", "flags", "x:{"]
        );
    }

    #[test]
    fn words_are_values_where_they_are_many_or_share_their_endings() {
        let users: Vec<String> = (0..65)
            .map(|i| format!("user:{}:profile", word(i)))
            .collect();
        assert_eq!(patterns(&users), ["user:<w>:profile"]);
        assert_eq!(patterns(&users[..64]).len(), 64);
        let tenants: Vec<String> = (0..8)
            .flat_map(|i| ["a", "b", "c"].map(|end| format!("{}:{end}", word(i))))
            .collect();
        assert_eq!(patterns(&tenants), ["<w>:a", "<w>:b", "<w>:c"]);
        assert_eq!(patterns(&tenants[..21]).len(), 21, "seven are kinds");
        let tables: Vec<String> = (0..12).map(|i| format!("{}:7", word(i))).collect();
        assert_eq!(patterns(&tables).len(), 12, "one ending: kinds of things");
        let tagged: Vec<String> = (0..8).map(|i| format!("{{{}}}:7", word(i))).collect();
        assert_eq!(patterns(&tagged), ["{<w>}:<n>"]);
    }
}
