//! How the rows of a table are laid out: what is between cells, and which cell is what.

use crate::format::batch::Number;
use crate::format::parse::escape::{self, Escapes};
use crate::format::parse::python;
use crate::format::parse::value::{Value, value};
use crate::format::table::Span;
use crate::format::table::columns::{ColumnNames, ROLES, Role};
use crate::format::table::names::Unit;
use crate::format::table::separator::{Cell, Separator};
use crate::metric::Metric;

/// The layout of a table.
///
/// Columns before the key are counted from the left, those after it from the right: the key is between them, and
/// may hold separators.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The separator of cells.
    pub separator: Separator,
    /// How many columns there are.
    pub columns: usize,
    /// The column of each role.
    pub at: [Option<usize>; ROLES],
    /// Bytes of the input before the first row.
    pub skip: u64,
    /// Bytes of the input before the header.
    pub header_at: u64,
    /// Whether each row starts and ends with a separator.
    pub has_border: bool,
    /// Whether the blanks around a key are not part of it.
    pub is_trimmed: bool,
    /// Whether cells may be in quotes, as RFC 4180 has it.
    pub has_quotes: bool,
    /// How keys are written.
    pub key_text: KeyText,
    /// The start of each cell, as in `key=K size=N`, by column.
    pub before: Vec<Vec<u8>>,
    /// The columns that hold numbers, words or times in every row.
    pub values: Vec<bool>,
    /// The few texts of a column that has one of these in every row.
    pub words: Vec<Vec<Vec<u8>>>,
    /// The cells of the header, where there is one.
    pub header: Option<Vec<Vec<u8>>>,
    /// The unit of a size without one.
    pub size_unit: Unit,
    /// The unit of a time of expiry without a date.
    pub expiry_unit: Unit,
}

/// How keys are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyText {
    /// As they are.
    Plain,
    /// As literals of Python: `b'key'`, `'key'`.
    Python,
    /// In double quotes with C escapes.
    Quoted,
}

impl Layout {
    /// A table without columns of a known content, whose key is in the first of `columns`.
    pub(crate) fn new(separator: Separator, columns: usize) -> Layout {
        Layout {
            separator,
            columns,
            at: [None; ROLES],
            skip: 0,
            header_at: 0,
            has_border: false,
            is_trimmed: false,
            has_quotes: false,
            key_text: KeyText::Plain,
            before: Vec::new(),
            values: vec![false; columns],
            words: vec![Vec::new(); columns],
            header: None,
            size_unit: Unit::One,
            expiry_unit: Unit::SecondsLeft,
        }
    }

    /// Takes the units of sizes and times from the names of their columns.
    pub(crate) fn take_units(&mut self) {
        let unit = |role: Role| {
            let name = self.header.as_ref()?.get(self.at[role.place()]?)?;
            Some(ColumnNames::unit(name))
        };
        let (size, expiry) = (
            unit(Role::of(Metric::Bytes)),
            unit(Role::Number(Number::Expiry)),
        );
        self.size_unit = size.unwrap_or_default();
        self.expiry_unit = expiry.unwrap_or_default();
    }

    /// Whether digits in the column of a role are not the number that they spell.
    pub(crate) fn means_other_numbers(&self, role: Role) -> bool {
        match role {
            Role::Weight(metric) if metric.is_size() => self.size_unit != Unit::One,
            role => role == Role::Number(Number::Expiry),
        }
    }

    /// The column of the keys.
    pub(crate) fn key(&self) -> usize {
        self.at[Role::Key.place()].unwrap_or_default()
    }

    /// The column of the sizes.
    pub(crate) fn size(&self) -> Option<usize> {
        self.at[Role::of(Metric::Bytes).place()]
    }

    /// The delimiter of a table whose batches can be cut all at once.
    pub(crate) fn plain_delimiter(&self) -> Option<u8> {
        let is_plain = !self.has_border
            && !self.is_trimmed
            && self.before.is_empty()
            && self.key_text == KeyText::Plain;
        match self.separator {
            Separator::Byte(byte) if is_plain => Some(byte),
            _ => None,
        }
    }

