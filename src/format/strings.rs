//! `redis-csv` and `redis-json`: texts in double quotes with commas between them, all on one line that may be gigabytes
//! long, as `redis-cli --csv` and `--json` print a reply. What `--quoted-json` prints is not read: redis-cli 7.0 leaves
//! the quotes of its C escapes bare there, so that such a text ends in the middle.
//!
//! What stands between two commas, brackets or line ends outside quotes is one text, or no key.

use super::escape::{self, Escapes, close};
use super::gather::Gather;
use super::{Columns, Detected, Format, Head, Notice, Reader, Seen, Sink};
use crate::source::block::{Block, Piece};
use crate::source::cut::{Cut, Quotes};

/// One of the two formats.
#[derive(Clone, Copy)]
pub struct Strings(Escapes);

/// `redis-csv`.
pub static CSV: Strings = Strings(Escapes::C);
/// `redis-json`.
pub static JSON: Strings = Strings(Escapes::Json);

impl Format for Strings {
    fn name(&self) -> &'static str {
        match self.0 {
            Escapes::C => "redis-csv",
            Escapes::Json => "redis-json",
        }
    }

    fn example(&self) -> &'static str {
        match self.0 {
            Escapes::C => r#""user:{1}","user:{2}\n""#,
            Escapes::Json => r#"["user:{1}","user:{2}\u0000"]"#,
        }
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        let opening: &[u8] = match self.0 {
            Escapes::C => b"\"",
            Escapes::Json => b"[\"",
        };
        if !head.bytes.starts_with(opening) {
            return if !head.whole && opening.starts_with(head.bytes) { Detected::NeedMore } else { Detected::No };
        }
        match close(head.bytes, opening.len()).map(|end| &head.bytes[end + 1..]) {
            None | Some([] | [b',']) if !head.whole => Detected::NeedMore,
            Some([b',', b'"', ..]) => Detected::Yes,
            Some([b']', ..]) if self.0 == Escapes::Json => Detected::Yes,
            _ => Detected::No,
        }
    }

    fn open(&self, _: Head<'_>) -> Result<Box<dyn Reader>, String> {
        Ok(Box::new(*self))
    }
}

impl Strings {
    fn ends(self, byte: u8) -> bool {
        matches!(byte, b',' | b'\n') || self.0 != Escapes::C && matches!(byte, b'[' | b']')
    }

    /// Where the item ends that starts at `at`: at the next end outside quotes.
    fn end(self, bytes: &[u8], mut at: usize) -> usize {
        while at < bytes.len() && !self.ends(bytes[at]) {
            at = if bytes[at] == b'"' { close(bytes, at + 1).map_or(bytes.len(), |end| end + 1) } else { at + 1 };
        }
        at
    }
}

impl Reader for Strings {
    fn format(&self) -> &'static str {
        self.name()
    }

    fn cut(&self) -> Cut {
        Cut::Quoted(b',', Quotes::Escaped)
    }

    fn read(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>, sink: &mut dyn Sink) -> Seen {
        let mut gather = Gather::new(columns, sink);
        let mut at = piece.from as usize;
        while at < block.len() {
            let end = self.end(block.content(), at);
            let item = &block.content()[at..end];
            let from = at + item.len() - item.trim_ascii_start().len();
            let item = item.trim_ascii();
            if escape::is_quoted(item) {
                let to = from + item.len() - 1;
                let to = escape::undo(self.0, block.content_mut(), from + 1, to);
                if self.0 == Escapes::Json && memchr::memchr(b'\\', &block.content()[from + 1..to]).is_some() {
                    gather.note(Notice::Backslash);
                }
                gather.key(block, from + 1, to);
            } else if !item.is_empty() {
                gather.reject(from, "not one text in double quotes");
            }
            at = end + 1;
        }
        gather.finish(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::read_whole;

    #[test]
    fn csv_and_json_replies_give_their_keys() {
        let found = read_whole(&CSV, b"\"\",\"a,b\",\"nl\\nx\",\"\\xe4\"\n\"c\",bad,\"d\"e\n");
        assert_eq!(found.keys, [&b""[..], b"a,b", b"nl\nx", b"\xe4", b"c"]);
        assert_eq!(found.rejects.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [28, 32]);
        let found = read_whole(&JSON, b"[\"\",\"a]\\u0000\", \"\xff\",\"b\\\\x\"]\n");
        assert_eq!(found.keys, [&b""[..], b"a]\0", b"\xff", b"b\\x"]);
        assert_eq!((found.rejects.len(), found.seen.count(Notice::Backslash)), (0, 1));
    }
}
