//! RESP2: sends commands, reads replies. Replies are read within limits: lengths claimed by a server are not trusted
//! before the bytes have arrived.

use std::fmt;
use std::io::{self, BufRead, Read};

use slotscope_base::name::Name;
use slotscope_base::text;
use slotscope_read::format::slot_stats::MAX_COUNT;

use crate::large_replies::MAX_BYTES;

/// Maximum length of a line, such as an error or number.
const MAX_LINE: usize = 64 << 10;
/// The memory that a value takes beside its bytes, with that of an allocation: `:1` is four bytes on the way.
const OF_VALUE: usize = size_of::<Reply>() + 32;
/// Exchanges up to this size need no reservation: more than a SCAN page and the replies about its keys.
const SMALL: Limit = Limit {
    bytes: 768 << 10,
    values: 8 << 10,
    depth: 0,
};

/// Maximum size of a reply.
#[derive(Debug, Clone, Copy)]
struct Limit {
    /// In memory: its bytes, and those of each value.
    bytes: usize,
    values: usize,
    /// Arrays inside of each other.
    depth: usize,
}

impl Limit {
    /// A generous bound on an honest server's reply to a command.
    fn of(name: &str) -> Limit {
        let (bytes, values, depth) = match name {
            // Keys can be long, and a shrinking table returns many of them at once.
            "SCAN" | "CLUSTER GETKEYSINSLOT" => (2 * MAX_BYTES, 1 << 20, 2),
            // Rows of 16,384 slots, or of 10,000 nodes.
            "CLUSTER SLOT-STATS" => (32 << 20, 1 << 19, 3),
            "CLUSTER SHARDS" | "CLUSTER SLOTS" | "SENTINEL MASTERS" => (32 << 20, 1 << 19, 5),
            // One line of 100 bytes for each of 65,536 databases, or 10,000 nodes with 16,384 slot ranges.
            "INFO" | "CLUSTER NODES" => (8 << 20, 1, 1),
            // A few keys, and the tracked slot ranges.
            "HOTKEYS GET" => (12 << 20, 1 << 16, 6),
            // 128 entries of 32 words with 128 bytes each.
            "SLOWLOG GET" | "COMMANDLOG GET" => (3 << 20, 8 << 10, 3),
            "CLUSTER INFO" => (64 << 10, 1, 1),
            // A word, a number or an error.
            _ => (4 << 10, 1, 1),
        };
        Limit {
            bytes,
            values,
            depth,
        }
    }

    /// The remaining limit after this much; `None` if exceeded.
    fn less(self, bytes: usize, values: usize) -> Option<Limit> {
        Some(Limit {
            bytes: self.bytes.checked_sub(bytes)?,
            values: self.values.checked_sub(values)?,
            ..self
        })
    }
}

/// A server reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A simple or bulk string.
    Text(Vec<u8>),
    /// An error message.
    Error(String),
    /// A number.
    Int(i64),
    /// Nil.
    Nil,
    /// Several values.
    Array(Vec<Reply>),
}

impl Reply {
    /// The bytes of a text.
    pub(crate) fn into_text(self) -> Option<Vec<u8>> {
        match self {
            Reply::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of an array.
    pub(crate) fn into_texts(self) -> Option<Vec<Vec<u8>>> {
        match self {
            Reply::Array(items) => items.into_iter().map(Reply::into_text).collect(),
            _ => None,
        }
    }

    /// The same of a reply that is kept.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        match self {
            Reply::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of `name` in a map, which RESP2 represents as a flat list.
    pub(crate) fn field(&self, name: &str) -> Option<&Reply> {
        let mut pairs = self.items()?.chunks_exact(2);
        let pair = pairs.find(|pair| pair[0].text() == Some(name.as_bytes()));
        pair.map(|pair| &pair[1])
    }

    /// The values of an array.
    pub(crate) fn items(&self) -> Option<&[Reply]> {
        match self {
            Reply::Array(items) => Some(items),
            _ => None,
        }
    }

    /// A key count; `None` if implausibly large.
    pub(crate) fn count(&self) -> Option<u64> {
        self.number().filter(|count| *count <= MAX_COUNT)
    }

    /// A number, possibly spelled as text.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Reply::Int(number) => u64::try_from(*number).ok(),
            Reply::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        }
    }
}

/// Commands to be sent as a pipeline.
#[derive(Debug, Default)]
pub struct Commands {
    bytes: Vec<u8>,
    names: Vec<&'static str>,
}

