//! The protocol of the server, RESP2: commands out, replies in. A reply is read only as far as its limits: what a server
//! claims is never believed before it has come.

use std::fmt;
use std::io::{self, BufRead, Read};

use crate::name::Name;

/// The longest reply, in bytes.
pub const MAX_BYTES: usize = 64 << 20;
/// The most values in a reply.
const MAX_VALUES: usize = 1 << 20;
/// How deep arrays may be in arrays.
const MAX_DEPTH: usize = 8;
/// The longest line: an error, a number.
const MAX_LINE: usize = 64 << 10;

/// What a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A string, whether in one line or counted.
    Text(Vec<u8>),
    /// What a server says when it refuses.
    Error(String),
    /// A number.
    Int(i64),
    /// Nothing.
    Nil,
    /// Several values.
    Array(Vec<Reply>),
}

impl Reply {
    /// The bytes of a text.
    pub fn into_text(self) -> Option<Vec<u8>> {
        match self {
            Reply::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number, also one that is spelled as a text.
    pub fn number(&self) -> Option<u64> {
        match self {
            Reply::Int(number) => u64::try_from(*number).ok(),
            Reply::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        }
    }
}

/// Commands on their way out, one after the other.
#[derive(Debug, Default)]
pub struct Commands {
    bytes: Vec<u8>,
    names: Vec<&'static str>,
}

impl Commands {
    /// Adds a command; `name` is what messages call it.
    pub fn add(&mut self, name: &'static str, words: &[&[u8]]) {
        header(&mut self.bytes, b'*', words.len());
        for word in words {
            header(&mut self.bytes, b'$', word.len());
            self.bytes.extend_from_slice(word);
            self.bytes.extend_from_slice(b"\r\n");
        }
        self.names.push(name);
    }

    /// What is sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the commands are called, in order.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }
}

fn header(out: &mut Vec<u8>, sign: u8, len: usize) {
    out.push(sign);
    out.extend_from_slice(len.to_string().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Reads one reply.
///
/// # Errors
/// `InvalidData` where it is none or too large, and what `from` says.
pub fn read(from: &mut impl BufRead) -> io::Result<Reply> {
    Budget {
        bytes: MAX_BYTES,
        values: MAX_VALUES,
    }
    .read(from, 0)
}

/// What a reply may still take.
struct Budget {
    bytes: usize,
    values: usize,
}

impl Budget {
    fn read(&mut self, from: &mut impl BufRead, depth: usize) -> io::Result<Reply> {
        self.values = self.values.checked_sub(1).ok_or_else(too_large)?;
        let line = self.line(from)?;
        let (kind, rest) = line.split_first().ok_or_else(|| not_resp(&line))?;
        match kind {
            b'+' => Ok(Reply::Text(rest.to_vec())),
            b'-' => Ok(Reply::Error(String::from_utf8_lossy(rest).into_owned())),
            b':' => number(rest).map(Reply::Int).ok_or_else(|| not_resp(&line)),
            b'$' => match number(rest).ok_or_else(|| not_resp(&line))? {
                -1 => Ok(Reply::Nil),
                len => self.text(from, len),
            },
            b'*' => match number(rest).ok_or_else(|| not_resp(&line))? {
                -1 => Ok(Reply::Nil),
                _ if depth == MAX_DEPTH => Err(too_large()),
                len => self.array(from, len, depth),
            },
            _ => Err(not_resp(&line)),
        }
    }

    fn text(&mut self, from: &mut impl BufRead, len: i64) -> io::Result<Reply> {
        let len = self.take(len)?;
        let mut text = Vec::new();
        from.by_ref().take(len as u64).read_to_end(&mut text)?;
        let mut end = [0; 2];
        from.read_exact(&mut end)?;
        match end == *b"\r\n" && text.len() == len {
            true => Ok(Reply::Text(text)),
            false => Err(not_resp(&end)),
        }
    }

    fn array(&mut self, from: &mut impl BufRead, len: i64, depth: usize) -> io::Result<Reply> {
        let len = usize::try_from(len).map_err(|_| too_large())?;
        if len > self.values {
            return Err(too_large());
        }
        let values = (0..len).map(|_| self.read(from, depth + 1));
        values.collect::<io::Result<Vec<_>>>().map(Reply::Array)
    }

    /// A line without its end.
    fn line(&mut self, from: &mut impl BufRead) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        from.by_ref()
            .take(MAX_LINE as u64)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.take(line.len() as i64)?;
        match line.strip_suffix(b"\r\n") {
            Some(text) => Ok(text.to_vec()),
            None if line.len() < MAX_LINE && !line.ends_with(b"\n") => {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            None => Err(not_resp(&line)),
        }
    }

    fn take(&mut self, bytes: i64) -> io::Result<usize> {
        let bytes = usize::try_from(bytes).map_err(|_| too_large())?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(bytes)
    }
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn too_large() -> io::Error {
    let what = format!(
        "a reply of more than {} MiB or {MAX_VALUES} values; a smaller --count makes those of SCAN smaller",
        MAX_BYTES >> 20
    );
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn not_resp(line: &[u8]) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, NoReply(line.to_vec()))
}

/// A line that is no reply.
#[derive(Debug)]
pub struct NoReply(pub Vec<u8>);

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = Name::from(self.0.as_slice()).short(40);
        write!(
            f,
            "no answer of a Redis or Valkey server, it begins \"{start}\""
        )
    }
}

impl std::error::Error for NoReply {}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(bytes: &[u8]) -> io::Result<Reply> {
        read(&mut io::BufReader::with_capacity(16, bytes))
    }

    #[test]
    fn replies_are_read_as_the_protocol_has_them() {
        let text = |text: &str| Reply::Text(text.as_bytes().to_vec());
        for (bytes, expected) in [
            (&b"+OK\r\n"[..], text("OK")),
            (b"$0\r\n\r\n", text("")),
            (b"$4\r\na\r\nb\r\n", text("a\r\nb")),
            (b"$-1\r\n", Reply::Nil),
            (b"*-1\r\n", Reply::Nil),
            (b":-2\r\n", Reply::Int(-2)),
            (b"-ERR x\r\n", Reply::Error("ERR x".into())),
            (
                b"*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n",
                Reply::Array(vec![text("0"), Reply::Array(vec![text("k")])]),
            ),
        ] {
            assert_eq!(reply(bytes).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_reply_or_too_large_ends_before_it_is_stored() {
        let deep = b"*1\r\n".repeat(100);
        for bytes in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"$99999999999\r\n",
            b"$-7\r\n",
            b"*99999999\r\n",
            b"*-9\r\n",
            b":1x\r\n",
            b"\r\n",
            b"$1\r\nabc\r\n",
            &deep,
            &[b'+'; MAX_LINE + 9],
        ] {
            let kind = reply(bytes).unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::InvalidData, "{}", bytes.escape_ascii());
        }
        for cut in [&b""[..], b"$5\r\nab", b"*2\r\n:1\r\n", b":1"] {
            let kind = reply(cut).unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn a_command_is_an_array_of_counted_words() {
        let mut commands = Commands::default();
        commands.add("TYPE", &[b"TYPE", b"a\r\n"]);
        assert_eq!(commands.bytes(), b"*2\r\n$4\r\nTYPE\r\n$3\r\na\r\n\r\n");
        assert_eq!(commands.names(), ["TYPE"]);
    }
}
