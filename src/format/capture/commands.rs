//! The walk over commands in RESP: words are passed over by their lengths, and what may be a key is read.

use std::borrow::Cow;

use crate::command::{Access, COMMANDS, Command};
use crate::error::reason;
use crate::format::Notice;
use crate::format::batch::{MISSING, Number};
use crate::format::fault::{Fault, Read, wrong};
use crate::format::row_group::Row;
use crate::format::walk::Damage;
use crate::format::walked::{Parts, Steps};
use crate::source::forward::Forward;

/// What is wrong with a command that has no keys where it has to have some.
pub const WRONG: &str = "a command without the keys that it has to have";
const LONG: &str = "a command whose keys are too long to be read";

/// Words of a command: a server takes no more.
const MAX_WORDS: u64 = 1 << 20;
/// The longest word: what a server can be told to take (proto-max-bulk-len is 512 MB by default).
const MAX_LENGTH: u64 = 1 << 40;
/// Bytes of the words of a command that are kept.
const MAX_KEPT: u64 = 16 << 20;
/// The longest line that is no word: `*3`, `$12`, `#TS:1795318593`.
const MAX_LINE: usize = 64;

/// A walk over commands.
pub struct CommandSteps {
    input: Forward,
    /// When the commands that follow ran, in milliseconds since 1970, or `MISSING`.
    time_ms: u64,
    database: u64,
    /// The words that were read.
    words: Vec<u8>,
    /// Where they end.
    ends: Vec<usize>,
    has_ended: bool,
}

impl CommandSteps {
    /// Nothing walked over yet.
    pub fn new(input: Forward) -> Self {
        CommandSteps {
            input,
            time_ms: MISSING,
            database: 0,
            words: Vec::new(),
            ends: Vec::new(),
            has_ended: false,
        }
    }

    /// Passes over the next command or line; false at the end.
    fn next(&mut self, parts: &mut Parts<'_>) -> Read<bool> {
        let at = self.input.offset();
        match self.input.peek(1)?.first() {
            None => Ok(false),
            Some(b'#') => self.comment().map(|()| true),
            Some(b'*') => self.command(at, parts).map(|()| true),
            Some(_) => wrong(at, "neither a command (*N) nor a time (#TS:)"),
        }
    }

    /// A line between commands, which may say the time.
    fn comment(&mut self) -> Read<()> {
        let line = self.line()?;
        let seconds = line.strip_prefix(b"#TS:").and_then(number);
        if let Some(ms) = seconds.and_then(|seconds| seconds.checked_mul(1000)) {
            self.time_ms = ms;
        }
        Ok(())
    }

    fn command(&mut self, at: u64, parts: &mut Parts<'_>) -> Read<()> {
        let count = self.number_behind(b'*')?;
        if count > MAX_WORDS {
            return wrong(at, "a number of words that no command has");
        }
        if count == 0 {
            return Ok(());
        }
        self.words.clear();
        self.ends.clear();
        let mut is_long = !self.word()?;
        let command = COMMANDS.named(&self.words);
        let one_key = command.filter(|command| command.has_one_key());
        let wanted = match (command, one_key) {
            (None, _) => 1,
            (_, Some(_)) => count.min(2),
            _ => count,
        };
        for _ in 1..wanted {
            is_long |= !self.word()?;
        }
        for _ in wanted..count {
            self.skip_word()?;
        }
        match (command, one_key) {
            (None, _) => parts.note(Notice::UnknownCommand, 1),
            _ if is_long => parts.reject(at, LONG),
            (_, Some(_)) if wanted < 2 => parts.reject(at, WRONG),
            (_, Some(command)) => self.operation(1, command, at, parts),
            (Some(_), None) => self.any_command(at, parts),
        }
        Ok(())
    }

