//! `redis-csv` and `redis-json`: comma-separated texts in double quotes, all on one line of up to gigabytes, as printed
//! by `redis-cli --csv` and `--json`. Lossless.
//!
//! The bytes between two unquoted commas, brackets or line ends are one text, or not a key. SCAN pages in JSON are
//! `["17",["key", ...]]`, in CSV `"17","key"`: if an input starts with one, every reply starts with a cursor.

use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::frame::row_boundary::RowBoundary;
use crate::format::parse::escape;
use crate::format::parse::escape::Escapes;
use crate::format::redis_cli::cursor;
use crate::format::{Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader, Sink};
use crate::source::block::{Block, Piece};

/// One of the formats.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Strings {
    /// `redis-csv`.
    Csv,
    /// `redis-json`.
    Json,
}

impl Format for Strings {
    fn name(&self) -> &'static str {
        match self {
            Strings::Csv => "redis-csv",
            Strings::Json => "redis-json",
        }
    }

    fn example(&self) -> &'static str {
        match self {
            Strings::Csv => r#""user:{1}","user:{2}\n""#,
            Strings::Json => r#"["user:{1}","user:{2}\u0000"]"#,
        }
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        match self {
            Strings::Csv => detect_csv(head),
            // A raw key may look like a list too; the rest decides.
            Strings::Json => match (detect_json(head), self.items(head)) {
                (Detected::Yes, (texts, others)) if others > 0 && texts <= 9 * others => {
                    Detected::No
                }
                (detected, _) => detected,
            },
        }
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let reply = Reply {
            form: *self,
            in_pages: match self {
                Strings::Csv => cursor::are_pages(head),
                Strings::Json => starts_with_cursor(head.bytes),
            },
        };
        Ok(Opened::blocks(
            self.name(),
            RowBoundary::Counted(row_end),
            reply,
        ))
    }
}

/// The part of a line that decides whether it is a reply. Anything odd beyond it is a fault in a reply, not a sign of a
/// raw key.
const LOOKED_AT: usize = 64 << 10;

/// Whether a head has texts with C escapes on one line, or on several that do not form a table.
fn detect_csv(head: Head<'_>) -> Detected {
    let (mut at, mut fields, mut lines) = (0, 0, Vec::new());
    while at < head.bytes.len() {
        if at >= LOOKED_AT && fields > 1 && lines.is_empty() {
            return Detected::Yes;
        }
        if head.bytes[at] != b'"' {
            return Detected::No;
        }
        let Some(end) = escape::close(head.bytes, at + 1) else {
            if fields + lines.len() == 0 {
                return head.undecided();
            }
            // A truncated reply is still a reply.
            break;
        };
        if !head.bytes[at..end]
            .iter()
            .all(|byte| (b' '..=b'~').contains(byte))
        {
            return Detected::No;
        }
        fields += 1;
        at = end + 1;
        match &head.bytes[at..] {
            [] => break,
            [b','] => return head.undecided(),
            [b',', ..] => at += 1,
            [b'\n', ..] => {
                lines.push(std::mem::take(&mut fields));
                at += 1;
            }
            [b'\r', b'\n', ..] => {
                lines.push(std::mem::take(&mut fields));
                at += 2;
            }
            _ => return Detected::No,
        }
    }
    // In a table, all lines have the same number of fields; replies vary.
    match (lines.as_slice(), fields) {
        ([], 0 | 1) => head.undecided(),
        ([], _) => Detected::Yes,
        ([first], 0) if *first > 1 => Detected::Yes,
        ([first, others @ ..], rest)
            if others.iter().any(|fields| fields != first) || rest > *first =>
        {
            Detected::Yes
        }
        ([first, ..], 1..) if head.whole && fields != *first => Detected::Yes,
        ([first], _) if *first > 1 => head.undecided(),
        _ => Detected::No,
    }
}

fn detect_json(head: Head<'_>) -> Detected {
    match head.bytes.trim_ascii_start() {
        [] => head.undecided(),
        [b'[', rest @ ..] => match rest.trim_ascii_start() {
            [] => head.undecided(),
            [b']', rest @ ..] if rest.iter().all(|byte| b"[] \r\n".contains(byte)) => Detected::Yes,
            text @ [b'"', ..] => {
                match escape::close(text, 1).map(|end| text[end + 1..].trim_ascii_start()) {
                    None | Some([]) => head.undecided(),
                    Some([b']', ..]) => Detected::Yes,
                    Some([b',', rest @ ..]) => match rest.trim_ascii_start() {
                        [] => head.undecided(),
                        [b'"' | b'[', ..] => Detected::Yes,
                        _ => Detected::No,
                    },
                    _ => Detected::No,
                }
            }
            _ => Detected::No,
        },
        _ => Detected::No,
    }
}

