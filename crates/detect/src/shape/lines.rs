//! The first lines of an input: rows, and what tools print around them.

use slotscope_read::format::Head;
use slotscope_read::format::around::{Around, around, is_comment};
use slotscope_read::format::table::unmarked;

/// Bytes and lines examined.
pub(super) const LOOKED_AT: usize = 64 << 10;
const LINES: usize = 800;
/// Maximum comments before a table.
const COMMENTS: usize = 20;

/// The first lines of an input.
pub(super) struct Lines<'a> {
    /// The part examined, without a byte order mark.
    pub head: &'a [u8],
    /// Whether this is the whole input.
    pub is_whole: bool,
    /// Bytes of the byte order mark.
    pub mark: usize,
    /// The rows, without their line ends.
    pub rows: Vec<&'a [u8]>,
    /// The offset of the first row.
    pub start: usize,
    /// The lines around the rows.
    pub around: Vec<Around>,
}

impl<'a> Lines<'a> {
    /// The lines of `head`; an incomplete last line is dropped.
    pub(super) fn of(head: Head<'a>) -> Lines<'a> {
        let text = unmarked(head.bytes);
        let mark = head.bytes.len() - text.len();
        let looked_at = &text[..text.len().min(LOOKED_AT)];
        let is_whole = head.whole && looked_at.len() == text.len();
        let mut pieces: Vec<&[u8]> = looked_at.split(|byte| *byte == b'\n').collect();
        let last = pieces.pop().unwrap_or_default();
        if is_whole && !last.is_empty() || pieces.is_empty() {
            pieces.push(last);
        }
        let crlf = pieces.first().is_some_and(|line| line.ends_with(b"\r"));
        let mut lines = Lines {
            head: looked_at,
            is_whole,
            mark,
            rows: Vec::new(),
            start: 0,
            around: Vec::new(),
        };
        let has_comments = pieces.first().is_some_and(|line| is_comment(line));
        let mut comments = 0;
        for line in pieces {
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

    /// The offset of a row in the input.
    pub(super) fn at(&self, row: &[u8]) -> usize {
        self.mark + row.as_ptr() as usize - self.head.as_ptr() as usize
    }

    /// The offset of the line after a row.
    pub(super) fn after(&self, row: &[u8]) -> usize {
        let from = self.at(row) - self.mark;
        let end = memchr::memchr(b'\n', &self.head[from..]);
        self.mark + end.map_or(self.head.len(), |end| from + end + 1)
    }

    /// Whether the next line is a border inside a box.
    pub(super) fn is_above_border(&self, row: &[u8]) -> bool {
        self.head[self.after(row) - self.mark..].starts_with("├".as_bytes())
    }

    /// The separator that the input declares for Excel (`sep=`).
    pub(super) fn separator(&self) -> Option<u8> {
        self.around.iter().find_map(|around| match around {
            Around::Separator(byte) => Some(*byte),
            _ => None,
        })
    }

    /// Whether the input has such a line.
    pub(super) fn has(&self, wanted: Around) -> bool {
        self.around.contains(&wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