impl Commands {
    /// Adds a command; `name` is its name in messages.
    pub(crate) fn add(&mut self, name: &'static str, words: &[&[u8]]) {
        header(&mut self.bytes, b'*', words.len());
        for word in words {
            header(&mut self.bytes, b'$', word.len());
            self.bytes.extend_from_slice(word);
            self.bytes.extend_from_slice(b"\r\n");
        }
        self.names.push(name);
    }

    /// The bytes to send.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The names of the commands, in order.
    pub(crate) fn names(&self) -> &[&'static str] {
        &self.names
    }
}

fn header(out: &mut Vec<u8>, sign: u8, len: usize) {
    out.push(sign);
    out.extend_from_slice(len.to_string().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Reads the reply to each command within that command's limit. If replies are large in total, calls `on_large` once
/// with an upper bound on their bytes before reading more.
///
/// # Errors
/// `InvalidData` if a reply is invalid or too large; errors of `from` and `on_large`.
pub(crate) fn read_all<R: BufRead>(
    from: &mut R,
    names: &[&'static str],
    on_large: &mut dyn FnMut(&mut R, usize) -> io::Result<()>,
) -> io::Result<Vec<Reply>> {
    let limits = names.iter().map(|name| Limit::of(name).bytes);
    let mut reading = Reading {
        from,
        name: "",
        left: SMALL,
        small: Some(SMALL),
        most: limits.sum(),
        on_large,
    };
    names.iter().map(|name| reading.reply(name)).collect()
}

/// The replies of an exchange being read.
struct Reading<'a, R> {
    from: &'a mut R,
    /// The command being answered, and the remaining limit of its reply.
    name: &'static str,
    left: Limit,
    /// The amount that all replies may still take before they count as large.
    small: Option<Limit>,
    /// Upper bound on the bytes of all replies.
    most: usize,
    on_large: &'a mut dyn FnMut(&mut R, usize) -> io::Result<()>,
}

impl<R: BufRead> Reading<'_, R> {
    fn reply(&mut self, name: &'static str) -> io::Result<Reply> {
        (self.name, self.left) = (name, Limit::of(name));
        self.value(0)
    }

    fn value(&mut self, depth: usize) -> io::Result<Reply> {
        self.take(OF_VALUE, 1)?;
        let line = self.line()?;
        let (kind, rest) = line.split_first().ok_or_else(|| not_resp(&line))?;
        match kind {
            b'+' => Ok(Reply::Text(rest.to_vec())),
            b'-' => Ok(Reply::Error(String::from_utf8_lossy(rest).into_owned())),
            b':' => number(rest).map(Reply::Int).ok_or_else(|| not_resp(&line)),
            b'$' => match number(rest).ok_or_else(|| not_resp(&line))? {
                -1 => Ok(Reply::Nil),
                len => self.text(len),
            },
            b'*' => match number(rest).ok_or_else(|| not_resp(&line))? {
                -1 => Ok(Reply::Nil),
                _ if depth == self.left.depth => Err(self.too_large()),
                len => self.array(len, depth),
            },
            _ => Err(not_resp(&line)),
        }
    }

    fn text(&mut self, len: i64) -> io::Result<Reply> {
        let len = usize::try_from(len).map_err(|_| self.too_large())?;
        self.take(len, 0)?;
        let mut text = Vec::with_capacity(len.min(MAX_LINE));
        self.from.by_ref().take(len as u64).read_to_end(&mut text)?;
        let mut end = [0; 2];
        self.from.read_exact(&mut end)?;
        if end == *b"\r\n" && text.len() == len {
            Ok(Reply::Text(text))
        } else {
            Err(not_resp(&end))
        }
    }

    fn array(&mut self, len: i64, depth: usize) -> io::Result<Reply> {
        let len = usize::try_from(len).map_err(|_| self.too_large())?;
        if len > self.left.values {
            return Err(self.too_large());
        }
        // A server may claim more values than it sends.
        let mut values = Vec::with_capacity(len.min(16));
        for _ in 0..len {
            values.push(self.value(depth + 1)?);
        }
        Ok(Reply::Array(values))
    }

    /// A line without its end.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        let most = MAX_LINE.min(self.left.bytes);
        let mut line = Vec::new();
        self.from
            .by_ref()
            .take(most as u64)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.strip_suffix(b"\r\n") {
            Some(text) => {
                let text = text.to_vec();
                self.take(line.len(), 0)?;
                Ok(text)
            }
            None if line.ends_with(b"\n") || !is_start(&line) => Err(not_resp(&line)),
            None if line.len() < most => Err(io::ErrorKind::UnexpectedEof.into()),
            None => Err(self.too_large()),
        }
    }

    /// Counts bytes and values against the limits.
    fn take(&mut self, bytes: usize, values: usize) -> io::Result<()> {
        let left = self.left.less(bytes, values);
        self.left = left.ok_or_else(|| self.too_large())?;
        if let Some(small) = self.small {
            self.small = small.less(bytes, values);
            if self.small.is_none() {
                (self.on_large)(self.from, self.most)?;
            }
        }
        Ok(())
    }

    fn too_large(&self) -> io::Error {
        let limit = Limit::of(self.name);
        let smaller = match self.name {
            "SCAN" => "; a smaller --count makes pages smaller",
            _ => "",
        };
        let message = format!(
            "the reply to {} has more than {}, {} or {}, which no server sends{smaller}",
            self.name,
            match limit.bytes >> 20 {
                0 => format!("{} KiB", limit.bytes >> 10),
                mib => format!("{mib} MiB"),
            },
            text::counted(limit.values as u64, "value"),
            text::counted(limit.depth as u64, "level")
        );
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

/// Whether a reply can start like this.
fn is_start(line: &[u8]) -> bool {
    line.first().is_none_or(|kind| b"+-:$*".contains(kind))
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn not_resp(line: &[u8]) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, NoReply(line.to_vec()))
}

/// A line that is not a reply.
#[derive(Debug)]
pub(crate) struct NoReply(pub Vec<u8>);

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

    /// The replies to these commands, and how often they counted as large.
    fn replies(names: &[&'static str], bytes: &[u8]) -> (io::Result<Vec<Reply>>, usize) {
        let (mut large, mut from) = (0, io::BufReader::with_capacity(16, bytes));
        let replies = read_all(&mut from, names, &mut |_, _| {
            large += 1;
            Ok(())
        });
        (replies, large)
    }

    fn reply(bytes: &[u8]) -> io::Result<Reply> {
        Ok(replies(&["SCAN"], bytes).0?.remove(0))
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
            &[b'x'; MAX_LINE + 9],
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
    fn each_reply_has_the_limit_of_its_command() {
        let text = |len: usize| [format!("${len}\r\n").into_bytes(), vec![b'x'; len]].concat();
        let whole = |len: usize| [text(len), b"\r\n".to_vec()].concat();
        for (name, fits, too_long) in [
            ("TYPE", 4000, 4096),
            ("CLUSTER INFO", 65_000, 65_536),
            ("INFO", 8_000_000, 8 << 20),
        ] {
            let both = |second: usize| [whole(fits), whole(second)].concat();
            assert!(replies(&[name; 2], &both(fits)).0.is_ok(), "{name}");
            // Only as much as it claims has arrived.
            let claims = [whole(fits), text(too_long)[..10].to_vec()].concat();
            for bytes in [both(too_long), claims] {
                let error = replies(&[name; 2], &bytes).0.unwrap_err().to_string();
                let said = format!("the reply to {name} has more than");
                assert!(error.starts_with(&said), "{error}");
            }
        }
        for bytes in [&b"*2\r\n:1\r\n:2\r\n"[..], &[b'+'; 5000]] {
            let error = replies(&["TYPE"], bytes).0.unwrap_err().to_string();
            assert!(error.contains("4 KiB, 1 value or 1 level"), "{error}");
        }
    }

    #[test]
    fn values_count_with_the_memory_that_they_take() {
        let array = |len: usize| format!("*{len}\r\n").into_bytes();
        let rows = |metrics: &[u8]| {
            let row = [b"*2\r\n:7\r\n", metrics].concat();
            [array(16_384), row.repeat(16_384)].concat()
        };
        let stats = |metrics: usize| {
            let pair = b"$16\r\nnetwork-bytes-in\r\n:9223372036854775807\r\n";
            [array(2 * metrics), pair.repeat(metrics)].concat()
        };
        let read = |bytes: &[u8]| replies(&["CLUSTER SLOT-STATS"], bytes).0;
        assert!(read(&rows(&stats(6))).is_ok());
        // Fewer values than may be, and more memory.
        let many = [array(28), b":1\r\n".repeat(28)].concat();
        for wrong in [rows(&many), rows(b"*1\r\n*1\r\n:1\r\n")] {
            let error = read(&wrong).unwrap_err().to_string();
            assert!(
                error.contains("32 MiB, 524,288 values or 3 levels"),
                "{error}"
            );
        }
    }

    #[test]
    fn replies_that_are_large_together_are_found_to_be_so_once() {
        let one = b"$3000\r\n".iter().chain(&[b'x'; 3000]).chain(b"\r\n");
        let one: Vec<u8> = one.copied().collect();
        for (number, large) in [(240, 0), (270, 1)] {
            let (read, found) = replies(&vec!["TYPE"; number], &one.repeat(number));
            assert_eq!((read.unwrap().len(), found), (number, large));
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
