//! Rows handed from a walk to the workers: keys, with names and words in one block and everything else in columns; or raw
//! input. Batches are recycled like blocks.

use std::borrow::Cow;

use slotscope_base::batch::{BATCH_KEYS, MISSING, Number, Spans, Values, Word};
use slotscope_base::block::Block;
use slotscope_base::lfu::LfuRule;

use crate::format::{Columns, ReadStats, Sink};

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

/// A type with an encoding, and the position of its words in the block.
struct Kind {
    name: Cow<'static, str>,
    encoding: &'static str,
    words: [(u32, u32); Word::ALL.len()],
}

/// Rows that are still raw input for the worker to parse.
pub(crate) trait Unread: Send {
    /// Parses the rows in `block`, using empty columns.
    fn read(&mut self, block: &mut Block, columns: &mut Columns<'_>) -> ReadStats;
}

/// Rows for a worker.
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
        let (before, start) = (self.keys.len(), self.base.len() as u32);
        self.base.append(key);
        self.keys.push(start, self.base.len() as u32);
        self.values.offsets.push(row.offset);
        self.values.sizes_mut().push(row.size);
        for (number, value) in Number::ALL.into_iter().zip(row.numbers) {
            let column = self.values.number_mut(number);
            // A column stays empty until a row has a value, as `NEVER` is.
            if number == Number::Expiry || value != MISSING || !column.is_empty() {
                column.resize(before, MISSING);
                column.push(value);
            }
        }
        let words = self.words(row.kind);
        for (column, (start, end)) in self.values.words.iter_mut().zip(words) {
            column.push(start, end);
        }
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
    pub fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    /// Leaves parsing the block to the worker.
    pub(crate) fn leave(&mut self, unread: Box<dyn Unread>) {
        self.unread = Some(unread);
    }

    /// Whether parsing is left to the worker.
    pub(crate) fn is_left(&self) -> bool {
        self.unread.is_some()
    }

    /// Bytes of the names and words, and of raw input.
    pub fn size_bytes(&self) -> usize {
        self.base.len() + self.block.len()
    }

    /// Drops all rows, keeps the memory except that of a giant key.
    pub fn clear(&mut self) {
        self.block.shrink(MAX_BYTES);
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
        let mut columns = Columns {
            keys: &mut self.keys,
            values: &mut self.values,
            sink,
            kernel: hashslot::best(),
            lfu,
            command_times: None,
            written_ms: 0,
            with_attributes: true,
        };
        match self.unread.take() {
            Some(mut unread) => stats += unread.read(&mut self.block, &mut columns),
            None => columns.hand_on(self.base.padded(), &mut stats),
        }
        stats
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

/// Whether texts are equal: usually they have the same address.
#[inline]
fn same_text(a: &str, b: &str) -> bool {
    std::ptr::eq(a, b) || a == b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::Found;

    fn row<'a>(kind: (&'a Cow<'static, str>, &'static str), database: u64) -> Row<'a> {
        let mut numbers = [MISSING; Number::ALL.len()];
        numbers[Number::Database as usize] = database;
        Row {
            offset: 9,
            size: 1,
            numbers,
            kind,
        }
    }

    #[test]
    fn a_column_starts_with_the_first_row_that_has_it() {
        let mut rows = RowBatch::default();
        for (kind, database) in [("set", MISSING), ("hash", 7), ("set", MISSING)] {
            rows.push(b"a", &row((&kind.into(), ""), database));
        }
        let mut found = Found::default();
        let seen = rows.read(LfuRule::default(), &mut found);
        assert_eq!(seen, ReadStats::of_keys(3));
        let databases = found.values.number(Number::Database);
        assert_eq!(databases, [MISSING, 7, MISSING]);
        assert_eq!(found.values.offsets, [9; 3]);
        assert!(found.values.number(Number::Elements).is_empty());
        assert_eq!(found.types, [&b"set"[..], b"hash", b"set"]);
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
        let set = |rows: &mut RowBatch, name: &[u8]| rows.push(name, &row((&"set".into(), ""), 0));
        assert_eq!(filled(&|rows, _| set(rows, b"a")), BATCH_KEYS);
        assert_eq!(filled(&|rows, _| set(rows, &[0; MAX_BYTES])), 1);
        assert_eq!(filled(&|rows, _| rows.reject(0, "wrong")), BATCH_KEYS);
        let kind = |rows: &mut RowBatch, at| {
            rows.push(b"a", &row((&format!("module {at}").into(), ""), 0));
        };
        assert_eq!(filled(&kind), MAX_KINDS);
    }

    #[test]
    fn a_giant_key_does_not_keep_its_memory() {
        let mut rows = RowBatch::default();
        rows.push(&[0; 16 * MAX_BYTES], &row((&"set".into(), ""), 0));
        assert!(rows.is_full() && !rows.is_empty());
        rows.clear();
        assert!(rows.is_empty() && !rows.is_full());
        assert!(rows.base.capacity() <= 2 * MAX_BYTES + 256);
    }
}
