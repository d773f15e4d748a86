//! The lines of the start of an input: rows, and what tools print around them.

use crate::format::Head;
use crate::format::table::unmarked;

/// Bytes and lines that are looked at.
pub(super) const LOOKED_AT: usize = 64 << 10;
const LINES: usize = 800;
/// Comments before a table.
const COMMENTS: usize = 20;

/// A line that is no row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Around {
    /// Nothing, or blanks.
    Blank,
    /// A border of a table.
    Border,
    /// What kubectl, docker or telnet say before the output of a program.
    Client,
    /// The answer of a server to MONITOR.
    Ready,
    /// How many rows there are, and how long it took.
    Count,
    /// The separator, as Excel is told it.
    Separator(u8),
    /// A comment.
    Comment,
}

/// What `line` is, without its line end; `None` if it may be a row.
pub(crate) fn around(line: &[u8]) -> Option<Around> {
    let line = line.strip_suffix(b"\r").unwrap_or(line).trim_ascii();
    match line {
        [] => Some(Around::Blank),
        b"OK" | b"+OK" => Some(Around::Ready),
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator] => {
            Some(Around::Separator(*separator))
        }
        [b'D' | b'U' | b'T' | b'C' | b'E' | b'm', ..] => {
            is_of_client(line).then_some(Around::Client)
        }
        [b'0'..=b'9' | b'(' | b'[', ..] => is_count(line).then_some(Around::Count),
        [b'-', b'[', b' ', b'R', b'E', b'C', ..] | [b'*', b'*', b'*', b'*', ..] => {
            is_record(line).then_some(Around::Border)
        }
        [b'+' | b'-' | b'=' | b'|' | b':' | b'_' | b'*' | 0xE2, ..] => {
            is_border(line).then_some(Around::Border)
        }
        _ => None,
    }
}

/// Whether `line` is a comment; only asked of inputs that start with one.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    [&b"# "[..], b"// ", b"-- "]
        .iter()
        .any(|mark| line.starts_with(mark))
        || line == b"#"
}

fn is_of_client(line: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [
        b"Defaulted container \"",
        b"Unable to use a TTY",
        b"Trying ",
        b"Connected to ",
        b"Escape character is ",
        b"Connection closed by ",
    ];
    STARTS.iter().any(|start| line.starts_with(start)) || line == b"monitor"
}

/// `(5 rows)`, `5 rows in set (0.01 sec)`, `[5 rows x 3 columns]`.
fn is_count(line: &[u8]) -> bool {
    let is_frame = |byte: &u8| b"()[].".contains(byte);
    let words: Vec<&[u8]> = line
        .split(|byte| *byte == b' ' || is_frame(byte))
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let rest = match words.as_slice() {
        [
            number,
            b"row" | b"rows" | b"key" | b"keys" | b"record" | b"records",
            rest @ ..,
        ] if is_number(number) => rest,
        _ => return false,
    };
    let is_known = |word: &&[u8]| {
        is_number(word)
            || [
                &b"in"[..],
                b"set",
                b"sec",
                b"x",
                b"columns",
                b"found",
                b"returned",
            ]
            .contains(word)
    };
    rest.iter().all(is_known)
}

/// What psql and mysql print before each record over several lines: `-[ RECORD 1 ]---`, `**** 1. row ****`.
fn is_record(line: &[u8]) -> bool {
    let inside = |byte: &u8| byte.is_ascii_digit() || b"-+[] *.".contains(byte);
    let has_word = |word: &[u8]| {
        let at = memchr::memmem::find(line, word)?;
        Some(
            line[..at]
                .iter()
                .chain(&line[at + word.len()..])
                .all(inside),
        )
    };
    has_word(b"RECORD")
        .or_else(|| has_word(b"row"))
        .unwrap_or(false)
}

/// At least three strokes, and nothing but what borders are made of.
fn is_border(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let is_stroke = |letter: char| {
        "+-=".contains(letter)
            || ('\u{2500}'..='\u{257F}').contains(&letter)
            || ('\u{2010}'..='\u{2015}').contains(&letter)
    };
    let is_part = |letter: char| is_stroke(letter) || " |:_*\t".contains(letter);
    // A box has bars of its own in each row.
    let strokes = text
        .chars()
        .filter(|letter| is_stroke(*letter) && *letter != '│')
        .count();
    strokes >= 3 && text.chars().all(is_part)
}

