//! Text in double quotes as written by redis-cli: finds its end, and decodes escapes in place.
//!
//! An escape is never shorter than the bytes it stands for, so the text shrinks towards its start and nothing after it
//! is touched.

/// How text in quotes is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escapes {
    /// Not at all.
    None,
    /// `\n`, `\x00`, an unknown `\c` is `c`.
    C,
    /// `\n`, `\u0000`, surrogate pairs; a lone surrogate keeps its own three bytes.
    Json,
    /// Those of a Python string: `\x` and `\u` are characters.
    Python,
    /// Those of a Python bytes literal.
    PythonBytes,
    /// A backslash before punctuation.
    Markdown,
    /// Single quotes written twice, as in SQL and YAML.
    Doubled,
}

/// The position of the quote that closes the text starting at `from`.
pub(crate) fn close(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// Whether `line` is exactly one quoted text.
pub fn is_quoted(line: &[u8]) -> bool {
    line.first() == Some(&b'"') && close(line, 1).is_some_and(|end| end + 1 == line.len())
}

/// Decodes the escapes in `content[from..to]`; returns the new end of the text.
pub fn undo(escapes: Escapes, content: &mut [u8], from: usize, to: usize) -> usize {
    match escapes {
        Escapes::None => to,
        Escapes::C => undo_each(content, from, to, undo_c),
        Escapes::Json => undo_each(content, from, to, undo_json),
        Escapes::Python => undo_each(content, from, to, |text| undo_python(text, false)),
        Escapes::PythonBytes => undo_each(content, from, to, |text| undo_python(text, true)),
        Escapes::Doubled => undouble(b'\'', content, from, to),
        Escapes::Markdown => undo_each(content, from, to, |text| match text {
            [_, mark, ..] if mark.is_ascii_punctuation() => ([*mark, 0, 0, 0], 1, 2),
            _ => ([b'\\', 0, 0, 0], 1, 1),
        }),
    }
}

/// Writes each doubled `quote` in `content[from..to]` once; returns the new end of the text.
pub(crate) fn undouble(quote: u8, content: &mut [u8], from: usize, to: usize) -> usize {
    let (mut read, mut write) = (from, from);
    while read < to {
        content[write] = content[read];
        read += 1 + usize::from(content[read..to].starts_with(&[quote, quote]));
        write += 1;
    }
    write
}

/// The decoded bytes, their number, and the length of the escape with its backslash.
type Undone = ([u8; 4], usize, usize);

fn undo_each(content: &mut [u8], from: usize, to: usize, undo_one: fn(&[u8]) -> Undone) -> usize {
    let (mut read, mut write) = (from, from);
    while let Some(plain) = memchr::memchr(b'\\', &content[read..to]) {
        content.copy_within(read..read + plain, write);
        (read, write) = (read + plain, write + plain);
        let (meaning, len, used) = undo_one(&content[read..to]);
        content[write..write + len].copy_from_slice(&meaning[..len]);
        (read, write) = (read + used, write + len);
    }
    content.copy_within(read..to, write);
    write + (to - read)
}

fn undo_c(text: &[u8]) -> Undone {
    let byte = |byte, used| ([byte, 0, 0, 0], 1, used);
    match text.get(1) {
        None => byte(b'\\', 1),
        Some(b'x') => match text.get(2..4).and_then(hex) {
            Some(code) => byte(code as u8, 4),
            None => byte(b'x', 2),
        },
        Some(letter) => byte(control(*letter).unwrap_or(*letter), 2),
    }
}

fn undo_json(text: &[u8]) -> Undone {
    let byte = |byte, used| ([byte, 0, 0, 0], 1, used);
    let unit = |at: usize| {
        text.get(at..at + 6)
            .filter(|unit| unit.starts_with(b"\\u"))
            .and_then(|unit| hex(&unit[2..]))
    };
    match (text.get(1), unit(0), unit(6)) {
        (None, ..) => byte(b'\\', 1),
        (Some(b'u'), Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) => (
            utf8(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)),
            4,
            12,
        ),
        (Some(b'u'), Some(code), _) => (utf8(code), utf8_len(code), 6),
        (Some(b'f'), ..) => byte(0x0C, 2),
        (Some(b'a'), ..) => byte(b'a', 2),
        (Some(letter), ..) => byte(control(*letter).unwrap_or(*letter), 2),
    }
}

