//! Words at both ends of a line, and the marks between them.

use slotscope_read::format::line::parse::literal;
use slotscope_read::format::parse::unit::is_letter;
use slotscope_read::format::parse::value::{Value, value};
use slotscope_read::format::table::columns::{ColumnNames, Role};
use slotscope_read::format::table::names;

use crate::shape::column::unit;

/// A text in a pattern, with one blank for any run of them.
pub(super) fn written(text: &str) -> String {
    let mut written = literal(&text.replace('\t', " "));
    while written.contains("  ") {
        written = written.replace("  ", " ");
    }
    written
}

/// Whether a number after this word may be a size. That of DEBUG OBJECT is, where others are not there.
pub(super) fn is_size_label(label: &[u8]) -> bool {
    names::speaks_of_size(label) || label.starts_with(b"serialized")
}

/// The start of the last word of a line, which has its unit if it is a number.
pub(super) fn last_word(line: &[u8]) -> Option<usize> {
    let is_end = |at: &usize| {
        let has_digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
        // A comma may be between the digits of a number.
        is_blank(&line[*at])
            || b"|;=(>".contains(&line[*at])
            || line[*at] == b',' && !(*at > 0 && has_digit(*at - 1) && has_digit(*at + 1))
    };
    let at = (0..line.len()).rfind(is_end)?;
    let before = (0..at).rfind(is_end).map_or(0, |at| at + 1);
    // A reply of redis-cli.
    if let Some(reply) = line[..at].strip_suffix(b"(integer)") {
        return Some(reply.len());
    }
    let is_unit = line[at..].trim_ascii().iter().all(is_letter);
    let is_number = |text: &[u8]| matches!(value(text), Value::Number(_));
    let has_unit = is_unit && is_number(&line[before..at]) && is_number(&line[before..]);
    Some(if has_unit { before } else { at + 1 })
}

/// The length of the unit that a text starts with, which belongs to the number before it.
pub(super) fn unit_len(text: &[u8]) -> usize {
    let blanks = text.iter().take_while(|byte| is_blank(byte)).count();
    let letters = text[blanks..]
        .iter()
        .take_while(|byte| is_letter(byte))
        .count();
    let is_unit = unit(&text[blanks..blanks + letters]).is_some();
    if is_unit { blanks + letters } else { 0 }
}

/// Whether brackets are opened and closed, except those after the numbers of replies: `1)`.
pub(super) fn are_closed(text: &[u8]) -> bool {
    let depth = (0..text.len()).try_fold(0usize, |depth, at| match text[at] {
        b'(' | b'[' | b'{' => Some(depth + 1),
        b')' if depth == 0 && at > 0 && text[at - 1].is_ascii_digit() => Some(depth),
        b')' | b']' | b'}' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

/// The bracket that closes the last one that is open in a text.
pub(super) fn closing(text: &str) -> Option<u8> {
    const PAIRS: [(char, u8); 3] = [('[', b']'), ('(', b')'), ('<', b'>')];
    let (at, open) = text
        .char_indices()
        .rfind(|(_, letter)| "[(<".contains(*letter))?;
    let (_, close) = PAIRS.into_iter().find(|(known, _)| *known == open)?;
    (!text[at..].contains(char::from(close))).then_some(close)
}

/// Words without the bracket that all of them end with.
pub(super) fn without_last(close: u8, words: Vec<&[u8]>) -> Vec<&[u8]> {
    let is_closed = |word: &&[u8]| word.len() > 1 && word.ends_with(&[close]);
    let cut = usize::from(words.iter().all(is_closed));
    words
        .into_iter()
        .map(|word| &word[..word.len() - cut])
        .collect()
}

pub(super) fn is_quote(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

pub(super) fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The length of a text up to the end of a label of keys in it: `Key:`.
pub(super) fn key_label(text: &[u8]) -> usize {
    let Some(sign) = text.iter().rposition(|byte| b":=".contains(byte)) else {
        return 0;
    };
    let before = &text[..sign];
    let start = before
        .iter()
        .rposition(|byte| !is_letter(byte))
        .map_or(0, |at| at + 1);
    let role = ColumnNames::USUAL
        .role(&before[start..])
        .map(|(role, _)| role);
    let is_after_mark = start == 0 || b" {([,;".contains(&text[start - 1]);
    if role == Some(Role::Key) && is_after_mark {
        sign + 1
    } else {
        0
    }
}

/// The length of a text up to the last place in it where a word may start, in quotes or not. A colon alone is inside names,
/// and a brace starts a hash tag.
pub(super) fn boundary(text: &[u8]) -> usize {
    let is_mark = |at: usize| {
        is_blank(&text[at])
            || b"([<|,;=>^~".contains(&text[at])
            || text[at] == b'{' && text.get(at + 1).is_some_and(is_quote)
            || at > 0 && text[at - 1..].starts_with(b"{{")
            || at > 0 && text[at - 1..].starts_with(b"::")
    };
    (0..text.len())
        .rev()
        .find(|at| is_mark(*at))
        .map_or(0, |at| at + 1)
}
