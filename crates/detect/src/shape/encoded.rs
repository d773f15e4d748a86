//! Recognises encoded keys: every line decodes to a name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use slotscope_base::name::Name;
use slotscope_base::sentence::Sentence;
use slotscope_read::format::parse::escape;
use slotscope_read::format::parse::python;

use crate::shape::column::{MOST, share_of};

/// Known encodings, and their decoders.
const ENCODINGS: [(&str, Decode); 6] = [
    ("%XX for other characters", percent),
    ("hexadecimal digits", hexadecimal),
    ("\\x and hexadecimal digits", |row| {
        hexadecimal(row.strip_prefix(b"\\x")?)
    }),
    ("base64", base64),
    ("literals of Python", literal),
    ("marks of a spreadsheet", of_spreadsheet),
];
/// Characters between segments of names; encoded names have none.
const BETWEEN: &[u8] = b":.-/|{}";

type Decode = fn(&[u8]) -> Option<Vec<u8>>;

/// The encoding of these lines or cells.
pub(super) fn encoded(texts: &[&[u8]]) -> Option<Sentence> {
    let (name, decode) = ENCODINGS
        .into_iter()
        .find(|(_, decode)| share_of(texts, |text| decode(text).is_some()) >= MOST)?;
    let first = texts.iter().find_map(|text| decode(text))?;
    Some(
        Sentence::default()
            .words(format!(
                "the keys are written with {name}, as a program encodes them: the first is "
            ))
            .excerpt(&Name::from(first.as_slice()))
            .words(
                ", and the slots counted are those of the encoded names; decode them where the file is written, or with python3",
            ),
    )
}

/// The decoded bytes, if they are a name.
fn name(decoded: Vec<u8>) -> Option<Vec<u8>> {
    let is_text = decoded.iter().all(|byte| (b' '..=b'~').contains(byte));
    let has_segments = decoded.iter().any(|byte| BETWEEN.contains(byte));
    (is_text && has_segments).then_some(decoded)
}

fn percent(row: &[u8]) -> Option<Vec<u8>> {
    let is_plain = !row.iter().any(|byte| b":/{}".contains(byte));
    let mut parts = row.split(|byte| *byte == b'%');
    let mut decoded = parts.next()?.to_vec();
    let is_encoded = decoded.len() < row.len();
    for part in parts {
        decoded.push(digits(part.get(..2)?)?);
        decoded.extend(&part[2..]);
    }
    name(decoded).filter(|_| is_plain && is_encoded)
}

fn hexadecimal(row: &[u8]) -> Option<Vec<u8>> {
    let pairs = row.chunks(2).map(digits);
    name(pairs.collect::<Option<_>>()?)
}

fn base64(row: &[u8]) -> Option<Vec<u8>> {
    // A name without a separator is short, and short texts may decode by chance.
    let is_long = row.len() >= 8;
    name(STANDARD.decode(row).ok().filter(|_| is_long)?)
}

fn literal(cell: &[u8]) -> Option<Vec<u8>> {
    let (inside, escapes) = python::literal(cell).filter(|_| python::is_bytes(cell))?;
    let mut text = cell[inside].to_vec();
    let len = text.len();
    let end = escape::undo(escapes, &mut text, 0, len);
    text.truncate(end);
    Some(text)
}

/// The text after an apostrophe, or in a formula, whose quotes CSV doubles.
fn of_spreadsheet(cell: &[u8]) -> Option<Vec<u8>> {
    let formula = || cell.strip_prefix(b"=\"")?.strip_suffix(b"\"");
    let text = || {
        cell.strip_prefix(b"'")
            .filter(|text| !text.contains(&b'\''))
    };
    let bare = formula().or_else(text)?;
    let inside = bare
        .strip_prefix(b"\"")
        .and_then(|bare| bare.strip_suffix(b"\""));
    Some(inside.unwrap_or(bare).to_vec())
}

/// The byte of two hexadecimal digits.
fn digits(pair: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    match pair {
        [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_names_are_told_and_digests_and_words_are_not() {
        let is_told = |rows: &[&str]| {
            let rows: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
            encoded(&rows).is_some()
        };
        assert!(is_told(&["user%3A1", "cart%3A%7B2%7D", "a%2Fb"]));
        assert!(is_told(&["757365723a31", "636172743A32"]));
        assert!(is_told(&[r"\x757365723a31", r"\x636172743A32"]));
        assert!(is_told(&["dXNlcjox", "Y2FydDp7Mn0="]));
        for other in [
            &["user:1%3A", "cart:2%3A"][..],
            &[
                "d41d8cd98f00b204e9800998ecf8427e",
                "9e107d9d372bb6826bd81d3542a419d6",
            ],
            &["2026112613304501", "2026112613304502"],
            &["sessions", "products"],
            &["100%25", "user"],
        ] {
            assert!(!is_told(other), "{other:?}");
        }
    }
}
