//! Append-only files, and client streams off the wire: commands as RESP arrays of bulk strings, `#TS:` lines between.
//!
//! A value may have hundreds of megabytes and is of no interest; so of long words only the start is kept, and a command
//! whose key is that long is refused.

use std::io::{self, BufRead, BufReader, Read};

/// What is kept of a word, and of all words of a command.
const KEPT_OF_A_WORD: usize = 1 << 20;
const KEPT: usize = 64 << 20;
/// Words of a command: a server takes no more.
const MAX_WORDS: u64 = 1 << 20;
/// The longest word: what a server can be told to take (proto-max-bulk-len is 512 MB by default).
const MAX_LENGTH: u64 = 1 << 40;
/// The longest line that is no word: `*3`, `$12`, `#TS:1795318593`.
const MAX_LINE: usize = 1024;

/// Reads commands.
pub struct AofReader<R> {
    reader: BufReader<R>,
    offset: u64,
}

/// A command as it was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// Its words, or the first bytes of very long ones.
    pub words: Vec<Vec<u8>>,
    /// The places of the words of which a part is missing, ascending.
    pub cut: Vec<usize>,
    /// The byte at which it starts.
    pub byte: u64,
}

/// Why there is no further command.
#[derive(Debug)]
pub enum Stop {
    /// The input ends inside a command, as after a crash of the server: at this byte the command starts.
    Torn(u64),
    /// Something else is at this byte.
    Bad(u64, &'static str),
    /// Reading failed at this byte.
    Read(u64, io::Error),
}

impl<R: Read> AofReader<R> {
    /// A reader from the first byte on.
    pub fn new(reader: R) -> Self {
        AofReader {
            reader: BufReader::with_capacity(1 << 16, reader),
            offset: 0,
        }
    }

    /// The byte that is read next.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next command; `None` at the end.
    ///
    /// # Errors
    /// There is none, and the reader cannot go on.
    pub fn next_command(&mut self) -> Result<Option<Found>, Stop> {
        let byte = self.offset;
        let Some(head) = self.line(byte)? else {
            return Ok(None);
        };
        match head.first() {
            Some(b'#') => return self.next_after_comment(),
            Some(b'*') => {}
            _ => return Err(Stop::Bad(byte, "neither a command (*N) nor a time (#TS:)")),
        }
        let count = number(&head[1..]).filter(|count| *count <= MAX_WORDS);
        let count = count.ok_or(Stop::Bad(byte, "a number of words that no command has"))?;
        let mut found = Found {
            words: Vec::new(),
            cut: Vec::new(),
            byte,
        };
        let mut room = KEPT;
        for place in 0..count as usize {
            let (word, is_whole) = self.word(byte, room.min(KEPT_OF_A_WORD))?;
            room -= word.len();
            found.words.push(word);
            if !is_whole {
                found.cut.push(place);
            }
        }
        Ok(Some(found))
    }

    /// Comments may follow each other without end, so this is no recursion of one frame each.
    fn next_after_comment(&mut self) -> Result<Option<Found>, Stop> {
        while self.peek()? == Some(b'#') {
            self.line(self.offset)?;
        }
        self.next_command()
    }

    fn peek(&mut self) -> Result<Option<u8>, Stop> {
        let byte = self.offset;
        let buffer = self.reader.fill_buf();
        buffer
            .map(|bytes| bytes.first().copied())
            .map_err(|error| Stop::Read(byte, error))
    }

    /// The next line without its end; `None` at the end of the input. `start` is where its command starts.
    fn line(&mut self, start: u64) -> Result<Option<Vec<u8>>, Stop> {
        let at = self.offset;
        let mut line = Vec::new();
        let most = MAX_LINE as u64;
        let read = self.reader.by_ref().take(most).read_until(b'\n', &mut line);
        self.offset += read.map_err(|error| Stop::Read(at, error))? as u64;
        match line.strip_suffix(b"\n") {
            None if line.is_empty() => Ok(None),
            None if line.len() == MAX_LINE => Err(Stop::Bad(at, "a line that no command has")),
            None => Err(Stop::Torn(start)),
            Some(whole) => Ok(Some(whole.strip_suffix(b"\r").unwrap_or(whole).to_vec())),
        }
    }

    /// The next word of the command that starts at `start`, and whether it is whole.
    fn word(&mut self, start: u64, room: usize) -> Result<(Vec<u8>, bool), Stop> {
        let at = self.offset;
        let head = self.line(start)?.ok_or(Stop::Torn(start))?;
        let length = head.strip_prefix(b"$").and_then(number);
        let Some(length) = length.filter(|length| *length <= MAX_LENGTH) else {
            return Err(Stop::Bad(at, "no word ($length) where one is to be"));
        };
        let mut word = Vec::new();
        let kept = length.min(room as u64);
        self.read_into(&mut word, kept, start)?;
        self.skip(length - kept, start)?;
        let mut end = Vec::new();
        self.read_into(&mut end, 2, start)?;
        match end.as_slice() {
            b"\r\n" => Ok((word, kept == length)),
            _ => Err(Stop::Bad(at, "a word of another length than it says")),
        }
    }

    fn read_into(&mut self, into: &mut Vec<u8>, count: u64, start: u64) -> Result<(), Stop> {
        let at = self.offset;
        let read = self.reader.by_ref().take(count).read_to_end(into);
        self.advance(read.map(|read| read as u64), count, at, start)
    }

    fn skip(&mut self, count: u64, start: u64) -> Result<(), Stop> {
        let at = self.offset;
        let read = io::copy(&mut self.reader.by_ref().take(count), &mut io::sink());
        self.advance(read, count, at, start)
    }

    fn advance(
        &mut self,
        read: io::Result<u64>,
        count: u64,
        at: u64,
        start: u64,
    ) -> Result<(), Stop> {
        let read = read.map_err(|error| Stop::Read(at, error))?;
        self.offset += read;
        if read == count {
            Ok(())
        } else {
            Err(Stop::Torn(start))
        }
    }
}

/// Decimal digits alone.
fn number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    text.parse()
        .ok()
        .filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<Found>, Option<Stop>) {
        let mut reader = AofReader::new(bytes);
        let mut all = Vec::new();
        loop {
            match reader.next_command() {
                Ok(Some(found)) => all.push(found),
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
            let torn_at = GET.len() as u64;
            assert!(
                matches!(stop, Some(Stop::Torn(at)) if at == torn_at),
                "{cut}: {stop:?}"
            );
        }
        for bad in [
            &b"+OK\r\n"[..],
            b"*x\r\n",
            b"*-1\r\n",
            b"*1048577\r\n",
            b"*1\r\n:5\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$1\r\nab\r\n",
            b"*1\r\n$99999999999999\r\n",
        ] {
            let (_, stop) = read(bad);
            assert!(
                matches!(stop, Some(Stop::Bad(..))),
                "{}: {stop:?}",
                bad.escape_ascii()
            );
        }
        let endless = b"*".repeat(1 << 20);
        assert!(matches!(read(&endless).1, Some(Stop::Bad(..))));
    }

    #[test]
    fn of_a_long_word_the_start_is_kept() {
        let long = vec![b'x'; KEPT_OF_A_WORD + 7];
        let head = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${}\r\n", long.len());
        let (found, stop) = read(&[head.as_bytes(), &long, b"\r\n", GET].concat());
        assert!(stop.is_none() && found.len() == 2);
        assert_eq!(
            (found[0].words[2].len(), &found[0].cut),
            (KEPT_OF_A_WORD, &vec![2])
        );
    }
}
