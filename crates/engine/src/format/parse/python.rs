//! Python literals, as `print` writes keys: `b'user:1'`, `'it\'s'`. Decoded in place, since the result is never longer.

/// Whether `text` is exactly one bytes literal.
pub(crate) fn is_bytes(text: &[u8]) -> bool {
    matches!(text, [b'b', ..]) && is_text(&text[1..])
}

/// Whether `text` is exactly one string literal, in single quotes, or in double quotes around a single one.
pub(crate) fn is_text(text: &[u8]) -> bool {
    match text {
        [quote @ (b'\'' | b'"'), inside @ .., last] if quote == last => {
            let has_single = memchr::memchr(b'\'', inside).is_some();
            (*quote == b'\'' || has_single) && is_inside(inside, *quote)
        }
        _ => false,
    }
}

/// Whether `inside` is valid between two of `quote`.
fn is_inside(inside: &[u8], quote: u8) -> bool {
    let mut at = 0;
    while let Some(byte) = inside.get(at) {
        match byte {
            b'\\' if at + 1 == inside.len() => return false,
            b'\\' => at += 2,
            byte if *byte == quote => return false,
            _ => at += 1,
        }
    }
    true
}

/// Decodes the literal in `content[from..to]` and returns its bounds; `None` for anything else.
pub(crate) fn undo(content: &mut [u8], from: usize, to: usize) -> Option<(usize, usize)> {
    let literal = &content[from..to];
    let is_bytes = is_bytes(literal);
    if !is_bytes && !is_text(literal) {
        return None;
    }
    let start = from + 1 + usize::from(is_bytes);
    let (mut read, mut write) = (start, start);
    while read < to - 1 {
        let (meaning, used) = one(&content[read..to - 1], is_bytes);
        for byte in meaning {
            content[write] = byte;
            write += 1;
        }
        read += used;
    }
    Some((start, write))
}

/// The bytes of the first character of `text`, and its length in the source.
fn one(text: &[u8], is_bytes: bool) -> (Vec<u8>, usize) {
    let hex = |len: usize| {
        let digits = std::str::from_utf8(text.get(2..2 + len)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let coded = |len: usize| {
        let code = hex(len)?;
        match char::from_u32(code).filter(|_| !is_bytes) {
            Some(letter) => Some((letter.to_string().into_bytes(), 2 + len)),
            None => Some((vec![code as u8], 2 + len)),
        }
    };
    let byte = |byte| Some((vec![byte], 2));
    let undone = match text {
        [b'\\', b'x', ..] => coded(2),
        [b'\\', b'u', ..] if !is_bytes => coded(4),
        [b'\\', b'U', ..] if !is_bytes => coded(8),
        [b'\\', b'n', ..] => byte(b'\n'),
        [b'\\', b'r', ..] => byte(b'\r'),
        [b'\\', b't', ..] => byte(b'\t'),
        [b'\\', mark @ (b'\\' | b'\'' | b'"'), ..] => byte(*mark),
        _ => None,
    };
    undone.unwrap_or_else(|| (vec![text[0]], 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_undone_and_other_texts_are_not() {
        for (literal, expected) in [
            ("b'user:1'", &b"user:1"[..]),
            (r#"b"it's""#, b"it's"),
            (r"b'\xd0\xbf\\\'\n'", b"\xd0\xbf\\'\n"),
            (r"'\xe9\u43f'", "é\\u43f".as_bytes()),
            (r"'\u043f'", "п".as_bytes()),
            ("b''", b""),
        ] {
            let mut content = literal.as_bytes().to_vec();
            let len = content.len();
            let (from, to) = undo(&mut content, 0, len).unwrap();
            assert_eq!(&content[from..to], expected, "{literal}");
        }
        for other in ["b'a'b'", "'a", "b", "", "\"a\"", r"'a\'", "b\"a\""] {
            let mut content = other.as_bytes().to_vec();
            let len = content.len();
            assert_eq!(undo(&mut content, 0, len), None, "{other}");
        }
    }
}