/// Whether the first reply is a SCAN page.
fn starts_with_cursor(head: &[u8]) -> bool {
    let start = head
        .trim_ascii_start()
        .strip_prefix(b"[")
        .map(<[u8]>::trim_ascii_start);
    let Some(cursor) = start.and_then(|start| start.strip_prefix(b"\"")) else {
        return false;
    };
    let Some(end) = memchr::memchr(b'"', cursor).filter(|end| cursor::is_cursor(&cursor[..*end]))
    else {
        return false;
    };
    let comma = Some(cursor[end + 1..].trim_ascii_start());
    let keys = comma
        .and_then(|comma| comma.strip_prefix(b","))
        .map(<[u8]>::trim_ascii_start);
    keys.is_some_and(|keys| keys.starts_with(b"["))
}

impl Strings {
    fn ends(self, byte: u8) -> bool {
        match self {
            Strings::Csv => matches!(byte, b',' | b'\n'),
            Strings::Json => matches!(byte, b',' | b'[' | b']'),
        }
    }

    /// Whether the item after these two separators is the first of a page.
    fn starts_page(self, before: [u8; 2]) -> bool {
        match self {
            Strings::Csv => before[1] == b'\n',
            Strings::Json => before == [b']', b'['],
        }
    }

    /// The end of the item that starts at `at`: the next unquoted separator.
    fn end(self, bytes: &[u8], mut at: usize) -> usize {
        while at < bytes.len() && !self.ends(bytes[at]) {
            at = if bytes[at] == b'"' {
                escape::close(bytes, at + 1).map_or(bytes.len(), |end| end + 1)
            } else {
                at + 1
            };
        }
        at
    }

    /// The number of text items in a head, and of other items; a truncated last item is ignored.
    fn items(self, head: Head<'_>) -> (usize, usize) {
        let bytes = head.bytes.trim_ascii_start();
        let (mut at, mut texts, mut others) = (0, 0, 0);
        while at < bytes.len() {
            let end = self.end(bytes, at);
            let item = bytes[at..end].trim_ascii();
            if escape::is_quoted(item) {
                texts += 1;
            } else if !(item.is_empty()
                || item.starts_with(b"\"") && end == bytes.len() && !head.whole)
            {
                others += 1;
            }
            at = end + 1;
        }
        (texts, others)
    }

    /// Whether a reply ending with this non-blank byte is unfinished.
    fn goes_on_behind(self, last: Option<&u8>) -> bool {
        match self {
            Strings::Csv => last == Some(&b','),
            Strings::Json => last != Some(&b']'),
        }
    }

    fn escapes(self) -> Escapes {
        match self {
            Strings::Csv => Escapes::C,
            Strings::Json => Escapes::Json,
        }
    }
}

/// The position after the first unquoted comma.
fn row_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b',', b'"', bytes.get(at..)?)? + 1;
        if bytes[at - 1] == b',' {
            return Some(at);
        }
        at = escape::close(bytes, at)? + 1;
    }
}

/// The reader.
struct Reply {
    form: Strings,
    /// Whether the replies are SCAN pages.
    in_pages: bool,
}

