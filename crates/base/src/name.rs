//! Names of keys, tags and files: arbitrary bytes with one printable, lossless spelling.
//!
//! The spelling uses C escapes: `\\ \n \r \t`, and `\xNN` byte by byte for invalid UTF-8 and for every character that
//! moves the cursor, is invisible, or reverses surrounding text. Everything else is kept, so each byte string has
//! exactly one spelling, from which it can be restored.

use std::borrow::Borrow;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The bytes of a name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Name(pub Vec<u8>);

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl Name {
    /// Parses the spelling written by `Display`; `None` if it is invalid.
    pub fn parse(spelling: &str) -> Option<Name> {
        let mut bytes = Vec::with_capacity(spelling.len());
        let mut rest = spelling.as_bytes();
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            if byte != b'\\' {
                bytes.push(byte);
                continue;
            }
            let (&kind, tail) = rest.split_first()?;
            rest = tail;
            match kind {
                b'\\' => bytes.push(b'\\'),
                b'n' => bytes.push(b'\n'),
                b'r' => bytes.push(b'\r'),
                b't' => bytes.push(b'\t'),
                b'x' => {
                    let (digits, tail) = rest.split_at_checked(2)?;
                    let digits = std::str::from_utf8(digits).ok()?;
                    bytes.push(u8::from_str_radix(digits, 16).ok()?);
                    rest = tail;
                }
                _ => return None,
            }
        }
        Some(Name(bytes))
    }

    /// The spelling in at most `most` characters, isolated if right-to-left. The cost is bounded by `most`: a name may
    /// have millions of bytes.
    pub fn short(&self, most: usize) -> String {
        // Each character of the spelling covers at most four bytes of the name.
        let start = &self.0[..self.0.len().min(4 * (most + 1))];
        isolated(truncated(&Name::from(start).to_string(), most))
    }
}

/// Text as displayed to readers: everything a name would escape is escaped, except isolation marks. Escaped text is
/// unchanged, so this can be the last step for any text.
pub fn shown(text: impl Into<String>) -> String {
    let text = text.into();
    let is_odd = |c: char| is_hidden(c) && !ISOLATION.contains(&c);
    if !text.contains(is_odd) {
        return text;
    }
    let spelled = |c: char| match c {
        c if is_odd(c) => Name::from(c.encode_utf8(&mut [0; 4]) as &str).to_string(),
        c => c.to_string(),
    };
    text.chars().map(spelled).collect()
}

/// Whether text has characters that readers would not see.
pub(crate) fn has_hidden(text: &str) -> bool {
    text.contains(is_hidden)
}

/// `text` in at most `most` characters, ending with an ellipsis if shortened.
pub fn truncated(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

/// Characters never displayed verbatim: control characters, invisible ones, and those that reorder text.
pub fn is_hidden(c: char) -> bool {
    matches!(u32::from(c),
        0x00..=0x1F | 0x7F..=0xA0 | 0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5
        | 0x180B..=0x180F | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1D173..=0x1D17A
        | 0xE0000..=0xE0FFF)
}

/// Right-to-left letters.
fn is_leftward(c: char) -> bool {
    matches!(u32::from(c),
        0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE | 0x1_0800..=0x1_0FFF | 0x1_E800..=0x1_EFFF)
}

/// The characters that start and end isolation.
pub const ISOLATION: [char; 2] = ['\u{2068}', '\u{2069}'];

/// A spelled name that can be embedded in any line: right-to-left letters would reorder adjacent numbers, so such names
/// are isolated. Names contain no isolation marks, since those are escaped.
pub fn isolated(spelled: String) -> String {
    if spelled.contains(is_leftward) {
        format!("{}{spelled}{}", ISOLATION[0], ISOLATION[1])
    } else {
        spelled
    }
}

fn write_hex(out: &mut impl fmt::Write, bytes: &[u8]) -> fmt::Result {
    bytes
        .iter()
        .try_for_each(|byte| write!(out, "\\x{byte:02x}"))
}

/// Writes the spelling of `bytes`.
///
/// # Errors
/// Writing to `out` failed.
pub(crate) fn write_escaped(out: &mut impl fmt::Write, bytes: &[u8]) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.write_str("\\\\")?,
                '\n' => out.write_str("\\n")?,
                '\r' => out.write_str("\\r")?,
                '\t' => out.write_str("\\t")?,
                c if is_hidden(c) => write_hex(out, c.encode_utf8(&mut [0; 4]).as_bytes())?,
                c => out.write_char(c)?,
            }
        }
        write_hex(out, chunk.invalid())?;
    }
    Ok(())
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len());
        write_escaped(&mut text, &self.0)?;
        f.pad(&text)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl From<&[u8]> for Name {
    fn from(bytes: &[u8]) -> Self {
        Name(bytes.to_vec())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Name(text.as_bytes().to_vec())
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Name(text.into_bytes())
    }
}

