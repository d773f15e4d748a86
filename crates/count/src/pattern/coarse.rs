//! Coarser patterns, for dumps with more patterns than can be counted: each level treats more of a name as an id.
//!
//! A coarse pattern depends only on name and level, and levels compose: a pattern of one level maps to the same pattern
//! of the next, however it was derived. Counts from parts of a dump can therefore be merged.

use slotscope_keyname::ids::Id;
use slotscope_keyname::parts::{Kind, Part, joined, parts};

/// The coarsest level.
pub(crate) const COARSEST: u8 = 4;

/// The coarser pattern of `pattern` at a level, which is at least 1.
///
/// 1: words with a digit or mixed case are ids, and so are non-text segments. 2: so are all words from the third
/// segment on. 3: from the second on. 4: all words.
pub(crate) fn coarser(pattern: &[u8], level: u8, separator: &[u8]) -> Vec<u8> {
    let marks = Id::ALL.map(Id::mark);
    // A separator inside a mark would split an id.
    let is_in_mark = marks
        .iter()
        .any(|mark| memchr::memmem::find(mark, separator).is_some());
    let separator = if is_in_mark { b"" } else { separator };
    let random = without_random_words(&parts(pattern, separator));
    match level {
        0 | 1 => random,
        _ => words_to(
            &parts(&random, separator),
            usize::from(COARSEST.saturating_sub(level)),
        ),
    }
}

/// Replaces random-looking words, and numbers after words, by ids.
fn without_random_words(parts: &[Part<'_>]) -> Vec<u8> {
    let folded = parts.iter().flat_map(|part| match part.stem() {
        _ if part.looks_random() => [Some(Part::FOLDED), None],
        Some(stem) => {
            let (kind, bytes) = (Kind::Word, stem);
            [Some(Part { kind, bytes }), Some(Part::number())]
        }
        None => [Some(part.clone()), None],
    });
    joined(&folded.flatten().collect::<Vec<_>>())
}

/// Replaces each run of words, marks and joining characters after the first `kept` segments by an id, if it has a word
/// or an id.
fn words_to(parts: &[Part<'_>], kept: usize) -> Vec<u8> {
    let mut pattern = Vec::new();
    let (mut separators, mut at) = (0, 0);
    while at < parts.len() {
        separators += usize::from(parts[at].kind == Kind::Separator);
        let is_brace = |part: &Part<'_>| matches!(part.bytes, b"{" | b"}");
        let is_in_run = |part: &&Part<'_>| part.kind != Kind::Separator && !is_brace(part);
        let run = parts[at..].iter().take_while(is_in_run).count();
        let is_id = |part: &Part<'_>| {
            matches!(part.kind, Kind::Word | Kind::Binary) || part.bytes == Part::FOLDED.bytes
        };
        if separators >= kept && parts[at..at + run].iter().any(is_id) {
            pattern.extend_from_slice(Part::FOLDED.bytes);
            at += run;
        } else {
            let run = run.max(1);
            parts[at..at + run]
                .iter()
                .for_each(|part| pattern.extend_from_slice(part.bytes));
            at += run;
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slotscope_keyname::ids::pattern_of;

    fn of(key: &[u8], level: u8) -> String {
        let pattern = coarser(&pattern_of(key), level, b":");
        String::from_utf8(pattern).unwrap()
    }

    #[test]
    fn each_level_takes_more_for_ids() {
        for (key, levels) in [
            ("sess:aB3dE5gH7j", "sess:<id> sess:<id> sess:<id> <id>:<id>"),
            (
                "user:prof:aBcDeFgHiJ",
                "user:prof:<id> user:prof:<id> user:<id>:<id> <id>:<id>:<id>",
            ),
            ("vid:dQw4-9WgXcQ_", "vid:<id> vid:<id> vid:<id> <id>:<id>"),
            (
                "lb:game7:day12",
                "lb:game<n>:day<n> lb:game<n>:<id> lb:<id>:<id> <id>:<id>:<id>",
            ),
            (
                "a:{user:kjh}:cart",
                "a:{user:kjh}:cart a:{user:<id>}:<id> a:{<id>:<id>}:<id> <id>:{<id>:<id>}:<id>",
            ),
            (
                "user:1:cart:2",
                "user:<n>:cart:<n> user:<n>:<id>:<n> user:<n>:<id>:<n> <id>:<n>:<id>:<n>",
            ),
        ] {
            let levels: Vec<_> = levels.split(' ').collect();
            assert_eq!(levels.len(), usize::from(COARSEST));
            for (level, expected) in (1..=COARSEST).zip(levels) {
                assert_eq!(of(key.as_bytes(), level), expected, "{key} at {level}");
            }
        }
        assert_eq!(of(b"bin:\x01\xfe7%x:\xff", 1), "bin:<id>:<id>");
    }

    proptest! {
        #[test]
        fn levels_build_on_each_other(key in prop::collection::vec(prop_oneof![
            8 => prop::sample::select(b":{}-_<n>id.aBcD123".to_vec()), 1 => any::<u8>(),
        ], 0..60)) {
            let pattern = pattern_of(&key);
            for low in 1..=COARSEST {
                let before = coarser(&pattern, low, b":");
                for high in low..=COARSEST {
                    prop_assert_eq!(coarser(&before, high, b":"), coarser(&pattern, high, b":"), "{} to {}", low, high);
                }
            }
        }
    }
}
