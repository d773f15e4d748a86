//! `sized`: a key in double quotes with C escapes and its size on one line, in either order, as printed by a loop over
//! `redis-cli --no-raw --scan` and MEMORY USAGE. Lossless.

use std::ops::Range;

use slotscope_base::batch::{MISSING, Values};

use crate::format::frame::line_reader::{Line, LineReader, Parsed, Row};
use crate::format::parse::escape::{self, Escapes};
use crate::format::parse::size::{is_missing, size};
use crate::format::redis_cli::noise;
use crate::format::{Detected, Format, Head, Opened};

/// The format.
pub struct KeyAndSize;

impl Format for KeyAndSize {
    fn name(&self) -> &'static str {
        "sized"
    }

    fn example(&self) -> &'static str {
        r#""user:{1000}:profile" 184 (a loop over MEMORY USAGE; or size and key; a blank, TAB, comma, ; or | between)"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        let rows = noise::detect(head, |line| {
            KeyWithSize::parse(line).is_some_and(|row| row.has_size)
        });
        if rows == Detected::Yes && !are_sizes(head) {
            return Detected::No;
        }
        rows
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(LineReader::open(self.name(), KeyAndSize))
    }
}

/// Whether the numbers are not those of the rows, nor the slots of the keys.
fn are_sizes(head: Head<'_>) -> bool {
    const LEAST: usize = 3;
    let lines = head.bytes.split(|byte| *byte == b'\n').map(noise::bare);
    let rows = lines.filter_map(|line| KeyWithSize::parse(line).map(|row| (line, row)));
    let rows: Vec<(&[u8], KeyWithSize)> = rows.filter(|(_, row)| row.size != MISSING).collect();
    let is_next = |pair: &[(&[u8], KeyWithSize)]| pair[1].1.size == pair[0].1.size.wrapping_add(1);
    let is_slot = |(line, row): &(&[u8], KeyWithSize)| {
        row.size == u64::from(hashslot::slot(&line[row.key.clone()]))
    };
    rows.len() < LEAST || !rows.windows(2).all(is_next) && !rows.iter().all(is_slot)
}

/// A key with its size within a line.
struct KeyWithSize {
    /// The position of the key, without its quotes.
    key: Range<usize>,
    size: u64,
    /// Whether the line has more than the key.
    has_size: bool,
}

impl KeyWithSize {
    /// Parses `line`, which has no line end or colours.
    fn parse(line: &[u8]) -> Option<KeyWithSize> {
        let row = |key: Range<usize>, size: &[u8]| {
            let has_size = !size.is_empty();
            let size = if has_size { number(size)? } else { MISSING };
            Some(KeyWithSize {
                key,
                size,
                has_size,
            })
        };
        if line.first() == Some(&b'"') {
            let end = escape::close(line, 1)?;
            return match &line[end + 1..] {
                [] => row(1..end, b""),
                rest => row(1..end, behind_separator(rest)?),
            };
        }
        let quote = memchr::memchr(b'"', line)?;
        let (before, key) = line.split_at(quote);
        let separator = before
            .iter()
            .rev()
            .take_while(|byte| is_separator(byte))
            .count();
        behind_separator(&before[quote - separator..])?;
        escape::is_quoted(key)
            .then(|| row(quote + 1..line.len() - 1, &before[..quote - separator]))
            .flatten()
            .filter(|row| row.has_size)
    }

    /// The position of the key, and of the single word after it, which is not a number.
    fn without_number(line: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
        let end = escape::close(line.strip_prefix(b"\"")?, 0)? + 1;
        let word = behind_separator(&line[end + 1..])?;
        let is_word = !word.is_empty() && !word.iter().any(is_separator);
        is_word.then_some((1..end, line.len() - word.len()..line.len()))
    }
}

fn is_separator(byte: &u8) -> bool {
    b" \t,;|".contains(byte)
}

/// The text after a separator: blanks, or a comma, semicolon or bar with optional blanks.
fn behind_separator(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text.trim_ascii_start();
    if let [b',' | b';' | b'|', behind @ ..] = rest {
        rest = behind.trim_ascii_start();
    }
    (rest.len() < text.len()).then_some(rest)
}

/// A size as MEMORY USAGE prints it to a pipe or terminal; an expired key has none.
fn number(text: &[u8]) -> Option<u64> {
    if is_missing(text) {
        Some(MISSING)
    } else {
        size(text)
    }
}

impl Row for KeyAndSize {
    fn row(&self, line: Line<'_>, values: &mut Values) -> Parsed {
        let Some(KeyWithSize { key, size, .. }) = KeyWithSize::parse(line.text) else {
            let Some((key, size)) = KeyWithSize::without_number(line.text) else {
                return Parsed::Reject("not a key in double quotes and its size");
            };
            values.sizes_mut().push(MISSING);
            return Parsed::WithoutSize(Escapes::C, key, size);
        };
        values.sizes_mut().push(size);
        Parsed::Escaped(Escapes::C, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{assert_reads, named};

    #[test]
    fn a_key_and_its_size_come_in_either_order_and_the_rest_is_counted_or_rejected() {
        assert_reads(
            &KeyAndSize,
            &[
                (
                    "\"a\" 184\n\"b \\\"q\\\"\"\t(integer) 7\r\n96 \"c\\x00\"\n1.5K\t\"d 9\"\n\"e\",88\n\"f\" ; 5\n\
                     \"g\" (nil)\n\"h\"\n\"i\" | 3\n",
                    r#"a bytes=184; b \"q\" bytes=7; c\x00 bytes=96; d 9 bytes=1536; e bytes=88; f bytes=5; g; h; i bytes=3"#,
                ),
                (
                    "\"a\" 1\n\"b\"2\n\"c\" x\n1 2\nplain\n127.0.0.1:1> MEMORY\n\n\"d\" ,, 4\n7\"e\"\nERR x\n\"f",
                    "a bytes=1; c; !6; !17; !21; !48; !57; !62; !68; \
                     Prompt=1; ErrorReply=1; BlankLine=1; Size=1 at 11: x",
                ),
            ],
        );
    }

    #[test]
    fn keys_alone_and_tables_are_other_formats() {
        for (content, name) in [
            ("\"a\" 1\n\"b\" 2\n", "sized"),
            ("12\t\"a\"\n", "sized"),
            ("\"a\",1\n\"b\",2\n", "sized"),
            ("\"a\"\n\"b\"\n", "quoted"),
            ("1) \"a\"\n2) \"b\"\n", "numbered"),
        ] {
            assert_eq!(named(content, true), Some(name), "{content}");
        }
    }
}
