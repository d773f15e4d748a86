//! `top-keys`: output of `redis-cli --hotkeys`, `--memkeys`, `--bigkeys` and `--keystats`. Keys are taken from the
//! summary; progress lines name keys that the summary repeats.

use crate::format::batch::Values;
use crate::format::frame::line_reader::{Line, LineReader, Parsed, Row};
use crate::format::lfu::LfuRule;
use crate::format::parse::escape;
use crate::format::parse::size::{integer, size};
use crate::format::redis_cli::noise;
use crate::format::{Detected, Format, Head, Notice, Opened};
use crate::metric::extreme::Extreme;

/// The format.
pub(crate) struct TopKeys;

impl Format for TopKeys {
    fn name(&self) -> &'static str {
        "top-keys"
    }

    fn example(&self) -> &'static str {
        "hot key found with counter: 6\\tkeyname: \"user:{1000}:profile\" (redis-cli --hotkeys, --memkeys, --bigkeys, --keystats)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        let mut lines = head.bytes.split(|byte| *byte == b'\n');
        let first = lines.find(|line| noise::noise(line).is_none());
        if first.is_some_and(|line| is_of_scan(noise::bare(line))) {
            Detected::Yes
        } else {
            Detected::No
        }
    }

    fn note(&self) -> Option<&'static str> {
        Some("redis-cli names the hottest or largest keys of one node, and no others")
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(LineReader::open(self.name(), TopKeys))
    }
}

/// A heading, a progress line with a key, or a key of the summary.
fn is_of_scan(line: &[u8]) -> bool {
    let is_so_far = |line: &[u8]| {
        let has = |part| memchr::memmem::find(&line[..line.len().min(40)], part).is_some();
        line.starts_with(b"[") && (has(b"] Biggest ") || has(b"] Hot key "))
    };
    let starts = [
        &b"# Scanning the entire keyspace"[..],
        b"-------- summary -------",
        b"-------- Summary --------",
    ];
    starts.iter().any(|start| line.starts_with(start)) || is_so_far(line) || is_key(line)
}

/// The prefixes of summary lines with a key.
fn is_key(line: &[u8]) -> bool {
    line.starts_with(HOT) || line.starts_with(BIGGEST)
}

const HOT: &[u8] = b"hot key found with counter: ";
const BIGGEST: &[u8] = b"Biggest ";
const NO_KEY: &str = "not a key and a number as redis-cli prints them";

impl Row for TopKeys {
    fn row(&self, line: Line<'_>, values: &mut Values) -> Parsed {
        let mut push = |(extreme, amount)| {
            values.are_operations = true;
            values.extremes.push((extreme, amount));
        };
        if let Some(((from, to), extreme, amount)) = raw(line.text, line.lfu) {
            push((extreme, amount));
            return Parsed::Key(from..to);
        }
        match key_of(line.text, line.lfu) {
            Some(((from, to), extreme, amount)) => {
                push((extreme, amount));
                Parsed::Escaped(from..to)
            }
            None if is_key(line.text) => Parsed::Reject(NO_KEY),
            None => Parsed::Note(Notice::Progress),
        }
    }
}

/// The position of a line's key, and the amount.
fn key_of(line: &[u8], rule: LfuRule) -> Option<((usize, usize), Extreme, u64)> {
    let (key, key_end) = quoted(line)?;
    let (before, behind) = (&line[..key - 1], &line[key_end + 1..]);
    if let Some(counter) = before.strip_prefix(HOT) {
        let counter = integer(counter.strip_suffix(b"\tkeyname: ")?)?;
        let is_end = behind.is_empty();
        let accesses = rule.accesses(counter).filter(|_| is_end)?;
        return Some(((key, key_end), Extreme::Accesses, accesses));
    }
    if before.starts_with(BIGGEST) {
        // `Biggest string found "k" has 64 bytes`; before Redis 7.4 with extra quotes around the quotes.
        let before = before.strip_suffix(b"'").unwrap_or(before);
        let behind = behind.strip_prefix(b"'").unwrap_or(behind);
        before.strip_suffix(b" found ")?;
        let mut words = behind.strip_prefix(b" has ")?.split(|byte| *byte == b' ');
        let (number, unit) = (integer(words.next()?)?, words.next()?);
        let extreme = match unit {
            b"bytes" => Extreme::Bytes,
            _ => Extreme::Elements,
        };
        let is_end = words.next().is_none();
        return is_end.then_some(((key, key_end), extreme, number));
    }
    // `  1    1.00M string     "k"`
    let mut words = before
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let (rank, amount, _type) = (words.next()?, words.next()?, words.next()?);
    let is_row = integer(rank).is_some() && words.next().is_none() && behind.is_empty();
    let bytes = size(amount).filter(|_| is_row)?;
    Some(((key, key_end), Extreme::Bytes, bytes))
}

