//! The parts that all tables share: rows come in one by one, batches of keys with all their columns go out.

pub mod by_name;
pub mod columns;
pub mod csv;
pub mod header;
mod json_rows;
pub mod jsonl;
pub mod key_spelling;
pub(crate) mod plain_rows;
pub(crate) mod raw_rows;

use crate::format::batch::{BATCH_KEYS, KeyBatch, MISSING, Number, Word};
use crate::format::parse::size::{ReadNumber, integer, size};
use crate::format::parse::time;
use crate::format::table::columns::{ROLES, Role};
use crate::format::{BYTE_ORDER_MARK, Columns, Notice, ReadStats, Sink};
use crate::metric::{Metric, WEIGHTS};
use crate::source::block::{Block, Piece};
use std::borrow::Cow;

/// Start and end in a block.
pub type Span = (u32, u32);

/// The values of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The key.
    pub key: Span,
    /// Its weight in each metric of `Metric::WEIGHTS`, or `MISSING`.
    pub weights: [u64; WEIGHTS],
    /// The value of each of `Number::ALL`, or `MISSING`.
    pub numbers: [u64; Number::ALL.len()],
    /// The value of each of `Word::ALL`; empty if unknown.
    pub words: [Span; Word::ALL.len()],
}

impl Row {
    /// The same row, where its spans are counted from `by` bytes before.
    pub(crate) fn moved(self, by: u32) -> Self {
        let moved = |(from, to): Span| (from + by, to + by);
        Row {
            key: moved(self.key),
            words: self.words.map(moved),
            ..self
        }
    }

    /// A row that says nothing but the key.
    pub(crate) fn of(key: Span) -> Self {
        Row {
            key,
            weights: [MISSING; WEIGHTS],
            numbers: [MISSING; Number::ALL.len()],
            words: [(0, 0); Word::ALL.len()],
        }
    }
}

/// The item at some place of a table.
pub(crate) enum Step {
    /// A key.
    Key(Row),
    /// Something that is not a key and is not meant to be one.
    NoKey,
    /// Nothing: an empty row, a bracket around the rows.
    Blank,
    /// A row that is not a key and should be one: why not.
    Reject(Refusal),
}

/// Why a row is not a key.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The reason, without any content of the row.
    pub reason: Cow<'static, str>,
    /// The start of the part that is wrong.
    pub excerpt: Vec<u8>,
}

impl<T: Into<Cow<'static, str>>> From<T> for Refusal {
    fn from(reason: T) -> Self {
        Refusal {
            reason: reason.into(),
            excerpt: Vec::new(),
        }
    }
}

/// The columns that an input has, by `Role`.
pub(crate) type Carried = [bool; ROLES];

/// Where the rows of a piece start: a byte order mark at the start of the input is not one.
pub(crate) fn start(block: &Block, piece: Piece, seen: &mut ReadStats) -> usize {
    let marked = piece.first && block.content().starts_with(BYTE_ORDER_MARK);
    seen.note(Notice::ByteOrderMark, u64::from(marked));
    piece.from as usize + if marked { BYTE_ORDER_MARK.len() } else { 0 }
}

/// The head of an input without its byte order mark.
pub fn unmarked(head: &[u8]) -> &[u8] {
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head)
}

/// Reads a batch of rows from `at` on, and returns where the row after them starts: `next` says what is at an offset and
/// where the row after that starts.
pub(crate) fn read_batch(
    block: &mut Block,
    mut at: usize,
    carried: Carried,
    columns: &mut Columns<'_>,
    sink: &mut dyn Sink,
    seen: &mut ReadStats,
    mut next: impl FnMut(&mut [u8], usize) -> (usize, Step),
) -> usize {
    columns.keys.clear();
    columns.values.clear();
    let content = block.content_mut();
    while at < content.len() && columns.keys.len() < BATCH_KEYS {
        let (after, step) = next(content, at);
        match step {
            Step::Key(row) => push(columns, carried, row, seen),
            Step::NoKey => seen.note(Notice::NoKey, 1),
            Step::Blank => {}
            Step::Reject(refusal) => sink.reject_with(at, &refusal.reason, &refusal.excerpt),
        }
        at = after;
    }
    hand_on(block, columns, sink, seen);
    at
}

