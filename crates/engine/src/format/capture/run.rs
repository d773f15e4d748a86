//! Runs of commands with short words. The walk skips over them by word length and hands them to workers, which parse
//! the raw bytes.

use std::ops::Range;

use crate::command::COMMANDS;
use crate::format::batch::{BATCH_KEYS, KeyBatch, MISSING, Number, Spans, Values};
use crate::format::capture::meaning::{Meaning, WRONG};
use crate::format::frame::row_batch::Unread;
use crate::format::lfu::LfuRule;
use crate::format::{Notice, ReadStats, Sink};
use crate::metric::Metric;
use crate::source::block::Block;

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

/// A run, as handed to a worker.
pub(super) struct Commands {
    /// Its position in the block.
    pub bytes: Range<usize>,
    /// Offset in the input of the block's first byte.
    pub offset: u64,
    pub database: u64,
    /// The time of the commands, in milliseconds since 1970, or `MISSING`.
    pub time_ms: u64,
}

impl Unread for Commands {
    fn read(
        &mut self,
        block: &mut Block,
        (keys, values): (&mut Spans, &mut Values),
        _: LfuRule,
        sink: &mut dyn Sink,
    ) -> ReadStats {
        let mut filling = Filling {
            commands: self,
            keys,
            values,
            sink,
            seen: ReadStats::default(),
            names: Names {
                end: self.bytes.end,
                known: Vec::new(),
                last: 0,
            },
        };
        let (mut at, mut words) = (self.bytes.start, Vec::new());
        while let Some(end) = words_at(&block.content()[..self.bytes.end], at, &mut words) {
            filling.command(block, at, &words);
            at = end;
        }
        debug_assert_eq!(at, self.bytes.end, "a run is of whole commands");
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
struct Filling<'a> {
    commands: &'a Commands,
    keys: &'a mut Spans,
    values: &'a mut Values,
    sink: &'a mut dyn Sink,
    seen: ReadStats,
    names: Names,
}

impl Filling<'_> {
    #[inline]
    fn command(&mut self, block: &mut Block, at: usize, words: &[Range<usize>]) {
        let content = block.content();
        let word = |word: &Range<usize>| &content[word.clone()];
        let Some(first) = words.first() else { return };
        let reject_at = self.commands.offset + at as u64;
        let Some(command) = COMMANDS.named(word(first)) else {
            return self.seen.unknown_command(reject_at, word(first));
        };
        if command.has_one_key() {
            return match words.get(1) {
                Some(key) => self.operation(block, at, key, command.name),
                None => self.sink.reject_at(reject_at, WRONG),
            };
        }
        let texts: Vec<&[u8]> = words.iter().map(word).collect();
        match Meaning::of(&texts) {
            Meaning::Unknown => self.seen.unknown_command(reject_at, word(first)),
            Meaning::NoKeys | Meaning::Select(_) => self.seen.note(Notice::NoKeyCommand, 1),
            Meaning::Wrong => self.sink.reject_at(reject_at, WRONG),
            Meaning::Keys(command, keys) => {
                for key in keys {
                    self.operation(block, at, &words[key], command);
                }
            }
        }
    }

    #[inline]
    fn operation(
        &mut self,
        block: &mut Block,
        at: usize,
        key: &Range<usize>,
        command: &'static str,
    ) {
        let (start, end) = self.names.place(block, command);
        self.values.commands.push(start, end);
        self.keys.push(key.start as u32, key.end as u32);
        self.values.offsets.push(self.commands.offset + at as u64);
        if self.keys.len() == BATCH_KEYS {
            self.hand_on(block);
        }
    }

    /// Hands the batch on.
    fn hand_on(&mut self, block: &Block) {
        let len = self.keys.len();
        if len == 0 {
            return;
        }
        let Commands {
            database, time_ms, ..
        } = *self.commands;
        let values = &mut *self.values;
        values.are_operations = true;
        values.weights[Metric::OPS].resize(len, 1);
        values.number_mut(Number::Database).resize(len, database);
        if time_ms != MISSING {
            values.times.resize(len, time_ms);
        }
        self.seen.operations += len as u64;
        self.sink.keys(KeyBatch {
            base: block.padded(),
            keys: self.keys,
            values: self.values,
        });
        self.keys.clear();
        self.values.clear();
    }
}

/// Command names, stored after the run in bytes no longer needed.
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
    use crate::format::frame::walk::Walked;
    use crate::format::said::Said;
    use crate::source::forward::Forward;
    use std::io::Cursor;

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

    fn said(file: &[u8], leaves_runs: bool) -> Said {
        let input = Forward::stream(Box::new(Cursor::new(file.to_vec())));
        let steps = CommandSteps::new(input);
        let steps = if leaves_runs {
            steps
        } else {
            steps.without_runs()
        };
        Said::by(&mut Walked::new(steps))
    }

    /// Asserts that a file reads the same with and without runs handed to workers; returns the number of runs.
    fn same(file: &[u8]) -> usize {
        let [left, walked] = [true, false].map(|leaves| said(file, leaves));
        left.assert_same_as(&walked);
        left.runs
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
    fn a_run_says_what_the_walk_says() {
        assert!(same(&file(5000)) >= 4);
        assert!(same(&file(60_000)) > 10);
        let keys: Vec<String> = (0..9000).map(|i| format!("$5\r\nk{i:04}\r\n")).collect();
        let all = format!("*9001\r\n$3\r\nDEL\r\n{}", keys.concat());
        assert!(same(all.repeat(3).as_bytes()) > 0);
    }

    #[test]
    fn a_damaged_or_cut_run_ends_where_the_walk_ends() {
        let whole = file(1200);
        for end in (0..whole.len())
            .step_by(97)
            .chain(whole.len() - 12..whole.len())
        {
            same(&whole[..end]);
        }
        let mut random = 1u64;
        for _ in 0..400 {
            let mut damaged = whole.clone();
            for _ in 0..1 + random % 3 {
                random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                let at = (random >> 33) as usize % damaged.len();
                damaged[at] = (random >> 25) as u8;
            }
            same(&damaged);
        }
    }
}
