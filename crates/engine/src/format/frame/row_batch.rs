//! Rows handed from a walk to the workers: keys or operations, with names and words in one block and everything else in
//! columns. Batches are recycled like blocks.

use std::borrow::Cow;

use crate::format::batch::{BATCH_KEYS, KeyBatch, MISSING, Number, Spans, Values, Word};
use crate::format::lfu::LfuRule;
use crate::format::{ReadStats, Sink};
use crate::metric::Metric;
use crate::source::block::Block;

/// Kinds per batch; rows look up their kind by linear search.
const MAX_KINDS: usize = 256;
/// Bytes of names and words per batch, unless a single key is longer.
const MAX_BYTES: usize = 1 << 20;

/// The attributes of a key besides its name.
pub(crate) struct Row<'a> {
    /// Its offset in the input.
    pub offset: u64,
    /// Its size in bytes, or `MISSING`.
    pub size: u64,
    /// Other numbers, or `MISSING`, in the order of `Number::ALL`.
    pub numbers: [u64; Number::ALL.len()],
    /// Type and encoding names.
    pub kind: (&'a Cow<'static, str>, &'static str),
}

/// The attributes of an operation besides the name of its key.
pub struct Operation {
    /// Its offset in the input.
    pub offset: u64,
    /// The command, in lower case.
    pub command: &'static str,
    /// The database number.
    pub database: u64,
    /// The time, in milliseconds since 1970, or `MISSING`.
    pub time_ms: u64,
}

/// A type with an encoding, or a command, and the position of its words in the block.
struct Kind {
    name: Cow<'static, str>,
    encoding: &'static str,
    words: [(u32, u32); Word::ALL.len()],
}

/// Rows that are still raw input for the worker to parse.
pub(crate) trait Unread: Send {
    /// Parses the rows in `block` into `sink`, using empty columns.
    fn read(
        &mut self,
        block: &mut Block,
        columns: (&mut Spans, &mut Values),
        lfu: LfuRule,
        sink: &mut dyn Sink,
    ) -> ReadStats;
}

/// Rows for a worker: either keys or operations.
#[derive(Default)]
pub struct RowBatch {
    /// Names and words.
    base: Block,
    keys: Spans,
    values: Values,
    kinds: Vec<Kind>,
    last_kind: usize,
    rejects: Vec<(u64, &'static str)>,
    /// Raw input, and the parser for it.
    block: Block,
    unread: Option<Box<dyn Unread>>,
    /// Counts of everything that is not a row.
    pub seen: ReadStats,
}

impl RowBatch {
    #[inline]
    pub(crate) fn push(&mut self, key: &[u8], row: &Row<'_>) {
        self.push_name(key, row.offset);
        self.values.sizes_mut().push(row.size);
        for (number, value) in Number::ALL.into_iter().zip(row.numbers) {
            self.push_number(number, value);
        }
        let words = self.words(row.kind);
        for (column, (start, end)) in self.values.words.iter_mut().zip(words) {
            column.push(start, end);
        }
    }

    #[inline]
    pub(crate) fn push_operation(&mut self, key: &[u8], operation: &Operation) {
        self.push_name(key, operation.offset);
        self.values.are_operations = true;
        self.values.weights[Metric::OPS].push(1);
        self.push_number(Number::Database, operation.database);
        let before = self.keys.len() - 1;
        push_known(&mut self.values.times, before, operation.time_ms);
        let [(start, end), _] = self.words((&Cow::Borrowed(operation.command), ""));
        self.values.commands.push(start, end);
    }

    /// Rejects something other than a key at `offset` of the input, for a short reason.
    pub(crate) fn reject(&mut self, offset: u64, reason: &'static str) {
        self.rejects.push((offset, reason));
    }

    /// Whether the batch must be handed over before another key is added.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.keys.len() + self.rejects.len() >= BATCH_KEYS
            || self.base.len() >= MAX_BYTES
            || self.kinds.len() == MAX_KINDS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
            && self.unread.is_none()
            && self.rejects.is_empty()
            && self.seen == ReadStats::default()
    }

    /// The block for raw input left to the worker: any length, may be overwritten.
    pub(crate) fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    /// Leaves parsing the block to the worker.
    pub(crate) fn leave(&mut self, unread: Box<dyn Unread>) {
        self.unread = Some(unread);
    }

    /// Whether parsing is left to the worker.
    #[cfg(test)]
    pub(crate) fn is_left(&self) -> bool {
        self.unread.is_some()
    }

    /// Bytes of the names and words.
    pub fn size_bytes(&self) -> usize {
        self.base.len()
    }

    /// Drops all rows, keeps the memory except that of a giant key.
    pub(crate) fn clear(&mut self) {
        self.base.shrink(MAX_BYTES);
        self.base.resize(0);
        self.keys.clear();
        self.values.clear();
        self.kinds.clear();
        self.last_kind = 0;
        self.rejects.clear();
        self.unread = None;
        self.seen = ReadStats::default();
    }

