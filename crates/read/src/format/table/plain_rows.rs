//! Plain rows, split a batch at a time: takes a block and yields the bounds of all fields, column by column.
//!
//! One kernel pass finds delimiters and line ends. If every row has as many fields as the header, field `f` of row `r`
//! ends at match number `r * n + f`, and no row needs parsing. A column may be quoted if it is so in all rows and there are
//! no other quotes.

use hashslot::Kernel;

use slotscope_base::batch::{BATCH_KEYS, Spans};
use slotscope_base::block::Padded;
use slotscope_base::simd::find_cells;

use crate::format::parse::size::sixteen_digits;

/// A batch of rows; its buffers are reused.
#[derive(Default)]
pub(crate) struct Grid {
    rows: Spans,
    /// The ends of fields, and the line ends of rows if preceded by CR.
    cells: Vec<u32>,
    fields: usize,
    /// For each field, whether it is quoted.
    pub quoted: Vec<bool>,
    /// Whether rows end with a CR, which is stripped.
    pub crlf: bool,
}

impl Grid {
    /// Splits the next rows, from `from` on, with `fields` fields each; returns the start of the row after them. `None`
    /// if a row differs from the first in quotes, number of fields or line end, or is empty. Without `quotes`, a quote
    /// is an ordinary byte.
    pub(crate) fn cut(
        &mut self,
        base: Padded<'_>,
        from: u32,
        delimiter: u8,
        fields: usize,
        quotes: bool,
        kernel: &Kernel,
    ) -> Option<u32> {
        let len = base.len() as u32;
        self.fields = fields;
        self.cells.resize(BATCH_KEYS * fields, 0);
        let search = find_cells(kernel, base, from, delimiter, &mut self.cells);
        if search.ends < self.cells.len() {
            self.cells.truncate(search.ends);
            // The last line may lack its end.
            if self
                .cells
                .last()
                .is_none_or(|last| *last + 1 < len || !is_line_end(base, *last))
            {
                self.cells.push(len);
            }
        }
        if !self.take_rows(base, from, search.lines) {
            return None;
        }
        let next = self.cells.last()? + 1;

        let text = &base.bytes()[from as usize..next.min(len) as usize];
        let count = |byte| memchr::memchr_iter(byte, text).count();
        let quotes = if quotes && search.has_quote {
            count(b'"')
        } else {
            0
        };
        let returns = if search.has_return { count(b'\r') } else { 0 };
        self.crlf = returns > 0;
        let is_stripped = !self.crlf || strip(base, &mut self.rows.end, returns);
        (is_stripped && self.take_quotes(base, quotes)).then_some(next)
    }

    /// Computes the bounds of the rows; false if a row has another number of fields than the first, or is empty.
    fn take_rows(&mut self, base: Padded<'_>, from: u32, lines: usize) -> bool {
        let Spans { start, end } = &mut self.rows;
        let rows = self.cells.chunks_exact(self.fields);
        if !rows.remainder().is_empty() || rows.len() == 0 {
            return false;
        }
        end.clear();
        end.extend(rows.clone().map(|row| row[self.fields - 1]));
        start.clear();
        start.push(from);
        start.extend(end[..end.len() - 1].iter().map(|end| end + 1));
        // As many rows end with LF as there are LFs, so none is inside a row.
        let of_rows = end.iter().map(|end| usize::from(is_line_end(base, *end)));
        let unended = usize::from(end.last().is_some_and(|end| *end == base.len() as u32));
        let fits = of_rows.take(end.len() - unended).sum::<usize>() == lines
            && lines + unended == end.len();
        // A row of one empty field is a blank line.
        let is_blank = |(start, end): (&u32, &u32)| start == end;
        fits && (self.fields > 1 || !start.iter().zip(&*end).any(is_blank))
    }

    /// Learns from the first row which fields are quoted; false if another row differs, or if there are more `quotes`
    /// than those.
    fn take_quotes(&mut self, base: Padded<'_>, quotes: usize) -> bool {
        self.quoted.clear();
        self.quoted.resize(self.fields, false);
        if quotes == 0 {
            return true;
        }
        let mut spans = Spans::default();
        let mut total = 0;
        for at in 0..self.fields {
            self.column(at, &mut spans);
            let is_quoted = |start: u32, end: u32| {
                // The byte before an empty field is not its quote.
                (end - start > 1)
                    & (base.byte_before(start + 1) == b'"')
                    & (base.byte_before(end) == b'"')
            };
            if is_quoted(spans.start[0], spans.end[0]) {
                let bounds = spans.start.iter().zip(&spans.end);
                if !bounds.fold(true, |fits, (start, end)| fits & is_quoted(*start, *end)) {
                    return false;
                }
                total += 2 * spans.len();
                self.quoted[at] = true;
            }
        }
        total == quotes
    }

    /// The bounds of field `at` in every row, without quotes.
    pub(crate) fn column(&self, at: usize, into: &mut Spans) {
        let Spans { start, end } = &self.rows;
        let ends = |at: usize| self.cells.chunks_exact(self.fields).map(move |row| row[at]);
        into.clear();
        match at {
            0 => into.start.extend(start),
            _ => into.start.extend(ends(at - 1).map(|end| end + 1)),
        }
        if at + 1 == self.fields {
            into.end.extend(end)
        } else {
            into.end.extend(ends(at))
        }
        if self.quoted[at] {
            into.start.iter_mut().for_each(|start| *start += 1);
            into.end.iter_mut().for_each(|end| *end -= 1);
        }
    }
}

fn is_line_end(base: Padded<'_>, at: u32) -> bool {
    base.byte_before(at + 1) == b'\n'
}

/// Strips the CR from each row end; false if there are other CRs.
fn strip(base: Padded<'_>, ends: &mut [u32], returns: usize) -> bool {
    let are_returns = ends.iter().fold(true, |are_returns, end| {
        are_returns & (base.byte_before(*end) == b'\r')
    });
    let are_ends = are_returns && returns == ends.len();
    if are_ends {
        ends.iter_mut().for_each(|end| *end -= 1);
    }
    are_ends
}

/// The values in `spans`, where digits alone are not the plain number; false if one is unreadable.
pub(crate) fn values(
    base: Padded<'_>,
    spans: &Spans,
    read: impl Fn(&[u8]) -> Option<u64>,
    into: &mut Vec<u64>,
) -> bool {
    let mut are_values = true;
    into.clear();
    into.extend((0..spans.len()).map(|i| {
        let value = read(spans.get(base, i));
        are_values &= value.is_some();
        value.unwrap_or_default()
    }));
    are_values
}

/// The numbers in `spans`; anything but one to sixteen digits is left to `read`. False if one is unreadable.
pub(crate) fn numbers(
    base: Padded<'_>,
    spans: &Spans,
    read: impl Fn(&[u8]) -> Option<u64>,
    into: &mut Vec<u64>,
) -> bool {
    let mut are_numbers = true;
    into.clear();
    into.extend(spans.start.iter().zip(&spans.end).map(|(start, end)| {
        sixteen_digits(base.sixteen_at(*start), end - start).unwrap_or_else(|| {
            let number = read(&base.bytes()[*start as usize..*end as usize]);
            are_numbers &= number.is_some();
            number.unwrap_or_default()
        })
    }));
    are_numbers
}
