//! A table whose first line with text is its header.

use slotscope_base::name::Name;

use crate::format::table::columns::{ColumnNames, listed};
use crate::format::table::csv_keys::CsvKeys;
use crate::format::table::layout::Layout;
use crate::format::table::separator::Separator;
use crate::format::{Head, Opened, table};

/// A table with these columns, as an input in the format called `format`.
///
/// # Errors
/// A required column is missing; the message lists the columns present.
pub fn open(head: Head<'_>, names: &ColumnNames, format: &'static str) -> Result<Opened, String> {
    let layout = below_first_line(head, names)?;
    Ok(CsvKeys::of(head, layout, names.escapes).opened(format))
}

/// The layout below the first line with text, with the delimiter that yields the required columns, or else most columns.
fn below_first_line(head: Head<'_>, names: &ColumnNames) -> Result<Layout, String> {
    const DELIMITERS: [u8; 4] = [b'|', b'\t', b';', b','];
    const LONGEST: usize = 16 << 10;
    let text = table::unmarked(head.bytes);
    let blank = text
        .iter()
        .take_while(|byte| b"\r\n".contains(byte))
        .count();
    let end =
        memchr::memchr(b'\n', &text[blank..]).or_else(|| head.whole.then_some(text.len() - blank));
    let len = end
        .filter(|len| *len <= LONGEST)
        .ok_or("the header line does not end")?;
    let line = text[blank..blank + len].trim_ascii_end();
    let columns = |delimiter: u8| -> Vec<Vec<u8>> {
        let mut cells = Vec::new();
        Separator::Byte(delimiter).cut(line, true, &mut cells);
        let spans = cells
            .iter()
            .map(|cell| cell.span.0 as usize..cell.span.1 as usize);
        spans.map(|span| line[span].trim_ascii().to_vec()).collect()
    };
    let (delimiter, columns) = DELIMITERS
        .map(|delimiter| (delimiter, columns(delimiter)))
        .into_iter()
        .max_by_key(|(_, columns)| (names.missing_in(columns).is_none(), columns.len()))
        .unwrap_or_default();
    if let Some(missing) = names.missing_in(&columns) {
        let missing = Name::from(missing.as_str());
        let listed = listed(&columns);
        return Err(format!("no column \"{missing}\"; columns are: {listed}"));
    }
    let mut layout = Layout::below(columns, Separator::Byte(delimiter), names);
    layout.has_quotes = true;
    layout.skip = (head.bytes.len() - text.len() + blank + len + 1) as u64;
    Ok(layout)
}
