//! Parses one JSON object per line into member names and values, without decoding them.
//!
//! It is parsed no deeper than needed to find the members: nested values are skipped unchecked, and text may contain
//! any bytes except a bare quote.

use crate::format::parse::escape::close;
use crate::format::table;
use crate::format::table::Span;
use crate::format::{Detected, Head};

/// A raw value, by its position in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A string without its quotes, escapes not decoded.
    Text(Span),
    /// A number, `true`, `false` or `null`.
    Bare(Span),
    /// An object or an array.
    Nested,
}

/// Calls `each` with the index, name and value of every member of the object at the start of `line`; returns the end of
/// the object, or `None` if there is no complete object.
pub fn members(line: &[u8], mut each: impl FnMut(usize, Span, Value)) -> Option<usize> {
    let mut at = expect(line, 0, b'{')?;
    let mut number = 0;
    if let Some(end) = expect(line, at, b'}') {
        return Some(end);
    }
    loop {
        let name = expect(line, at, b'"')?;
        let end = close(line, name)?;
        at = expect(line, end + 1, b':')?;
        let (value, after) = value(line, space(line, at))?;
        each(number, (name as u32, end as u32), value);
        number += 1;
        match expect(line, after, b',') {
            Some(next) => at = next,
            None => return expect(line, after, b'}'),
        }
    }
}

/// Maximum members of an object that may be a row, and the maximum name length.
const MAX_MEMBERS: usize = 4096;
const MAX_NAME: usize = 1024;

/// The member names of the first objects of an input, which may be in an array; truncated if there are more than any
/// row has.
///
/// # Errors
/// The head has no names, or more of it is needed.
pub fn first_names(head: Head<'_>) -> Result<Vec<Vec<u8>>, Detected> {
    let text = table::unmarked(head.bytes).trim_ascii_start();
    let bytes = text
        .strip_prefix(b"[")
        .map_or(text, <[u8]>::trim_ascii_start);
    match bytes.first() {
        None => return Err(head.undecided()),
        Some(b'{') => {}
        Some(_) => return Err(Detected::No),
    }
    let end = memchr::memchr(b'\n', bytes);
    let mut names = Vec::new();
    let line = &bytes[..end.unwrap_or(bytes.len())];
    match members(line, |number, (start, end), _| {
        let name = &line[start as usize..end as usize];
        if number < MAX_MEMBERS && name.len() <= MAX_NAME {
            names.push(name.to_vec());
        }
    }) {
        Some(_) => Ok(names),
        None if end.is_some() => Err(Detected::No),
        None => Err(head.undecided()),
    }
}

/// The position of the first non-white-space byte at or after `at`.
fn space(line: &[u8], mut at: usize) -> usize {
    while matches!(line.get(at), Some(b' ' | b'\t' | b'\r')) {
        at += 1;
    }
    at
}

/// The position after `byte`, if it follows optional white space.
fn expect(line: &[u8], at: usize, byte: u8) -> Option<usize> {
    let at = space(line, at);
    (line.get(at) == Some(&byte)).then_some(at + 1)
}

/// The value at `at`, and its end.
fn value(line: &[u8], at: usize) -> Option<(Value, usize)> {
    match line.get(at)? {
        b'"' => {
            let end = close(line, at + 1)?;
            Some((Value::Text((at as u32 + 1, end as u32)), end + 1))
        }
        b'{' | b'[' => nested(line, at).map(|end| (Value::Nested, end)),
        _ => {
            let len = line[at..].iter().position(ends_bare)?;
            (len > 0).then_some((Value::Bare((at as u32, (at + len) as u32)), at + len))
        }
    }
}

/// Whether `byte` ends an unquoted scalar.
fn ends_bare(byte: &u8) -> bool {
    matches!(
        byte,
        b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'"' | b':'
    )
}

/// Whether all of `text` is one unquoted scalar.
pub(crate) fn is_bare(text: &[u8]) -> bool {
    !matches!(text, [] | [b'{' | b'[', ..]) && !text.iter().any(ends_bare)
}

/// The end of the object or array that starts at `at`.
fn nested(line: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match line.get(at)? {
            b'"' => at = close(line, at + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(line: &str) -> Option<(Vec<String>, usize)> {
        let mut found = Vec::new();
        let text = |(from, to): Span| &line[from as usize..to as usize];
        let end = members(line.as_bytes(), |number, name, value| {
            assert_eq!(number, found.len());
            found.push(match value {
                Value::Text(span) => format!("{}='{}'", text(name), text(span)),
                Value::Bare(span) => format!("{}={}", text(name), text(span)),
                Value::Nested => format!("{}..", text(name)),
            });
        })?;
        Some((found, end))
    }

    #[test]
    fn members_come_as_written() {
        let line = r#"{"key" : "a\"}", "n":-1.5e3,"x":{"key":["}",{}]}, "z":null }, rest"#;
        let (found, end) = texts(line).unwrap();
        assert_eq!(found, [r#"key='a\"}'"#, "n=-1.5e3", "x..", "z=null"]);
        assert_eq!(&line[end..], ", rest");
        assert_eq!(texts(" { }"), Some((vec![], 4)));
    }

    #[test]
    fn what_is_no_whole_object_is_none() {
        for line in [
            "",
            "{",
            "[]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":[}",
            "{\"a\":1 2}",
            "{a:1}",
            "{\"a\":\"}",
        ] {
            assert_eq!(texts(line), None, "{line}");
        }
    }

    #[test]
    fn the_first_object_may_be_in_an_array() {
        let names = |content: &str| {
            first_names(Head {
                bytes: content.as_bytes(),
                whole: false,
            })
        };
        assert_eq!(names("[\n{\"a\":1,\"b\":{}},").unwrap(), [b"a", b"b"]);
        assert_eq!(names("{\"a\":1,"), Err(Detected::NeedMore));
        for no in ["{user}:1\n", "[\"a\"]", "a", "[[{\"a\":1}]]"] {
            assert_eq!(names(no), Err(Detected::No), "{no}");
        }
    }

    proptest! {
        #[test]
        fn every_object_of_serde_is_read_to_its_end(
            object in prop::collection::btree_map(".{0,5}", prop_oneof![
                any::<i64>().prop_map(serde_json::Value::from),
                ".{0,9}".prop_map(serde_json::Value::from),
                prop::collection::vec(".{0,4}", 0..3).prop_map(serde_json::Value::from),
            ], 0..6),
            garbage in prop::collection::vec(prop::sample::select(b"\"\\{}[]:,a1 \xff".to_vec()), 0..40),
        ) {
            let line = serde_json::to_string(&object).unwrap();
            let mut count = 0;
            prop_assert_eq!(members(line.as_bytes(), |_, _, _| count += 1), Some(line.len()));
            prop_assert_eq!(count, object.len());
            members(&garbage, |_, _, _| {});
        }
    }
}
