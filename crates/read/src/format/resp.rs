//! `resp`: replies as sent by a server, `*2\r\n$3\r\nfoo\r\n$3\r\nbar\r\n`, captured from a socket. Lossless: keys may
//! contain any byte. SCAN pages are read too: `*2`, the cursor, then the array of keys.
//!
//! Rows are length-prefixed, so the input is read sequentially. A length that does not lead to a line end is rejected
//! by itself, and reading resumes at the next line.

use slotscope_base::block::{Block, Piece};

use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::frame::row_boundary::RowBoundary;
use crate::format::resp_row::{Row, row};
use crate::format::{Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader};

/// The format.
pub(crate) struct Resp;

impl Format for Resp {
    fn name(&self) -> &'static str {
        "resp"
    }

    fn example(&self) -> &'static str {
        r"*1\r\n$19\r\nuser:{1000}:profile\r\n (replies as a server sends them)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        let (mut rest, mut is_empty_reply) = (head.bytes, false);
        while let Some((reply @ (Row::Status | Row::Array(0)), end)) = row(rest) {
            is_empty_reply |= reply != Row::Status;
            rest = &rest[end..];
        }
        match row(rest) {
            Some((Row::Page(_), _)) => Detected::Yes,
            None if rest.is_empty() && is_empty_reply => Detected::Yes,
            Some((Row::Array(_), end)) => match row(&rest[end..]) {
                Some((Row::Bulk(_) | Row::Nil, _)) => Detected::Yes,
                None if !head.whole => Detected::NeedMore,
                _ => Detected::No,
            },
            None if !head.whole
                && rest.starts_with(b"*")
                && memchr::memchr(b'\n', rest).is_none()
                && rest.len() < 64 =>
            {
                Detected::NeedMore
            }
            _ => Detected::No,
        }
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        let boundary = RowBoundary::Counted(|bytes| row(bytes).map(|(_, end)| end));
        Ok(Opened::blocks(self.name(), boundary, Resp))
    }
}

impl Reader for Resp {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let mut gather = BatchBuilder::new(columns);
        let mut at = piece.from as usize;
        let mut missing = 0i64;
        while at < block.len() {
            let Some((reply, len)) = row(&block.content()[at..]) else {
                gather.reject(at, "the dump ends within this");
                break;
            };
            match reply {
                Row::Page(announced) => {
                    gather.note(Notice::Cursor);
                    missing = missing.wrapping_add(announced);
                }
                Row::Array(announced) => {
                    missing = missing.wrapping_add(announced);
                    if announced == 0 {
                        gather.note(Notice::EmptyReply);
                    }
                }
                Row::Bulk(key) => {
                    missing = missing.wrapping_sub(1);
                    gather.key(block, at + key.start, at + key.end);
                }
                Row::Nil => {
                    missing = missing.wrapping_sub(1);
                    gather.note(Notice::Nil);
                }
                Row::Error => gather.failure(at),
                Row::Status => gather.note(Notice::Progress),
                Row::Wrong(why) => gather.reject(at, why),
            }
            at += len;
        }
        let mut stats = gather.finish(block);
        stats.missing = missing;
        stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::capture::recognised;
    use crate::format::reading::{assert_reads, read_whole};

    #[test]
    fn keys_may_hold_any_byte_and_cursors_are_none() {
        assert_reads(
            &Resp,
            &[
                (
                    "*4\r\n$3\r\nfoo\r\n$0\r\n\r\n$4\r\n\r\n$3\r\n$-1\r\n*2\r\n$2\r\n17\r\n*1\r\n$1\r\na\r\n*2\r\n$1\r\n0\r\n*0\r\n",
                    r"foo; ; \r\n$3; a; Cursor=2; Nil=1",
                ),
                ("*2\r\n$2\r\n17\r\n$1\r\na\r\n", "17; a"),
            ],
        );
        for lie in [
            "$999999999999",
            "$-5",
            "*-1",
            "*99999999999999999999",
            "$4",
            "$",
            "*x",
            "?",
        ] {
            let all = read_whole(&Resp, format!("*1\r\n{lie}\r\n$3\r\nfoo\r\n").as_bytes());
            assert_eq!(
                (&all.keys[..], all.rejects[0].0),
                (&[b"foo".to_vec()][..], 4)
            );
        }
    }

    #[test]
    fn a_dump_that_was_cut_off_is_reported() {
        for (content, keys) in [
            (&b"*3\r\n$1\r\na\r\n"[..], 1),
            (b"*3\r\n$1\r\na\r\n$5\r\nb", 1),
            (b"*3\r\n$1\r\na\r", 0),
        ] {
            let all = read_whole(&Resp, content);
            assert_eq!(all.keys.len(), keys);
            assert!(all.seen.cut_off().is_some());
        }
    }

    #[test]
    fn keys_are_not_taken_for_commands() {
        use Detected::{No, Yes};
        for (bytes, is_reply, is_commands) in [
            (
                &b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\nv\r\n"[..],
                Yes,
                true,
            ),
            (
                b"#TS:1628217470\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
                No,
                true,
            ),
            (b"*2\r\n$3\r\nSET\r\n$3\r\nDEL\r\n", Yes, false),
            (b"+OK\r\n*1\r\n$1\r\na\r\n", Yes, false),
            (b"*0\r\n", Yes, false),
            (b"", No, false),
            (b"*\n", No, false),
            (b"*2\n$1\na\n", No, false),
            (b"*1\r\nuser\r\n", No, false),
            (b"REDIS0011", No, false),
            (b"VALKEY08", No, false),
            (b"$3\r\nfoo\r\n", No, false),
            (b"+a\r\nb\r\n", No, false),
        ] {
            let head = Head { bytes, whole: true };
            let found = (Resp.detect(head), recognised::in_resp(head) == Yes);
            assert_eq!(found, (is_reply, is_commands), "{}", bytes.escape_ascii());
        }
    }
}
