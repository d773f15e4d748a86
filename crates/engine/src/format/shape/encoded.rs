//! Recognises encoded keys: every line decodes to a name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::format::parse::python;
use crate::format::shape::column::{MOST, share_of};
use crate::name::Name;
use crate::sentence::Sentence;

/// Known encodings: display name, decoder, and Python code to decode a line `l`.
const ENCODINGS: [(&str, Decode, &str); 4] = [
    (
        "%XX for other characters",
        percent,
        "import sys,urllib.parse as u; [print(u.unquote(l.strip())) for l in sys.stdin]",
    ),
    (
        "hexadecimal digits",
        hexadecimal,
        "import sys; [print(bytes.fromhex(l).decode()) for l in sys.stdin]",
    ),
    (
        "\\x and hexadecimal digits",
        |row| hexadecimal(row.strip_prefix(b"\\x")?),
        "import sys; [print(bytes.fromhex(l[2:]).decode()) for l in sys.stdin]",
    ),
    (
        "base64",
        base64,
        "import sys,base64; [print(base64.b64decode(l).decode()) for l in sys.stdin]",
    ),
];
/// Encodings of cells and of text in JSON only: lines like these are read as what they enclose.
const IN_CELLS: [(&str, Decode); 2] = [
    ("literals of Python", literal),
    ("marks of a spreadsheet", of_spreadsheet),
];
/// Characters between segments of names; encoded names have none.
const BETWEEN: &[u8] = b":.-/|{}";

type Decode = fn(&[u8]) -> Option<Vec<u8>>;

/// The encoding of these lines, and how to decode them.
pub(super) fn encoded(rows: &[&[u8]]) -> Option<Sentence> {
    let (name, decode, script) = ENCODINGS
        .into_iter()
        .find(|(_, decode, _)| are_of(rows, *decode))?;
    let otherwise = format!(
        "otherwise: python3 -c '{script}' < FILE | slotscope analyze - ; --format lines reads each line as a key"
    );
    said(rows, name, decode).map(|said| said.words(otherwise))
}

/// The encoding of these cells of a column.
pub(super) fn encoded_cells(cells: &[&[u8]]) -> Option<Sentence> {
    let of_lines = ENCODINGS.map(|(name, decode, _)| (name, decode));
    let mut encodings = of_lines.into_iter().chain(IN_CELLS);
    let (name, decode) = encodings.find(|(_, decode)| are_of(cells, *decode))?;
    said(cells, name, decode).map(|said| said.words("decode them where the file is written"))
}

fn are_of(texts: &[&[u8]], decode: Decode) -> bool {
    share_of(texts, |text| decode(text).is_some()) >= MOST
}

fn said(texts: &[&[u8]], name: &str, decode: Decode) -> Option<Sentence> {
    let first = texts.iter().find_map(|text| decode(text))?;
    Some(
        Sentence::default()
            .words(format!(
                "the keys are written with {name}, as a program encodes them: the first is "
            ))
            .excerpt(&Name::from(first.as_slice()))
            .words(", and the slots counted are those of the encoded names; "),
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
    let mut text = cell.to_vec();
    let (from, to) = python::is_bytes(cell).then(|| python::undo(&mut text, 0, cell.len()))??;
    Some(text[from..to].to_vec())
}

/// The text after an apostrophe, or in a formula, whose quotes CSV doubles.
fn of_spreadsheet(cell: &[u8]) -> Option<Vec<u8>> {
    let formula = cell
        .strip_prefix(b"=\"")
        .and_then(|text| text.strip_suffix(b"\""));
    let bare = |text: &[u8]| {
        let inside = text
            .strip_prefix(b"\"")
            .and_then(|text| text.strip_suffix(b"\""));
        inside.unwrap_or(text).to_vec()
    };
    let text = || cell.strip_prefix(b"'").filter(|text| !text.ends_with(b"'"));
    formula.map(bare).or_else(|| text().map(<[u8]>::to_vec))
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

    #[test]
    fn cells_have_encodings_of_their_own() {
        let is_told = |cells: &[&str]| {
            let cells: Vec<&[u8]> = cells.iter().map(|cell| cell.as_bytes()).collect();
            encoded_cells(&cells).is_some()
        };
        assert!(is_told(&["user%3A1"]) && is_told(&["b'user:1'", "b'it\\'s'"]));
        assert!(is_told(&["'user:1", "'user:2"]) && is_told(&[r#"="user:1""#, r#"=""user:2"""#]));
        assert!(!is_told(&["'user:1'", "user:2"]) && !is_told(&["user:1"]) && !is_told(&[]));
    }
}
