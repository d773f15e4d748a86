//! Shared by all tables: collects rows into batches of keys with all their columns.

pub mod columns;
pub mod csv_keys;
#[doc(hidden)]
pub mod first_line;
mod json_rows;
pub mod jsonl;
pub mod key_spelling;
pub mod layout;
pub mod names;
pub(crate) mod plain_rows;
pub(crate) mod role;
pub mod separator;
pub(crate) mod tool_rows;
pub(crate) mod total;
pub mod units;
mod vocabulary;

use slotscope_base::batch::{BATCH_KEYS, MISSING, Number, SOMETIME, Values, Word};
use slotscope_base::block::{Block, Padded, Piece};
use slotscope_base::metric::{Metric, WEIGHTS};
use std::borrow::Cow;

use crate::format::parse::size::{ReadNumber, count, integer, is_missing};
use crate::format::table::columns::{ROLES, Role};
use crate::format::table::units::Unit;
use crate::format::{BYTE_ORDER_MARK, Columns, Notice, ReadStats, Reader};

/// Start and end in a block.
pub type Span = (u32, u32);

/// The values of a row.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub key: Span,
    /// Its weight in each metric of `Metric::WEIGHTS`, or `MISSING`.
    pub weights: [u64; WEIGHTS],
    /// The value of each of `Number::ALL`, or `MISSING`.
    pub numbers: [u64; Number::ALL.len()],
    /// The value of each of `Word::ALL`; empty if unknown.
    pub words: [Span; Word::ALL.len()],
}

impl Row {
    /// The row with its spans moved by `offset` bytes.
    pub(crate) fn moved(self, offset: u32) -> Self {
        let moved = |(from, to): Span| (from + offset, to + offset);
        Row {
            key: moved(self.key),
            words: self.words.map(moved),
            ..self
        }
    }

    /// Its numbers, each with its role.
    pub(crate) fn numbers_mut(&mut self) -> impl Iterator<Item = (Role, &mut u64)> {
        let numbers = self.weights.iter_mut().chain(&mut self.numbers);
        number_roles().zip(numbers)
    }

    /// A row with only a key.
    pub(crate) fn of(key: Span) -> Self {
        Row {
            key,
            weights: [MISSING; WEIGHTS],
            numbers: [MISSING; Number::ALL.len()],
            words: [(0, 0); Word::ALL.len()],
        }
    }
}

/// The item at a position of a table.
pub enum Step {
    /// A key, and its values that cannot be read.
    Key(Row, Unreadables),
    /// A tool's line around rows: a border, a row count, the header again.
    Around,
    /// A total of other rows.
    Total,
    /// Something not meant to be a key.
    NoKey,
    /// An empty row, or a bracket around the rows.
    Blank,
    /// A row that should be a key but is not.
    Reject(Refusal),
}

impl Step {
    /// The step with its spans moved by `offset` bytes.
    pub(crate) fn moved(self, offset: u32) -> Step {
        match self {
            Step::Key(row, unreadable) => Step::Key(row.moved(offset), unreadable),
            step => step,
        }
    }
}

/// The unreadable values of a row.
#[derive(Debug, Default)]
pub struct Unreadables(Vec<(Role, Vec<u8>)>);

impl Unreadables {
    /// Records an unreadable value; the key is counted without it, but a key with a time of expiry does expire.
    pub(crate) fn note(&mut self, role: Role, text: &[u8]) -> u64 {
        self.0.push((role, text.to_vec()));
        match role {
            Role::Number(Number::Expiry) => SOMETIME,
            _ => MISSING,
        }
    }
}

const TOTAL: &str = "a total, which is not a key";

/// Why a row is not a key, without any content of it.
pub type Refusal = Cow<'static, str>;

/// The columns of an input, by `Role`.
pub type Carried = [bool; ROLES];

/// The head of an input without its byte order mark.
pub fn unmarked(head: &[u8]) -> &[u8] {
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head)
}

/// The rows of an opened table.
pub(crate) trait Rows {
    /// Buffers reused from batch to batch.
    type Memory: Default;

    /// The columns of the input.
    fn carried(&self) -> Carried;

    /// The offset of the first row of a piece that starts at `from`.
    fn first(&self, _: &Block, _: Piece, from: usize) -> usize {
        from
    }

    /// Reads a batch of uniform rows, each with a key; returns the start of the next one. `None` if some row must be
    /// parsed individually.
    fn alike(
        &self,
        _: Padded<'_>,
        _: usize,
        _: &mut Columns<'_>,
        _: &mut Self::Memory,
    ) -> Option<usize> {
        None
    }

