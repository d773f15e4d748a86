//! Rows without quotes, cut a batch at a time: a block comes in, the bounds of all fields go out, column by column.
//!
//! Two passes of the kernel find the line ends and the delimiters. Where every row has as many delimiters as the
//! header, field `f` of row `r` lies between the delimiters `r * n + f - 1` and `r * n + f`: no row is looked at.

use super::FindByte;
use super::batch::{BATCH_KEYS, MISSING, Spans};
use super::size::sixteen_digits;
use crate::source::block::Padded;

/// A batch of rows; its memory is kept from batch to batch.
#[derive(Default)]
pub struct Grid {
    rows: Spans,
    /// `a_row` of them for each row.
    delimiters: Vec<u32>,
    a_row: usize,
}

impl Grid {
    /// Cuts the next rows, from `from` on, of `fields` fields each; returns where the row behind them starts. `None`:
    /// one of them has a quote, another number of fields, nothing in it, or an end of its own.
    pub fn cut(
        &mut self,
        base: Padded<'_>,
        from: u32,
        delimiter: u8,
        fields: usize,
        find: FindByte<'_>,
    ) -> Option<u32> {
        let len = base.len() as u32;
        let Spans { start, end } = &mut self.rows;
        end.resize(BATCH_KEYS, 0);
        let mut rows = find(base, from, b'\n', end);
        let after = if rows == 0 { from } else { end[rows - 1] + 1 };
        if rows < BATCH_KEYS && after < len {
            end[rows] = len;
            rows += 1;
        }
        end.truncate(rows);
        let next = end[rows - 1] + 1;
        start.clear();
        start.push(from);
        start.extend(end[..rows - 1].iter().map(|end| end + 1));

        let text = &base.bytes()[from as usize..next.min(len) as usize];
        match memchr::memchr2(b'"', b'\r', text).map(|at| text[at]) {
            None => {}
            Some(b'\r') if memchr::memchr(b'"', text).is_none() => strip(base, end, text)?,
            Some(_) => return None,
        }

        self.a_row = fields - 1;
        let wanted = rows * self.a_row;
        self.delimiters.resize(wanted, 0);
        if find(base, from, delimiter, &mut self.delimiters) < wanted {
            return None;
        }
        let bounds = start.iter().zip(&*end);
        let fits = match self.a_row {
            // A row of one field that is empty is a blank line.
            0 => bounds.fold(true, |all, (start, end)| all & (start < end)),
            n => bounds
                .zip(self.delimiters.chunks_exact(n))
                .fold(true, |all, ((start, end), row)| all & (*start <= row[0]) & (row[n - 1] < *end)),
        };
        let last = self.delimiters.last().map_or(from, |last| last + 1);
        let no_more = memchr::memchr(delimiter, &base.bytes()[last as usize..next.min(len) as usize]).is_none();
        (fits && no_more).then_some(next)
    }

    /// The bounds of field `at` of every row.
    pub fn column(&self, at: usize, into: &mut Spans) {
        let Spans { start, end } = &self.rows;
        into.clear();
        match at {
            0 => into.start.extend(start),
            _ => into.start.extend(self.delimiters.chunks_exact(self.a_row).map(|row| row[at - 1] + 1)),
        }
        match at == self.a_row {
            true => into.end.extend(end),
            false => into.end.extend(self.delimiters.chunks_exact(self.a_row).map(|row| row[at])),
        }
    }
}

/// Takes the CR off each row end, where each has one and there are no others.
fn strip(base: Padded<'_>, ends: &mut [u32], text: &[u8]) -> Option<()> {
    let all = ends.iter().fold(true, |all, end| all & (base.byte_before(*end) == b'\r'));
    (all && memchr::memchr_iter(b'\r', text).count() == ends.len()).then(|| ends.iter_mut().for_each(|end| *end -= 1))
}

/// The numbers that stand in `spans`; an empty span is `MISSING`. What has more to it than sixteen digits is left to
/// `read`. False: one of them is no number.
pub fn numbers(base: Padded<'_>, spans: &Spans, read: fn(&[u8]) -> Option<u64>, into: &mut Vec<u64>) -> bool {
    let mut all = true;
    into.clear();
    into.extend(spans.start.iter().zip(&spans.end).map(|(start, end)| {
        let len = end - start;
        if let Some(number) = sixteen_digits(base.sixteen_at(*start), len) {
            return number;
        }
        let text = base.bytes()[*start as usize..*end as usize].trim_ascii();
        let number = if text.is_empty() { Some(MISSING) } else { read(text) };
        all &= number.is_some();
        number.unwrap_or(MISSING)
    }));
    all
}
