//! All families of an input, that is, the patterns that reports list, and how to find the family of a name.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use slotscope_base::hash::hash;
use slotscope_keyname::families::{Row, Rules, families, is_little};

use crate::family::Family;
use crate::field_kinds::{FieldKind, KINDS};
use crate::matcher::Matcher;
use crate::places::Places;
use crate::tokens::Tokens;

/// The separator of segments in patterns.
const SEPARATOR: &[u8] = b":";

/// Number of keys of a pattern, and their load.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NameLoad {
    /// Number of keys.
    pub keys: u64,
    /// Their load, if load is not the number of keys.
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

/// All families, and how to find that of a name.
#[derive(Debug)]
pub struct Families {
    /// The places learned from batches.
    places: Places,
    /// By number; the last one holds names that match no pattern.
    pub list: Vec<Family>,
    /// Finds the number of a name's family.
    matcher: Matcher,
}

impl Families {
    /// The families of these names, tokenized with these places.
    pub(crate) fn of(names: &[(&[u8], NameLoad)], places: Places) -> Self {
        let patterns = families_of(names, &places);
        let mut tokens = Tokens::of_patterns(&places);
        let family = |pattern: &Vec<u8>| Family::of(pattern, &mut tokens, &places);
        let mut list: Vec<Family> = patterns.iter().filter_map(family).collect();
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

    /// A tokenizer consistent with the families.
    pub fn tokens(&self) -> Tokens {
        Tokens::with(&self.places)
    }

    /// Renumbers the families in this order; the last one stays last.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
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

    /// The number of the family for names that match no pattern.
    pub fn other(&self) -> usize {
        self.list.len() - 1
    }

    /// The family numbers of names.
    pub(crate) fn find_all(&self, names: &[&[u8]]) -> Vec<u32> {
        let numbers = names.par_iter().map_init(
            || self.tokens(),
            |tokens, name| self.read(name, tokens) as u32,
        );
        numbers.with_min_len(CHUNK).collect()
    }

    /// Splits a name into the tokens of its family, and returns the family's number.
    pub fn read(&self, name: &[u8], tokens: &mut Tokens) -> usize {
        let number = tokens.parse(name).then(|| self.matcher.find(tokens));
        number
            .flatten()
            .map_or(self.other(), |number| number as usize)
    }

    /// Counts the values of each field by kind of token.
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
        counted.reduce(none, |mut kinds, theirs| {
            let counts = kinds.iter_mut().flatten().flatten();
            let others = theirs.iter().flatten().flatten();
            counts
                .zip(others)
                .for_each(|(count, addend)| *count += addend);
            kinds
        })
    }
}

/// Names per unit of work of a thread.
const CHUNK: usize = 1 << 14;

/// By family and field: number of values of each kind of token.
type Kinds = Vec<Vec<[u64; KINDS]>>;

/// The patterns of families, in order.
fn families_of(names: &[(&[u8], NameLoad)], places: &Places) -> Vec<Vec<u8>> {
    let mut tokens = Tokens::with(places);
    let mut counts: HashMap<u64, (Vec<u8>, NameLoad)> = HashMap::default();
    let (mut pattern, mut total) = (Vec::new(), NameLoad::default());
    for (name, load) in names {
        total += *load;
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
    let weight = |load: u64| (load, u128::from(total.load));
    let rules = Rules {
        separator: SEPARATOR,
        are_coarse: false,
        is_little: &|load: &NameLoad| {
            let weight = (total.load > 0).then(|| weight(load.load));
            is_little(load.keys, u128::from(total.keys), weight)
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
        // A few all-digit values among eight-digit hex ids are hex too.
        let hex = (0..50).map(|i| format!("x:0a0b0c{i:02}"));
        let hex: Vec<String> = hex
            .chain(["x:33000000", "x:33000001"].map(String::from))
            .collect();
        assert_eq!(patterns(&hex), ["x:<hex>"]);
        // Words and parts of words that are ids.
        let ids: Vec<String> = (0..120)
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
