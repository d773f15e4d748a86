//! How Redis and Valkey, and Redis Enterprise, interpret the braces of a key.

use std::ops::Range;

use slotscope_engine::slot;
use slotscope_engine::slot::policy::enterprise_tag;

/// The braces of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Braces {
    /// The hash tag, if there is one.
    pub tag: Option<Range<usize>>,
    /// The first pair is empty: there is no tag, and later pairs are ignored.
    pub are_empty: bool,
    /// A brace is unmatched.
    pub are_unbalanced: bool,
    /// There are further pairs besides the tag's.
    pub are_several: bool,
    /// Redis Enterprise hashes different bytes under its standard policy.
    pub differ: bool,
}

impl Braces {
    /// The braces of `key`; `None` if it has none.
    pub(super) fn of(key: &[u8]) -> Option<Braces> {
        let first = memchr::memchr2(b'{', b'}', key)?;
        let tag = slot::tag(key);
        let (mut count, mut depth, mut are_unbalanced) = (0u64, 0i64, false);
        for at in memchr::memchr2_iter(b'{', b'}', &key[first..]) {
            depth += if key[first + at] == b'{' { 1 } else { -1 };
            are_unbalanced |= depth < 0;
            count += 1;
        }
        are_unbalanced |= depth != 0;
        let opening = memchr::memchr(b'{', key);
        let are_empty = opening.is_some_and(|at| key.get(at + 1) == Some(&b'}'));
        let ours = tag.clone().map_or(key, |tag| &key[tag]);
        let theirs = enterprise_tag(key).map_or(key, |tag| &key[tag]);
        Some(Braces {
            are_several: tag.is_some() && count > 2,
            tag,
            are_empty,
            are_unbalanced,
            differ: ours != theirs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_engine::slot::slot_of_part;

    /// The tag, then a letter for each property that holds.
    fn letters(key: &str) -> String {
        let Some(braces) = Braces::of(key.as_bytes()) else {
            return String::from("none");
        };
        let flags = [
            (braces.are_empty, 'e'),
            (braces.are_unbalanced, 'u'),
            (braces.are_several, 's'),
            (braces.differ, 'd'),
        ];
        let flags: String = flags
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, letter)| letter)
            .collect();
        format!("{} {flags}", braces.tag.map_or("-", |tag| &key[tag]))
    }

    #[test]
    fn the_braces_of_each_key_are_judged_by_the_tag_rule() {
        for (key, expected) in [
            ("user::10086", "none"),
            ("{user1000}.following", "user1000 "),
            ("{user}::{10086}", "user sd"),
            ("{user}::10086::{profile}", "user sd"),
            ("foo{}{bar}", "- ed"),
            ("{}user::10086", "- ed"),
            ("user{}::10086", "- ed"),
            ("foo{{bar}}zap", "{bar sd"),
            ("foo{bar", "- u"),
            ("A}B{C", "- u"),
            ("{a}b}", "a usd"),
            ("a{'1':{'i32':1}}", "'1':{'i32':1 sd"),
        ] {
            assert_eq!(letters(key), expected, "{key}");
        }
    }

    #[test]
    fn enterprise_takes_the_last_brace_that_opens_and_the_last_that_closes() {
        let tag_of = |key: &'static str| enterprise_tag(key.as_bytes()).map(|tag| &key[tag]);
        for (key, tag) in [
            ("foo{bar}{zap}", "zap"),
            ("{{a}", "a"),
            ("a{b}}c{", "b}"),
            ("{}", ""),
        ] {
            assert_eq!(tag_of(key), Some(tag), "{key}");
        }
        assert_eq!((tag_of("a}b{"), tag_of("plain")), (None, None));
        // From its documentation: slot 12350 there, 5540 in open source.
        let key = "a{'1':{'i32':1}}";
        let hashed = [
            tag_of(key).unwrap_or_default(),
            &key[slot::hashed_part(key.as_bytes())],
        ];
        assert_eq!(
            hashed.map(|tag| slot_of_part(tag.as_bytes())),
            [12350, 5540]
        );
    }
}
