//! `top-keys`: output of `redis-cli --hotkeys`, `--memkeys`, `--bigkeys` and `--keystats`. Keys are taken from the
//! summary; progress lines name keys that the summary repeats.

use std::ops::Range;

use slotscope_base::batch::Values;
use slotscope_base::lfu::LfuRule;
use slotscope_base::metric::extreme::Extreme;

use crate::format::frame::line_reader::{Line, LineReader, Parsed, Row};
use crate::format::parse::escape::{self, Escapes};
use crate::format::parse::size::{integer, size};
use crate::format::redis_cli::noise;
use crate::format::{Detected, Format, Head, Notice, Opened};

/// The format.
pub(crate) struct TopKeys;

impl Format for TopKeys {
    fn name(&self) -> &'static str {
        "top-keys"
    }

    fn example(&self) -> &'static str {
        r#"Biggest string found "user:{1000}:profile" has 184 bytes (redis-cli --hotkeys, --memkeys, --bigkeys, --keystats)"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        // The name of a host, a prompt or a fence of Markdown may be above it.
        const ABOVE: usize = 5;
        let lines = head.bytes.split(|byte| *byte == b'\n');
        let mut lines = lines
            .filter(|line| noise::noise(line).is_none())
            .take(ABOVE);
        let is_heading = |line: &[u8]| HEADINGS.iter().any(|start| line.starts_with(start));
        if lines.clone().any(|line| is_heading(noise::bare(line))) {
            return Detected::Yes;
        }
        let first = lines.next();
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
    HEADINGS.iter().any(|start| line.starts_with(start)) || is_so_far(line) || is_key(line)
}

/// Lines of redis-cli above the keys.
const HEADINGS: [&[u8]; 3] = [
    b"# Scanning the entire keyspace",
    b"-------- summary -------",
    b"-------- Summary --------",
];

/// The prefixes of summary lines with a key.
fn is_key(line: &[u8]) -> bool {
    line.starts_with(HOT) || line.starts_with(BIGGEST)
}

const HOT: &[u8] = b"hot key found with counter: ";
const BIGGEST: &[u8] = b"Biggest ";
const NO_KEY: &str = "not a key and a number as redis-cli prints them";

impl Row for TopKeys {
    fn row(&self, line: Line<'_>, values: &mut Values) -> Parsed {
        match key_of(line.text, line.lfu) {
            Some((key, extreme, amount)) => {
                values.are_operations = true;
                values.extremes.push((extreme, amount));
                key
            }
            None if is_key(line.text) => Parsed::Reject(NO_KEY),
            None => Parsed::Note(Notice::Progress),
        }
    }
}

/// The key of a line, and its amount.
fn key_of(line: &[u8], rule: LfuRule) -> Option<(Parsed, Extreme, u64)> {
    let find = |part: &[u8]| memchr::memmem::find(line, part);
    if line.starts_with(HOT) {
        // Terminals copy blanks for the TAB before it.
        const NAME: &[u8] = b"keyname: ";
        let at = find(NAME)?;
        let accesses = rule.accesses(integer(line[HOT.len()..at].trim_ascii_end())?)?;
        let key = name(line, at + NAME.len()..line.len())?;
        return Some((key, Extreme::Accesses, accesses));
    }
    if line.starts_with(BIGGEST) {
        // `Biggest string found "k" has 64 bytes`; before Redis 7.4 in single quotes, too.
        let (from, to) = (
            find(b" found ")? + 7,
            memchr::memmem::rfind(line, b" has ")?,
        );
        let text = line.get(from..to)?;
        let is_single = text.len() > 1 && text.starts_with(b"'") && text.ends_with(b"'");
        let quote = usize::from(is_single);
        let key = name(line, from + quote..to - quote)?;
        let mut words = line[to + 5..].split(|byte| *byte == b' ');
        let (number, unit) = (integer(words.next()?)?, words.next()?);
        let extreme = match unit {
            b"bytes" => Extreme::Bytes,
            _ => Extreme::Elements,
        };
        let is_end = words.next().is_none() && (is_single || matches!(key, Parsed::Escaped(..)));
        return is_end.then_some((key, extreme, number));
    }
    // `  1    1.00M string     "k"`
    let quote = memchr::memchr(b'"', line)?;
    let pieces = line[..quote].split(|byte| *byte == b' ');
    let words: Vec<&[u8]> = pieces.filter(|word| !word.is_empty()).collect();
    let [rank, amount, _type] = words[..] else {
        return None;
    };
    integer(rank)?;
    Some((
        name(line, quote..line.len())?,
        Extreme::Bytes,
        size(amount)?,
    ))
}

/// A key in double quotes with escapes, or raw, as redis-cli up to 6.0 and keydb-cli write it.
fn name(line: &[u8], at: Range<usize>) -> Option<Parsed> {
    match &line[at.clone()] {
        text if escape::is_quoted(text) => {
            Some(Parsed::Escaped(Escapes::C, at.start + 1..at.end - 1))
        }
        [b'"', ..] => None,
        _ => Some(Parsed::Key(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{assert_reads, named, read_whole};

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
        let cases = [
            (
                HOTKEYS,
                r#"k:1 \"x Accesses=61; \xff\n Accesses=2501; Progress=7; BlankLine=4"#,
            ),
            (
                MEMKEYS,
                r#"{t}:list Bytes=64; h Elements=3; k:1 \"x Bytes=40; Progress=7; BlankLine=5"#,
            ),
            (
                KEYSTATS,
                "{t}:list Bytes=1048576; h Bytes=48; Progress=7; BlankLine=3",
            ),
        ];
        assert_reads(&TopKeys, &cases);
        for (content, _) in cases {
            assert_eq!(named(content, true), Some("top-keys"));
        }
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
