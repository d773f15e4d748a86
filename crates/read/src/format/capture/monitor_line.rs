//! MONITOR lines, as printed by redis-cli or as on the wire.
//!
//! ```text
//! 1795216373.125436 [0 127.0.0.1:58548] "set" "key:2" "v\"1"
//! 1795216373.133424 [0 lua] "get" "key:2"
//! ```
//! MULTI is logged when received, the queued commands at EXEC, with commands of other clients in between. The commands
//! of a script follow the EVAL, EVALSHA or FCALL that ran them.

use crate::format::parse::size::{integer, sixteen_digits};
use crate::format::parse::words::{Word, words};

/// The sender of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sender<'l> {
    /// The client at this address.
    Client(&'l [u8]),
    /// A running script.
    Script,
}

/// A parsed line.
#[derive(Debug, PartialEq)]
pub struct MonitorLine<'l> {
    /// The time of the command, in milliseconds since 1970.
    pub time_ms: u64,
    /// The database number.
    pub database: u64,
    /// The sender of the command.
    pub sender: Sender<'l>,
    /// Its words, unparsed.
    rest: &'l [u8],
}

/// The part of a line before the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    /// The time of the command, in milliseconds since 1970.
    pub time_ms: u64,
    /// The database number.
    pub database: u64,
    /// The length of this part in bytes.
    pub len: usize,
}

impl Start {
    /// Parses the start of `line`; `None` if it has another form.
    #[inline]
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let text = line.strip_prefix(b"+").unwrap_or(line);
        let (time_ms, rest) = match text.first_chunk().and_then(usual_time) {
            Some(time) => (time, &text[USUAL_TIME..]),
            None => time(text)?,
        };
        let (database, rest) = match rest {
            [b' ', b'[', digit @ b'0'..=b'9', b' ', rest @ ..] => (u64::from(digit - b'0'), rest),
            rest => {
                let (database, rest) = digits(rest.strip_prefix(b" [")?)?;
                (number(database)?, rest.strip_prefix(b" ")?)
            }
        };
        Some(Start {
            time_ms,
            database,
            len: line.len() - rest.len(),
        })
    }
}

/// The offset of the record in a line.
pub fn start_inside(line: &[u8]) -> Option<usize> {
    if MonitorLine::parse(line).is_some() {
        return Some(0);
    }
    memchr::memmem::find_iter(line, b" [").find_map(|at| {
        let is_of_time = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        let len = line[..at].iter().rev().take_while(is_of_time).count();
        let from = at - len;
        let is_time =
            len >= 11 && memchr::memchr(b'.', &line[from..at]).is_some_and(|point| point >= 9);
        (is_time && MonitorLine::parse(&line[from..]).is_some()).then_some(from)
    })
}

impl<'l> MonitorLine<'l> {
    /// Parses `line`; `None` if it has another form.
    pub fn parse(line: &'l [u8]) -> Option<Self> {
        let start = Start::parse(line)?;
        let line = &line[start.len..];
        // The path of a Unix socket may contain a bracket.
        let end =
            (memchr::memchr_iter(b']', line)).find(|end| line[*end..].starts_with(b"] \""))?;
        Some(MonitorLine {
            time_ms: start.time_ms,
            database: start.database,
            sender: match &line[..end] {
                b"lua" => Sender::Script,
                address => Sender::Client(address),
            },
            rest: &line[end + 2..],
        })
    }

    /// The words of the command.
    ///
    /// # Errors
    /// A quote is not closed: the line was truncated.
    pub fn words(&self) -> Result<Vec<Word<'l>>, &'static str> {
        words(self.rest)
    }
}

/// Bytes of a time with ten digits, a point and six digits.
const USUAL_TIME: usize = 17;

/// A time of the usual form, in milliseconds: parsing eight digits at once takes three multiplications.
#[inline]
fn usual_time(text: &[u8; USUAL_TIME]) -> Option<u64> {
    let [a, b, c, d, e, f, g, h, tens, ones, b'.', micros @ ..] = *text else {
        return None;
    };
    let high = eight_digits([a, b, c, d, e, f, g, h])?;
    let [i, j, k, l, m, n] = micros;
    let low = eight_digits([tens, ones, i, j, k, l, m, n])?;
    Some((high * 100 + low / 1_000_000) * 1000 + low % 1_000_000 / 1000)
}

/// The value of eight digits.
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    sixteen_digits(u64::from_le_bytes(text).into(), 8)
}

/// A time of any form in milliseconds, and the rest of the text.
fn time(text: &[u8]) -> Option<(u64, &[u8])> {
    let (seconds, rest) = digits(text)?;
    let (fraction, rest) = digits(rest.strip_prefix(b".")?)?;
    let ms = number(seconds)?.checked_mul(1000)? + millis(fraction)?;
    Some((ms, rest))
}

/// The value of digits; `None` if there are none, or more than any server writes.
fn number(digits: &[u8]) -> Option<u64> {
    integer(digits).filter(|number| *number < 1_000_000_000_000)
}

/// Milliseconds from the fraction of a second.
fn millis(fraction: &[u8]) -> Option<u64> {
    let number = number(fraction)?;
    Some(match fraction.len() {
        digits @ ..3 => number * 10u64.pow(3 - digits as u32),
        digits => number / 10u64.pow(digits as u32 - 3),
    })
}

/// The leading digits, and the rest.
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
    Some(text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_sender_and_words() {
        for (line, sender, last) in [
            (
                &br#"1795318593.851227 [0 127.0.0.1:43402] "SET" "x:2" "v\"\x00\n""#[..],
                Sender::Client(b"127.0.0.1:43402"),
                &b"v\"\0\n"[..],
            ),
            (
                br#"+1795318593.851227 [15 [::1]:43402] "get" "a""#,
                Sender::Client(b"[::1]:43402"),
                b"a",
            ),
            (
                br#"1.0 [0 unix:/tmp/a] b] "get" "b""#,
                Sender::Client(b"unix:/tmp/a] b"),
                b"b",
            ),
            (br#"1.0 [0 lua] "INCR" "k2""#, Sender::Script, b"k2"),
        ] {
            let line = MonitorLine::parse(line).unwrap();
            assert_eq!(line.sender, sender);
            assert_eq!(line.words().unwrap().last().unwrap().as_ref(), last);
        }
    }

    #[test]
    fn a_time_of_the_usual_length_is_what_any_other_way_of_reading_says() {
        let all = (0..1 << 14).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for number in all {
            let (seconds, micros) = (number % 10_000_000_000, (number >> 40) % 1_000_000);
            let text = format!("{seconds:010}.{micros:06} ");
            let text = text.as_bytes();
            let expected = time(text).map(|(ms, _)| ms);
            assert_eq!(text.first_chunk().and_then(usual_time), expected);
        }
        let right = *b"1795318593.851227";
        for at in 0..right.len() {
            for byte in [b'/', b':', b' ', b'a', 0xB0, 0xFF] {
                let mut wrong = right;
                wrong[at] = byte;
                assert_eq!(usual_time(&wrong), None, "{}", wrong.escape_ascii());
            }
        }
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            &b"OK"[..],
            b"",
            b"MGET a b",
            b"1795318593 [0 a:1] \"get\"",
            b".1 [0 a:1] \"get\"",
            b"1.0 [x a:1] \"get\"",
            b"1.0 [0 a:1] get",
        ] {
            assert_eq!(MonitorLine::parse(line), None, "{}", line.escape_ascii());
        }
        let cut = MonitorLine::parse(b"1.0 [0 a:1] \"get\" \"a").unwrap();
        assert!(cut.words().is_err());
    }
}
