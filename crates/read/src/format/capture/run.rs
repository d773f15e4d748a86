//! Commands as the walk hands them to workers: runs of commands with short words, which it skips over by word length, as
//! raw bytes; and of other commands the words that may be keys.

use std::ops::Range;

use slotscope_base::batch::{BATCH_KEYS, MISSING, Number};
use slotscope_base::block::Block;
use slotscope_base::command::COMMANDS;
use slotscope_base::metric::Metric;

use crate::format::capture::meaning::{Meaning, WRONG};
use crate::format::frame::row_batch::Unread;
use crate::format::{Columns, Notice, ReadStats};

/// Maximum digits of a length or count in a run, so that a few commands are shorter than one read.
const DIGITS: usize = 4;

/// The end of the leading commands in `bytes` that a worker can parse, and whether `bytes` ended there.
pub(super) fn run_at_start_of(bytes: &[u8]) -> (usize, bool) {
    let mut end = 0;
    loop {
        match end_of_command(bytes, end) {
            Ok(next) => end = next,
            Err(is_cut) => return (end, is_cut),
        }
    }
}

/// The end of the command at `at`, or whether more bytes could complete it. SELECT ends a run because it changes the
/// meaning of the commands after it.
#[inline]
fn end_of_command(bytes: &[u8], at: usize) -> Result<usize, bool> {
    let (words, mut at) = number(bytes, at, b'*')?;
    for place in 0..words {
        let word = word(bytes, at)?;
        if place == 0 && bytes[word.clone()].eq_ignore_ascii_case(b"select") {
            return Err(false);
        }
        at = word.end + 2;
    }
    Ok(at)
}

/// The word at `at`, or whether more bytes could complete it.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> Result<Range<usize>, bool> {
    let (len, start) = number(bytes, at, b'$')?;
    let word = start..start + len;
    match bytes.get(word.end..word.end + 2) {
        Some(b"\r\n") => Ok(word),
        ending => Err(ending.is_none()),
    }
}

/// The number in the line at `at` and the start of the next line, or whether more bytes could complete it.
#[inline]
pub(super) fn number(bytes: &[u8], at: usize, sign: u8) -> Result<(usize, usize), bool> {
    let Some((first, digits)) = bytes.get(at..).and_then(<[u8]>::split_first) else {
        return Err(true);
    };
    if *first != sign {
        return Err(false);
    }
    let mut number = 0;
    for (i, byte) in digits.iter().take(DIGITS + 1).enumerate() {
        match byte {
            b'0'..=b'9' if i < DIGITS => number = 10 * number + usize::from(byte - b'0'),
            b'\r' if i > 0 => {
                let end = digits.get(i + 1).ok_or(true)?;
                return if *end == b'\n' {
                    Ok((number, at + i + 3))
                } else {
                    Err(false)
                };
            }
            _ => return Err(false),
        }
    }
    Err(true)
}

/// The reason for rejecting a command with a key too long to keep.
const LONG: &str = "a command with a key of more than 1 MiB";

/// Commands, as handed to a worker: one run, or any number of single commands.
pub(super) struct Commands {
    pub parts: Vec<Part>,
}

/// Commands in one place.
pub(super) struct Part {
    pub content: Content,
    pub place: Place,
}

/// The context of a command: comments and commands before it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub database: u64,
    /// Its time, in milliseconds since 1970, or `MISSING`.
    pub time_ms: u64,
}

pub(super) enum Content {
    /// A run at these bytes of the block, whose first byte is at this offset of the input.
    Run(Range<usize>, u64),
    /// A command at this offset of the input: where the words that are kept are in the block, and the indices of
    /// truncated ones, ascending.
    Words(u64, Vec<Range<usize>>, Vec<usize>),
}

/// A command in a block.
#[derive(Clone, Copy)]
struct Found<'w> {
    /// Its offset in the input.
    at: u64,
    words: &'w [Range<usize>],
    cut: &'w [usize],
}

