//! MONITOR: a line for each command that a server ran, as redis-cli prints it or as it is on the wire.
//!
//! ```text
//! 1795216373.125436 [0 127.0.0.1:58548] "set" "key:2" "v\"1"
//! 1795216373.133424 [0 lua] "get" "key:2"
//! ```
//! MULTI is shown when it comes, the queued commands at EXEC: commands of other clients come in between. The commands of
//! a script follow the EVAL, EVALSHA or FCALL that ran them.

use crate::format::parse::words::words;

/// Who sent a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sender<'l> {
    /// The client at this address.
    Client(&'l [u8]),
    /// The script that runs.
    Script,
}

/// A line taken apart.
#[derive(Debug, PartialEq)]
pub struct MonitorLine<'l> {
    /// When it ran, in milliseconds since 1970.
    pub time_ms: u64,
    /// The number of its database.
    pub database: u64,
    /// Who sent the command.
    pub sender: Sender<'l>,
    /// Its words, as text.
    rest: &'l [u8],
}

impl<'l> MonitorLine<'l> {
    /// Takes `line` apart; `None` where it is of another form.
    pub fn parse(line: &'l [u8]) -> Option<Self> {
        let line = line.strip_prefix(b"+").unwrap_or(line);
        let (seconds, line) = digits(line)?;
        let (fraction, line) = digits(line.strip_prefix(b".")?)?;
        let (database, line) = digits(line.strip_prefix(b" [")?)?;
        let line = line.strip_prefix(b" ")?;
        // The path of a Unix socket may hold a bracket.
        let end =
            (memchr::memchr_iter(b']', line)).find(|end| line[*end..].starts_with(b"] \""))?;
        Some(MonitorLine {
            time_ms: number(seconds)?.checked_mul(1000)? + millis(fraction)?,
            database: number(database)?,
            sender: match &line[..end] {
                b"lua" => Sender::Script,
                address => Sender::Client(address),
            },
            rest: &line[end + 2..],
        })
    }

    /// Where in `line`, which this was parsed from, the words start.
    pub fn rest_from(&self, line: &[u8]) -> usize {
        self.rest.as_ptr() as usize - line.as_ptr() as usize
    }

    /// The words of the command.
    ///
    /// # Errors
    /// A quote that is not closed: the line was cut.
    pub fn words(&self) -> Result<Vec<Vec<u8>>, &'static str> {
        words(self.rest)
    }
}

/// The number that digits are; `None` where there are none, or more than any server writes.
fn number(digits: &[u8]) -> Option<u64> {
    let is_one = (1..=12).contains(&digits.len());
    is_one.then(|| {
        digits
            .iter()
            .fold(0, |number, digit| 10 * number + u64::from(digit - b'0'))
    })
}

/// The milliseconds in a fraction of a second.
fn millis(fraction: &[u8]) -> Option<u64> {
    let number = number(fraction)?;
    Some(match fraction.len() {
        digits @ ..3 => number * 10u64.pow(3 - digits as u32),
        digits => number / 10u64.pow(digits as u32 - 3),
    })
}

/// The digits at the start, and what follows.
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
            assert_eq!(line.words().unwrap().last().unwrap(), last);
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
