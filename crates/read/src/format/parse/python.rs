//! Literals of Python, as `print` writes keys: `b'user:1'`, `'it\'s'`.

use std::ops::Range;

use crate::format::parse::escape::Escapes;

/// The inside of the literal at the start of `text`, and its escapes.
pub(crate) fn start(text: &[u8]) -> Option<(Range<usize>, Escapes)> {
    let is_bytes = text.first() == Some(&b'b');
    let from = 1 + usize::from(is_bytes);
    let quote = *text.get(from - 1).filter(|byte| b"'\"".contains(byte))?;
    let mut end = from;
    while *text.get(end)? != quote {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    let escapes = if is_bytes {
        Escapes::PythonBytes
    } else {
        Escapes::Python
    };
    Some((from..end, escapes))
}

/// The inside of a text that is exactly one literal, and its escapes. Python writes double quotes around single ones only.
pub fn literal(text: &[u8]) -> Option<(Range<usize>, Escapes)> {
    let (inside, escapes) = start(text)?;
    let is_of_python = text[inside.start - 1] == b'\'' || text[inside.clone()].contains(&b'\'');
    (is_of_python && inside.end + 1 == text.len()).then_some((inside, escapes))
}

/// Whether `text` is exactly one bytes literal.
pub fn is_bytes(text: &[u8]) -> bool {
    literal(text).is_some_and(|(_, escapes)| escapes == Escapes::PythonBytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parse::escape;

    #[test]
    fn literals_are_undone_and_other_texts_are_not() {
        for (text, expected) in [
            ("b'user:1'", &b"user:1"[..]),
            (r#"b"it's""#, b"it's"),
            (r"b'\xd0\xbf\\\'\n'", b"\xd0\xbf\\'\n"),
            (r"'\xe9\u43f'", "é\\u43f".as_bytes()),
            (r"'\u043f'", "п".as_bytes()),
            (r"'\U0001f600'", "😀".as_bytes()),
            ("b''", b""),
        ] {
            let mut content = text.as_bytes().to_vec();
            let (inside, escapes) = literal(&content).unwrap();
            let to = escape::undo(escapes, &mut content, inside.start, inside.end);
            assert_eq!(&content[inside.start..to], expected, "{text}");
        }
        for other in ["b'a'b'", "'a", "b", "", "\"a\"", r"'a\'", "b\"a\""] {
            assert_eq!(literal(other.as_bytes()), None, "{other}");
        }
    }
}
