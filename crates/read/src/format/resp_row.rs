//! Parses one RESP row: its kind and length.

use std::ops::Range;

use crate::format::redis_cli::cursor;

/// Longer keys are rejected, as longer lines are.
const LONGEST: u64 = 64 << 20;

/// The reason for rejecting a longer text.
pub(super) const LONG: &str = "a length that no key has";

/// A header with more than a sign, twenty digits and a line end is malformed.
const HEADER: usize = 32;

/// The row at a position.
#[derive(Debug, PartialEq)]
pub(super) enum Row {
    /// The cursor of SCAN, including the header of its array with this many keys.
    Page(i64),
    /// The header of an array with this many elements.
    Array(i64),
    /// A text, and its position.
    Bulk(Range<usize>),
    /// A nil instead of a text.
    Nil,
    /// An error.
    Error,
    /// A status such as OK, the reply to a command without keys.
    Status,
    /// Not a row, for this reason.
    Wrong(&'static str),
}

/// The row at the start of `bytes`, and its end; `None` if it is incomplete.
pub(super) fn row(bytes: &[u8]) -> Option<(Row, usize)> {
    let line = memchr::memchr(b'\n', bytes).map(|end| end + 1);
    let wrong = |why| line.map(|end| (Row::Wrong(why), end));
    match bytes.first()? {
        b'*' | b'~' => match number(bytes) {
            Number::Short => None,
            Number::None => wrong("not the length of an array"),
            Number::Of(length, end) if (0..=i64::from(u32::MAX)).contains(&length) => {
                if length == 2 && end == 4 {
                    return page(bytes);
                }
                Some((Row::Array(length), end))
            }
            Number::Of(..) => wrong("a length that no reply has"),
        },
        b'$' => match number(bytes) {
            Number::Short => None,
            Number::None => wrong("not the length of a text"),
            Number::Of(-1, end) => Some((Row::Nil, end)),
            Number::Of(length, end) => match u64::try_from(length) {
                Ok(length) if length <= LONGEST => {
                    let text = end..end + length as usize;
                    let behind = bytes.get(text.end..).unwrap_or_default();
                    match behind {
                        [b'\r', b'\n', ..] => Some((Row::Bulk(text.clone()), text.end + 2)),
                        [] | [b'\r'] => None,
                        _ => Some((
                            Row::Wrong("a length that leads elsewhere than to a line end"),
                            end,
                        )),
                    }
                }
                _ => wrong(LONG),
            },
        },
        b'_' => line.map(|end| (Row::Nil, end)),
        b'-' => line.map(|end| (Row::Error, end)),
        b'+' => line.map(|end| (Row::Status, end)),
        _ => wrong("neither a text nor an array of them"),
    }
}

/// The two-element array at the start of `bytes`: a SCAN page if it has a cursor and an array.
fn page(bytes: &[u8]) -> Option<(Row, usize)> {
    let array = Some((Row::Array(2), 4));
    let cursor = &bytes[4..];
    let Number::Of(length @ 1..=cursor::LONGEST, header) = number(cursor) else {
        return if cursor.is_empty() || matches!(number(cursor), Number::Short) {
            None
        } else {
            array
        };
    };
    let text = &cursor[header.min(cursor.len())..];
    if cursor[0] != b'$' {
        return array;
    }
    let (text, behind) = text.split_at_checked(length as usize)?;
    if !cursor::is_cursor(text) {
        return array;
    }
    match behind.strip_prefix(b"\r\n") {
        Some([]) => None,
        Some(keys @ [b'*' | b'~', ..]) => match number(keys) {
            Number::Short => None,
            Number::Of(length, end) if (0..=i64::from(u32::MAX)).contains(&length) => {
                Some((Row::Page(length), bytes.len() - keys.len() + end))
            }
            _ => array,
        },
        Some(_) => array,
        None if b"\r\n".starts_with(behind) => None,
        None => array,
    }
}

/// The number between the first byte and the line end.
enum Number {
    /// This number, and the start of the next line.
    Of(i64, usize),
    /// Not a number.
    None,
    /// The bytes end before the line does.
    Short,
}

fn number(bytes: &[u8]) -> Number {
    let head = &bytes[..bytes.len().min(HEADER)];
    match memchr::memchr(b'\n', head) {
        None if head.len() < HEADER => Number::Short,
        None => Number::None,
        Some(end) => {
            let digits = head[1.min(end)..end].strip_suffix(b"\r");
            let number = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
            number.map_or(Number::None, |number| Number::Of(number, end + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_found_before_it_is_all_there_and_none_changes_behind_that() {
        for rows in [
            &b"*3\r\n$1\r\na\r\n$-1\r\n*2\r\n$2\r\n17\r\n*1\r\n$5\r\nab\r\nc\r\n"[..],
            b"*2\r\n$2\r\n17\r\n$1\r\na\r\n-ERR x\r\n+OK\r\n_\r\n$9\r\nx\r\n*2\r\n*1\r\n",
            b"*2\r\n$20\r\n18446744073709551615\r\n~1\r\n$1\r\na\r\n",
        ] {
            let mut at = 0;
            while let Some((found, len)) = row(&rows[at..]) {
                for short in 0..rows.len() - at {
                    let early = row(&rows[at..at + short]);
                    assert!(
                        early.is_none() || early == Some((row(&rows[at..]).unwrap().0, len)),
                        "{found:?} in {short}"
                    );
                }
                at += len;
            }
        }
    }
}
