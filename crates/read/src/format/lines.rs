//! `lines`: one raw key per line, as printed by `redis-cli --scan` and `KEYS` into a pipe.
//!
//! The first line decides for all: if it ends with CRLF, one CR is stripped before every LF; otherwise a CR is part of
//! the key. An empty line is the empty key, but an input of a single line end is an empty reply without keys.

use std::sync::LazyLock;

use hashslot::Kernel;

use slotscope_base::batch::{BATCH_KEYS, KeyBatch, Spans};
use slotscope_base::block::{Block, Padded, Piece};
use slotscope_base::simd::find_delimiters;

use crate::format::frame::row_boundary::RowBoundary;
use crate::format::redis_cli::errors;
use crate::format::redis_cli::noise;
use crate::format::table;
use crate::format::{Columns, Format, Head, Notice, Opened, ReadStats, Reader, Sink};

/// The limitations of this format, for a report's notes.
const NOTE: &str = "a raw key list: a key with a line end is split, and --scan cuts a key at its first NUL; \
    redis-cli --no-raw --scan loses nothing";

/// The format, with the byte that ends a key.
pub struct Lines(u8);

/// The format as chosen by the user.
pub static CHOSEN: Lines = Lines(b'\n');

/// `lines` whose keys end with `delimiter` instead of a line end.
pub fn delimited_by(delimiter: u8) -> &'static dyn Format {
    static DELIMITED: LazyLock<Vec<Lines>> = LazyLock::new(|| (0..=u8::MAX).map(Lines).collect());
    &DELIMITED[usize::from(delimiter)]
}

/// `lines` of an input whose first key is at offset `skip`, after the output of other programs.
pub fn after(skip: u64, head: Head<'_>, is_another: fn(&[u8]) -> bool) -> Opened {
    let bytes = head.bytes.get(skip as usize..).unwrap_or_default();
    let keys = LineKeys::detected(Head { bytes, ..head });
    let is_another = Some(is_another);
    Opened::lines(
        CHOSEN.name(),
        LineKeys {
            skip,
            is_another,
            ..keys
        },
    )
}

impl Format for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn example(&self) -> &'static str {
        "user:{1000}:profile (redis-cli --scan, or any list of keys)"
    }

    fn note(&self) -> Option<&'static str> {
        (self.0 == b'\n').then_some(NOTE)
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let keys = match self.0 {
            b'\n' => LineKeys::detected(head),
            delimiter => LineKeys {
                crlf: false,
                delimiter,
                odd: ReadStats::default(),
                skip: 0,
                is_another: None,
                separators: [false; SEPARATORS.len()],
            },
        };
        let boundary = RowBoundary::Lines(self.0);
        Ok(Opened::blocks(self.name(), boundary, keys))
    }
}

struct LineKeys {
    crlf: bool,
    delimiter: u8,
    /// Notices about first lines that are unlikely to be keys.
    odd: ReadStats,
    /// Offset of the first key.
    skip: u64,
    /// Detects lines of another shape, if enabled.
    is_another: Option<fn(&[u8]) -> bool>,
    /// The `SEPARATORS` that occur in most of the first lines.
    separators: [bool; SEPARATORS.len()],
}

/// Bytes that may separate cells.
const SEPARATORS: [u8; 8] = *b"\t ,;|=[\"";

/// Size of the head that decides the shape, and the distance between later checks.
const HEAD: u64 = 64 << 10;
const STEP: u64 = 1 << 20;
/// Number of lines checked for separators.
const LOOKED_AT: usize = 40;
/// Maximum bytes of these lines.
const WINDOW: usize = 16 << 10;
/// Bytes checked at the end of the input.
const TAIL: u64 = 4 << 10;

/// The separators in nearly all of the first lines of `bytes`.
fn separators(bytes: &[u8]) -> [bool; SEPARATORS.len()] {
    let window: Vec<&[u8]> = bytes[..bytes.len().min(WINDOW)]
        .split(|byte| *byte == b'\n')
        .take(LOOKED_AT)
        .collect();
    let lines = &window[..window.len().saturating_sub(1)];
    SEPARATORS.map(|byte| {
        let separated = lines
            .iter()
            .filter(|line| memchr::memchr(byte, line).is_some())
            .count();
        lines.len() >= 20 && 20 * separated >= 19 * lines.len()
    })
}

impl LineKeys {
    fn detected(head: Head<'_>) -> Self {
        let first_end = memchr::memchr(b'\n', head.bytes);
        LineKeys {
            crlf: first_end.is_some_and(|at| at > 0 && head.bytes[at - 1] == b'\r'),
            delimiter: b'\n',
            odd: odd_at_start(head),
            skip: 0,
            is_another: None,
            separators: separators(head.bytes),
        }
    }

