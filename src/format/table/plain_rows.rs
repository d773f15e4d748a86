//! Plain rows, cut a batch at a time: a block comes in, the bounds of all fields go out, column by column.
//!
//! Two passes of the kernel find the line ends and the delimiters. Where every row has as many delimiters as the
//! header, field `f` of row `r` lies between the delimiters `r * n + f - 1` and `r * n + f`: no row is looked at. A
//! column may be in quotes, if it is in all rows and these are all quotes there are: so nothing else is in them.

use crate::format::FindByte;
use crate::format::batch::{BATCH_KEYS, Spans};
use crate::format::parse::size::sixteen_digits;
use crate::format::parse::time;
use crate::source::block::Padded;

/// A batch of rows; its memory is kept from batch to batch.
#[derive(Default)]
pub struct Grid {
    rows: Spans,
    /// `a_row` of them for each row.
    delimiters: Vec<u32>,
    a_row: usize,
    /// For each field, whether it is in quotes.
    pub quoted: Vec<bool>,
    /// Whether each row ended with a CR, which is cut off.
    pub crlf: bool,
}

impl Grid {
    /// Cuts the next rows, from `from` on, of `fields` fields each; returns where the row behind them starts. `None`:
    /// one of them has other quotes or another number of fields than the first, nothing in it, or another line end.
    /// Without `quotes` a quote is a byte like any other.
    pub fn cut(
        &mut self,
        base: Padded<'_>,
        from: u32,
        delimiter: u8,
        fields: usize,
        quotes: bool,
        find: FindByte<'_>,
    ) -> Option<u32> {
        let len = base.len() as u32;
        let next = cut_lines(base, from, &mut self.rows, find);
        let Spans { start, end } = &mut self.rows;
        let rows = end.len();

        let text = &base.bytes()[from as usize..next.min(len) as usize];
        let first_quote = if quotes {
            memchr::memchr(b'"', text)
        } else {
            None
        };
        let quotes = first_quote.map_or(0, |at| memchr::memchr_iter(b'"', &text[at..]).count());
        self.crlf = memchr::memchr(b'\r', text).is_some();
        if self.crlf {
            strip(base, end, text)?;
        }

        self.a_row = fields - 1;
        let wanted = rows * self.a_row;
        self.delimiters.resize(wanted, 0);
        if find(base, from, delimiter, &mut self.delimiters).delimiters < wanted {
            return None;
        }
        let bounds = start.iter().zip(&*end);
        let fits = match self.a_row {
            // A row of one field that is empty is a blank line.
            0 => bounds.fold(true, |all, (start, end)| all & (start < end)),
            n => bounds
                .zip(self.delimiters.chunks_exact(n))
                .fold(true, |all, ((start, end), row)| {
                    all & (*start <= row[0]) & (row[n - 1] < *end)
                }),
        };
        if !fits {
            // The delimiters of short rows were looked for behind the last one.
            return None;
        }
        let last = self.delimiters.last().map_or(from, |last| last + 1);
        let no_more = memchr::memchr(
            delimiter,
            &base.bytes()[last as usize..next.min(len) as usize],
        )
        .is_none();
        (no_more && self.take_quotes(base, quotes)).then_some(next)
    }

    /// Tells by the first row which fields are in quotes. False: they are not in another row, or there are more of
    /// the `quotes` than those.
    fn take_quotes(&mut self, base: Padded<'_>, quotes: usize) -> bool {
        self.quoted.clear();
        self.quoted.resize(self.a_row + 1, false);
        if quotes == 0 {
            return true;
        }
        let mut spans = Spans::default();
        let mut all = 0;
        for at in 0..=self.a_row {
            self.column(at, &mut spans);
            let is_quoted = |start: u32, end: u32| {
                // Before an empty field there is no quote that belongs to it.
                (end - start > 1)
                    & (base.byte_before(start + 1) == b'"')
                    & (base.byte_before(end) == b'"')
            };
            if is_quoted(spans.start[0], spans.end[0]) {
                let bounds = spans.start.iter().zip(&spans.end);
                if !bounds.fold(true, |all, (start, end)| all & is_quoted(*start, *end)) {
                    return false;
                }
                all += 2 * spans.len();
                self.quoted[at] = true;
            }
        }
        all == quotes
    }

    /// The bounds of field `at` of every row, without its quotes.
    pub fn column(&self, at: usize, into: &mut Spans) {
        let Spans { start, end } = &self.rows;
        into.clear();
        match at {
            0 => into.start.extend(start),
            _ => into.start.extend(
                self.delimiters
                    .chunks_exact(self.a_row)
                    .map(|row| row[at - 1] + 1),
            ),
        }
        match at == self.a_row {
            true => into.end.extend(end),
            false => into
                .end
                .extend(self.delimiters.chunks_exact(self.a_row).map(|row| row[at])),
        }
        if self.quoted[at] {
            into.start.iter_mut().for_each(|start| *start += 1);
            into.end.iter_mut().for_each(|end| *end -= 1);
        }
    }
}

/// The next lines from `from` on, at least one; returns where the line behind them starts.
pub fn cut_lines(base: Padded<'_>, from: u32, lines: &mut Spans, find: FindByte<'_>) -> u32 {
    let len = base.len() as u32;
    let Spans { start, end } = lines;
    end.resize(BATCH_KEYS, 0);
    let mut rows = find(base, from, b'\n', end).delimiters;
    let after = if rows == 0 { from } else { end[rows - 1] + 1 };
    if rows < BATCH_KEYS && after < len {
        end[rows] = len;
        rows += 1;
    }
    end.truncate(rows);
    start.clear();
    start.push(from);
    start.extend(end[..rows - 1].iter().map(|end| end + 1));
    end[rows - 1] + 1
}

/// Takes the CR off each row end, where each has one and there are no others.
fn strip(base: Padded<'_>, ends: &mut [u32], text: &[u8]) -> Option<()> {
    let all = ends
        .iter()
        .fold(true, |all, end| all & (base.byte_before(*end) == b'\r'));
    (all && memchr::memchr_iter(b'\r', text).count() == ends.len())
        .then(|| ends.iter_mut().for_each(|end| *end -= 1))
}

/// The times of expiry in `spans`.
pub fn times(base: Padded<'_>, spans: &Spans, into: &mut Vec<u64>) {
    into.clear();
    into.extend((0..spans.len()).map(|i| time::expiry(spans.get(base, i))));
}

/// The numbers in `spans`; what is not one to sixteen digits is left to `read`. False: one of them is no
/// number.
pub fn numbers(
    base: Padded<'_>,
    spans: &Spans,
    read: impl Fn(&[u8]) -> Option<u64>,
    into: &mut Vec<u64>,
) -> bool {
    let mut all = true;
    into.clear();
    into.extend(spans.start.iter().zip(&spans.end).map(|(start, end)| {
        sixteen_digits(base.sixteen_at(*start), end - start).unwrap_or_else(|| {
            let number = read(&base.bytes()[*start as usize..*end as usize]);
            all &= number.is_some();
            number.unwrap_or_default()
        })
    }));
    all
}
