//! The header of a CSV table: which byte separates fields, and what the columns are called.

use crate::format::Head;
use crate::format::parse::csv_row::cut_row;
use crate::format::table;
use crate::format::table::columns::ColumnNames;

/// The characters that may separate fields.
pub(crate) const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// No header is as long as this: a line that is, is something else.
pub(crate) const LONGEST_HEADER: usize = 16 << 10;

/// The first row.
pub(crate) struct Header {
    /// The separator of fields.
    pub delimiter: u8,
    /// The names of the columns.
    pub fields: Vec<Vec<u8>>,
    /// All that is in sight is this row, in quotes: a reply of redis-cli looks the same.
    pub alone_in_quotes: bool,
}

impl Header {
    /// Reads it with the delimiter that gives the wanted columns, or else most columns; `None` where its end is not
    /// in sight, or further away than `LONGEST_HEADER`.
    pub(crate) fn read(head: Head<'_>, names: &ColumnNames) -> Option<Header> {
        let start = table::unmarked(head.bytes);
        let is_whole = head.whole && start.len() <= LONGEST_HEADER;
        let start = &start[..start.len().min(LONGEST_HEADER)];
        let mut headers = Vec::new();
        for delimiter in DELIMITERS {
            let mut text = start.to_vec();
            let mut spans = Vec::new();
            let mut end = 0;
            while spans.is_empty() && end < text.len() {
                end = cut_row(&mut text, end, delimiter, &mut spans);
            }
            if end == text.len() && !is_whole {
                return None;
            }
            let fields = spans
                .iter()
                .map(|(start, end)| text[*start as usize..*end as usize].trim_ascii().to_vec());
            let alone_in_quotes = end == text.len() && start.starts_with(b"\"");
            headers.push(Header {
                delimiter,
                fields: fields.collect(),
                alone_in_quotes,
            });
        }
        headers.reverse();
        headers.into_iter().max_by_key(|header| {
            (
                names.missing_in(&header.fields).is_none(),
                header.fields.len(),
            )
        })
    }
}