    /// The position of lines of a different shape, such as a table after a list. Only a few places are checked.
    fn another(&self, bytes: &[u8], piece: Piece, is_another: fn(&[u8]) -> bool) -> Option<u64> {
        let from = piece.offset + u64::from(piece.from);
        let to = piece.offset + bytes.len() as u64;
        let near_end = piece.last.then(|| to.saturating_sub(TAIL));
        let tail = near_end.filter(|at| *at >= from.max(TAIL));
        let is_here = |at: &u64| (from.max(HEAD)..to).contains(at);
        let places = (1..4)
            .map(|part| part * STEP / 4)
            .chain((from.div_ceil(STEP) * STEP..to).step_by(STEP as usize));
        let starts = |at: u64| {
            let at = (at - piece.offset) as usize;
            Some(at + memchr::memchr(b'\n', &bytes[at..])? + 1)
        };
        let another_at = |at: u64| {
            starts(at).filter(|start| {
                let bytes = &bytes[*start..];
                self.has_more(bytes) && is_another(&bytes[..bytes.len().min(WINDOW)])
            })
        };
        let start = places.filter(is_here).chain(tail).find_map(another_at);
        start.map(|start| piece.offset + start as u64)
    }

    /// Whether most lines have a separator that the first ones lack; only those are examined further.
    fn has_more(&self, bytes: &[u8]) -> bool {
        let mut pairs = separators(bytes).into_iter().zip(self.separators);
        pairs.any(|(is_here, was_at_start)| is_here && !was_at_start)
    }
}

/// Whether a line counted as a key looks like something else.
fn looks_captured(line: &[u8]) -> bool {
    if line == b"OK" {
        return true;
    }
    let is_counted = !errors::is_failure(line);
    is_counted && !matches!(noise::noise(line), None | Some(Notice::BlankLine))
}

/// Notices about the first lines: a header, messages of redis-cli.
fn odd_at_start(head: Head<'_>) -> ReadStats {
    const FIRST: usize = 20;
    const HEADERS: [&[u8]; 5] = [b"key", b"keys", b"name", b"key_name", b"keyname"];
    let mut stats = ReadStats::default();
    let bytes = table::unmarked(head.bytes);
    let line = bytes.split(|byte| *byte == b'\n').next();
    let first = line.unwrap_or_default().trim_ascii();
    stats.note(
        Notice::Header,
        u64::from(
            HEADERS
                .iter()
                .any(|header| first.eq_ignore_ascii_case(header)),
        ),
    );
    // The last line of the input is examined when it is read; one truncated by the head is ignored.
    let ended = if head.whole {
        bytes.strip_suffix(b"\n").unwrap_or(bytes)
    } else {
        bytes
    };
    let mut lines: Vec<_> = ended.split(|byte| *byte == b'\n').take(FIRST + 1).collect();
    lines.pop();
    let captured = lines
        .into_iter()
        .filter(|line| looks_captured(line))
        .count();
    stats.note(Notice::Captured, captured as u64);
    stats
}

impl Reader for LineKeys {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let base = block.padded();
        let mut stats = ReadStats::default();
        let mut from = piece.from;
        if piece.first
            && piece.last
            && self.delimiter == b'\n'
            && matches!(&base.bytes()[from as usize..], b"\n" | b"\r\n")
        {
            return stats;
        }
        if piece.first {
            stats += self.odd.clone();
        }
        if let Some(is_another) = self.is_another {
            stats.another_from = self.another(base.bytes(), piece, is_another);
        }
        from = from.max(self.skip.saturating_sub(piece.offset) as u32);
        if piece.last && self.delimiter == b'\n' {
            let bytes = &base.bytes()[from as usize..];
            let owned = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            let line = owned.rsplit(|byte| *byte == b'\n').next();
            let last = line.unwrap_or_default();
            stats.note(Notice::Captured, u64::from(looks_captured(last)));
        }
        columns.values.clear();
        while (from as usize) < base.len() {
            let cut = cut_lines(base, from, self.delimiter, columns.keys, columns.kernel);
            from = cut.next;
            let keys = &mut *columns.keys;
            let unended = from as usize > base.len();
            let ended = keys.len() - usize::from(unended);
            if self.crlf {
                strip_cr(base, keys, ended);
            }
            // Failure messages always contain a blank, and few dumps do.
            if cut.has_blank && self.delimiter == b'\n' {
                reject_failures(base, keys, &mut *columns.sink, &mut stats);
            }
            stats += count(base, keys);
            if !keys.is_empty() {
                columns.sink.keys(KeyBatch {
                    base,
                    keys,
                    values: columns.values,
                });
            }
        }
        stats
    }
}

/// The end of a batch of lines.
pub(super) struct Cut {
    /// The start of the next line; one past the end if the last line has no line end.
    pub next: u32,
    /// Whether the lines may contain a blank.
    pub has_blank: bool,
}

