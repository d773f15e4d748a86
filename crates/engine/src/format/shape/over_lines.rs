//! A key and its number, or its attributes, on successive lines: refused, with the command that joins them.

use crate::format::Head;
use crate::format::line::offer::offers;
use crate::format::line::parse::literal;
use crate::format::line::tried::sample;
use crate::format::parse::quoted;
use crate::format::parse::size::{is_missing, size};
use crate::format::shape::column::{MOST, share_of};
use crate::format::table::columns::{ColumnNames, Role};
use crate::metric::Metric;

/// Maximum lines of a record.
const LONGEST: usize = 8;

/// Why lines are refused that list a key and its number, or its other attributes, on successive lines.
pub(super) fn refused(rows: &[&[u8]], names: &ColumnNames, head: Head<'_>) -> Option<String> {
    if alternate(rows) {
        // A number and quotes around a key are not part of it.
        let keys = ["{_}) {key:q}", "{key:q}", "{key}"];
        let sizes = ["(integer) {size}", "{size}"];
        let joined = keys.map(|key| sizes.map(|size| format!("{key}\\t{size}")));
        let what = "a key and its number on two lines";
        return Some(on_lines(what, rows.first()?, 2, head, joined.concat()));
    }
    let labels = Labels::of(rows);
    let usual = labels.usual();
    let is_usual = |label: &Option<&[u8]>| label.is_some_and(|label| usual.contains(&label));
    let are_records = rows.len() >= 2
        && share_of(&labels.0, is_usual) >= 0.75
        && (2..=LONGEST).contains(&usual.len())
        && usual.iter().any(|label| is_key(label, names));
    if !are_records {
        return None;
    }
    // Above the first record there may be the name of the list, or of the host; above each one its number.
    let first = labels.0.iter().position(is_usual)?;
    let is_next = |label: &Option<&[u8]>| *label == labels.0[first];
    let next = labels.0.iter().skip(first + 1).position(is_next);
    let lines = next.map_or(usual.len(), |between| between + 1);
    let titles = lines.saturating_sub(usual.len()).min(first);
    let start = first - titles;
    let record = rows[start..].iter().take(lines);
    let fields: Option<Vec<_>> = record
        .enumerate()
        .map(|(at, row)| {
            let title = (at < titles).then(|| unread(row));
            title.or_else(|| field_of(row, names))
        })
        .collect();
    let what = format!("records of {lines} lines each, a key in one of them");
    // A blank in a pattern is any run of them and of TABs, also that of a line's indent.
    let joined = fields.map(|fields| fields.join(" "));
    Some(on_lines(&what, rows[start], lines, head, joined))
}

/// Whether every second line is a number.
fn alternate(rows: &[&[u8]]) -> bool {
    let odd: Vec<&[u8]> = rows.iter().copied().step_by(2).collect();
    let even: Vec<&[u8]> = rows.iter().copied().skip(1).step_by(2).collect();
    let is_number = |row: &&[u8]| {
        let row = row.trim_ascii();
        size(row).is_some() || is_missing(row)
    };
    let is_name = |row: &&[u8]| {
        row.iter()
            .any(|byte| byte.is_ascii_alphabetic() || *byte == b':')
    };
    let numbers = share_of(&odd, is_number);
    !even.is_empty()
        && share_of(&even, is_number) >= MOST
        && numbers < 0.5
        && share_of(&odd, is_name) > 0.5
        && (rows.len() >= 6 || numbers == 0.0)
}

/// The label of each line, if it has one.
struct Labels<'a>(Vec<Option<&'a [u8]>>);

