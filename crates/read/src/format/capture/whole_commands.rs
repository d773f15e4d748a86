//! The commands of an append-only file or client stream, with all their words.

use slotscope_base::error::reason;

use crate::format::capture::command_reader::{CommandReader, Next};
use crate::format::frame::fault::{Fault, Read};
use crate::format::parse::words::Word;
use crate::source::forward::Forward;

/// Commands with their words.
pub struct WholeCommands(CommandReader);

/// A command as found in the input.
#[derive(Debug, PartialEq, Eq)]
pub struct WholeCommand<'r> {
    /// Its words, or the first bytes of very long ones.
    pub words: Vec<Word<'r>>,
    /// Indices of truncated words, ascending.
    pub cut: Vec<usize>,
    /// Its byte offset.
    pub byte: u64,
}

/// Why there are no more commands.
#[derive(Debug)]
pub enum Stop {
    /// The input ends inside a command, as after a server crash.
    Torn,
    /// Something other than a command is at this byte, or it cannot be read; for display.
    Bad(u64, String),
}

impl WholeCommands {
    /// Commands of an input.
    pub fn new(input: Forward) -> Self {
        WholeCommands(CommandReader::new(input))
    }

    /// The offset of the next byte to read.
    pub fn offset(&self) -> u64 {
        self.0.offset()
    }

    /// The next command; `None` at the end.
    ///
    /// # Errors
    /// The input ended early or has no command here; the reader cannot continue.
    pub fn next_command(&mut self) -> Result<Option<WholeCommand<'_>>, Stop> {
        let start = self.read().map_err(|fault| match fault {
            Fault::CutOff => Stop::Torn,
            Fault::Unreadable(error) => Stop::Bad(self.offset(), reason(&error)),
            Fault::Wrong(offset, reason) => Stop::Bad(offset, reason),
        })?;
        Ok(start.map(|byte| WholeCommand {
            words: self.0.words().map(Word::Borrowed).collect(),
            cut: self.0.cut().to_vec(),
            byte,
        }))
    }

    /// Reads the words of the next command; returns its byte offset.
    fn read(&mut self) -> Read<Option<u64>> {
        loop {
            let byte = self.offset();
            match self.0.next()? {
                Next::End => return Ok(None),
                Next::Comment(_) => {}
                Next::Command(count) => {
                    for _ in 0..count {
                        self.0.word()?;
                    }
                    return Ok(Some(byte));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<WholeCommand<'static>>, Option<Stop>) {
        let input = Forward::stream(Box::new(std::io::Cursor::new(bytes.to_vec())));
        let mut reader = WholeCommands::new(input);
        let mut all = Vec::new();
        loop {
            match reader.next_command() {
                Ok(Some(found)) => {
                    let words = found
                        .words
                        .into_iter()
                        .map(|word| Word::Owned(word.into_owned()));
                    let words = words.collect();
                    all.push(WholeCommand { words, ..found })
                }
                Ok(None) => return (all, None),
                Err(stop) => return (all, Some(stop)),
            }
        }
    }

    const GET: &[u8] = b"*2\r\n$3\r\nGET\r\n$2\r\n\r\n\r\n";

    #[test]
    fn commands_follow_each_other_with_times_between() {
        let times = b"#TS:1795318593\r\n".repeat(100_000);
        let bytes = [&times[..], GET, b"#TS:2\r\n", GET, b"*0\r\n"].concat();
        let (found, stop) = read(&bytes);
        assert!(stop.is_none());
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].words, [&b"GET"[..], b"\r\n"]);
        assert_eq!(found[1].byte, (bytes.len() - 4 - GET.len()) as u64);
    }

    #[test]
    fn an_end_inside_a_command_is_torn_and_anything_else_is_bad() {
        for cut in 1..GET.len() {
            let (found, stop) = read(&[GET, &GET[..cut]].concat());
            assert_eq!(found.len(), 1);
            assert!(matches!(stop, Some(Stop::Torn)), "{cut}: {stop:?}");
        }
        let long = b"*1\r\n$12345\r\n".to_vec();
        let (_, stop) = read(&[long, vec![b'x'; 12_347]].concat());
        assert!(matches!(stop, Some(Stop::Bad(12_357, _))), "{stop:?}");
    }

    #[test]
    fn of_a_long_word_the_start_is_kept() {
        let long = vec![b'x'; (1 << 20) + 7];
        let head = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${}\r\n", long.len());
        let (found, stop) = read(&[head.as_bytes(), &long, b"\r\n", GET].concat());
        assert!(stop.is_none() && found.len() == 2);
        assert_eq!(
            (found[0].words[2].len(), &found[0].cut),
            (1 << 20, &vec![2])
        );
    }
}
