//! Reads the rows of an opened table: batches of plain rows are split all at once, others cell by cell, with the same
//! result.

use slotscope_base::batch::{Spans, Word};
use slotscope_base::block::{Block, Padded, Piece};

use crate::format::around::{Around, around, is_comment};
use crate::format::frame::row_boundary::RowBoundary;
use crate::format::parse::csv_row::{MAX_FIELDS, cut_row, is_closed};
use crate::format::parse::escape::undouble;
use crate::format::parse::size::ReadNumber;
use crate::format::parse::value::{Value, value};
use crate::format::table;
use crate::format::table::columns::{KeyEscapes, Role};
use crate::format::table::key_spelling::{KeySpelling, cut_line};
use crate::format::table::layout::Layout;
use crate::format::table::plain_rows;
use crate::format::table::plain_rows::Grid;
use crate::format::table::separator::{Cell, Separator};
use crate::format::table::total::is_total;
use crate::format::table::{Carried, Refusal, Row, Rows, Span, Step, TableReader, Unreadables};
use crate::format::{Columns, Head, Opened};
use crate::source::boundary::{Boundary, State, line_at};

/// An opened table; also used for the CSV of other tools.
pub struct CsvKeys {
    layout: Layout,
    keys: KeySpelling,
}

impl CsvKeys {
    /// A table with this layout; `head` shows how its keys are escaped.
    pub fn of(head: Head<'_>, layout: Layout, escapes: KeyEscapes) -> CsvKeys {
        let keys = match layout.plain_delimiter() {
            Some(delimiter) if layout.header.is_some() => {
                let bytes = head.bytes.get(layout.header_at as usize..);
                let bytes = bytes.unwrap_or_default();
                KeySpelling::of(Head { bytes, ..head }, delimiter, layout.key(), escapes)
            }
            _ => KeySpelling::Plain,
        };
        CsvKeys { layout, keys }
    }

    /// The table as an input in the format called `format`.
    pub fn opened(self, format: &'static str) -> Opened {
        let boundary = match (self.keys, self.layout.separator) {
            (KeySpelling::Escaped, _) => RowBoundary::Lines(b'\n'),
            (_, Separator::Byte(delimiter)) if self.layout.has_quotes => {
                RowBoundary::Quoted(delimiter)
            }
            _ => RowBoundary::Lines(b'\n'),
        };
        Opened::blocks(format, boundary, TableReader(self))
    }

    /// Whether a row may be the total of others.
    fn has_totals(&self) -> bool {
        self.layout.size().is_some() && !self.layout.key_text.is_raw()
    }

    /// Whether all number columns of a raw table have numbers: a line that lacks one may be a piece of a key.
    fn has_all_numbers(&self, base: Padded<'_>, grid: &Grid, spans: &mut Spans) -> bool {
        let mut numbers = Vec::new();
        let number = |text: &[u8]| (value(text) != Value::Text).then_some(0);
        (0..self.layout.columns)
            .filter(|column| self.layout.values[*column])
            .all(|column| {
                grid.column(column, spans);
                plain_rows::numbers(base, spans, number, &mut numbers)
            })
    }

    /// How a column is read.
    fn reader(&self, role: Role) -> ReadNumber {
        let unit = match role {
            Role::Number(_) => self.layout.expiry_unit,
            _ => self.layout.size_unit,
        };
        table::reader(role, unit)
    }

    /// Splits the row at `at` into cells; returns the start of the next one. `None` if a quote closes elsewhere: the lines
    /// that the row spans are rows then.
    fn cut(&self, content: &mut [u8], at: usize, cut: &mut CutRow) -> Option<usize> {
        let CutRow {
            cells,
            fields,
            until,
            ..
        } = cut;
        let is_escaped = self.keys == KeySpelling::Escaped;
        if let (Separator::Byte(delimiter), true) = (
            self.layout.separator,
            self.layout.has_quotes && self.layout.padded.is_none(),
        ) {
            let (after, is_cut) = if is_escaped {
                cut_line(content, at, delimiter, fields)
            } else if !is_closed(content, at, delimiter) {
                let end = RowBoundary::Quoted(delimiter).first_end(content, at, State::default());
                *until = end.unwrap_or(content.len()).max(*until);
                return None;
            } else {
                (cut_row(content, at, delimiter, fields), Some(()))
            };
            is_cut?;
            let is_quoted = |(from, _): &Span| content[..*from as usize].last() == Some(&b'"');
            cells.clear();
            cells.extend(fields.iter().map(|span| Cell {
                span: *span,
                is_quoted: is_quoted(span),
            }));
            return Some(after);
        }
        let (line, after) = line_at(content, at);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.layout
            .separator
            .cut(line, self.layout.has_quotes, cells);
        for cell in cells.iter_mut() {
            cell.span = (cell.span.0 + at as u32, cell.span.1 + at as u32);
            if cell.is_quoted {
                let (from, to) = cell.span;
                cell.span.1 = undouble(b'"', content, from as usize, to as usize) as u32;
            }
        }
        Some(after)
    }