/// Hands a batch to the sink, if there is one.
pub(crate) fn hand_on(
    block: &Block,
    columns: &mut Columns<'_>,
    sink: &mut dyn Sink,
    seen: &mut ReadStats,
) {
    if !columns.keys.is_empty() {
        columns.values.estimate_accesses(columns.lfu);
        seen.keys += columns.keys.len() as u64;
        sink.keys(KeyBatch {
            base: block.padded(),
            keys: columns.keys,
            values: columns.values,
        });
    }
}

fn push(columns: &mut Columns<'_>, carried: Carried, row: Row, seen: &mut ReadStats) {
    columns.keys.push(row.key.0, row.key.1);
    let values = &mut *columns.values;
    let mut late = false;
    let weights = Metric::WEIGHTS
        .into_iter()
        .zip(&mut values.weights)
        .zip(row.weights);
    let weights = weights.map(|((metric, column), weight)| (Role::Weight(metric), column, weight));
    let numbers = Number::ALL
        .into_iter()
        .zip(&mut values.numbers)
        .zip(row.numbers);
    let numbers = numbers.map(|((number, column), value)| (Role::Number(number), column, value));
    for (role, column, number) in weights.chain(numbers) {
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
        seen.note(Notice::LateColumn, 1);
    }
}

/// The number that `text` is, with white space around it; `MISSING` where it is nothing.
pub(crate) fn optional(text: &[u8], read: ReadNumber) -> Option<u64> {
    match text.trim_ascii() {
        b"" | b"null" => Some(MISSING),
        text => read(text),
    }
}

/// How a weight in `metric` is written.
pub(crate) fn reader_of(metric: Metric) -> ReadNumber {
    if metric.is_size() { size } else { integer }
}

/// The weights of a row, each read by `number`.
///
/// # Errors
/// As `number`.
pub(crate) fn weights<E>(
    number: impl Fn(Role, ReadNumber, &str) -> Result<u64, E>,
) -> Result<[u64; WEIGHTS], E> {
    let mut weights = [MISSING; WEIGHTS];
    for (metric, weight) in Metric::WEIGHTS.into_iter().zip(&mut weights) {
        *weight = number(Role::Weight(metric), reader_of(metric), metric.of_a_key())?;
    }
    Ok(weights)
}

/// Why `text` is not a number.
pub(crate) fn no_number(text: &[u8], what: &str) -> Refusal {
    Refusal {
        excerpt: text[..text.len().min(40)].to_vec(),
        ..format!("no {what}").into()
    }
}

/// How a number is written, and its name in a message.
pub(crate) fn reader_of_number(number: Number) -> (ReadNumber, &'static str) {
    match number {
        Number::Database => (integer, "number of a database"),
        Number::Expiry => (|text| Some(time::expiry(text)), "time of expiry"),
        Number::Elements => (integer_or_none, "number of elements"),
        Number::Idle => (integer_or_none, "idle time"),
        Number::Lfu => (integer_or_none, "LFU counter"),
    }
}

/// A column of this name may hold something else: then nothing is known, and the key counts all the same.
fn integer_or_none(text: &[u8]) -> Option<u64> {
    Some(integer(text).unwrap_or(MISSING))
}

/// The other numbers of a row, each read by `number`.
///
/// # Errors
/// As `number`.
pub(crate) fn numbers<E>(
    number: impl Fn(Role, ReadNumber, &str) -> Result<u64, E>,
) -> Result<[u64; Number::ALL.len()], E> {
    let mut numbers = [MISSING; Number::ALL.len()];
    for (of, value) in Number::ALL.into_iter().zip(&mut numbers) {
        let (read, what) = reader_of_number(of);
        *value = number(Role::Number(of), read, what)?;
    }
    Ok(numbers)
}