impl From<&std::path::Path> for Name {
    fn from(path: &std::path::Path) -> Self {
        Name(path.as_os_str().as_encoded_bytes().to_vec())
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(&self.0)
        }
    }
}

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return deserializer.deserialize_byte_buf(Bytes);
        }
        let spelling = String::deserialize(deserializer)?;
        Name::parse(&spelling)
            .ok_or_else(|| serde::de::Error::custom("a name with an unknown escape"))
    }
}

/// Reads a name's bytes from a binary format.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a name")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Name, E> {
        Ok(Name::from(bytes))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Name, E> {
        Ok(Name(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(bytes: &[u8]) -> String {
        Name::from(bytes).to_string()
    }

    #[test]
    fn plain_text_of_any_script_stays_as_it_is() {
        assert_eq!(spelled("user:{42}:名前".as_bytes()), "user:{42}:名前");
    }

    #[test]
    fn controls_and_reordering_marks_are_spelled_byte_by_byte() {
        assert_eq!(
            spelled(b"a\\b\n\r\t\x00\x1b[31m"),
            "a\\\\b\\n\\r\\t\\x00\\x1b[31m"
        );
        assert_eq!(
            spelled("x\u{202e}y\u{9b}\u{feff}".as_bytes()),
            "x\\xe2\\x80\\xaey\\xc2\\x9b\\xef\\xbb\\xbf"
        );
        for invisible in "\u{34f}\u{a0}\u{3164}\u{fe0f}\u{2800}\u{e0101}".chars() {
            let tag = spelled(format!("a{invisible}").as_bytes());
            assert!(tag.starts_with("a\\x"), "{tag}");
        }
        assert_eq!(spelled(b"\x81{A\x81}\xff"), "\\x81{A\\x81}\\xff");
    }

    #[test]
    fn only_names_from_right_to_left_are_isolated() {
        let shown = ["user:42", "名前", "שלום:7", "{مرحبا}"].map(|name| isolated(name.to_owned()));
        assert_eq!(
            shown,
            [
                "user:42",
                "名前",
                "\u{2068}שלום:7\u{2069}",
                "\u{2068}{مرحبا}\u{2069}"
            ]
        );
    }

    #[test]
    fn shown_text_has_no_controls_and_stays_so() {
        let text = shown("a\\b \u{1b}[2J\n\u{202e}\u{2068}שלום\u{2069}");
        let expected = "a\\b \\x1b[2J\\n\\xe2\\x80\\xae\u{2068}שלום\u{2069}";
        assert_eq!(text, expected);
        assert_eq!(shown(text.as_str()), text);
    }

    proptest! {
        #[test]
        fn every_byte_string_comes_back_from_its_spelling(bytes: Vec<u8>) {
            let name = Name(bytes);
            let spelling = name.to_string();
            prop_assert!(!spelling.chars().any(is_hidden));
            prop_assert_eq!(Name::parse(&spelling), Some(name));
        }
    }
}