    /// Counts a command all of whose words were read.
    fn any_command(&mut self, at: u64, parts: &mut Parts<'_>) {
        let words: Vec<&[u8]> = (0..self.ends.len()).map(|i| self.get(i)).collect();
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
        let mut numbers = [MISSING; Number::ALL.len()];
        numbers[Number::Database as usize] = self.database;
        let row = Row {
            offset: at,
            weight: 1,
            numbers,
            kind: (&Cow::Borrowed(command.name), ""),
        };
        let key = self.get(key);
        parts.group().push_operation(key, self.time_ms, &row);
    }

    fn get(&self, word: usize) -> &[u8] {
        let start = word.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[word]]
    }

    /// Reads a word behind those before it; false where it is too long, and passed over.
    #[inline]
    fn word(&mut self) -> Read<bool> {
        let len = self.word_length()?;
        let is_kept = len <= MAX_KEPT - self.words.len() as u64;
        match is_kept {
            true => self.input.read(&mut self.words, len)?,
            false => self.input.skip(len)?,
        }
        self.ends.push(self.words.len());
        self.end_of_word()?;
        Ok(is_kept)
    }

    #[inline]
    fn skip_word(&mut self) -> Read<()> {
        let len = self.word_length()?;
        self.input.skip(len)?;
        self.end_of_word()
    }

    #[inline]
    fn word_length(&mut self) -> Read<u64> {
        let at = self.input.offset();
        let len = self.number_behind(b'$')?;
        match len <= MAX_LENGTH {
            true => Ok(len),
            false => wrong(at, "a word that is longer than any server takes"),
        }
    }

    #[inline]
    fn end_of_word(&mut self) -> Read<()> {
        let at = self.input.offset();
        match &self.input.array()? {
            b"\r\n" => Ok(()),
            _ => wrong(at, "a word of another length than it says"),
        }
    }

    /// The number of a line such as `*3` or `$12`.
    #[inline]
    fn number_behind(&mut self, sign: u8) -> Read<u64> {
        // Most are of one digit.
        if let [first, digit @ b'0'..=b'9', b'\r', b'\n', ..] = self.input.ahead()
            && *first == sign
        {
            let number = u64::from(digit - b'0');
            self.input.pass(4);
            return Ok(number);
        }
        let at = self.input.offset();
        let line = self.line()?;
        match line.split_first() {
            Some((first, digits)) if *first == sign => match number(digits) {
                Some(number) => Ok(number),
                None => wrong(at, "a line of RESP without its number"),
            },
            _ => wrong(at, "no word ($length) where one is to be"),
        }
    }

    /// A line without its end, which is passed over.
    fn line(&mut self) -> Read<&[u8]> {
        let at = self.input.offset();
        let ahead = self.input.peek(MAX_LINE)?;
        let Some(end) = ahead.iter().position(|byte| *byte == b'\n') else {
            return match ahead.len() < MAX_LINE {
                true => Err(Fault::CutOff),
                false => wrong(at, "a line that no command has"),
            };
        };
        self.input.pass(end + 1);
        let line = &self.input.behind(end + 1)[..end];
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Decimal digits alone.
fn number(digits: &[u8]) -> Option<u64> {
    let is_one = (1..=19).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let add = |number: u64, digit: &u8| 10 * number + u64::from(digit - b'0');
    is_one.then(|| digits.iter().fold(0, add))
}

impl Steps for CommandSteps {
    fn offset(&self) -> u64 {
        self.input.offset()
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
                (self.input.offset(), None)
            }
            Err(Fault::Unreadable(error)) => (self.input.offset(), Some(reason(&error))),
            Err(Fault::Wrong(offset, what)) => (offset, Some(what)),
        };
        self.has_ended = true;
        match what {
            None => {
                // That the rest cannot be read changes nothing.
                drop(self.input.skip_rest());
                Ok(false)
            }
            Some(what) => Err(Damage { offset, what }),
        }
    }

    fn close(&mut self, _: &mut Parts<'_>) {}
}