impl<'a> Labels<'a> {
    fn of(rows: &[&'a [u8]]) -> Labels<'a> {
        let labels = rows.iter().map(|row| section(row).or(label_of(row)));
        Labels(labels.collect())
    }

    /// The labels that occur at least half as often as the commonest one: once in each record.
    fn usual(&self) -> Vec<&'a [u8]> {
        let mut distinct: Vec<&[u8]> = self.0.iter().flatten().copied().collect();
        distinct.sort_unstable();
        let counted: Vec<&[&[u8]]> = distinct.chunk_by(|a, b| a == b).collect();
        let most = counted.iter().map(|same| same.len()).max().unwrap_or(0);
        let usual = counted.iter().filter(|same| 2 * same.len() >= most);
        usual.map(|same| same[0]).collect()
    }
}

fn is_key(label: &[u8], names: &ColumnNames) -> bool {
    label == SECTION || names.role(label).is_some_and(|(role, _)| role == Role::Key)
}

/// The label of a line that names a section: `[K]`.
const SECTION: &[u8] = b"[";

fn section(row: &[u8]) -> Option<&[u8]> {
    (row.starts_with(SECTION) && row.ends_with(b"]") && !row.contains(&b',')).then_some(SECTION)
}

/// The label of a line: `key: K`, `key = K`, `size=5`.
fn label_of(row: &[u8]) -> Option<&[u8]> {
    let line = row.trim_ascii_start();
    let text = line.strip_prefix(b"- ").unwrap_or(line);
    let len = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_')
        .count();
    let mark = text[len..].trim_ascii_start();
    let (sign, value) = mark
        .split_first()
        .filter(|(sign, _)| b":=|".contains(sign))?;
    let is_apart = value.starts_with(b" ") || value.starts_with(b"\t");
    let value = value.trim_ascii();
    // Keys may have a sign inside; a number after one is the value of a name.
    let is_number = |text: &[u8]| size(text.strip_prefix(b"-").unwrap_or(text)).is_some();
    let is_value = is_apart && !value.is_empty() || *sign == b'=' && is_number(value);
    let is_label = (1..=20).contains(&len) && is_value;
    is_label.then(|| &text[..len])
}

/// A line of a record as a part of a pattern: its label, and the field.
fn field_of(row: &[u8], names: &ColumnNames) -> Option<String> {
    let row = row.trim_ascii_start();
    if section(row).is_some() {
        return Some("[{key}]".into());
    }
    let label = label_of(row)?;
    let at = label.as_ptr() as usize - row.as_ptr() as usize + label.len();
    let mark = row[at..].iter().position(|byte| b":=|".contains(byte))? + at + 1;
    let blanks = row[mark..].iter().take_while(|byte| **byte == b' ').count();
    let role = names.role(label).map(|(role, _)| role);
    let is_quoted = quoted::whole(row[mark..].trim_ascii()).is_some();
    let field = match role {
        Some(Role::Key) if is_quoted => "{key:q}".into(),
        Some(Role::Key) => "{key}".into(),
        Some(Role::Weight(Metric::Bytes)) => "{size}".into(),
        _ => unread(&row[mark..]),
    };
    let before = std::str::from_utf8(&row[..mark + blanks]).ok()?;
    Some(literal(before) + &field)
}

/// A field for each word of a text.
fn unread(text: &[u8]) -> String {
    let words = text.split(u8::is_ascii_whitespace);
    let words = words.filter(|word| !word.is_empty()).count();
    vec!["{_}"; words.max(1)].join(" ")
}

/// A message with the command that joins `lines` lines to one from the line `first` on, and the pattern that then reads
/// them: both were tried.
fn on_lines(
    what: &str,
    first: &[u8],
    lines: usize,
    head: Head<'_>,
    patterns: impl IntoIterator<Item = String>,
) -> String {
    let text = sample(head);
    let has_returns = memchr::memchr(b'\r', text).is_some();
    let mut rows: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    rows.pop_if(|row| row.is_empty());
    let all = rows.len();
    rows.retain(|row| row.iter().any(|byte| !b" \r".contains(byte)));
    let has_blanks = rows.len() < all;
    // `*** 1. row ***`, as mysql prints it.
    let is_title = |row: &&[u8]| row.starts_with(b"***");
    let has_titles = rows.iter().any(is_title);
    rows.retain(|row| !is_title(row));
    let bare = |row: &&[u8]| row.strip_suffix(b"\r").unwrap_or(row) == first;
    let above = rows.iter().position(bare).unwrap_or(0);
    let records = rows[above..].chunks_exact(lines);
    let joined: Vec<Vec<u8>> = records.map(|record| record.join(&b'\t')).collect();
    let mut joined = joined.join(&b'\n');
    joined.push(b'\n');
    joined.retain(|byte| *byte != b'\r');
    let offer = offers(
        Head {
            bytes: &joined,
            whole: true,
        },
        patterns,
    );
    let Some((pattern, gives)) = offer
        .split(", --line")
        .next()
        .and_then(|offer| offer.rsplit_once(" gives "))
    else {
        return format!("{what}: let the program write a line for each key, as key,size");
    };
    let steps = [
        has_returns.then(|| "tr -d '\\r'".to_owned()),
        has_blanks.then(|| "grep '[^ ]'".to_owned()),
        has_titles.then(|| r"grep -v '^\*\*\*'".to_owned()),
        (above > 0).then(|| format!("tail -n +{}", above + 1)),
        Some(format!("paste{}", " -".repeat(lines))),
    ];
    let mut steps: Vec<String> = steps.into_iter().flatten().collect();
    steps[0] += " < FILE";
    let command = steps.join(" | ");
    format!("{what}: {command} | slotscope analyze - {pattern} gives {gives}")
}
