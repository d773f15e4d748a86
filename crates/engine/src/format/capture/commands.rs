//! Walks RESP commands: words are skipped by length, and only potential keys are read.

use crate::command::COMMANDS;
use crate::error::reason;
use crate::format::Notice;
use crate::format::batch::MISSING;
use crate::format::capture::command_reader::{CommandReader, Next};
use crate::format::capture::meaning::{Meaning, WRONG};
use crate::format::capture::run::{Commands, run_at_start_of};
use crate::format::frame::fault::{Fault, Read};
use crate::format::frame::row_batch::{Operation, RowBatch};
use crate::format::frame::walk::{Damage, Steps};
use crate::source::forward::Forward;

/// Shorter runs are walked here: handing them to a worker costs more.
const FEWEST_BYTES: usize = 16 << 10;

/// The reason for rejecting a command with a key too long to keep.
const LONG: &str = "a command with a key of more than 1 MiB";

/// A walk over commands.
pub(crate) struct CommandSteps {
    reader: CommandReader,
    /// The time of the following commands, in milliseconds since 1970, or `MISSING`.
    time_ms: u64,
    database: u64,
    /// Keys of the last command not yet emitted: it may have more than fit in a batch.
    left: Keys,
    /// The length of the run found at this position, and the offset before which no run starts.
    run: usize,
    no_run_before: u64,
    has_ended: bool,
}

/// The keys of a command, as word indices.
struct Keys {
    command: &'static str,
    /// The command's offset in the input.
    at: u64,
    words: std::vec::IntoIter<usize>,
}

impl CommandSteps {
    pub(crate) fn new(input: Forward) -> Self {
        CommandSteps {
            reader: CommandReader::new(input),
            time_ms: MISSING,
            database: 0,
            left: Keys {
                command: "",
                at: 0,
                words: Vec::new().into_iter(),
            },
            run: 0,
            no_run_before: 0,
            has_ended: false,
        }
    }

    /// Disables handing runs to workers.
    #[cfg(test)]
    pub(super) fn without_runs(mut self) -> Self {
        self.no_run_before = u64::MAX;
        self
    }

    /// Walks over the next command or line once all keys of the last one are emitted; false at the end.
    fn next(&mut self, rows: &mut RowBatch) -> Read<bool> {
        if self.left.words.len() > 0 {
            self.hand_on(rows);
            return Ok(true);
        }
        let at = self.reader.offset();
        match self.reader.next()? {
            Next::End => return Ok(false),
            Next::Comment(time) => self.time_ms = time.unwrap_or(self.time_ms),
            Next::Command(0) => {}
            Next::Command(count) => self.command(at, count, rows)?,
        }
        Ok(true)
    }

    fn command(&mut self, at: u64, count: u64, rows: &mut RowBatch) -> Read<()> {
        self.reader.word()?;
        let command = COMMANDS.named(self.reader.get(0));
        let one_key = command.filter(|command| command.has_one_key());
        let wanted = match (command, one_key) {
            (None, _) => 1,
            (_, Some(_)) => count.min(2),
            _ => count,
        };
        for _ in 1..wanted {
            self.reader.word()?;
        }
        for _ in wanted..count {
            self.reader.skip_word()?;
        }
        match (command, one_key) {
            (None, _) => rows.seen.unknown_command(at, self.reader.get(0)),
            (_, Some(_)) if wanted < 2 => rows.reject(at, WRONG),
            (_, Some(command)) => self.operation(1, command.name, at, rows),
            (Some(_), None) => self.any_command(at, rows),
        }
        Ok(())
    }

    /// Counts a command, all of whose words were read.
    fn any_command(&mut self, at: u64, rows: &mut RowBatch) {
        let words: Vec<&[u8]> = self.reader.words().collect();
        match Meaning::of(&words) {
            Meaning::Unknown => rows.seen.unknown_command(at, self.reader.get(0)),
            Meaning::NoKeys => rows.seen.note(Notice::NoKeyCommand, 1),
            Meaning::Select(database) => {
                self.database = database;
                rows.seen.note(Notice::NoKeyCommand, 1);
            }
            Meaning::Wrong => rows.reject(at, WRONG),
            Meaning::Keys(command, keys) => {
                let words = keys.into_iter();
                self.left = Keys { command, at, words };
                self.hand_on(rows);
            }
        }
    }

    /// Whether a run long enough for a worker starts here.
    fn is_at_run(&mut self) -> bool {
        if self.run > 0 {
            return true;
        }
        if self.has_ended || self.left.words.len() > 0 || self.reader.offset() < self.no_run_before
        {
            return false;
        }
        let (mut bytes, may_go_on) = run_at_start_of(self.reader.bytes_ahead());
        if bytes < FEWEST_BYTES && may_go_on && self.reader.read_ahead(4 * FEWEST_BYTES) {
            (bytes, _) = run_at_start_of(self.reader.bytes_ahead());
        }
        self.no_run_before = self.reader.offset() + bytes as u64;
        self.run = if bytes < FEWEST_BYTES { 0 } else { bytes };
        self.run > 0
    }

    /// Emits keys of the last command until the batch is full.
    fn hand_on(&mut self, rows: &mut RowBatch) {
        while !rows.is_full() {
            let Some(word) = self.left.words.next() else {
                break;
            };
            self.operation(word, self.left.command, self.left.at, rows);
        }
    }

    #[inline]
    fn operation(&self, key: usize, command: &'static str, at: u64, rows: &mut RowBatch) {
        if self.reader.is_cut(key) {
            return rows.reject(at, LONG);
        }
        let operation = Operation {
            offset: at,
            command,
            database: self.database,
            time_ms: self.time_ms,
        };
        rows.push_operation(self.reader.get(key), &operation);
    }
}

impl Steps for CommandSteps {
    fn offset(&self) -> u64 {
        self.reader.offset()
    }

    fn leave(&mut self, rows: &mut RowBatch) -> bool {
        if !self.is_at_run() {
            return false;
        }
        let (bytes, at) = (std::mem::take(&mut self.run), self.reader.offset());
        let start = self.reader.take(bytes, rows.block());
        rows.leave(Box::new(Commands {
            bytes: start..start + bytes,
            offset: at - start as u64,
            database: self.database,
            time_ms: self.time_ms,
        }));
        true
    }

    fn step(&mut self, rows: &mut RowBatch) -> Result<bool, Damage> {
        if self.has_ended || self.is_at_run() {
            return Ok(false);
        }
        let (offset, reason) = match self.next(rows) {
            Ok(is_more) => {
                self.has_ended = !is_more;
                return Ok(is_more);
            }
            Err(Fault::CutOff) => {
                // As after a server crash; servers load such a file anyway.
                rows.seen.note(Notice::TornCommand, 1);
                (self.reader.offset(), None)
            }
            Err(Fault::Unreadable(error)) => (self.reader.offset(), Some(reason(&error))),
            Err(Fault::Wrong(offset, reason)) => (offset, Some(reason)),
        };
        self.has_ended = true;
        match reason {
            None => {
                self.reader.skip_rest();
                Ok(false)
            }
            Some(reason) => Err(Damage {
                offset,
                what: reason.into(),
            }),
        }
    }
}
