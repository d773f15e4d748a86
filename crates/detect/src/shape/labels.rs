//! Names before values, `ts=10:11:12 msg="found key" key=K size=N`: a name of a key proves where the key is, and the rest of
//! a line follows from what is the same in all of them.

use slotscope_base::metric::Metric;
use slotscope_base::name;
use slotscope_read::format::line::Pattern;
use slotscope_read::format::line::parse::literal;
use slotscope_read::format::table::columns::{ColumnNames, Role};

use crate::shape::column::with_commas;

/// The pattern of lines with a name before each key, and one before its size; the first of the rows that says so for
/// most of them.
pub(super) fn pattern(rows: &[&[u8]]) -> Option<String> {
    const TRIED: usize = 5;
    let step = rows.len().div_ceil(TRIED).max(1);
    let sample: Vec<&[u8]> = rows
        .iter()
        .copied()
        .step_by(rows.len().div_ceil(100).max(1))
        .collect();
    let patterns = rows
        .iter()
        .step_by(step)
        .filter_map(|row| of_row(row, &sample));
    let (_, text) = patterns.max_by_key(|(fits, _)| *fits)?;
    Some(with_commas(text, rows))
}

/// Labels of a line that a pattern is made of.
const MOST_LABELS: usize = 30;

/// A label of a line: where it starts, where its value does, and its role.
struct Label<'r> {
    name: &'r str,
    start: usize,
    value: usize,
    role: Option<Role>,
}

/// The pattern of a row, and how many of the rows it fits.
fn of_row(row: &[u8], rows: &[&[u8]]) -> Option<(usize, String)> {
    let row = std::str::from_utf8(row.trim_ascii()).ok()?;
    // The pattern is printed as it is.
    if row.chars().any(name::is_hidden) {
        return None;
    }
    let labels = labels(row);
    if labels.len() > MOST_LABELS {
        return None;
    }
    let is = |role| move |label: &&Label| label.role == Some(role);
    let key = labels.iter().find(is(Role::Key))?;
    let size = labels.iter().find(is(Role::of(Metric::Bytes)));
    let has_number = |label: &&Label| row[label.value..].starts_with(|c: char| c.is_ascii_digit());
    let ops = labels
        .iter()
        .filter(is(Role::of(Metric::Ops)))
        .find(has_number);
    let is_first = |label: &Label, first: Option<&Label>| {
        first.is_some_and(|first| first.start == label.start)
    };
    if size.is_none() && labels.len() < 2 {
        return None;
    }
    let field = |label: &Label| match () {
        () if is_first(label, size) => "{size}",
        () if is_first(label, ops) => "{ops}",
        () => "{_}",
    };
    let before: Vec<(usize, &str)> = labels
        .iter()
        .map(|label| (label.value, field(label)))
        .filter(|(_, field)| *field != "{_}")
        .collect();
    let mut text = around(&row[..key.start], &before, rows)?;
    text += &literal(&row[key.start..key.value]);
    let label = &row.as_bytes()[key.start..key.value];
    let is_quoted = rows.iter().any(|row| {
        let at = memchr::memmem::find(row, label).map(|at| at + label.len());
        at.is_some_and(|at| matches!(row.get(at), Some(b'"' | b'\'')))
    });
    text += if is_quoted { "{key:q}" } else { "{key}" };
    // After the key only the other labels are known to be there.
    for label in labels.iter().filter(|label| label.start >= key.value) {
        let from = separator(row, label.start);
        let name = &row[from..label.value];
        let field = field(label);
        text += &literal(name);
        text += field;
        let quote = row[label.value..]
            .chars()
            .next()
            .filter(|quote| *quote == '"' && field == "{_}");
        if let (Some(quote), true) = (quote, text.ends_with('}')) {
            text.truncate(text.len() - field.len());
            text = format!("{text}{quote}{field}{quote}");
        }
    }
    let end = row.trim_end_matches([')', ']', '}', ',', ';']);
    if end.len() < row.len() && labels.last()?.start >= key.start {
        text += &literal(&row[end.len()..]);
    }
    let pattern = Pattern::parse(&text).ok()?;
    let fits = rows
        .iter()
        .filter(|row| pattern.find(row.trim_ascii()).is_ok())
        .count();
    Some((fits, text))
}

/// Where the blanks and commas before a label start.
fn separator(row: &str, label: usize) -> usize {
    // A name may be in quotes.
    let before = row[..label].trim_end_matches(['"', '\'']);
    before.trim_end_matches([' ', '\t', ',', ';', '|']).len()
}

/// The pattern of the text before the key: words that are the same in all rows, and fields, of which some are read from a
/// place on.
fn around(before: &str, read: &[(usize, &str)], rows: &[&[u8]]) -> Option<String> {
    const MOST_WORDS: usize = 12;
    let words: Vec<&str> = before.split_ascii_whitespace().collect();
    if words.len() > MOST_WORDS {
        return None;
    }
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        // The last one may touch the label.
        let is_apart = at + 1 < words.len() || before.ends_with([' ', '\t']);
        let is_same = |row: &&&[u8]| {
            let row = String::from_utf8_lossy(row.trim_ascii());
            let other = row.split_ascii_whitespace().nth(at);
            other.is_some_and(|other| other == *word || !is_apart && other.starts_with(word))
        };
        let same = rows.iter().filter(is_same).count();
        let place = word.as_ptr() as usize - before.as_ptr() as usize;
        let field = |start: usize| {
            let here = read.iter().find(|(at, _)| *at == start || *at + 1 == start);
            here.map_or("{_}", |(_, field)| field)
        };
        text += &match word.split_once('=') {
            _ if 20 * same >= 19 * rows.len() && field(place) == "{_}" => literal(word),
            _ if !is_apart => parts(word, at, rows)?,
            Some((name, value)) if !value.is_empty() => {
                literal(name) + "=" + field(place + name.len() + 1)
            }
            _ => field(place).into(),
        };
        text += if is_apart { " " } else { "" };
    }
    Some(text)
}