impl Unread for Commands {
    fn read(&mut self, block: &mut Block, columns: &mut Columns<'_>) -> ReadStats {
        let Some(Part { content, place }) = self.parts.first() else {
            return ReadStats::default();
        };
        let end = match content {
            Content::Run(bytes, _) => bytes.end,
            Content::Words(..) => block.len(),
        };
        let mut filling = Filling {
            place: *place,
            columns,
            seen: ReadStats::default(),
            names: Names {
                end,
                known: Vec::new(),
                last: 0,
            },
        };
        for Part { content, place } in &self.parts {
            filling.place = *place;
            match content {
                Content::Run(bytes, offset) => filling.run(block, bytes.clone(), *offset),
                Content::Words(at, words, cut) => {
                    filling.command(
                        block,
                        Found {
                            at: *at,
                            words,
                            cut,
                        },
                    );
                }
            }
            filling.fill_place();
        }
        filling.hand_on(block);
        filling.seen
    }
}

/// Puts the words of the command at `at` into `words`; returns the command's end.
#[inline]
fn words_at(bytes: &[u8], at: usize, words: &mut Vec<Range<usize>>) -> Option<usize> {
    words.clear();
    let (count, mut at) = number(bytes, at, b'*').ok()?;
    for _ in 0..count {
        let word = word(bytes, at).ok()?;
        at = word.end + 2;
        words.push(word);
    }
    Some(at)
}

/// Operations being collected for a sink.
struct Filling<'a, 'c> {
    place: Place,
    columns: &'a mut Columns<'c>,
    seen: ReadStats,
    names: Names,
}

impl Filling<'_, '_> {
    fn run(&mut self, block: &mut Block, bytes: Range<usize>, offset: u64) {
        let (mut at, mut words) = (bytes.start, Vec::new());
        while let Some(end) = words_at(&block.content()[..bytes.end], at, &mut words) {
            let command = Found {
                at: offset + at as u64,
                words: &words,
                cut: &[],
            };
            self.command(block, command);
            at = end;
        }
        debug_assert_eq!(at, bytes.end, "a run is of whole commands");
    }

    #[inline]
    fn command(&mut self, block: &mut Block, found: Found<'_>) {
        let content = block.content();
        let word = |word: &Range<usize>| &content[word.clone()];
        let Some(first) = found.words.first() else {
            return;
        };
        let Some(command) = COMMANDS.named(word(first)) else {
            return self.seen.unknown_command(found.at, word(first), None);
        };
        if command.has_one_key() {
            return if found.words.len() > 1 {
                self.operation(block, found, 1, command.name);
            } else {
                self.columns.sink.reject_at(found.at, WRONG);
            };
        }
        let texts: Vec<&[u8]> = found.words.iter().map(word).collect();
        match Meaning::of(&texts) {
            Meaning::Unknown => self.seen.unknown_command(found.at, word(first), None),
            Meaning::NoKeys => {
                self.seen
                    .keyless(Notice::NoKeyCommand, command.name.as_bytes(), None, None)
            }
            Meaning::Wrong => self.columns.sink.reject_at(found.at, WRONG),
            Meaning::Keys(command, keys) => {
                for key in keys {
                    self.operation(block, found, key, command);
                }
            }
        }
    }

    #[inline]
    fn operation(
        &mut self,
        block: &mut Block,
        found: Found<'_>,
        key: usize,
        command: &'static str,
    ) {
        if found.cut.binary_search(&key).is_ok() {
            return self.columns.sink.reject_at(found.at, LONG);
        }
        let (start, end) = self.names.place(block, command);
        let key = &found.words[key];
        let Columns { keys, values, .. } = &mut *self.columns;
        values.commands.push(start, end);
        keys.push(key.start as u32, key.end as u32);
        values.offsets.push(found.at);
        if keys.len() == BATCH_KEYS {
            self.hand_on(block);
        }
    }

    /// Fills the columns of databases and times up to the last operation.
    fn fill_place(&mut self) {
        let Place { database, time_ms } = self.place;
        let (len, values) = (self.columns.keys.len(), &mut *self.columns.values);
        let databases = values.number_mut(Number::Database);
        let before = databases.len();
        databases.resize(len, database);
        let times = &mut values.times;
        if time_ms != MISSING || !times.is_empty() {
            times.resize(before, MISSING);
            times.resize(len, time_ms);
        }
    }

    /// Hands the batch on.
    fn hand_on(&mut self, block: &Block) {
        let len = self.columns.keys.len();
        if len == 0 {
            return;
        }
        self.fill_place();
        self.columns.values.are_operations = true;
        self.columns.values.weights[Metric::OPS].resize(len, 1);
        self.columns.hand_on(block.padded(), &mut self.seen);
        self.columns.keys.clear();
        self.columns.values.clear();
    }
}

