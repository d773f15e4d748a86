//! The header of a CSV table: its delimiter, and the names of its columns.

use crate::format::Head;
use crate::format::parse::csv_row::cut_row;
use crate::format::table;
use crate::format::table::columns::{self, ColumnNames};
use crate::format::table::layout::Layout;
use crate::format::table::separator::Separator;
use crate::name::Name;

/// Possible delimiters.
pub(crate) const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Longer lines are not headers.
pub(crate) const LONGEST_HEADER: usize = 16 << 10;

/// The first row.
pub(crate) struct Header {
    pub delimiter: u8,
    /// The names of the columns.
    pub fields: Vec<Vec<u8>>,
    /// The offset of its end in the input.
    end: usize,
}

impl Header {
    /// Reads the header with the delimiter that yields the required columns, or else most columns; `None` if its end is
    /// not within the head or `LONGEST_HEADER`.
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
            headers.push(Header {
                delimiter,
                fields: fields.collect(),
                end: end + head.bytes.len() - table::unmarked(head.bytes).len(),
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

    /// The layout of the rows below it.
    ///
    /// # Errors
    /// A required column is missing; the message lists the columns present.
    pub(crate) fn layout(&self, names: &ColumnNames) -> Result<Layout, String> {
        if self.fields.iter().any(|name| name.contains(&b'\n')) {
            return Err(String::from(
                "no header: a quote in its first line has no end there",
            ));
        }
        if let Some(missing) = names.missing_in(&self.fields) {
            let header = columns::listed(&self.fields);
            let missing = Name::from(missing.as_str());
            return Err(format!("no column \"{missing}\"; columns are: {header}"));
        }
        let names = names.of_header(&self.fields);
        let mut layout = Layout::new(Separator::Byte(self.delimiter), self.fields.len());
        let roles: Vec<_> = self.fields.iter().map(|name| names.role(name)).collect();
        layout.at = columns::best(&roles);
        layout.has_quotes = true;
        layout.skip = self.end as u64;
        layout.header = Some(self.fields.clone());
        layout.take_units();
        Ok(layout)
    }
}
