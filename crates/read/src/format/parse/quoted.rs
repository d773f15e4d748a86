//! Texts in quotes of any language: `'key'`, `"key"`, `b'key'`, back-ticks, and the quotes that word processors make.

use std::ops::Range;

use crate::format::parse::escape::Escapes;
use crate::format::parse::python;

/// Quotes of more than one byte, or without escapes.
const PAIRS: [(&str, &str); 6] = [
    ("`", "`"),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("‘", "’"),
    ("”", "”"),
];

/// The inside of the quoted text at the start of `text`, and its escapes.
pub fn start(text: &[u8]) -> Option<(Range<usize>, Escapes)> {
    if let Some((inside, escapes)) = python::start(text) {
        // redis-cli, JSON and most languages escape as C does; only single quotes are Python's alone.
        let is_double = text[0] == b'"';
        if text[0] == b'\'' && text.get(inside.end + 1) == Some(&b'\'') {
            return doubled(text);
        }
        return Some((inside, if is_double { Escapes::Json } else { escapes }));
    }
    PAIRS.iter().find_map(|(open, close)| {
        let from = text.starts_with(open.as_bytes()).then_some(open.len())?;
        let len = memchr::memmem::find(&text[from..], close.as_bytes())?;
        Some((from..from + len, Escapes::None))
    })
}

/// The inside of a text in single quotes that writes them twice, as SQL and YAML do.
fn doubled(text: &[u8]) -> Option<(Range<usize>, Escapes)> {
    let mut end = 1;
    loop {
        end += memchr::memchr(b'\'', text.get(end..)?)?;
        if text.get(end + 1) != Some(&b'\'') {
            return Some((1..end, Escapes::Doubled));
        }
        end += 2;
    }
}

/// The inside of `text`, which is exactly one quoted text.
pub fn whole(text: &[u8]) -> Option<(Range<usize>, Escapes)> {
    let (inside, escapes) = start(text)?;
    let is_whole = inside.end + close_len(&text[inside.end..]) == text.len();
    let has_code = || memchr::memmem::find(&text[inside.clone()], b"\\x").is_some();
    let escapes = if escapes == Escapes::Json && has_code() {
        Escapes::C
    } else {
        escapes
    };
    is_whole.then_some((inside, escapes))
}

/// The length of the quote at the start of `text`, which closes one.
pub fn close_len(text: &[u8]) -> usize {
    let is_here = |close: &&str| text.starts_with(close.as_bytes());
    PAIRS
        .iter()
        .map(|(_, close)| close)
        .find(|close| is_here(close))
        .map_or(1, |close| close.len())
        .min(text.len())
}

/// The start of the quoted text that ends `text`.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let quote = *text.last().filter(|byte| b"'\"`".contains(byte))?;
    let inside = &text[..text.len() - 1];
    let is_escaped = |at: &usize| {
        inside[..*at]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count()
            % 2
            == 1
    };
    let at = memchr::memrchr_iter(quote, inside).find(|at| !is_escaped(at))?;
    let is_bytes = quote != b'`' && inside[..at].ends_with(b"b");
    Some(at - usize::from(is_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inside_of_quotes_of_any_language_is_found() {
        for (text, inside) in [
            ("'a'", "a"),
            ("b\"a'b\"", "a'b"),
            ("\"a\\\"b\"", "a\\\"b"),
            ("`a`", "a"),
            ("'it''s'", "it''s"),
            ("“a b”", "a b"),
            ("«a»", "a"),
        ] {
            let (range, _) = whole(text.as_bytes()).unwrap();
            assert_eq!(&text[range], inside);
            assert!(start(format!("{text}, 7").as_bytes()).is_some());
        }
        for other in ["a", "'a", "'a'b", "", "“a\""] {
            assert_eq!(whole(other.as_bytes()), None, "{other}");
        }
        assert_eq!(open(b"12, b'a b'"), Some(4));
    }
}