/// A backslash before any other letter stays.
fn undo_python(text: &[u8], is_bytes: bool) -> Undone {
    let byte = |byte, used| ([byte, 0, 0, 0], 1, used);
    let coded = |digits: usize| match text.get(2..2 + digits).and_then(hex) {
        Some(code) if is_bytes => byte(code as u8, 2 + digits),
        Some(code) => (utf8(code), utf8_len(code), 2 + digits),
        None => byte(b'\\', 1),
    };
    match text.get(1) {
        Some(b'x') => coded(2),
        Some(b'u') if !is_bytes => coded(4),
        Some(b'U') if !is_bytes => coded(8),
        Some(letter @ (b'n' | b'r' | b't')) => byte(control(*letter).unwrap_or(*letter), 2),
        Some(mark @ (b'\\' | b'\'' | b'"')) => byte(*mark, 2),
        _ => byte(b'\\', 1),
    }
}

fn control(letter: u8) -> Option<u8> {
    match letter {
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'a' => Some(0x07),
        b'b' => Some(0x08),
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |code, digit| {
        Some(code << 4 | char::from(*digit).to_digit(16)?)
    })
}

fn utf8_len(code: u32) -> usize {
    [0x80, 0x800, 0x10000]
        .iter()
        .filter(|first| code >= **first)
        .count()
        + 1
}

/// UTF-8 of the code point; surrogates are encoded like characters.
fn utf8(code: u32) -> [u8; 4] {
    let low = |shift: u32| 0x80 | (code >> shift & 0x3F) as u8;
    match code {
        0..0x80 => [code as u8, 0, 0, 0],
        0x80..0x800 => [0xC0 | (code >> 6) as u8, low(0), 0, 0],
        0x800..0x10000 => [0xE0 | (code >> 12) as u8, low(6), low(0), 0],
        _ => [0xF0 | (code >> 18) as u8, low(12), low(6), low(0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(escapes: Escapes, text: &[u8]) -> Vec<u8> {
        let mut content = [b"<".as_slice(), text, b">"].concat();
        let end = undo(escapes, &mut content, 1, 1 + text.len());
        assert_eq!(
            (content[0], content[content.len() - 1]),
            (b'<', b'>'),
            "what is around the text stays"
        );
        content[1..end].to_vec()
    }

    #[test]
    fn c_escapes_are_those_of_redis_cli_and_an_unknown_one_is_its_letter() {
        let text = br#"a\\b\"c\n\r\t\a\b\x00\xff\xFF\q\'"#;
        assert_eq!(
            undone(Escapes::C, text),
            b"a\\b\"c\n\r\t\x07\x08\x00\xff\xffq'"
        );
        assert_eq!(undone(Escapes::C, br"\xg0\x1"), b"xg0x1");
        assert_eq!(undone(Escapes::C, br"a\"), br"a\");
    }

    #[test]
    fn json_escapes_become_utf8_and_raw_bytes_stay() {
        let text = b"\\u0000\\u001f\\u00e9\\u4e2d\\ud83d\\ude00\\/\\f\\\"\xff";
        let expected = b"\x00\x1f\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80/\x0c\"\xff";
        assert_eq!(undone(Escapes::Json, text), expected);
        assert_eq!(undone(Escapes::Json, br"\ud800x\u12"), b"\xed\xa0\x80xu12");
    }

    #[test]
    fn a_quote_behind_a_backslash_does_not_close() {
        assert_eq!(close(br#""a\"b\\"c"#, 1), Some(7));
        assert_eq!(close(br#""a\"#, 1), None);
        assert!(
            is_quoted(br#""""#)
                && !is_quoted(b"\"")
                && !is_quoted(br#""a"b"#)
                && !is_quoted(br#""a\""#)
        );
    }
}