impl Reader for Reply {
    fn read(
        &self,
        block: &mut Block,
        piece: Piece,
        columns: &mut Columns<'_>,
        sink: &mut dyn Sink,
    ) -> ReadStats {
        let form = self.form;
        let mut gather = BatchBuilder::new(columns, sink);
        let mut at = piece.from as usize;
        // The two separators before the item: a bracket at the very start, or after another bracket, starts a reply.
        // All blocks but the first start after a comma.
        let mut before = match (piece.first, form) {
            (true, Strings::Csv) => [b'\n', b'\n'],
            (true, Strings::Json) => [b']', b']'],
            (false, _) => [b',', b','],
        };
        while at < block.len() {
            let end = form.end(block.content(), at);
            let item = &block.content()[at..end];
            let from = at + item.len() - item.trim_ascii_start().len();
            let item = item.trim_ascii();
            if item.is_empty() {
            } else if !escape::is_quoted(item) {
                gather.reject(from, "not one text in double quotes");
                if piece.last && end == block.len() && item.starts_with(b"\"") {
                    gather.note(Notice::CutOff);
                }
            } else if self.in_pages && self.form.starts_page(before) {
                gather.note(Notice::Cursor);
            } else {
                let close = from + item.len() - 1;
                let to = escape::undo(form.escapes(), block.content_mut(), from + 1, close);
                let key = &block.content()[from + 1..to];
                if form == Strings::Json && memchr::memmem::find(key, b"\\x").is_some() {
                    gather.note(Notice::EscapeInJson);
                }
                gather.key(block, from + 1, to);
            }
            before = [
                before[1],
                block.content().get(end).copied().unwrap_or_default(),
            ];
            at = end + 1;
        }
        let mut stats = gather.finish(block);
        let last = block.content()[piece.from as usize..]
            .trim_ascii_end()
            .last()
            // All blocks but the first start after a comma.
            .or((!piece.first).then_some(&b','));
        if piece.last && stats.count(Notice::CutOff) == 0 && form.goes_on_behind(last) {
            stats.note(Notice::CutOff, 1);
        }
        stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::detect;
    use crate::format::reading::read_whole;

    #[test]
    fn a_raw_key_that_looks_like_a_list_is_no_list() {
        let detect = |text: &str, whole| {
            Strings::Json.detect(Head {
                bytes: text.as_bytes(),
                whole,
            })
        };
        assert_eq!(
            detect("[\"c\",\"d\"]\nuser:1\nuser:2\n", true),
            Detected::No
        );
        assert_eq!(
            detect("[\"c\",\"d\"]\nuser:1\nuser:2\n", false),
            Detected::No
        );
        assert_eq!(detect("[\"c\",\"d\"]\n", true), Detected::Yes);
        assert_eq!(detect("[\"c\",\"d", false), Detected::Yes);
    }

    #[test]
    fn replies_in_every_form_give_their_keys() {
        let found = read_whole(
            &Strings::Csv,
            b"\"\",\"a,b\",\"nl\\nx\",\"\\xe4\"\n\"c\",bad,\"d\"e\n",
        );
        assert_eq!(found.keys, [&b""[..], b"a,b", b"nl\nx", b"\xe4", b"c"]);
        assert_eq!(
            found.rejects.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
            [28, 32]
        );
        let found = read_whole(
            &Strings::Json,
            b"[\"\",\"a]\\u0000\", \"\xff\",\"b\\\\x\"]\n[\"c\"]",
        );
        assert_eq!(found.keys, [&b""[..], b"a]\0", b"\xff", b"b\\x", b"c"]);
        assert_eq!(
            (found.rejects.len(), found.seen.count(Notice::EscapeInJson)),
            (0, 1)
        );
    }

    #[test]
    fn cursors_are_no_keys_where_the_replies_are_pages() {
        let found = read_whole(&Strings::Json, b"[\"17\",[\"a\",\"1\"]]\n[ \"0\", []]\n");
        assert_eq!(found.keys, [b"a", b"1"]);
        assert_eq!(
            (found.seen.count(Notice::Cursor), found.rejects.len()),
            (2, 0)
        );
        let found = read_whole(
            &Strings::Csv,
            b"\"17\",\"a:1\",\"1\",\"b\"\r\n\"0\",\"c:3\"\n",
        );
        assert_eq!(found.keys, [&b"a:1"[..], b"1", b"b", b"c:3"]);
        assert_eq!(found.seen.count(Notice::Cursor), 2);
        for keys in [
            &b"\"17\",\"a\"\n\"b\"\n"[..],
            b"\"17\",\"18\"\n\"0\"\n",
            b"\"17\",\"a\"\n",
        ] {
            assert_eq!(
                read_whole(&Strings::Csv, keys).seen.count(Notice::Cursor),
                0
            );
        }
        assert_eq!(
            read_whole(&Strings::Json, b"[\"17\",\"a\"]").keys,
            [&b"17"[..], b"a"]
        );
    }

    #[test]
    fn what_is_wrong_far_behind_the_start_of_a_reply_is_of_the_same_reply() {
        let texts: Vec<_> = (0..12_000).map(|i| format!("\"user:{i}\"")).collect();
        let reply = texts.join(",").into_bytes();
        let at = reply.len() - 20;
        for (damage, keys, rejects, is_cut_off) in [
            (&b"\xFF"[..], 12_000, 0, false),
            (b"\n", 12_000, 0, false),
            (b"\",x,\"", 12_001, 1, false),
            // After an unbalanced quote, text boundaries are lost.
            (b"\"", 11_998, 1, true),
        ] {
            let damaged = [&reply[..at], damage, &reply[at..]].concat();
            let head = Head {
                bytes: &damaged,
                whole: true,
            };
            assert_eq!(detect(head).map(Format::name), Some("redis-csv"));
            let found = read_whole(&Strings::Csv, &damaged);
            let seen = (
                found.keys.len(),
                found.rejects.len(),
                found.seen.cut_off().is_some(),
            );
            assert_eq!(
                seen,
                (keys, rejects, is_cut_off),
                "{}",
                damage.escape_ascii()
            );
        }
    }

    #[test]
    fn the_form_of_a_reply_is_told_by_its_start() {
        let named = |text: &str, whole| {
            detect(Head {
                bytes: text.as_bytes(),
                whole,
            })
            .map(Format::name)
        };
        for (text, name) in [
            ("[]\n", "redis-json"),
            (" \n[ \"a\"]", "redis-json"),
            ("[\"0\",[\"a\"]]", "redis-json"),
            (r#"["a\\"]"#, "redis-json"),
            ("[\"a\"b]", "lines"),
            ("[a]\n", "lines"),
            ("\"a\",\"b\"\n", "redis-csv"),
            ("\"a\",\"b\"\n\"c\"\n", "redis-csv"),
            ("\"a\",\"b\"\n\"c\",\"d\"\n", "lines"),
            ("\"a\",\"\u{e9}\"\n", "lines"),
            ("\"a\",\"b\"\"c\"\n", "lines"),
            ("\"a\"\n\"b\"\n", "quoted"),
        ] {
            assert_eq!(named(text, true), Some(name), "{text}");
        }
        for short in [
            "[", " ", "[\"a", "[\"a\"", "[\"a\",", "\"a", "\"a\"", "\"a\",",
        ] {
            assert_eq!(named(short, false), None, "{short}");
        }
    }
}
