//! Collects single rows into batches of keys.

use slotscope_base::batch::{BATCH_KEYS, Values};
use slotscope_base::block::Block;

use crate::format::read_stats::Lost;
use crate::format::redis_cli::{errors, noise};
use crate::format::{Columns, Notice, ReadStats};
use crate::source::boundary::line_at;

/// Keys being collected for a sink.
pub struct BatchBuilder<'a, 'c> {
    columns: &'a mut Columns<'c>,
    seen: ReadStats,
}

impl<'a, 'c> BatchBuilder<'a, 'c> {
    /// Nothing gathered yet.
    pub fn new(columns: &'a mut Columns<'c>) -> Self {
        columns.keys.clear();
        columns.values.clear();
        BatchBuilder {
            columns,
            seen: ReadStats::default(),
        }
    }

    /// The columns of the batch; add a key's attributes before the key itself.
    pub fn values(&mut self) -> &mut Values {
        self.columns.values
    }

    /// Whether it is known what the commands of a capture take: then the column of CPU time gets the number of their keys.
    pub(crate) fn is_timed(&self) -> bool {
        self.columns.command_times.is_some()
    }

    /// Takes the key at `from..to` of `block`.
    pub fn key(&mut self, block: &Block, from: usize, to: usize) {
        self.columns.keys.push(from as u32, to as u32);
        if self.columns.keys.len() == BATCH_KEYS {
            self.flush(block);
        }
    }

    /// Rejects a row at `at` that is not a key.
    pub fn reject(&mut self, at: usize, reason: &str) {
        self.columns.sink.reject(at, reason);
    }

    /// Adds a row at `at` in which redis-cli or a server reports a failure.
    pub fn failure(&mut self, at: usize) {
        self.note(Notice::ErrorReply);
        self.reject(at, errors::REASON);
    }

    /// Handles a line at `at` that is not a row: either output that redis-cli prints around rows, or `otherwise`, a
    /// notice or a reason to reject.
    pub fn not_a_row(&mut self, at: usize, line: &[u8], otherwise: Result<&str, Notice>) {
        match (noise::noise(line), otherwise) {
            (Some(Notice::ErrorReply), _) | (None, Err(Notice::ErrorReply)) => self.failure(at),
            (Some(notice), _) | (None, Err(notice)) => self.note(notice),
            (None, Ok(reason)) => self.reject(at, reason),
        }
    }

    /// Counts a notice.
    pub fn note(&mut self, notice: Notice) {
        self.seen.note(notice, 1);
    }

    /// Counts a command that is in no slot.
    pub(crate) fn keyless(
        &mut self,
        notice: Notice,
        name: &[u8],
        client: Option<&[u8]>,
        time_ms: Option<u64>,
    ) {
        self.seen.keyless(notice, name, client, time_ms);
    }

    /// Records an unreadable value with its `text`, in the row at `byte` of the input.
    pub fn lose(&mut self, value: Lost, byte: u64, text: &[u8]) {
        self.seen.lose(value, byte, text);
    }

    /// Records an unknown command called `name`, in the row at `byte` of the input.
    pub fn unknown_command(&mut self, byte: u64, name: &[u8], time_ms: Option<u64>) {
        self.seen.unknown_command(byte, name, time_ms);
    }

    /// Emits the rest; returns the notices.
    pub fn finish(mut self, block: &Block) -> ReadStats {
        self.flush(block);
        self.seen
    }

    fn flush(&mut self, block: &Block) {
        let BatchBuilder { columns, seen } = self;
        columns.hand_on(block.padded(), seen);
        columns.keys.clear();
        columns.values.clear();
    }
}

/// Calls `row` with the bounds of each line from `from` on, without its line end.
pub fn each_line(block: &mut Block, from: u32, mut row: impl FnMut(&mut Block, usize, usize)) {
    let end = block.len();
    let mut start = from as usize;
    while start < end {
        let (line, next) = line_at(block.content(), start);
        let line_end = start + line.len();
        row(block, start, line_end);
        start = next;
    }
}
