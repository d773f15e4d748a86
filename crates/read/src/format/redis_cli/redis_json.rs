//! `redis-json`: texts in double quotes with commas between, all on one line of up to gigabytes, as printed by `redis-cli
//! --json`. Lossless.
//!
//! The bytes between two unquoted commas or brackets are one text, or not a key. SCAN pages are `["17",["key", ...]]`: if an
//! input starts with one, every reply starts with a cursor.

use slotscope_base::block::{Block, Piece};

use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::frame::row_boundary::RowBoundary;
use crate::format::parse::escape;
use crate::format::parse::escape::Escapes;
use crate::format::redis_cli::cursor;
use crate::format::{Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader};

/// The format.
pub(crate) struct RedisJson;

impl Format for RedisJson {
    fn name(&self) -> &'static str {
        "redis-json"
    }

    fn example(&self) -> &'static str {
        r#"["user:{1000}:profile"] (redis-cli --json KEYS '*')"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        // A raw key may look like a list too; the rest decides.
        match (detect_json(head), items(head)) {
            (Detected::Yes, (texts, others)) if others > 0 && texts <= 9 * others => Detected::No,
            (detected, _) => detected,
        }
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let reply = Reply {
            in_pages: starts_with_cursor(head.bytes),
        };
        Ok(Opened::blocks(
            self.name(),
            RowBoundary::Counted(row_end),
            reply,
        ))
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

/// The end of the item at `at`.
fn item_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && !matches!(bytes[at], b',' | b'[' | b']') {
        at = if bytes[at] == b'"' {
            escape::close(bytes, at + 1).map_or(bytes.len(), |end| end + 1)
        } else {
            at + 1
        };
    }
    at
}

/// How many items of a head are texts, and how many are not.
fn items(head: Head<'_>) -> (usize, usize) {
    let bytes = head.bytes.trim_ascii_start();
    let (mut at, mut texts, mut others) = (0, 0, 0);
    while at < bytes.len() {
        let end = item_end(bytes, at);
        let item = bytes[at..end].trim_ascii();
        let is_cut = item.starts_with(b"\"") && end == bytes.len() && !head.whole;
        if escape::is_quoted(item) {
            texts += 1;
        } else if !item.is_empty() && !is_cut {
            others += 1;
        }
        at = end + 1;
    }
    (texts, others)
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

struct Reply {
    /// Whether a page's cursor starts each reply.
    in_pages: bool,
}

impl Reader for Reply {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let mut gather = BatchBuilder::new(columns);
        let mut at = piece.from as usize;
        // The two separators before the item: a bracket at the very start, or after another bracket, starts a reply.
        // All blocks but the first start after a comma.
        let mut before = if piece.first { *b"]]" } else { *b",," };
        let mut is_open = false;
        while at < block.len() {
            let end = item_end(block.content(), at);
            let item = &block.content()[at..end];
            let from = at + item.len() - item.trim_ascii_start().len();
            let item = item.trim_ascii();
            if item.is_empty() {
            } else if !escape::is_quoted(item) {
                gather.reject(from, "not one text in double quotes");
                is_open = end == block.len() && item.starts_with(b"\"");
            } else if self.in_pages && before == *b"][" {
                gather.note(Notice::Cursor);
            } else {
                let close = from + item.len() - 1;
                let to = escape::undo(Escapes::Json, block.content_mut(), from + 1, close);
                let key = &block.content()[from + 1..to];
                if memchr::memmem::find(key, b"\\x").is_some() {
                    gather.note(Notice::EscapeInJson);
                }
                gather.key(block, from + 1, to);
            }
            let separator = block.content().get(end).copied();
            before = [before[1], separator.unwrap_or_default()];
            at = end + 1;
        }
        let mut stats = gather.finish(block);
        let rest = block.content()[piece.from as usize..].trim_ascii_end();
        stats.note(
            Notice::CutOff,
            u64::from(piece.last && (is_open || !rest.ends_with(b"]"))),
        );
        stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{assert_reads, named, read_whole};

    #[test]
    fn replies_in_every_form_give_their_keys() {
        assert_reads(
            &RedisJson,
            &[
                (
                    &b"[\"\",\"a]\\u0000\", \"\xff\",\"b\\\\x\"]\n[\"c\"]"[..],
                    r"; a]\x00; \xff; b\\x; c; EscapeInJson=1",
                ),
                // Cursors are not keys if the replies are pages.
                (b"[\"17\",[\"a\",\"1\"]]\n[ \"0\", []]\n", "a; 1; Cursor=2"),
                (b"[\"17\",\"a\"]", "17; a"),
            ],
        );
    }

    #[test]
    fn what_is_wrong_far_behind_the_start_of_a_reply_is_of_the_same_reply() {
        let texts: Vec<_> = (0..12_000).map(|i| format!("\"user:{i}\"")).collect();
        let reply = format!("[{}]", texts.join(",")).into_bytes();
        let at = reply.len() - 20;
        for (damage, keys, rejects, is_cut_off) in [
            (&b"\xFF"[..], 12_000, 0, false),
            (b"\n", 12_000, 0, false),
            (b"\",x,\"", 12_001, 1, false),
            // After an unbalanced quote, text boundaries are lost.
            (b"\"", 11_998, 1, true),
        ] {
            let damaged = [&reply[..at], damage, &reply[at..]].concat();
            assert_eq!(named(&damaged, true), Some("redis-json"));
            let found = read_whole(&RedisJson, &damaged);
            let seen = (found.keys.len(), found.rejects.len());
            let damage = damage.escape_ascii();
            assert_eq!(seen, (keys, rejects), "{damage}");
            assert_eq!(found.seen.cut_off().is_some(), is_cut_off, "{damage}");
        }
    }

    #[test]
    fn the_form_of_a_reply_is_told_by_its_start() {
        for (text, name) in [
            ("[]\n", "redis-json"),
            (" \n[ \"a\"]", "redis-json"),
            ("[\"0\",[\"a\"]]", "redis-json"),
            ("[\"c\",\"d\"]\n", "redis-json"),
            (r#"["a\\"]"#, "redis-json"),
            ("\"a\"\n\"b\"\n", "quoted"),
        ] {
            assert_eq!(named(text, true), Some(name), "{text}");
        }
        for short in ["[", " ", "[\"a", "[\"a\"", "[\"a\","] {
            assert_eq!(named(short, false), None, "{short}");
        }
        for (bytes, detected) in [
            (&b"[\"c\",\"d\"]\nuser:1\nuser:2\n"[..], Detected::No),
            (b"[\"c\",\"d", Detected::Yes),
        ] {
            let whole = false;
            assert_eq!(RedisJson.detect(Head { bytes, whole }), detected);
        }
    }
}