    /// The key of a row and its other cells.
    fn row(&self, content: &mut [u8], cut: &mut CutRow, is_last: bool) -> Result<Step, Refusal> {
        let layout = &self.layout;
        let cells = &cut.cells;
        if layout.is_header(content, cells) {
            return Ok(Step::Around);
        }
        let Some(key) = layout.key_in(content, cells) else {
            let many = if cells.len() >= MAX_FIELDS {
                " or more"
            } else {
                ""
            };
            let reason = format!(
                "{}{many} fields, where the table has {}",
                cells.len(),
                layout.columns
            );
            return Err(reason.into());
        };
        let of_column =
            |column: usize| layout.bare(content, column, cells[layout.place(column, cells.len())]);
        let field = |role: Role| layout.at[role.place()].map(of_column);
        let text =
            |role| field(role).map_or(&b""[..], |(from, to)| &content[from as usize..to as usize]);
        let mut unreadable = Unreadables::default();
        let mut number = |role, read: ReadNumber| {
            let text = text(role);
            table::optional(text, read).unwrap_or_else(|| unreadable.note(role, text))
        };
        let bare = layout.bare(content, layout.key(), key);
        let is_without = bare.0 == bare.1 && !key.is_quoted && self.keys != KeySpelling::Name;
        if self.has_totals() && is_without {
            return Err(
                "a size without a key, as of a total: the empty key is written \"\"".into(),
            );
        }
        if self.has_totals() && is_total(&content[bare.0 as usize..bare.1 as usize], is_last) {
            return Ok(Step::Total);
        }
        let mut row = Row::of(bare);
        for (role, value) in row.numbers_mut() {
            *value = number(role, self.reader(role));
        }
        row.words = Word::ALL.map(|word| field(Role::Word(word)).unwrap_or_default());
        let written = row.key;
        let undone = self
            .keys
            .undo(content, row.key)
            .and_then(|key| layout.undo(content, key));
        row.key = undone.ok_or("a key without the quotes that the first ones have")?;
        let has_quotes = u32::from(self.keys == KeySpelling::EscapedInField);
        let is_shorter = row.key.1 - row.key.0 + 2 * has_quotes < written.1 - written.0;
        cut.undone += u64::from(is_shorter && self.keys != KeySpelling::Plain);
        Ok(Step::Key(row, unreadable))
    }
}

const ENDS_ELSEWHERE: &str = "a text in double quotes that ends elsewhere: a quote in it is written twice, or with --escapes c after a backslash";

/// Buffers for a split row and a batch of rows, reused to save allocations.
#[derive(Default)]
pub struct CutRow {
    fields: Vec<Span>,
    cells: Vec<Cell>,
    grid: Grid,
    spans: Spans,
    /// The end of the lines of a row with a quote that closes elsewhere.
    until: usize,
    /// Number of keys whose escapes were decoded.
    undone: u64,
}

impl Rows for CsvKeys {
    type Memory = CutRow;

    fn carried(&self) -> Carried {
        self.layout.at.map(|at| at.is_some())
    }

    fn first(&self, block: &Block, piece: Piece, from: usize) -> usize {
        table::skipped(from, piece, self.layout.skip).min(block.len())
    }

    fn alike(
        &self,
        base: Padded<'_>,
        from: usize,
        columns: &mut Columns<'_>,
        CutRow { grid, spans, .. }: &mut CutRow,
    ) -> Option<usize> {
        let delimiter = self.layout.plain_delimiter()?;
        let next = grid.cut(
            base,
            from as u32,
            delimiter,
            self.layout.columns,
            self.layout.has_quotes,
            columns.kernel,
        )?;
        let text = &base.bytes()[from..base.len().min(next as usize)];
        let has_escapes = || memchr::memchr(b'\\', text).is_some();
        match self.keys {
            KeySpelling::Plain => {}
            KeySpelling::Escaped | KeySpelling::Name if !has_escapes() => {}
            _ => return None,
        }
        let Columns {
            keys,
            values,
            with_attributes,
            ..
        } = columns;
        let with_attributes = *with_attributes;
        values.clear();
        grid.column(self.layout.key(), keys);
        let mut spans_of_keys = keys.start.iter().zip(&keys.end);
        let is_total = |(from, to): (&u32, &u32)| {
            from == to || is_total(&base.bytes()[*from as usize..*to as usize], true)
        };
        if self.has_totals() && spans_of_keys.any(is_total) {
            return None;
        }
        if self.layout.key_text.is_raw() && !self.has_all_numbers(base, grid, spans) {
            return None;
        }
        let is_read = |role: &Role| with_attributes || !role.is_attribute();
        for (role, column) in table::number_columns(values).filter(|(role, _)| is_read(role)) {
            if let Some(at) = self.layout.at[role.place()] {
                grid.column(at, spans);
                let read = self.reader(role);
                let is_read = if self.layout.means_other_numbers(role) {
                    plain_rows::values(base, spans, |text| table::optional(text, read), column)
                } else {
                    plain_rows::numbers(base, spans, |text| table::optional(text, read), column)
                };
                if !is_read {
                    return None;
                }
            }
        }
        for word in Word::ALL.into_iter().filter(|_| with_attributes) {
            if let Some(at) = self.layout.at[Role::Word(word).place()] {
                grid.column(at, values.word_mut(word));
            }
        }
        Some(next as usize)
    }

    fn next(&self, content: &mut [u8], at: usize, cut: &mut Self::Memory) -> (usize, Step) {
        let len = content.len();
        // Blocks end where such a row does, so that no other row may reach beyond it.
        let end = Some(cut.until).filter(|until| at < *until).unwrap_or(len);
        let content = &mut content[..end];
        let line = line_at(content, at).0;
        if let Some(kind) = around(line) {
            let step = match kind {
                Around::Blank => Step::Blank,
                _ => Step::Around,
            };
            return (line_at(content, at).1, step);
        }
        let Some(after) = self.cut(content, at, cut) else {
            let after = line_at(content, at).1;
            return (after, Step::Reject(ENDS_ELSEWHERE.into()));
        };
        if cut.cells.is_empty() {
            return (after, Step::Blank);
        }
        let is_last = after >= len;
        let step = self.row(content, cut, is_last).unwrap_or_else(|refusal| {
            if is_comment(line_at(content, at).0) {
                Step::Around
            } else {
                Step::Reject(refusal)
            }
        });
        (after, step)
    }

    fn undone(cut: &CutRow) -> u64 {
        cut.undone
    }
}