    /// The item at `at`, and the start of the next one.
    fn next(&self, content: &mut [u8], at: usize, memory: &mut Self::Memory) -> (usize, Step);

    /// Number of keys whose escapes were decoded.
    fn undone(_: &Self::Memory) -> u64 {
        0
    }
}

/// Reads a piece: uniform rows in batches, others row by row, with the same result.
pub struct TableReader<R>(pub R);

impl<R: Rows + Send + Sync> Reader for TableReader<R> {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let rows = &self.0;
        let mut stats = ReadStats::default();
        let mut memory = R::Memory::default();
        let mut from = rows.first(block, piece, piece.from as usize);
        let carried = rows.carried();
        while from < block.len() {
            match rows.alike(block.padded(), from, columns, &mut memory) {
                Some(next) => from = next,
                None => {
                    columns.keys.clear();
                    columns.values.clear();
                    while from < block.len() && columns.keys.len() < BATCH_KEYS {
                        let (after, step) = rows.next(block.content_mut(), from, &mut memory);
                        let at = piece.offset + from as u64;
                        match step {
                            Step::Key(row, unreadable) => {
                                for (role, text) in unreadable.0 {
                                    stats.lose(role.value(), at, &text);
                                }
                                push(columns, carried, row, &mut stats);
                            }
                            Step::Around => stats.note(Notice::Around, 1),
                            Step::Total => {
                                stats.note(Notice::Total, 1);
                                columns.sink.reject(from, TOTAL);
                            }
                            Step::NoKey => stats.note(Notice::NoKey, 1),
                            Step::Blank => {}
                            Step::Reject(refusal) => columns.sink.reject(from, &refusal),
                        }
                        from = after;
                    }
                }
            }
            columns.hand_on(block.padded(), &mut stats);
        }
        stats.note(Notice::EscapedKey, R::undone(&memory));
        stats
    }
}

fn push(columns: &mut Columns<'_>, carried: Carried, row: Row, stats: &mut ReadStats) {
    columns.keys.push(row.key.0, row.key.1);
    let values = &mut *columns.values;
    let mut late = false;
    let numbers = row.weights.into_iter().chain(row.numbers);
    for ((role, column), number) in number_columns(values).zip(numbers) {
        if carried[role.place()] {
            column.push(number)
        } else {
            late |= number != MISSING
        }
    }
    for ((word, column), span) in Word::ALL.into_iter().zip(&mut values.words).zip(row.words) {
        if carried[Role::Word(word).place()] {
            column.push(span.0, span.1)
        } else {
            late |= span.0 < span.1
        }
    }
    if late {
        stats.note(Notice::LateColumn, 1);
    }
}

/// The number in `text`, ignoring white space; `MISSING` if it denotes none, `None` if it cannot be read.
pub(crate) fn optional(text: &[u8], read: ReadNumber) -> Option<u64> {
    match text.trim_ascii() {
        text if is_missing(text) => Some(MISSING),
        text => read(text),
    }
}

/// The number parser for a role, in the unit of its column.
pub(crate) fn reader(role: Role, unit: Unit) -> ReadNumber {
    match role {
        Role::Weight(metric) if metric.is_size() => unit.size_reader(),
        Role::Weight(_) | Role::Number(Number::Database) => count,
        Role::Number(Number::Expiry) => unit.expiry_reader(),
        Role::Number(Number::Elements | Number::Idle | Number::Lfu) => integer_or_none,
        Role::Key | Role::Word(_) => |_| None,
    }
}

/// The roles of numbers, weights first.
pub(crate) fn number_roles() -> impl Iterator<Item = Role> {
    let weights = Metric::WEIGHTS.into_iter().map(Role::Weight);
    weights.chain(Number::ALL.into_iter().map(Role::Number))
}

/// The columns of numbers, each with its role.
pub(crate) fn number_columns(values: &mut Values) -> impl Iterator<Item = (Role, &mut Vec<u64>)> {
    let columns = values.weights.iter_mut().chain(&mut values.numbers);
    number_roles().zip(columns)
}

/// The offset of the first row of a piece starting at `from` of its block, if `skip` bytes of the input precede the
/// rows.
pub(crate) fn skipped(from: usize, piece: Piece, skip: u64) -> usize {
    from.max(skip.saturating_sub(piece.offset) as usize)
}

/// A column of this name may hold something else: the value is then unknown, but the key still counts.
fn integer_or_none(text: &[u8]) -> Option<u64> {
    Some(integer(text).unwrap_or(MISSING))
}
