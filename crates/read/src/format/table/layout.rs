//! The layout of table rows: what separates cells, and the meaning of each.

use slotscope_base::batch::Number;
use slotscope_base::metric::Metric;

use crate::format::Head;
use crate::format::parse::escape;
use crate::format::parse::python;
use crate::format::parse::value::{Value, value};
use crate::format::table::Span;
use crate::format::table::columns::{self, ColumnNames, ROLES, Role};
use crate::format::table::separator::{Cell, Separator};
use crate::format::table::units::Unit;
use crate::source::boundary::line_at;

/// The layout of a table.
///
/// Columns before the key are counted from the left, those after it from the right: the key is in between and may
/// contain separators.
#[derive(Debug, Clone)]
pub struct Layout {
    pub separator: Separator,
    /// The number of columns.
    pub columns: usize,
    /// The column of each role.
    pub at: [Option<usize>; ROLES],
    /// Offset of the first row in the input.
    pub skip: u64,
    /// Offset of the header in the input.
    pub header_at: u64,
    /// Whether each row starts and ends with a separator.
    pub has_border: bool,
    /// How wide keys are with the blanks around them, where these are padding.
    pub padded: Option<usize>,
    /// Whether cells may be quoted as in RFC 4180.
    pub has_quotes: bool,
    pub key_text: KeyText,
    /// The columns with numbers, words or times in every row.
    pub values: Vec<bool>,
    /// The few distinct texts of a column, if every row has one of them.
    pub words: Vec<Vec<Vec<u8>>>,
    /// The cells of the header, if there is one.
    pub header: Option<Vec<Vec<u8>>>,
    /// The unit of sizes without one.
    pub size_unit: Unit,
    /// The unit of relative expiry times.
    pub expiry_unit: Unit,
}

/// How keys are quoted or escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyText {
    /// Not at all.
    Plain,
    /// In double quotes with C escapes.
    Quoted,
    /// As Python literals: `b'key'`, `'key'`.
    Python,
    /// Between marks of Markdown: in backticks, or bold.
    Marked(&'static [u8]),
    /// With the backslashes of Markdown before punctuation.
    Escaped,
    /// As it is, whatever is in it: the separators before and after it are counted.
    Raw,
    /// The same in double quotes, as are other texts.
    RawInQuotes,
}

impl KeyText {
    pub(crate) fn is_raw(self) -> bool {
        matches!(self, KeyText::Raw | KeyText::RawInQuotes)
    }
}

impl Layout {
    /// A table with the key in the first of `columns` and no other known column.
    pub fn new(separator: Separator, columns: usize) -> Layout {
        Layout {
            separator,
            columns,
            at: [None; ROLES],
            skip: 0,
            header_at: 0,
            has_border: false,
            padded: None,
            has_quotes: false,
            key_text: KeyText::Plain,
            values: vec![false; columns],
            words: vec![Vec::new(); columns],
            header: None,
            size_unit: Unit::One,
            expiry_unit: Unit::SecondsLeft,
        }
    }

    /// The layout below a header.
    pub(crate) fn below(header: Vec<Vec<u8>>, separator: Separator, names: &ColumnNames) -> Layout {
        let names = names.of_header(&header);
        let roles: Vec<_> = header.iter().map(|name| names.role(name)).collect();
        let mut layout = Layout::new(separator, header.len());
        layout.at = columns::best(&roles);
        layout.header = Some(header);
        layout.take_units();
        layout
    }

