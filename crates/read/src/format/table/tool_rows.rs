//! The table of rdb-tools and redis-rdb-cli, which write keys as they are: the commas before and after a key are counted.
//! A key with a line end is two rows, which do not fit unless its text has as many commas as a row.

use crate::format::table::columns::{ColumnNames, KeyEscapes};
use crate::format::table::csv_keys::CsvKeys;
use crate::format::table::layout::{KeyText, Layout};
use crate::format::table::separator::Separator;
use crate::format::table::units::Unit;
use crate::format::{Detected, Head, Opened, table};

/// The columns that every version writes.
pub(crate) const COLUMNS: &str =
    "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element";
/// The header that most versions write.
pub(crate) const HEADER: &str =
    "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry";
/// Those with numbers.
const NUMBERS: [&[u8]; 4] = [
    b"database",
    b"size_in_bytes",
    b"num_elements",
    b"len_largest_element",
];

/// The first line, without its end.
pub(crate) fn header<'a>(head: Head<'a>) -> Option<&'a [u8]> {
    let text = table::unmarked(head.bytes);
    match memchr::memchr(b'\n', text) {
        Some(end) => Some(&text[..end]),
        None => head.whole.then_some(text),
    }
}

/// Whether an input starts with the header of the table, and its rows have their last column in quotes or not.
pub(crate) fn detect(head: Head<'_>, in_quotes: bool) -> Detected {
    let Some(line) = header(head) else {
        let is_short = head.bytes.len() < 2 * COLUMNS.len();
        return if is_short {
            Detected::NeedMore
        } else {
            Detected::No
        };
    };
    let start = line.get(..COLUMNS.len());
    if !start.is_some_and(|start| start.eq_ignore_ascii_case(COLUMNS.as_bytes())) {
        return Detected::No;
    }
    let text = table::unmarked(head.bytes);
    let rows = text.get(line.len() + 1..).unwrap_or_default();
    let whole = match memchr::memrchr(b'\n', rows) {
        _ if head.whole => rows,
        end => &rows[..end.unwrap_or_default()],
    };
    let commas = |row: &[u8]| memchr::memchr_iter(b',', row).count();
    // A line with fewer is a piece of a key with a line end.
    let is_row = |row: &&[u8]| commas(row) >= commas(line);
    let Some(row) = whole.split(|byte| *byte == b'\n').find(is_row) else {
        return match head.whole {
            true if !in_quotes => Detected::Yes,
            true => Detected::No,
            false => Detected::NeedMore,
        };
    };
    if !in_quotes && is_saved_again(whole) {
        return Detected::No;
    }
    if row.trim_ascii_end().ends_with(b"\"") == in_quotes {
        Detected::Yes
    } else {
        Detected::No
    }
}

/// Whether a spreadsheet or pandas wrote the rows: texts are in quotes where they have a comma or a quote, and only there.
fn is_saved_again(rows: &[u8]) -> bool {
    let quoted = |row: &[u8]| -> Option<(usize, usize)> {
        let from = memchr::memmem::find(row, b",\"")? + 2;
        Some((
            from,
            memchr::memmem::rfind(row, b"\",").filter(|to| *to >= from)?,
        ))
    };
    let texts = rows
        .split(|byte| *byte == b'\n')
        .filter_map(|row| Some(&row[quoted(row)?.0..quoted(row)?.1]));
    let has_need =
        |text: &[u8]| text.contains(&b',') || memchr::memmem::find(text, b"\"\"").is_some();
    let mut texts = texts.peekable();
    texts.peek().is_some() && texts.all(has_need)
}

/// Opens a table below its header.
///
/// # Errors
/// The first line is not the header.
pub(crate) fn open(
    format: &'static str,
    head: Head<'_>,
    key_text: KeyText,
) -> Result<Opened, String> {
    let line = header(head).unwrap_or_default();
    let names = line.trim_ascii_end().split(|byte| *byte == b',');
    let names: Vec<Vec<u8>> = names.map(<[u8]>::to_ascii_lowercase).collect();
    if !names.join(&b',').starts_with(COLUMNS.as_bytes()) {
        return Err(format!(
            "the first line is not the header of {format}: {HEADER}"
        ));
    }
    let mark = head.bytes.len() - table::unmarked(head.bytes).len();
    let values = names.iter().map(|name| NUMBERS.contains(&name.as_slice()));
    let values = values.collect();
    let mut layout = Layout::below(names, Separator::Byte(b','), &ColumnNames::USUAL);
    layout.values = values;
    layout.skip = (mark + line.len() + 1) as u64;
    layout.key_text = key_text;
    if key_text == KeyText::RawInQuotes {
        layout.size_unit = Unit::Thousand;
    }
    Ok(CsvKeys::of(head, layout, KeyEscapes::None).opened(format))
}
