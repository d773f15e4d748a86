//! The parts of a pattern: placeholders for ids, words, joiners, and the rest. Words that turn out to be ids are merged
//! with the adjacent placeholders.

use crate::ids::Id;

/// The bytes that join the words of one id, as in `aB3_x-9`.
pub const JOINERS: &[u8] = b"-_+=~";

/// Limit for the parts of a pattern; the last part takes the rest.
const MOST: usize = 64;

/// The kind of a part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The placeholder of an id.
    Mark,
    /// Letters and digits of any alphabet.
    Word,
    /// A segment that is not text, or the rest of a pattern with too many parts.
    Binary,
    /// Bytes that join words.
    Joiner,
    /// A separator of segments.
    Separator,
    /// Other punctuation.
    Other,
    /// A word that was found to be an id.
    Folded,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> Part<'a> {
    /// A word that is an id.
    pub const FOLDED: Part<'static> = Part {
        kind: Kind::Folded,
        bytes: b"<id>",
    };

    /// The placeholder of a number.
    pub fn number() -> Part<'static> {
        let (kind, bytes) = (Kind::Mark, Id::Number.mark());
        Part { kind, bytes }
    }

    /// The mark of a hexadecimal id.
    pub fn hexadecimal() -> Part<'static> {
        let (kind, bytes) = (Kind::Mark, Id::Hex.mark());
        Part { kind, bytes }
    }

    /// Whether it looks like a hexadecimal id that happens to have no digit.
    pub(crate) fn is_hexadecimal_word(&self) -> bool {
        let is_long = self.bytes.len() >= 8;
        self.kind == Kind::Word && is_long && self.bytes.iter().all(u8::is_ascii_hexdigit)
    }

    /// The word without its one or two trailing digits, if other characters precede them: longer numbers are already
    /// ids.
    pub fn stem(&self) -> Option<&'a [u8]> {
        let digits = self
            .bytes
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit());
        let stem = &self.bytes[..self.bytes.len() - digits.count()];
        let is_stem = self.kind == Kind::Word && !stem.is_empty() && stem.len() < self.bytes.len();
        is_stem.then_some(stem)
    }

    /// Whether it looks random: bytes that are not text, digits among letters, or capitals in irregular places. A short
    /// number after it does not count.
    pub fn looks_random(&self) -> bool {
        let word = self.stem().unwrap_or(self.bytes);
        let is_rise = |pair: &&[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        match self.kind {
            Kind::Binary => true,
            Kind::Word if word.iter().any(u8::is_ascii_digit) => true,
            Kind::Word => word.len() >= 6 && word.windows(2).filter(is_rise).count() >= 2,
            _ => false,
        }
    }

    /// Whether it is likely part of the id that it is joined to: a word would be longer or of one case.
    fn is_piece(&self) -> bool {
        let is_lower = self
            .bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || !byte.is_ascii());
        let is_upper = self.bytes.iter().all(u8::is_ascii_uppercase);
        self.kind == Kind::Word && (self.bytes.len() < 3 || !is_lower && !is_upper)
    }
}

/// The parts of `pattern`, whose segments are separated by `separator`.
pub fn parts<'a>(pattern: &'a [u8], separator: &[u8]) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        if parts.len() + 1 == MOST {
            let (kind, bytes) = (Kind::Binary, rest);
            parts.push(Part { kind, bytes });
            break;
        }
        let part = first(rest, separator);
        rest = &rest[part.bytes.len()..];
        parts.push(part);
    }
    parts
}

/// The first part of `rest`.
fn first<'a>(rest: &'a [u8], separator: &[u8]) -> Part<'a> {
    let part = |kind, len: usize| Part {
        kind,
        bytes: &rest[..len],
    };
    if !separator.is_empty() && rest.starts_with(separator) {
        return part(Kind::Separator, separator.len());
    }
    let segment = &rest[..segment_len(rest, separator)];
    if segment.iter().any(u8::is_ascii_control) || std::str::from_utf8(segment).is_err() {
        return part(Kind::Binary, segment.len());
    }
    if let Some(id) = Id::marked(rest) {
        return part(Kind::Mark, id.mark().len());
    }
    let len = |fits: fn(&u8) -> bool| segment.iter().take_while(|byte| fits(byte)).count();
    match rest[0] {
        byte if is_of_word(&byte) => part(Kind::Word, len(is_of_word)),
        byte if JOINERS.contains(&byte) => part(Kind::Joiner, len(|byte| JOINERS.contains(byte))),
        _ => part(Kind::Other, 1),
    }
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// The end of the first segment of `rest`: before a separator or brace, but after one at its start.
fn segment_len(rest: &[u8], separator: &[u8]) -> usize {
    let is_brace = |at: usize| matches!(rest[at], b'{' | b'}');
    let is_separator = |at: usize| !separator.is_empty() && rest[at..].starts_with(separator);
    if is_brace(0) {
        return 1;
    }
    (1..rest.len())
        .find(|at| is_brace(*at) || is_separator(*at))
        .unwrap_or(rest.len())
}