/// Fills `keys` with the next lines from `from` on.
pub(super) fn cut_lines(
    base: Padded<'_>,
    from: u32,
    delimiter: u8,
    keys: &mut Spans,
    kernel: &Kernel,
) -> Cut {
    keys.end.resize(BATCH_KEYS, 0);
    let found = find_delimiters(kernel, base, from, delimiter, &mut keys.end);
    let mut lines = found.ends;
    let len = base.len() as u32;
    let after = if lines == 0 {
        from
    } else {
        keys.end[lines - 1] + 1
    };
    if lines < BATCH_KEYS && after < len {
        keys.end[lines] = len;
        lines += 1;
    }
    keys.end.truncate(lines);
    keys.start.clear();
    keys.start.push(from);
    keys.start
        .extend(keys.end[..lines - 1].iter().map(|end| end + 1));
    Cut {
        next: keys.end[lines - 1] + 1,
        has_blank: found.has_blank,
    }
}

/// Strips one CR from the end of each of the first `ended` keys.
fn strip_cr(base: Padded<'_>, keys: &mut Spans, ended: usize) {
    let bytes = base.bytes();
    for (start, end) in keys.start.iter().zip(&mut keys.end).take(ended) {
        *end -= u32::from(*end > *start && bytes[*end as usize - 1] == b'\r');
    }
}

/// Removes lines from the batch in which redis-cli or a server reports a failure.
fn reject_failures(base: Padded<'_>, keys: &mut Spans, sink: &mut dyn Sink, stats: &mut ReadStats) {
    let is_failure = |i: &usize| errors::is_failure(keys.get(base, *i));
    let Some(first) = (0..keys.len()).find(is_failure) else {
        return;
    };
    let mut kept = first;
    for i in first..keys.len() {
        let (start, end) = (keys.start[i], keys.end[i]);
        if errors::is_failure(keys.get(base, i)) {
            stats.note(Notice::ErrorReply, 1);
            sink.reject(start as usize, errors::REASON);
        } else {
            (keys.start[kept], keys.end[kept]) = (start, end);
            kept += 1;
        }
    }
    keys.resize(kept);
}

fn count(base: Padded<'_>, keys: &Spans) -> ReadStats {
    let empty = keys
        .start
        .iter()
        .zip(&keys.end)
        .filter(|(start, end)| start == end)
        .count();
    // An empty key is preceded by a line end or the padding, never by a CR.
    let cr = keys
        .end
        .iter()
        .filter(|end| base.byte_before(**end) == b'\r')
        .count();
    let mut stats = ReadStats::default();
    stats.keys = keys.len() as u64;
    stats.note(Notice::EmptyKey, empty as u64);
    stats.note(Notice::CarriageReturn, cr as u64);
    stats
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{assert_reads, read_whole};

    #[test]
    fn every_line_is_a_key_as_the_first_line_ends() {
        let reason = errors::REASON;
        assert_reads(
            &CHOSEN,
            &[
                ("a\nb\r\nc", r"a; b\r; c; CarriageReturn=1"),
                ("a\nb\r\nc\r", r"a; b\r; c\r; CarriageReturn=2"),
                ("a\r\nb\nc\r\r\nd\r", r"a; b; c\r; d\r; CarriageReturn=2"),
                ("a\nb", "a; b"),
                ("a\nb\n", "a; b"),
                ("a", "a"),
                ("a\n\n\nb\n", "a; ; ; b; EmptyKey=2"),
                ("\n\n", "; ; EmptyKey=2"),
                ("", ""),
                ("\n", ""),
                ("\r\n", ""),
                ("\u{feff}\n", "ByteOrderMark=1"),
                ("\u{feff}a\n", "a; ByteOrderMark=1"),
                (
                    "a\r\nNOAUTH Authentication required.\r\nNOAUTH\r\nb\r\nError: x",
                    "a; NOAUTH; b; !3; !47; ErrorReply=2",
                ),
            ],
        );
        let failure = read_whole(&CHOSEN, b"a\nERR x\n");
        assert_eq!(failure.rejects, [(2, reason.to_owned())]);
    }

    #[test]
    fn another_delimiter_makes_line_ends_a_part_of_the_key() {
        assert_reads(
            delimited_by(0),
            &[("a\n\0\r\n\0\0b", r"a\n; \r\n; ; b; EmptyKey=1")],
        );
        assert_reads(delimited_by(b'\n'), &[("a\r\nb\r\n", "a; b")]);
        assert_reads(
            delimited_by(b';'),
            &[("\n", r"\n"), ("ERR x;b", "ERR x; b")],
        );
    }

    #[test]
    fn more_keys_than_a_batch_come_in_order() {
        for keys in [BATCH_KEYS, 3 * BATCH_KEYS] {
            let names: Vec<_> = (0..keys).map(|i| format!("key:{i}")).collect();
            let found = read_whole(&CHOSEN, names.join("\n").as_bytes());
            assert!(
                found
                    .keys
                    .iter()
                    .eq(names.iter().map(|name| name.as_bytes()))
            );
        }
    }
}