/// The lines of the start of an input.
pub(super) struct Lines<'a> {
    /// All of it that is looked at, without a byte order mark.
    pub head: &'a [u8],
    /// Whether this is the whole input.
    pub is_whole: bool,
    /// Bytes of the byte order mark.
    pub mark: usize,
    /// The rows, without their line ends.
    pub rows: Vec<&'a [u8]>,
    /// Where the first row starts.
    pub start: usize,
    /// What is around the rows.
    pub around: Vec<Around>,
}

impl<'a> Lines<'a> {
    /// The lines of `head`; of an input that is longer, those that are there as a whole.
    pub(super) fn of(head: Head<'a>) -> Lines<'a> {
        let text = unmarked(head.bytes);
        let mark = head.bytes.len() - text.len();
        let looked_at = &text[..text.len().min(LOOKED_AT)];
        let is_whole = head.whole && looked_at.len() == text.len();
        let mut all: Vec<&[u8]> = looked_at.split(|byte| *byte == b'\n').collect();
        let last = all.pop().unwrap_or_default();
        if is_whole && !last.is_empty() || all.is_empty() {
            all.push(last);
        }
        let crlf = all.first().is_some_and(|line| line.ends_with(b"\r"));
        let mut lines = Lines {
            head: looked_at,
            is_whole,
            mark,
            rows: Vec::new(),
            start: 0,
            around: Vec::new(),
        };
        let has_comments = all.first().is_some_and(|line| is_comment(line));
        let mut comments = 0;
        for line in all {
            let row = if crlf {
                line.strip_suffix(b"\r").unwrap_or(line)
            } else {
                line
            };
            let is_one = has_comments && comments < COMMENTS && is_comment(row);
            comments += usize::from(is_one);
            match around(row) {
                _ if is_one => lines.around.push(Around::Comment),
                Some(around) => lines.around.push(around),
                None if lines.rows.len() == LINES => break,
                None => lines.rows.push(row),
            }
        }
        lines.start = lines.rows.first().map_or(0, |row| lines.at(row));
        lines
    }

    /// Where a row starts in the input.
    pub(super) fn at(&self, row: &[u8]) -> usize {
        self.mark + row.as_ptr() as usize - self.head.as_ptr() as usize
    }

    /// Where the line after a row starts.
    pub(super) fn after(&self, row: &[u8]) -> usize {
        let from = self.at(row) - self.mark;
        let end = memchr::memchr(b'\n', &self.head[from..]);
        self.mark + end.map_or(self.head.len(), |end| from + end + 1)
    }

    /// The separator that the input names for Excel.
    pub(super) fn separator(&self) -> Option<u8> {
        self.around.iter().find_map(|around| match around {
            Around::Separator(byte) => Some(*byte),
            _ => None,
        })
    }

    /// Whether the input starts with lines of a client that are no rows.
    pub(super) fn has(&self, wanted: Around) -> bool {
        self.around.contains(&wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_and_counts_are_no_rows() {
        for (line, expected) in [
            ("", Some(Around::Blank)),
            ("+------+----+", Some(Around::Border)),
            ("|---|---|", Some(Around::Border)),
            ("------+------", Some(Around::Border)),
            ("├───────┼──────┤", Some(Around::Border)),
            ("-[ RECORD 1 ]", Some(Around::Border)),
            ("******** 12. row ********", Some(Around::Border)),
            ("(5 rows)", Some(Around::Count)),
            ("2000 rows in set (0.01 sec)", Some(Around::Count)),
            ("[5 rows x 3 columns]", Some(Around::Count)),
            ("sep=;", Some(Around::Separator(b';'))),
            (
                "Defaulted container \"redis\" out of: redis",
                Some(Around::Client),
            ),
            ("+OK\r", Some(Around::Ready)),
            ("--", None),
            ("5", None),
            ("5 rows of beans", None),
            ("user:1", None),
            ("Trying", None),
            ("│ a │ 1 │", None),
        ] {
            assert_eq!(around(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn rows_are_found_where_they_stand() {
        let bytes = b"\xEF\xBB\xBF# by me\r\n\r\nkey,size\r\na,1\r\nb,";
        let lines = Lines::of(Head {
            bytes,
            whole: false,
        });
        assert_eq!(lines.rows, [&b"key,size"[..], b"a,1"]);
        assert_eq!((lines.start, lines.after(lines.rows[0])), (14, 24));
        assert!(lines.has(Around::Comment));
    }
}
