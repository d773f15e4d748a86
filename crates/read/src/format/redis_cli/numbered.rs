//! `numbered`: replies as redis-cli prints them to a terminal or with `--no-raw`: `1) "key"`, with C escapes in the
//! quotes. Lossless: keys may contain any byte. SCAN pages are read too: `1) "17"`, then `2) 1) "key"`.
//! If the first rows have a page, a cursor starts each.

use slotscope_base::batch::Values;

use crate::format::frame::line_reader::{self, Line, LineReader, Parsed};
use crate::format::parse::escape;
use crate::format::parse::escape::Escapes;
use crate::format::redis_cli::cursor;
use crate::format::redis_cli::noise;
use crate::format::{Detected, Format, Head, Notice, Opened};

/// The format.
pub struct Numbered;

impl Format for Numbered {
    fn name(&self) -> &'static str {
        "numbered"
    }

    fn example(&self) -> &'static str {
        r#"1) "user:{1000}:profile" (KEYS and SCAN as a terminal shows them)"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        noise::detect(head, is_row)
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let lines = head.bytes.split(|byte| *byte == b'\n').map(noise::bare);
        let mut rows = lines.filter_map(|line| Some((Row::of(line)?, line)));
        let first = rows.clone().next();
        let rows = Rows {
            starts_late: first.is_some_and(|(row, _)| row.index != 1),
            in_pages: rows.any(|(row, line)| row.follows_cursor(line)),
        };
        Ok(LineReader::open(self.name(), rows))
    }
}

/// Whether a line is a numbered row.
pub fn is_row(line: &[u8]) -> bool {
    Row::of(line).is_some_and(|row| row.kind(line) != Kind::Other)
}

/// A numbered line.
struct Row {
    /// The outer number, if the row starts a nested reply: the 2 of `2) 1) "key"`.
    outer: Option<u64>,
    /// The number of the row.
    index: u64,
    /// The offset of its value in the line.
    value: usize,
}

/// The kind of a row's value.
#[derive(PartialEq)]
enum Kind {
    Text,
    Nil,
    Empty,
    Error,
    Other,
}

impl Row {
    /// The row in `line`, which has no line end or colours.
    fn of(line: &[u8]) -> Option<Row> {
        let (index, value) = numbered(line, 0)?;
        Some(match numbered(line, value) {
            Some((inner, value)) => Row {
                outer: Some(index),
                index: inner,
                value,
            },
            None => Row {
                outer: None,
                index,
                value,
            },
        })
    }

    fn kind(&self, line: &[u8]) -> Kind {
        match &line[self.value..] {
            value if escape::is_quoted(value) => Kind::Text,
            b"(nil)" => Kind::Nil,
            b"(empty array)" | b"(empty list or set)" | b"(empty set)" => Kind::Empty,
            value if value.starts_with(b"(error) ") => Kind::Error,
            _ => Kind::Other,
        }
    }

    /// Whether only the second row of a SCAN page looks like this: its first key, or an empty page.
    fn follows_cursor(&self, line: &[u8]) -> bool {
        match self.outer {
            Some(outer) => (outer, self.index) == (2, 1),
            None => self.index == 2 && self.kind(line) == Kind::Empty,
        }
    }
}

/// The number at `at`, after optional blanks and with its parenthesis, and the offset of what follows.
fn numbered(line: &[u8], at: usize) -> Option<(u64, usize)> {
    let rest = line[at..].trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    rest[digits..]
        .starts_with(b") ")
        .then_some((number, line.len() - rest.len() + digits + 2))
}

const NO_ROW: &str = "neither a numbered row nor anything that redis-cli prints around one";

/// The reader.
struct Rows {
    /// Whether the first row of the input has another number than 1.
    starts_late: bool,
    /// Whether it has pages of SCAN: a cursor, then a reply in the second row.
    in_pages: bool,
}

impl line_reader::Row for Rows {
    fn row(&self, line: Line<'_>, _: &mut Values) -> Parsed {
        let bare = line.text;
        let Some(row) = Row::of(bare) else {
            return Parsed::Reject(NO_ROW);
        };
        let text = row.value + 1..bare.len().saturating_sub(1);
        match row.kind(bare) {
            _ if row.outer.is_some_and(|outer| outer != 2) => {
                Parsed::Reject("a reply within a reply")
            }
            Kind::Text
                if self.in_pages
                    && row.index == 1
                    && row.outer.is_none()
                    && cursor::is_cursor(&bare[text.clone()]) =>
            {
                Parsed::Note(Notice::Cursor)
            }
            Kind::Text => Parsed::Escaped(Escapes::C, text),
            Kind::Nil => Parsed::Note(Notice::Nil),
            Kind::Empty => Parsed::Note(Notice::EmptyReply),
            Kind::Error => Parsed::Note(Notice::ErrorReply),
            Kind::Other => {
                Parsed::Reject("a numbered row whose value is not one text in double quotes")
            }
        }
    }

    fn at_start(&self) -> Option<Notice> {
        self.starts_late.then_some(Notice::LateStart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::assert_reads;

    #[test]
    fn rows_of_any_width_are_keys_and_what_stands_around_them_is_counted_or_rejected() {
        assert_reads(
            &Numbered,
            &[
                (
                    "127.0.0.1:6379> KEYS *\r\n  2) \"a\\n\"\r\n\x1b[32m  2) \"1) \\\"x\\\"\"\x1b[0m\r\n 10) \"c\"\r\n(1.23s)\r\n",
                    r#"a\n; 1) \"x\"; c; Prompt=1; Timing=1; Colour=1; LateStart=1"#,
                ),
                // The cursor of a page is not a key; a number in its place is one.
                (
                    "1) \"17\"\n2)  1) \"a\"\n    2) \"b\"\n1) \"0\"\n2) (empty array)\n",
                    "a; b; EmptyReply=1; Cursor=2",
                ),
                ("1) \"17\"\n2) \"a\"\n1) \"0\"\n", "17; a; 0"),
                (
                    "2) \"a\"\n1) (nil)\n2) 5\n3) 1) \"x\"\n99999999999999999999) \"y\"\nplain\n4) \"open\n1) (error) ERR x\n",
                    "a; !16; !21; !31; !57; !63; !72; ErrorReply=1; LateStart=1; Nil=1",
                ),
                ("(empty array)\n", "EmptyReply=1"),
            ],
        );
    }

    #[test]
    fn an_empty_reply_is_not_taken_for_keys() {
        for (text, detected) in [
            ("(empty array)\n", Detected::Yes),
            ("(error) NOAUTH Authentication required.\n", Detected::Yes),
            ("1) \"a\"\n", Detected::Yes),
            (" 9) \"a\"\n10) \"b\"\n", Detected::Yes),
            ("", Detected::No),
            ("\n", Detected::No),
            ("1) a\n", Detected::No),
            ("1)\"a\"\n", Detected::No),
            ("a\n1) \"a\"\n", Detected::No),
            ("(1.23s)\n", Detected::No),
        ] {
            let (bytes, whole) = (text.as_bytes(), true);
            assert_eq!(Numbered.detect(Head { bytes, whole }), detected, "{text}");
        }
    }
}
