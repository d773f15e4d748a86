//! `quoted`: one key per line, in double quotes with C escapes, as printed by `redis-cli --no-raw --scan`. Lossless:
//! keys may contain any byte.
//!
//! While all lines of a batch have two quotes and no backslash, only the quotes are stripped. The rest of the block is
//! read line by line, and backslash escapes are decoded in place.

use slotscope_base::batch::Values;
use slotscope_base::block::{Block, Padded, Piece};

use crate::format::frame::line_reader::{Line, LineReader, Parsed, Row};
use crate::format::lines::cut_lines;
use crate::format::parse::escape;
use crate::format::parse::escape::Escapes;
use crate::format::redis_cli::noise;
use crate::format::{Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader};

/// The format.
pub struct Quoted;

impl Format for Quoted {
    fn name(&self) -> &'static str {
        "quoted"
    }

    fn example(&self) -> &'static str {
        r#""user:{1000}:profile" (redis-cli --no-raw --scan)"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        noise::detect(head, escape::is_quoted)
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(Opened::lines(self.name(), Quoted))
    }
}

impl Reader for Quoted {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let mut stats = ReadStats::default();
        let mut from = piece.from;
        columns.values.clear();
        if piece.last && ends_in_text(block.content()) {
            stats.note(Notice::CutOff, 1);
        }
        while (from as usize) < block.len() {
            let next = cut_lines(block.padded(), from, b'\n', columns.keys, columns.kernel).next;
            if !is_plain(block.padded(), from, next, columns) {
                let rest = Piece { from, ..piece };
                stats += LineReader(Lines).rows(block, rest, columns);
                break;
            }
            columns.keys.start.iter_mut().for_each(|start| *start += 1);
            columns.keys.end.iter_mut().for_each(|end| *end -= 1);
            columns.hand_on(block.padded(), &mut stats);
            from = next;
        }
        stats
    }
}

/// Whether the last line has an opening quote without a closing one.
fn ends_in_text(content: &[u8]) -> bool {
    let start = memchr::memrchr(b'\n', content).map_or(0, |end| end + 1);
    let line = &content[start..];
    line.starts_with(b"\"") && escape::close(line, 1).is_none()
}

/// Whether every line of the batch, which covers `from..next`, starts and ends with a quote and has no other quote or
/// backslash.
fn is_plain(base: Padded<'_>, from: u32, next: u32, columns: &Columns<'_>) -> bool {
    let keys = &*columns.keys;
    let bytes = base.bytes();
    let batch = &bytes[from as usize..(next as usize).min(bytes.len())];
    let framed = keys
        .start
        .iter()
        .zip(&keys.end)
        .fold(true, |is_framed, (start, end)| {
            // An empty line reads the preceding line end or padding, neither of which is a quote.
            is_framed
                & (end - start > 1)
                & (base.byte_before(start + 1) == b'"')
                & (base.byte_before(*end) == b'"')
        });
    // At least two per line, hence exactly two.
    framed
        && memchr::memchr(b'\\', batch).is_none()
        && memchr::memchr_iter(b'"', batch).count() == 2 * keys.len()
}

/// Lines with escapes, or with something else around them.
struct Lines;

impl Row for Lines {
    fn row(&self, line: Line<'_>, _: &mut Values) -> Parsed {
        if escape::is_quoted(line.text) {
            Parsed::Escaped(Escapes::C, 1..line.text.len() - 1)
        } else {
            Parsed::Reject("not one text in double quotes")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{assert_reads, read_whole};
    use slotscope_base::batch::BATCH_KEYS;

    #[test]
    fn every_byte_comes_back_from_its_escape_and_the_rest_is_counted_or_rejected() {
        assert_reads(
            &Quoted,
            &[
                (
                    &b"\"\"\n\"a b\\\"q\\\"\"\n\"bin\\x00\\x01\\xFF{t}\"\r\n\"nl\\nx\\\\\""[..],
                    r#"; a b\"q\"; bin\x00\x01\xff{t}; nl\nx\\"#,
                ),
                (
                    b"127.0.0.1:6379> KEYS *\n\"a\"\nplain\n\"a\"b\"\n\"\n\n(1.23s)\n\x1b[32m\"b\"\x1b[0m\n",
                    "a; b; !27; !33; !39; Prompt=1; Timing=1; Colour=1; BlankLine=1",
                ),
            ],
        );
    }

    #[test]
    fn batches_with_and_without_escapes_come_in_order() {
        let escaped = |i: usize| {
            if i == BATCH_KEYS + 7 {
                "\\x41".into()
            } else {
                i.to_string()
            }
        };
        let keys: Vec<String> = (0..3 * BATCH_KEYS).map(escaped).collect();
        let content = format!("\"{}\"\n", keys.join("\"\n\""));
        let found = read_whole(&Quoted, content.as_bytes());
        let expected = keys
            .iter()
            .map(|key| key.replace("\\x41", "A").into_bytes());
        assert!(found.keys == expected.collect::<Vec<_>>());
    }
}