/// The pattern for `parts`: ids and the adjacent placeholders, joiners and pieces become one id.
pub fn joined(parts: &[Part<'_>]) -> Vec<u8> {
    let mut pattern = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        let run = id_run(&parts[at..]);
        if run == 0 {
            pattern.extend_from_slice(parts[at].bytes);
            at += 1;
            continue;
        }
        // A joiner between a word and an id is kept.
        let is_word = |at: Option<usize>| {
            at.and_then(|at| parts.get(at))
                .is_some_and(|part| part.kind == Kind::Word)
        };
        let (first, last) = (&parts[at], &parts[at + run - 1]);
        if first.kind == Kind::Joiner && is_word(at.checked_sub(1)) {
            pattern.extend_from_slice(first.bytes);
        }
        pattern.extend_from_slice(Part::FOLDED.bytes);
        if last.kind == Kind::Joiner && is_word(Some(at + run)) {
            pattern.extend_from_slice(last.bytes);
        }
        at += run;
    }
    pattern
}

/// Number of parts at the start that form an id: placeholders, joiners and pieces, including a folded part.
fn id_run(parts: &[Part<'_>]) -> usize {
    let is_in_run = |part: &&Part<'_>| {
        matches!(part.kind, Kind::Mark | Kind::Joiner | Kind::Folded) || part.is_piece()
    };
    let run = parts.iter().take_while(is_in_run).count();
    let has_id = parts[..run].iter().any(|part| part.kind == Kind::Folded);
    if has_id { run } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(pattern: &[u8]) -> Vec<Kind> {
        parts(pattern, b":").iter().map(|part| part.kind).collect()
    }

    #[test]
    fn a_pattern_is_marks_words_and_what_is_between_them() {
        use Kind::{Binary, Joiner, Mark, Other, Separator, Word};
        assert_eq!(
            kinds(b"v1:<n>-<hex>"),
            [Word, Separator, Mark, Joiner, Mark]
        );
        assert_eq!(
            kinds(b"{user:<id>}.x"),
            [Other, Word, Separator, Mark, Other, Other, Word]
        );
        assert_eq!(
            kinds(b"bin:\xff<n>%a:b"),
            [Word, Separator, Binary, Separator, Word]
        );
        assert_eq!(
            kinds(b"bin:{\x01a}"),
            [Word, Separator, Other, Binary, Other]
        );
        assert_eq!(
            kinds("\u{442}\u{435}:a".as_bytes()),
            [Word, Separator, Word]
        );
        assert_eq!(kinds(b"<no"), [Other, Word]);
    }

    #[test]
    fn numbers_at_the_end_of_a_word_have_a_stem_and_random_words_none() {
        let part = |bytes: &'static [u8]| parts(bytes, b":").remove(0);
        assert_eq!(part(b"game7").stem(), Some(&b"game"[..]));
        assert_eq!(part(b"v12").stem(), Some(&b"v"[..]));
        assert_eq!(part(b"7").stem(), None);
        assert_eq!(part(b"game").stem(), None);
        for random in [
            &b"aB3dE5gH"[..],
            b"x1y",
            b"QwErTyUi",
            b"\x01\x02",
            b"a1b2",
            b"QwErTy7",
        ] {
            assert!(part(random).looks_random(), "{}", random.escape_ascii());
        }
        for word in [
            &b"profile"[..],
            b"userProfile",
            b"game7",
            b"<n>",
            b":",
            b"HTTP",
            b"News",
        ] {
            assert!(!part(word).looks_random(), "{}", word.escape_ascii());
        }
    }

    #[test]
    fn what_is_next_to_an_id_is_part_of_it_unless_it_is_a_word() {
        let folded = |pattern: &'static str, words: &[usize]| {
            let mut parts = parts(pattern.as_bytes(), b":");
            words.iter().for_each(|at| parts[*at] = Part::FOLDED);
            String::from_utf8(joined(&parts)).unwrap()
        };
        assert_eq!(folded("vid:Qx_-aB<n>", &[4]), "vid:<id>");
        assert_eq!(folded("vid:-x", &[3]), "vid:<id>");
        assert_eq!(folded("user-x_page", &[2]), "user-<id>_page");
        assert_eq!(folded("log:<n>-<n>:x", &[]), "log:<n>-<n>:x");
        assert_eq!(folded("a:{x}:<n>", &[3]), "a:{<id>}:<n>");
    }

    proptest! {
        #[test]
        fn parts_are_the_whole(bytes in prop::collection::vec(prop_oneof![
            4 => prop::sample::select(b":{}-_<n>aB1".to_vec()), 1 => any::<u8>(),
        ], 0..200)) {
            let parts = parts(&bytes, b":");
            let whole: Vec<u8> = parts.iter().flat_map(|part| part.bytes.to_vec()).collect();
            prop_assert_eq!(&joined(&parts), &whole);
            prop_assert_eq!(&whole, &bytes);
            prop_assert!(parts.len() <= MOST && parts.iter().all(|part| !part.bytes.is_empty()));
        }
    }
}
