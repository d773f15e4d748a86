//! Line-based formats: the reader splits lines, strips terminal codes and drops what redis-cli prints around rows; the
//! format's `Row` parses a line.

use std::ops::Range;

use slotscope_base::batch::Values;
use slotscope_base::block::{Block, Piece};
use slotscope_base::lfu::LfuRule;

use crate::format::frame::batch_rows::{BatchBuilder, each_line};
use crate::format::parse::escape::{self, Escapes};
use crate::format::read_stats::Lost;
use crate::format::redis_cli::noise;
use crate::format::{Columns, Notice, Opened, ReadStats, Reader};

/// A line without its line end and surrounding terminal codes.
pub struct Line<'a> {
    /// The bytes of the line.
    pub text: &'a [u8],
    /// The rule that estimates accesses from LFU counters.
    pub lfu: LfuRule,
}

/// The content of a line.
pub enum Parsed {
    /// An unescaped key at these bytes of the line.
    Key(Range<usize>),
    /// A key with escapes at these bytes.
    Escaped(Escapes, Range<usize>),
    /// A key with escapes, and its size, which is unreadable, at these bytes.
    WithoutSize(Escapes, Range<usize>, Range<usize>),
    /// Not a row, counted by this notice, unless redis-cli prints such lines around rows.
    Note(Notice),
    /// Not a row, for this reason, unless redis-cli prints such lines around rows.
    Reject(&'static str),
}

/// The row parser of a line-based format.
pub trait Row: Send + Sync + 'static {
    /// Finds the key of a line. If there is one, adds its attributes to `values`: one entry to each column of the
    /// format.
    fn row(&self, line: Line<'_>, values: &mut Values) -> Parsed;

    /// The notice about the start of the input, if there is one.
    fn at_start(&self) -> Option<Notice> {
        None
    }
}

/// A reader of line-based rows.
pub struct LineReader<R>(pub R);

impl<R: Row> LineReader<R> {
    /// Opens an input of the format called `format`.
    pub fn open(format: &'static str, rows: R) -> Opened {
        Opened::lines(format, LineReader(rows))
    }
}

impl<R: Row> Reader for LineReader<R> {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let lfu = columns.lfu;
        let mut gather = BatchBuilder::new(columns);
        if let Some(notice) = self.0.at_start().filter(|_| piece.first) {
            gather.note(notice);
        }
        each_line(block, piece.from, |block, start, end| {
            let whole = &block.content()[start..end];
            let (codes, text) = noise::without_codes(whole);
            let before = start + codes;
            let undo = |block: &mut Block, escapes, key: Range<usize>| {
                let (from, to) = (before + key.start, before + key.end);
                from..escape::undo(escapes, block.content_mut(), from, to)
            };
            let key = match self.0.row(Line { text, lfu }, gather.values()) {
                Parsed::Key(key) => before + key.start..before + key.end,
                Parsed::Escaped(escapes, key) => undo(block, escapes, key),
                Parsed::WithoutSize(escapes, key, size) => {
                    gather.lose(Lost::Size, piece.offset + start as u64, &text[size]);
                    undo(block, escapes, key)
                }
                Parsed::Note(notice) => return gather.not_a_row(start, whole, Err(notice)),
                Parsed::Reject(reason) => return gather.not_a_row(start, whole, Ok(reason)),
            };
            if codes > 0 {
                gather.note(Notice::Colour);
            }
            gather.key(block, key.start, key.end);
        });
        gather.finish(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::assert_reads;
    use crate::format::{Detected, Format, Head};

    /// `key=size` lines, and comments.
    struct Sizes;

    impl Row for Sizes {
        fn row(&self, line: Line<'_>, values: &mut Values) -> Parsed {
            if line.text.starts_with(b"#") {
                return Parsed::Note(Notice::Progress);
            }
            let Some(equals) = memchr::memchr(b'=', line.text) else {
                return Parsed::Reject("no = between key and size");
            };
            values.sizes_mut().push(line.text.len() as u64);
            match line.text.first() {
                Some(b'"') => Parsed::Escaped(Escapes::C, 1..equals - 1),
                _ => Parsed::Key(0..equals),
            }
        }
    }

    impl Format for Sizes {
        fn name(&self) -> &'static str {
            "sizes"
        }

        fn example(&self) -> &'static str {
            "a=1"
        }

        fn detect(&self, _: Head<'_>) -> Detected {
            Detected::Yes
        }

        fn open(&self, _: Head<'_>) -> Result<Opened, String> {
            Ok(LineReader::open(self.name(), Sizes))
        }
    }

    #[test]
    fn lines_are_keys_noise_or_rejects() {
        let text = "a\\n=1\r\n\"b\\n\"=2\n# done\n\n(1.2s)\nERR no\nx\n\x1b[31mc=3\x1b[0m";
        let expected = r"a\\n bytes=5; b\n bytes=7; c bytes=3; !30; !37; Timing=1; ErrorReply=1; Colour=1; Progress=1; BlankLine=1";
        assert_reads(&Sizes, &[(text, expected)]);
    }
}