/// A word that touches the label of the key, as in the line protocol of InfluxDB: `name,db=0,host=b,`. Values that are not the
/// same in all rows are fields.
fn parts(word: &str, at: usize, rows: &[&[u8]]) -> Option<String> {
    let part = |(nth, part): (usize, &str)| {
        let is_same = |row: &&[u8]| {
            let row = String::from_utf8_lossy(row.trim_ascii());
            let other = row.split_ascii_whitespace().nth(at);
            other.is_some_and(|other| other.split(',').nth(nth) == Some(part))
        };
        // The label itself follows the last comma.
        let name = part.split_once('=').map(|(name, _)| literal(name) + "={_}");
        let is_literal = part.is_empty() || rows.iter().all(is_same);
        name.filter(|_| !is_literal)
            .or_else(|| is_literal.then(|| literal(part)))
    };
    let parts: Option<Vec<String>> = word.split(',').enumerate().map(part).collect();
    Some(parts?.join(","))
}

/// The labels of a row: words before `=` or `: `, outside quotes.
fn labels(row: &str) -> Vec<Label<'_>> {
    let bytes = row.as_bytes();
    let mut labels = Vec::new();
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match quote {
            Some(open) => {
                if byte == b'\\' {
                    at += 1;
                } else if byte == open {
                    quote = None;
                }
            }
            None if byte == b'"' => quote = Some(byte),
            None if byte == b'=' || byte == b':' && bytes.get(at + 1) == Some(&b' ') => {
                let before = row[..at].trim_end_matches(['"', '\'']);
                let name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
                let start = before.trim_end_matches(name).len();
                let is_word =
                    start < before.len() && before[start..].starts_with(char::is_alphabetic);
                let is_first = start == 0 || b" \t,;|([{\"'".contains(&bytes[start - 1]);
                let behind = at + 1 + usize::from(byte == b':');
                if is_word && is_first && behind < bytes.len() {
                    labels.push(Label {
                        name: &before[start..],
                        start,
                        value: behind,
                        role: None,
                    });
                }
            }
            None => {}
        }
        at += 1;
    }
    let names: Vec<&str> = labels.iter().map(|label: &Label| label.name).collect();
    let known = ColumnNames::USUAL.of_header(&names);
    for label in &mut labels {
        label.role = known.role(label.name.as_bytes()).map(|(role, _)| role);
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_before_values_are_the_pattern_of_lines() {
        for (lines, expected) in [
            (
                "time=10:11 level=INFO msg=\"found key\" key=a:1 size=12\ntime=10:12 level=INFO msg=\"found key\" key=b size=9\n",
                Some("time={_} level=INFO msg=\"found key\" key={key} size={size}"),
            ),
            (
                "INFO[0001] key found   key=\"a\" size=12\nINFO[0002] key found   key=\"b\" size=9\n",
                Some("{_} key found key={key:q} size={size}"),
            ),
            (
                "Key: a, Size: 12\nKey: b, Size: 9\n",
                Some("Key: {key}, Size: {size}"),
            ),
            (
                "KeyInfo(key='a', size=1)\nKeyInfo(key='b', size=2)\n",
                Some("KeyInfo(key={key:q}, size={size})"),
            ),
            (
                "key=a type=set size=184\nkey=b type=hash size=96",
                Some("key={key} type={_} size={size}"),
            ),
            (
                "{'key': 'a', 'size': 1}\n{'key': 'b', 'size': 2}\n",
                Some("{{'key': {key:q}, 'size': {size}}}"),
            ),
            (
                "HOST 7001 key='a:1' memory=233 hits=43\nHOST 7001 key='b' memory=9 hits=0\n",
                Some("HOST 7001 key={key:q} memory={size} hits={ops}"),
            ),
            (
                "key=a type=set count=3 ops=GET\nkey=b type=hash count=9 ops=SET\n",
                Some("key={key} type={_} count={_} ops={_}"),
            ),
            (
                "bytes=12 key=a type=set\nbytes=9 key=b type=hash\n",
                Some("bytes={size} key={key} type={_}"),
            ),
            (
                "size: 12 key: a\nsize: 9 key: b\n",
                Some("size: {size} key: {key}"),
            ),
            (
                "k,db=0,host=b1,key=a:1 bytes=7i,ttl=3i 17\nk,db=0,host=b2,key=b bytes=9i,ttl=4i 18\n",
                Some("k,db=0,host={_},key={key} bytes={size},ttl={_}"),
            ),
            ("a b\nc d\n", None),
            ("id=1&a=2\n", None),
        ] {
            let rows: Vec<&[u8]> = lines.lines().map(str::as_bytes).collect();
            assert_eq!(pattern(&rows).as_deref(), expected, "{lines}");
        }
    }
}