    /// Derives the units of sizes and times from column names.
    pub fn take_units(&mut self) {
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

    /// Takes the first line for a header if it has a word where rows have a size or operations.
    pub(crate) fn take_header(&mut self, head: Head<'_>) {
        let (line, after) = line_at(head.bytes, 0);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut cells = Vec::new();
        self.separator.cut(line, true, &mut cells);
        let text = |cell: &Cell| &line[cell.span.0 as usize..cell.span.1 as usize];
        let weights = Metric::WEIGHTS.map(|metric| self.at[Role::of(metric).place()]);
        let is_word = |at: usize| {
            let cell = cells.get(at).map(text).unwrap_or_default();
            cell.first().is_some_and(u8::is_ascii_alphabetic) && value(cell) == Value::Text
        };
        if cells.len() == self.columns && weights.into_iter().flatten().any(is_word) {
            self.header = Some(cells.iter().map(|cell| text(cell).to_vec()).collect());
            self.skip = after as u64;
        }
    }

    /// Whether digits in a role's column are not the plain number.
    pub(crate) fn means_other_numbers(&self, role: Role) -> bool {
        match role {
            Role::Weight(metric) if metric.is_size() => self.size_unit != Unit::One,
            role => role == Role::Number(Number::Expiry),
        }
    }

    pub fn key(&self) -> usize {
        self.at[Role::Key.place()].unwrap_or_default()
    }

    pub fn size(&self) -> Option<usize> {
        self.at[Role::of(Metric::Bytes).place()]
    }

    /// The delimiter, if batches of rows can be split all at once.
    pub(crate) fn plain_delimiter(&self) -> Option<u8> {
        let is_plain =
            self.padded.is_none() && matches!(self.key_text, KeyText::Plain | KeyText::Raw);
        match self.separator {
            Separator::Byte(byte) if is_plain => Some(byte),
            _ => None,
        }
    }

    /// The cell of a column, in a row with this many cells.
    pub fn place(&self, column: usize, cells: usize) -> usize {
        if column <= self.key() {
            column
        } else {
            cells + column - self.columns
        }
    }

    /// The key in a row's cells; `None` if there are too few, or too many to tell which belong to the key.
    pub fn key_in(&self, text: &[u8], cells: &[Cell]) -> Option<Cell> {
        let key = self.key();
        let extra = cells.len().checked_sub(self.columns)?;
        let first = cells[key];
        // A line of a raw table may be a piece of a key with line ends.
        if extra == 0 && !self.key_text.is_raw() {
            return Some(first);
        }
        let is_apart = |column: usize| {
            let cell = cells[self.place(column, cells.len())];
            let (from, to) = self.bare(text, column, cell);
            let cell = &text[from as usize..to as usize];
            let is_counted = self.key_text.is_raw() && !self.values[column];
            is_counted
                || self.values[column] && value(cell) != Value::Text
                || self.words[column].iter().any(|word| word == cell)
        };
        let others = (0..self.columns).filter(|column| *column != key);
        let of_key = &cells[key..=key + extra];
        let is_plain = of_key.iter().all(|cell| !cell.is_quoted);
        let are_apart = if key + 1 == self.columns {
            is_plain
        } else {
            is_plain && others.into_iter().all(is_apart)
        };
        are_apart.then(|| Cell {
            span: (first.span.0, of_key[extra].span.1),
            is_quoted: false,
        })
    }

    /// A cell without surrounding blanks, and without the quotes of a raw table.
    pub(crate) fn bare(&self, text: &[u8], column: usize, cell: Cell) -> Span {
        let (mut from, mut to) = (cell.span.0 as usize, cell.span.1 as usize);
        let is_key = column == self.key();
        if !cell.is_quoted && (self.padded.is_some() || !is_key) {
            let cell = &text[from..to];
            from += cell.len() - cell.trim_ascii_start().len();
            to = from + cell.trim_ascii().len();
        }
        // A script may write a comma after a number, as between list items.
        if !cell.is_quoted
            && !is_key
            && let [.., digit, b',' | b';'] = &text[from..to]
            && digit.is_ascii_alphanumeric()
        {
            to -= 1;
        }
        if self.key_text == KeyText::RawInQuotes
            && let [b'"', .., b'"'] = &text[from..to]
        {
            (from, to) = (from + 1, to - 1);
        }
        (from as u32, to as u32)
    }

    /// Decodes a key and returns its bounds; `None` if it is written differently.
    pub(crate) fn undo(&self, content: &mut [u8], (from, to): Span) -> Option<Span> {
        match self.key_text {
            KeyText::Python => {
                let (inside, escapes) = python::literal(&content[from as usize..to as usize])?;
                let start = from as usize + inside.start;
                let to = escape::undo(escapes, content, start, from as usize + inside.end);
                Some((start as u32, to as u32))
            }
            _ => Some((from, to)),
        }
    }

    /// Whether a row repeats the header, as after concatenating files.
    pub(crate) fn is_header(&self, text: &[u8], cells: &[Cell]) -> bool {
        let fits = |(cell, name): (&Cell, &Vec<u8>)| {
            text[cell.span.0 as usize..cell.span.1 as usize].trim_ascii() == name.as_slice()
        };
        let header = self.header.as_ref();
        header.is_some_and(|names| names.len() == cells.len() && cells.iter().zip(names).all(fits))
    }
}

/// Whether a text starts with a backslash of Markdown.
pub fn is_escaped(text: &[u8]) -> bool {
    matches!(text, [b'\\', mark, ..] if mark.is_ascii_punctuation())
}