/// Command names, stored after the words of all commands.
struct Names {
    end: usize,
    known: Vec<(&'static str, (u32, u32))>,
    last: usize,
}

impl Names {
    /// The position of a name in the block.
    #[inline]
    fn place(&mut self, block: &mut Block, name: &'static str) -> (u32, u32) {
        let is_named = |row: &(&str, _)| std::ptr::eq(row.0, name);
        if !self.known.get(self.last).is_some_and(is_named) {
            let place = self.known.iter().position(is_named);
            self.last = place.unwrap_or_else(|| {
                let start = self.end;
                self.end += name.len();
                if block.len() < self.end {
                    block.resize(self.end);
                }
                block.content_mut()[start..self.end].copy_from_slice(name.as_bytes());
                self.known.push((name, (start as u32, self.end as u32)));
                self.known.len() - 1
            });
        }
        self.known[self.last].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::capture::commands::CommandSteps;
    use crate::format::frame::walk::{Walk, Walked};
    use crate::format::reading::{assert_same, assert_same_if_damaged};
    use crate::source::forward::Forward;

    #[test]
    fn a_run_ends_where_a_command_is_not_whole_or_not_like_the_others() {
        let get = b"*2\r\n$3\r\nGET\r\n$4\r\n\r\n\r\n\r\n*0\r\n";
        for cut in 0..get.len() {
            let bytes = [&get[..], &get[..cut]].concat();
            let whole = get.len()
                + if cut < get.len() - 4 {
                    0
                } else {
                    get.len() - 4
                };
            assert_eq!(run_at_start_of(&bytes), (whole, true), "{cut}");
        }
        for other in [
            &b"#TS:5\r\n"[..],
            b"*2\r\n$6\r\nSelect\r\n$1\r\n1\r\n",
            b"*\r\n",
            b"*x\r\n",
            b"*1\n$1\r\n",
            b"*1\r$1\r\n",
            b"*12345\r\n",
            b"*1\r\n$10000\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$1\r\nab\r\n",
        ] {
            let bytes = [&get[..], other].concat();
            assert_eq!(run_at_start_of(&bytes), (get.len(), false), "{other:?}");
        }
    }

    fn walk(input: Forward, leaves_runs: bool) -> Box<dyn Walk> {
        let steps = CommandSteps::new(input);
        let steps = if leaves_runs {
            steps
        } else {
            steps.without_runs()
        };
        Box::new(Walked::new(steps))
    }

    fn file(commands: u32) -> Vec<u8> {
        let mut file = Vec::new();
        for i in 0..commands {
            let value = "x".repeat(i as usize * 7 % 50);
            let key = format!("key:{}", i * i % 1000);
            let words = match i % 11 {
                0 => format!("MSET {key} 1 {key}:b {value}"),
                1 => format!("get {key}"),
                2 => "PING".to_owned(),
                3 => "SET".to_owned(),
                4 => format!("NOSUCH {key}"),
                5 => format!("XGROUP CREATE {key} g $"),
                6 => format!("EVAL return 2 {key} {key}:a"),
                7 if i % 700 == 7 => "SELECT 3".to_owned(),
                _ => format!("SET {key} {value}"),
            };
            if i % 1000 == 999 {
                file.extend(b"#TS:1795216373\r\n");
            }
            let words: Vec<_> = words.split(' ').collect();
            file.extend(format!("*{}\r\n", words.len()).bytes());
            for word in words {
                file.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
            }
        }
        file
    }

    #[test]
    fn a_run_is_read_like_commands_that_are_copied() {
        assert_same(&file(5000), &walk);
        assert!(assert_same(&file(60_000), &walk) > 10);
        let keys: Vec<String> = (0..9000).map(|i| format!("$5\r\nk{i:04}\r\n")).collect();
        let all = format!("*9001\r\n$3\r\nDEL\r\n{}", keys.concat());
        assert_same(all.repeat(3).as_bytes(), &walk);
    }

    #[test]
    fn a_damaged_or_cut_run_ends_where_commands_that_are_copied_end() {
        assert_same_if_damaged(&file(1200), &walk);
    }
}