/// A name as written by redis-cli up to 6.0 and by keydb-cli: raw, in single quotes, or after `keyname: `.
fn raw(line: &[u8], rule: LfuRule) -> Option<((usize, usize), Extreme, u64)> {
    let has_double = |from: usize| line.get(from) == Some(&b'"');
    if let Some(rest) = line.strip_prefix(HOT) {
        const NAME: &[u8] = b"\tkeyname: ";
        let at = memchr::memmem::find(rest, NAME)?;
        let accesses = rule.accesses(integer(&rest[..at])?)?;
        let from = HOT.len() + at + NAME.len();
        return (!has_double(from)).then_some(((from, line.len()), Extreme::Accesses, accesses));
    }
    let rest = line.strip_prefix(BIGGEST)?;
    let from = BIGGEST.len() + memchr::memmem::find(rest, b" found '")? + b" found '".len();
    let to = from + memchr::memmem::rfind(&line[from..], b"' has ")?;
    let mut words = line[to + b"' has ".len()..].split(|byte| *byte == b' ');
    let (number, unit) = (integer(words.next()?)?, words.next()?);
    let extreme = if unit == b"bytes" {
        Extreme::Bytes
    } else {
        Extreme::Elements
    };
    (words.next().is_none() && !has_double(from)).then_some(((from, to), extreme, number))
}

/// The bounds of the first text in double quotes.
fn quoted(line: &[u8]) -> Option<(usize, usize)> {
    let start = memchr::memchr(b'"', line)? + 1;
    Some((start, escape::close(line, start)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::detect;
    use crate::format::reading::read_whole;

    /// Output of redis-cli 7.0.15 and 7.4.1, shortened.
    const HOTKEYS: &[u8] = br#"
# Scanning the entire keyspace to find hot keys as well as
# average sizes per key type.  You can use -i 0.1 to sleep 0.1 sec
# per 100 SCAN commands (not usually needed).

[00.00%] Hot key '"k:1 \"x"' found so far with counter 11
[00.00%] Hot key "h" found so far with counter 5

-------- summary -------

Sampled 4 keys in the keyspace!
hot key found with counter: 11	keyname: "k:1 \"x"
hot key found with counter: 255	keyname: "\xff\n"
"#;
    const MEMKEYS: &[u8] = br#"
# Scanning the entire keyspace to find biggest keys as well as
[00.00%] Biggest list   found so far "{t}:list" with 64 bytes

-------- summary -------

Sampled 4 keys in the keyspace!
Total key length in bytes is 17 (avg len 4.25)

Biggest   list found "{t}:list" has 64 bytes
Biggest   hash found '"h"' has 3 fields
Biggest string found '"k:1 \"x"' has 40 bytes

1 lists with 64 bytes (25.00% of keys, avg size 64.00)
0 zsets with 0 bytes (00.00% of keys, avg size 0.00)
"#;
    const KEYSTATS: &[u8] = br#"
# Scanning the entire keyspace to find the biggest keys and distribution information.
100.00% keys scanned
Keys size:    176B

--- Top 10 key sizes ---
  1    1.00M list       "{t}:list"
  2      48B hash       "h"

--- Top size per type ---
list       {t}:list is 64B
     40B   50.0000%           2
"#;

    #[test]
    fn keys_are_in_the_summary() {
        let check = |content: &[u8], expected: &[(&[u8], Extreme, u64)]| {
            let found = read_whole(&TopKeys, content);
            let keys: Vec<_> = expected.iter().map(|(key, ..)| *key).collect();
            assert_eq!(found.keys, keys);
            let says: Vec<_> = expected.iter().map(|(_, of, says)| (*of, *says)).collect();
            assert_eq!(found.values.extremes, says);
            assert_eq!(found.rejects, []);
            let head = Head {
                bytes: content,
                whole: true,
            };
            assert_eq!(detect(head).unwrap().name(), "top-keys");
        };
        check(
            HOTKEYS,
            &[
                (b"k:1 \"x", Extreme::Accesses, 61),
                (b"\xff\n", Extreme::Accesses, 2501),
            ],
        );
        check(
            MEMKEYS,
            &[
                (b"{t}:list", Extreme::Bytes, 64),
                (b"h", Extreme::Elements, 3),
                (b"k:1 \"x", Extreme::Bytes, 40),
            ],
        );
        check(
            KEYSTATS,
            &[
                (b"{t}:list", Extreme::Bytes, 1 << 20),
                (b"h", Extreme::Bytes, 48),
            ],
        );
    }

    #[test]
    fn a_line_of_the_summary_without_its_key_is_rejected() {
        for line in [
            &b"hot key found with counter: 6\tkeyname: \"k"[..],
            b"hot key found with counter: 256\tkeyname: \"k\"",
            b"hot key found with counter: \tkeyname: \"k\"",
            b"hot key found with counter: 6\tkeyname: \"k\"x",
            b"Biggest string found \"k\" has x bytes",
            b"Biggest string found \"k\" has 5",
            b"Biggest string \"k\" has 5 bytes",
        ] {
            let found = read_whole(&TopKeys, line);
            assert_eq!(found.rejects, [(0, NO_KEY.to_owned())]);
        }
        let other = read_whole(&TopKeys, b"  x    1.00M string     \"k\"\nuser:1\n");
        assert_eq!(other.seen.count(Notice::Progress), 2);
    }
}
