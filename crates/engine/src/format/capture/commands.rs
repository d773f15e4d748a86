//! The walk over commands in RESP: words are passed over by their lengths, and what may be a key is read.

use std::borrow::Cow;

use crate::command::{Access, COMMANDS, Command};
use crate::error::reason;
use crate::format::Notice;
use crate::format::batch::{MISSING, Number};
use crate::format::capture::command_reader::{CommandReader, Next, number};
use crate::format::fault::{Fault, Read};
use crate::format::row_group::Row;
use crate::format::walk::Damage;
use crate::format::walked::{Parts, Steps};
use crate::source::forward::Forward;

/// What is wrong with a command that has no keys where it has to have some.
pub const WRONG: &str = "a command without the keys that it has to have";
const LONG: &str = "a command with a key of more than 1 MiB";

/// A walk over commands.
pub struct CommandSteps {
    reader: CommandReader,
    /// When the commands that follow ran, in milliseconds since 1970, or `MISSING`.
    time_ms: u64,
    database: u64,
    has_ended: bool,
}

impl CommandSteps {
    /// Nothing walked over yet.
    pub fn new(input: Forward) -> Self {
        CommandSteps {
            reader: CommandReader::new(input),
            time_ms: MISSING,
            database: 0,
            has_ended: false,
        }
    }

    /// Passes over the next command or line; false at the end.
    fn next(&mut self, parts: &mut Parts<'_>) -> Read<bool> {
        let at = self.reader.offset();
        match self.reader.next()? {
            Next::End => return Ok(false),
            Next::Comment(time) => self.time_ms = time.unwrap_or(self.time_ms),
            Next::Command(0) => {}
            Next::Command(count) => self.command(at, count, parts)?,
        }
        Ok(true)
    }

    fn command(&mut self, at: u64, count: u64, parts: &mut Parts<'_>) -> Read<()> {
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
            (None, _) => parts.note(Notice::UnknownCommand, 1),
            (_, Some(_)) if wanted < 2 => parts.reject(at, WRONG),
            (_, Some(command)) => self.operation(1, command, at, parts),
            (Some(_), None) => self.any_command(at, parts),
        }
        Ok(())
    }

    /// Counts a command all of whose words were read.
    fn any_command(&mut self, at: u64, parts: &mut Parts<'_>) {
        let words: Vec<&[u8]> = self.reader.words().collect();
        let Some(command) = COMMANDS.find(&words) else {
            return parts.note(Notice::UnknownCommand, 1);
        };
        if command.name == "select" {
            self.database = words.get(1).and_then(|word| number(word)).unwrap_or(0);
            return parts.note(Notice::NoKeyCommand, 1);
        }
        // A script that is written as such is not followed by its commands.
        if command.access == Access::Neither && !command.is_script() {
            return parts.note(Notice::NoKeyCommand, 1);
        }
        match command.keys(&words) {
            Err(_) => parts.reject(at, WRONG),
            Ok(keys) if keys.is_empty() => parts.note(Notice::NoKeyCommand, 1),
            Ok(keys) => keys
                .into_iter()
                .for_each(|key| self.operation(key, command, at, parts)),
        }
    }

    #[inline]
    fn operation(&self, key: usize, command: &Command, at: u64, parts: &mut Parts<'_>) {
        if self.reader.is_cut(key) {
            return parts.reject(at, LONG);
        }
        let mut numbers = [MISSING; Number::ALL.len()];
        numbers[Number::Database as usize] = self.database;
        let row = Row {
            offset: at,
            weight: 1,
            numbers,
            kind: (&Cow::Borrowed(command.name), ""),
        };
        let key = self.reader.get(key);
        parts.group().push_operation(key, self.time_ms, &row);
    }
}

impl Steps for CommandSteps {
    fn offset(&self) -> u64 {
        self.reader.offset()
    }

    fn step(&mut self, parts: &mut Parts<'_>) -> Result<bool, Damage> {
        if self.has_ended {
            return Ok(false);
        }
        let (offset, what) = match self.next(parts) {
            Ok(is_more) => {
                self.has_ended = !is_more;
                return Ok(is_more);
            }
            Err(Fault::CutOff) => {
                // As after a crash of the server, which loads the file all the same.
                parts.note(Notice::TornCommand, 1);
                (self.reader.offset(), None)
            }
            Err(Fault::Unreadable(error)) => (self.reader.offset(), Some(reason(&error))),
            Err(Fault::Wrong(offset, what)) => (offset, Some(what)),
        };
        self.has_ended = true;
        match what {
            None => {
                self.reader.skip_rest();
                Ok(false)
            }
            Some(what) => Err(Damage {
                offset,
                what: what.into(),
            }),
        }
    }

    fn close(&mut self, _: &mut Parts<'_>) {}
}