    /// The cells of a row between its borders.
    pub(crate) fn inside<'c>(&self, cells: &'c [Cell]) -> &'c [Cell] {
        if self.has_border && cells.len() > 2 {
            &cells[1..cells.len() - 1]
        } else {
            cells
        }
    }

    /// The cell of a column in a row of this many cells.
    pub(crate) fn place(&self, column: usize, cells: usize) -> usize {
        if column <= self.key() {
            column
        } else {
            cells + column - self.columns
        }
    }

    /// The key in the cells of a row; `None` where they are too few, or too many without a sign of which are the key's.
    pub(crate) fn key_in(&self, text: &[u8], cells: &[Cell]) -> Option<Cell> {
        let key = self.key();
        let more = cells.len().checked_sub(self.columns)?;
        let first = cells[key];
        if more == 0 {
            return Some(first);
        }
        let is_apart = |column: usize| {
            let cell = cells[self.place(column, cells.len())];
            let (from, to) = self.bare(text, column, cell);
            let cell = &text[from as usize..to as usize];
            self.values[column] && is_value(cell)
                || self.words[column].iter().any(|word| word == cell)
        };
        let others = (0..self.columns).filter(|column| *column != key);
        let of_key = &cells[key..=key + more];
        let is_plain = of_key.iter().all(|cell| !cell.is_quoted);
        let are_apart = if key + 1 == self.columns {
            is_plain
        } else {
            is_plain && others.into_iter().all(is_apart)
        };
        are_apart.then(|| Cell {
            span: (first.span.0, of_key[more].span.1),
            is_quoted: false,
        })
    }

    /// A cell without the blanks around it and without its name.
    pub(crate) fn bare(&self, text: &[u8], column: usize, cell: Cell) -> Span {
        let (mut from, mut to) = (cell.span.0 as usize, cell.span.1 as usize);
        let is_key = column == self.key();
        if !cell.is_quoted && (self.is_trimmed || !is_key) {
            let cell = &text[from..to];
            from += cell.len() - cell.trim_ascii_start().len();
            to = from + cell.trim_ascii().len();
        }
        // A script writes a comma after a number, as before the next item of a list.
        if !cell.is_quoted
            && !is_key
            && let [.., digit, b',' | b';'] = &text[from..to]
            && digit.is_ascii_alphanumeric()
        {
            to -= 1;
        }
        if let Some(name) = self
            .before
            .get(column)
            .filter(|name| text[from..to].starts_with(name))
        {
            from += name.len();
            if let [b'"', .., b'"'] = &text[from..to] {
                (from, to) = (from + 1, to - 1);
            }
        }
        (from as u32, to as u32)
    }

    /// Undoes how a key is written; returns where it is. `None`: it is written otherwise.
    pub(crate) fn undo(&self, content: &mut [u8], (from, to): Span) -> Option<Span> {
        match self.key_text {
            KeyText::Plain => Some((from, to)),
            KeyText::Python => {
                let (from, to) = python::undo(content, from as usize, to as usize)?;
                Some((from as u32, to as u32))
            }
            KeyText::Quoted => {
                let (from, to) = (from as usize, to as usize);
                escape::is_quoted(&content[from..to]).then_some(())?;
                let to = escape::undo(Escapes::C, content, from + 1, to - 1);
                Some((from as u32 + 1, to as u32))
            }
        }
    }

    /// Whether a row is the header again, as where files were put one after the other.
    pub(crate) fn is_header(&self, text: &[u8], cells: &[Cell]) -> bool {
        let is = |(cell, name): (&Cell, &Vec<u8>)| {
            text[cell.span.0 as usize..cell.span.1 as usize].trim_ascii() == name.as_slice()
        };
        let header = self.header.as_ref();
        header.is_some_and(|names| names.len() == cells.len() && cells.iter().zip(names).all(is))
    }
}

/// Whether `cell` is a number, or that there is none, a word of a server, or a time.
fn is_value(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    value(cell) != Value::Text
}
