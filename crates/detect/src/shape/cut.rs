//! Rows split into cells by a candidate separator.

use slotscope_read::format::table::Span;
use slotscope_read::format::table::separator::{Cell, Separator, is_open};

use crate::shape::column::{MOST, share_of};

/// Maximum lines of a row with quoted line ends.
const LINES_OF_ROW: usize = 8;

/// Rows and their cells.
pub(super) struct CutRows<'a> {
    /// The rows; with quoted line ends, several lines each.
    pub rows: Vec<&'a [u8]>,
    cells: Vec<Cell>,
    ends: Vec<usize>,
    /// Number of border cells at either end.
    border: usize,
}

/// A text at a position of a row.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    /// The raw bytes, or those between the quotes.
    pub raw: &'a [u8],
    pub is_quoted: bool,
}

impl<'a> Text<'a> {
    /// Trims blanks.
    pub(super) fn trimmed(self) -> &'a [u8] {
        if self.is_quoted {
            self.raw
        } else {
            self.raw.trim_ascii()
        }
    }
}

impl<'a> CutRows<'a> {
    /// Splits `lines` of `head`.
    pub(super) fn of(head: &'a [u8], lines: &[&'a [u8]], separator: Separator) -> CutRows<'a> {
        let mut cut = CutRows {
            rows: Vec::with_capacity(lines.len()),
            cells: Vec::new(),
            ends: Vec::new(),
            border: 0,
        };
        let mut cells = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let (row, used) = match separator {
                Separator::Byte(byte) => joined(head, &lines[at..], byte),
                _ => (lines[at], 1),
            };
            separator.cut(row, true, &mut cells);
            cut.rows.push(row);
            cut.cells.extend(&cells);
            cut.ends.push(cut.cells.len());
            at += used;
        }
        cut
    }

    /// Whether each row of several cells starts and ends with the separator; if so, drops the rest of the line.
    pub(super) fn strip_border(&mut self) -> bool {
        let is_framed = |row: &&[u8], cells: &[Cell]| {
            let is_blank = |cell: &Cell| {
                row[cell.span.0 as usize..cell.span.1 as usize]
                    .trim_ascii()
                    .is_empty()
            };
            is_blank(&cells[0]) && is_blank(&cells[cells.len() - 1])
        };
        let rows = 0..self.rows.len();
        let cut: Vec<usize> = rows.filter(|at| self.cells(*at).len() > 2).collect();
        let framed = share_of(&cut, |at| is_framed(&self.rows[*at], self.cells(*at)));
        let is_border = framed >= MOST && 2 * cut.len() >= self.rows.len();
        self.border = usize::from(is_border);
        is_border
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn cells(&self, row: usize) -> &[Cell] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let cells = &self.cells[start..self.ends[row]];
        if cells.len() > 2 {
            &cells[self.border..cells.len() - self.border]
        } else {
            cells
        }
    }

    pub(super) fn text(&self, row: usize, cell: Cell) -> Text<'a> {
        let (from, to): Span = cell.span;
        Text {
            raw: &self.rows[row][from as usize..to as usize],
            is_quoted: cell.is_quoted,
        }
    }

    pub(super) fn texts(&self, row: usize) -> Vec<Text<'a>> {
        self.cells(row)
            .iter()
            .map(|cell| self.text(row, *cell))
            .collect()
    }

    /// The most frequent number of cells in rows starting at `from`; on a tie, the largest.
    pub(super) fn usual(&self, from: usize) -> usize {
        let mut counts = std::collections::BTreeMap::<usize, usize>::new();
        for row in from..self.len() {
            *counts.entry(self.cells(row).len()).or_default() += 1;
        }
        let most = counts
            .into_iter()
            .max_by_key(|(cells, rows)| (*rows, *cells));
        most.map_or(0, |(cells, _)| cells)
    }
}

/// The first of `lines`, extended by the lines its last quoted cell spans; and their number.
fn joined<'a>(head: &'a [u8], lines: &[&'a [u8]], separator: u8) -> (&'a [u8], usize) {
    let first = lines[0];
    if !is_open(first, separator) {
        return (first, 1);
    }
    let start = first.as_ptr() as usize - head.as_ptr() as usize;
    for (number, line) in lines.iter().enumerate().take(LINES_OF_ROW).skip(1) {
        let end = line.as_ptr() as usize - head.as_ptr() as usize + line.len();
        let row = &head[start..end];
        if !is_open(row, separator) {
            return (row, number + 1);
        }
    }
    (first, 1)
}
