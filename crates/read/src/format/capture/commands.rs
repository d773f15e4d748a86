//! Walks RESP commands: words are skipped by length, and only names and potential keys are kept, for a worker to tell
//! what they mean.

use slotscope_base::batch::MISSING;
use slotscope_base::block::Block;
use slotscope_base::command::COMMANDS;
use slotscope_base::error::reason;

use crate::format::Notice;
use crate::format::capture::command_reader::{CommandReader, Next};
use crate::format::capture::run::{Commands, Content, Part, Place, run_at_start_of};
use crate::format::frame::fault::{Fault, Read};
use crate::format::frame::row_batch::RowBatch;
use crate::format::frame::walk::STRETCH;
use crate::format::frame::walk::{Damage, Steps};
use crate::format::parse::size::integer;
use crate::source::forward::Forward;

/// The words of shorter runs are copied one by one: a batch for each costs more.
const FEWEST_BYTES: usize = 16 << 10;
/// Commands per batch, their words and the bytes of these, unless one command has more.
const MAX_COMMANDS: usize = 1024;
const MAX_WORDS: usize = 1 << 16;
const MAX_BYTES: usize = 1 << 20;

/// A walk over commands.
pub(crate) struct CommandSteps {
    reader: CommandReader,
    place: Place,
    /// The length of the run found at this position, and the offset before which no run starts.
    run: usize,
    no_run_before: u64,
    /// Whether the input has ended.
    has_ended: bool,
    fault: Option<Fault>,
}

impl CommandSteps {
    pub(crate) fn new(input: Forward) -> Self {
        CommandSteps {
            reader: CommandReader::new(input),
            place: Place {
                database: 0,
                time_ms: MISSING,
            },
            run: 0,
            no_run_before: 0,
            has_ended: false,
            fault: None,
        }
    }

    /// Copies all words one by one.
    #[cfg(test)]
    pub(super) fn without_runs(mut self) -> Self {
        self.no_run_before = u64::MAX;
        self
    }

    /// Walks over the next command or line and adds the command to `parts`; false at the end.
    fn next(&mut self, block: &mut Block, parts: &mut Vec<Part>) -> Read<bool> {
        let at = self.reader.offset();
        match self.reader.next()? {
            Next::End => return Ok(false),
            Next::Comment(time) => self.place.time_ms = time.unwrap_or(self.place.time_ms),
            Next::Command(0) => {}
            Next::Command(count) => {
                self.read_words(count)?;
                let words = self.reader.copy_to(block);
                parts.push(Part {
                    content: Content::Words(at, words, self.reader.cut().to_vec()),
                    place: self.place,
                });
            }
        }
        Ok(true)
    }

    /// Reads the words of a command that may be its name and keys.
    fn read_words(&mut self, count: u64) -> Read<()> {
        self.reader.word()?;
        let command = COMMANDS.named(self.reader.get(0));
        let wanted = match command {
            None => 1,
            Some(command) if command.has_one_key() => count.min(2),
            Some(_) => count,
        };
        for _ in 1..wanted {
            self.reader.word()?;
        }
        for _ in wanted..count {
            self.reader.skip_word()?;
        }
        if command.is_some_and(|command| command.name == "select") {
            let number = (self.reader.len() > 1).then(|| integer(self.reader.get(1)));
            self.place.database = number.flatten().unwrap_or(0);
        }
        Ok(())
    }

    /// Whether a run long enough for a batch of its own starts here.
    fn is_at_run(&mut self) -> bool {
        if self.run > 0 {
            return true;
        }
        if self.has_ended || self.reader.offset() < self.no_run_before {
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

    /// Moves the run that starts here to `block`.
    fn take_run(&mut self, block: &mut Block) -> Part {
        let (bytes, at) = (std::mem::take(&mut self.run), self.reader.offset());
        let start = self.reader.take(bytes, block);
        Part {
            content: Content::Run(start..start + bytes, at - start as u64),
            place: self.place,
        }
    }
}

impl Steps for CommandSteps {
    fn offset(&self) -> u64 {
        self.reader.offset()
    }

    fn leave(&mut self, rows: &mut RowBatch) -> bool {
        let block = rows.block();
        let mut parts = Vec::new();
        if self.is_at_run() {
            parts.push(self.take_run(block));
        } else {
            block.resize(0);
            let (from, mut words) = (self.reader.offset(), 0);
            while !self.has_ended
                && !self.is_at_run()
                && parts.len() < MAX_COMMANDS
                && words < MAX_WORDS
                && block.len() < MAX_BYTES
                && (parts.is_empty() || self.reader.offset() - from < STRETCH)
            {
                let next = self.next(block, &mut parts);
                words += self.reader.len();
                self.has_ended = !matches!(next, Ok(true));
                self.fault = next.err();
            }
        }
        let is_any = !parts.is_empty();
        if is_any {
            rows.leave(Box::new(Commands { parts }));
        }
        is_any
    }

    /// Only the end is left.
    fn step(&mut self, rows: &mut RowBatch) -> Result<bool, Damage> {
        let (offset, reason) = match self.fault.take() {
            None => return Ok(false),
            Some(Fault::CutOff) => {
                // As after a server crash; servers load such a file anyway.
                rows.seen.note(Notice::TornCommand, 1);
                self.reader.skip_rest();
                return Ok(false);
            }
            Some(Fault::Unreadable(error)) => (self.reader.offset(), reason(&error)),
            Some(Fault::Wrong(offset, reason)) => (offset, reason),
        };
        Err(Damage {
            offset,
            what: reason.into(),
        })
    }
}