    /// Feeds the rows to `sink`.
    pub fn read(&mut self, lfu: LfuRule, sink: &mut dyn Sink) -> ReadStats {
        for (offset, reason) in &self.rejects {
            sink.reject_at(*offset, reason);
        }
        let mut stats = self.seen.clone();
        if let Some(mut unread) = self.unread.take() {
            let columns = (&mut self.keys, &mut self.values);
            stats += unread.read(&mut self.block, columns, lfu, sink);
            return stats;
        }
        if self.keys.is_empty() {
            return stats;
        }
        if self.values.are_operations {
            stats.operations = self.keys.len() as u64;
        } else {
            stats.keys = self.keys.len() as u64;
        }
        self.values.estimate_accesses(lfu);
        sink.keys(KeyBatch {
            base: self.base.padded(),
            keys: &self.keys,
            values: &self.values,
        });
        stats
    }

    #[inline]
    fn push_name(&mut self, key: &[u8], offset: u64) {
        let start = self.base.len() as u32;
        self.base.append(key);
        self.keys.push(start, self.base.len() as u32);
        self.values.offsets.push(offset);
    }

    #[inline]
    fn push_number(&mut self, number: Number, value: u64) {
        let before = self.keys.len() - 1;
        let column = self.values.number_mut(number);
        // `NEVER` is a known value.
        if number == Number::Expiry {
            column.push(value);
        } else {
            push_known(column, before, value);
        }
    }

    /// The positions of a kind's words in the block; appends those of a new kind.
    #[inline]
    fn words(
        &mut self,
        (name, encoding): (&Cow<'static, str>, &'static str),
    ) -> [(u32, u32); Word::ALL.len()] {
        let is_same =
            |kind: &Kind| same_text(kind.encoding, encoding) && same_text(&kind.name, name);
        if !self.kinds.get(self.last_kind).is_some_and(is_same) {
            let place = self.kinds.iter().position(is_same);
            self.last_kind = place.unwrap_or_else(|| {
                let words = [&**name, encoding].map(|word| {
                    let start = self.base.len() as u32;
                    self.base.append(word.as_bytes());
                    (start, self.base.len() as u32)
                });
                self.kinds.push(Kind {
                    name: name.clone(),
                    encoding,
                    words,
                });
                self.kinds.len() - 1
            });
        }
        self.kinds[self.last_kind].words
    }
}

/// Appends to the column of a row preceded by `before` rows. The column stays empty until a row has a value.
#[inline]
fn push_known(column: &mut Vec<u64>, before: usize, value: u64) {
    if value != MISSING || !column.is_empty() {
        column.resize(before, MISSING);
        column.push(value);
    }
}

/// Whether texts are equal: usually they have the same address.
#[inline]
fn same_text(a: &str, b: &str) -> bool {
    std::ptr::eq(a, b) || a == b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::Found;

    fn operation(offset: u64, command: &'static str, time_ms: u64) -> Operation {
        Operation {
            offset,
            command,
            database: 0,
            time_ms,
        }
    }

    #[test]
    fn a_column_starts_with_the_first_row_that_has_it() {
        let mut rows = RowBatch::default();
        rows.push_operation(b"a", &operation(0, "get", MISSING));
        rows.push_operation(b"b", &operation(9, "set", 7));
        rows.push_operation(b"c", &operation(20, "get", MISSING));
        let mut found = Found::default();
        let seen = rows.read(LfuRule::default(), &mut found);
        assert_eq!((seen.keys, seen.operations), (0, 3));
        assert_eq!(found.values.times, [MISSING, 7, MISSING]);
        assert_eq!(found.values.offsets, [0, 9, 20]);
        assert!(found.values.number(Number::Elements).is_empty());
        assert_eq!(found.commands, [b"get", b"set", b"get"]);
    }

    #[test]
    fn a_batch_is_full_by_rows_bytes_kinds_and_rejects() {
        let filled = |fill: &dyn Fn(&mut RowBatch, u64)| {
            let mut rows = RowBatch::default();
            (0..)
                .take_while(|at| {
                    let is_full = rows.is_full();
                    fill(&mut rows, *at);
                    !is_full
                })
                .count()
        };
        let get =
            |rows: &mut RowBatch, name: &[u8]| rows.push_operation(name, &operation(0, "get", 0));
        assert_eq!(filled(&|rows, _| get(rows, b"a")), BATCH_KEYS);
        assert_eq!(filled(&|rows, _| get(rows, &[0; MAX_BYTES])), 1);
        assert_eq!(filled(&|rows, _| rows.reject(0, "wrong")), BATCH_KEYS);
        let kind = |rows: &mut RowBatch, at: u64| {
            rows.push(
                b"a",
                &Row {
                    offset: 0,
                    size: 1,
                    numbers: [MISSING; Number::ALL.len()],
                    kind: (&Cow::Owned(format!("module {at}")), ""),
                },
            );
        };
        assert_eq!(filled(&kind), MAX_KINDS);
    }

    #[test]
    fn a_giant_key_does_not_keep_its_memory() {
        let mut rows = RowBatch::default();
        rows.push_operation(&[0; 16 * MAX_BYTES], &operation(0, "get", 0));
        assert!(rows.is_full() && !rows.is_empty());
        rows.clear();
        assert!(rows.is_empty() && !rows.is_full());
        assert!(rows.base.capacity() <= 2 * MAX_BYTES + 256);
    }
}
