//! `rdb-tools`: its memory report, a table whose keys are never quoted, whatever they hold.
//!
//! The commas before and behind the key are known by their number, so what is between them is the key. A line that is
//! a row by itself always is one. Of the lines between two such, one with the columns before a key starts a row, which
//! ends with the next line that has the columns behind one; lines that belong to no row are one reject.

use std::sync::Arc;

use super::columns::Role;
use super::size::integer;
use super::table::{self, Carried, Row, Step};
use super::{Columns, Detected, Format, Head, Reader, Seen, Sink};
use crate::source::block::{Block, Piece};
use crate::source::cut::Cut;

/// The columns that there always are, in this order; others may follow.
const COLUMNS: &str = "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element";

/// The format.
pub struct RdbTools;

impl Format for RdbTools {
    fn name(&self) -> &'static str {
        "rdb-tools"
    }

    fn example(&self) -> &'static str {
        "0,string,user:{1000}:profile,184,string,104,104, (below its header line)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        match header(head) {
            Some(line) if Shape::of(line).is_some() => Detected::Yes,
            None if head.bytes.len() < 2 * COLUMNS.len() => Detected::NeedMore,
            _ => Detected::No,
        }
    }

    fn open(&self, head: Head<'_>) -> Result<Box<dyn Reader>, String> {
        let shape = header(head).and_then(Shape::of);
        let shape = shape.ok_or_else(|| format!("the first line is not the header of rdb-tools: {COLUMNS},expiry"))?;
        Ok(Box::new(RdbToolsKeys { shape: Arc::new(shape) }))
    }
}

/// The first line, if its end is in sight.
pub fn header<'a>(head: Head<'a>) -> Option<&'a [u8]> {
    let text = table::unmarked(head.bytes);
    match memchr::memchr(b'\n', text) {
        Some(end) => Some(&text[..end]),
        None => head.whole.then_some(text),
    }
}

/// A column behind the key.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Size,
    Number,
    Word,
    Expiry,
    /// A number, or nothing.
    Extra,
}

impl Kind {
    fn fits(self, field: &[u8]) -> bool {
        match self {
            Kind::Size | Kind::Number => integer(field).is_some(),
            Kind::Word => is_word(field),
            Kind::Extra => field.is_empty() || integer(field).is_some(),
            Kind::Expiry => {
                let in_time = |byte: &u8| byte.is_ascii_digit() || b"-:.+TZ ".contains(byte);
                field.first().is_none_or(u8::is_ascii_digit) && field.iter().all(in_time)
            }
        }
    }
}

fn is_word(field: &[u8]) -> bool {
    !field.is_empty() && field.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
}

/// What the rows of one input look like.
pub struct Shape {
    /// The columns behind the key, the last one first.
    behind: Vec<Kind>,
    /// Every line ends with CR LF.
    crlf: bool,
}

/// What stands behind a key.
struct Tail {
    /// Where the key ends in its line.
    comma: usize,
    bytes: u64,
    expiring: bool,
}

impl Shape {
    /// The shape that a header line tells, if it is one of rdb-tools.
    pub fn of(line: &[u8]) -> Option<Shape> {
        let (line, crlf) = line.strip_suffix(b"\r").map_or((line, false), |line| (line, true));
        let more =
            line.get(COLUMNS.len()..).filter(|_| line[..COLUMNS.len()].eq_ignore_ascii_case(COLUMNS.as_bytes()))?;
        let mut behind = vec![Kind::Size, Kind::Word, Kind::Number, Kind::Number];
        if !more.is_empty() {
            let names = more.strip_prefix(b",")?.split(|byte| *byte == b',');
            behind.extend(
                names.map(|name| if name.eq_ignore_ascii_case(b"expiry") { Kind::Expiry } else { Kind::Extra }),
            );
        }
        behind.reverse();
        Some(Shape { behind, crlf })
    }

    /// Where the key starts in a line that begins with the columns before it.
    fn before_key(&self, line: &[u8]) -> Option<usize> {
        let database = memchr::memchr(b',', line)?;
        integer(&line[..database])?;
        let kind = memchr::memchr(b',', &line[database + 1..])?;
        is_word(&line[database + 1..][..kind]).then_some(database + kind + 2)
    }

    /// The columns that end a line, if it has them all.
    fn behind_key(&self, line: &[u8]) -> Option<Tail> {
        let mut end = if self.crlf { line.len() - usize::from(line.ends_with(b"\r")) } else { line.len() };
        let mut tail = Tail { comma: 0, bytes: 0, expiring: false };
        for kind in &self.behind {
            let comma = memchr::memrchr(b',', &line[..end])?;
            let field = &line[comma + 1..end];
            match kind {
                Kind::Size => tail.bytes = integer(field)?,
                Kind::Expiry => tail.expiring |= !field.is_empty(),
                _ => {}
            }
            if !kind.fits(field) {
                return None;
            }
            end = comma;
        }
        tail.comma = end;
        Some(tail)
    }

    /// Whether a line is a row by itself, and where its key is.
    fn row(&self, line: &[u8]) -> Option<(usize, Tail)> {
        let tail = self.behind_key(line)?;
        let key = self.before_key(line)?;
        (key <= tail.comma).then_some((key, tail))
    }

    /// What stands at `at`, and where the next row starts.
    fn next(&self, content: &[u8], at: usize) -> (usize, Step) {
        let (line, after) = line_at(content, at);
        if let Some((key, tail)) = self.row(line) {
            return (after, Step::Key(row_of(line, at, key, at, &tail)));
        }
        let head = self.before_key(line);
        let mut end = after;
        while end < content.len() {
            let (more, after) = line_at(content, end);
            match (head, self.behind_key(more)) {
                (_, Some(_)) if self.row(more).is_some() => break,
                (Some(key), Some(tail)) => return (after, Step::Key(row_of(line, at, key, end, &tail))),
                (None, _) if self.before_key(more).is_some() => break,
                _ => end = after,
            }
        }
        (end, Step::Reject("no row of the table".into()))
    }

    fn carried(&self) -> Carried {
        let mut carried = Carried::default();
        let expiry = self.behind.contains(&Kind::Expiry).then_some(Role::Expiry);
        for role in [Role::Key, Role::Bytes, Role::Database, Role::Type].into_iter().chain(expiry) {
            carried[role as usize] = true;
        }
        carried
    }
}

/// The line at `at` without its LF, and where the next one starts.
fn line_at(content: &[u8], at: usize) -> (&[u8], usize) {
    match memchr::memchr(b'\n', &content[at..]) {
        Some(len) => (&content[at..at + len], at + len + 1),
        None => (&content[at..], content.len()),
    }
}

/// A row whose first line is at `at`, with the key from `key` of it on, up to the tail of the line at `last`.
fn row_of(first: &[u8], at: usize, key: usize, last: usize, tail: &Tail) -> Row {
    let database = memchr::memchr(b',', first).unwrap_or(0);
    Row {
        bytes: tail.bytes,
        database: integer(&first[..database]).unwrap_or(super::batch::MISSING),
        expiring: tail.expiring,
        kind: ((at + database + 1) as u32, (at + key - 1) as u32),
        ..Row::of(((at + key) as u32, (last + tail.comma) as u32))
    }
}

struct RdbToolsKeys {
    shape: Arc<Shape>,
}

impl Reader for RdbToolsKeys {
    fn format(&self) -> &'static str {
        RdbTools.name()
    }

    fn cut(&self) -> Cut {
        let shape = self.shape.clone();
        Cut::Rows(Arc::new(move |line| shape.row(line).is_some()))
    }

    fn read(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>, sink: &mut dyn Sink) -> Seen {
        let mut seen = Seen::default();
        let mut from = table::start(block, piece, &mut seen);
        if piece.first {
            from = line_at(block.content(), from).1;
        }
        seen += table::read_rows(block, from, self.shape.carried(), columns, sink, |content, at| {
            self.shape.next(content, at)
        });
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{Found, read_whole};

    fn read(rows: &str) -> Found {
        read_whole(&RdbTools, format!("{COLUMNS},expiry\n{rows}").as_bytes())
    }

    fn keys(rows: &str) -> Vec<String> {
        read(rows).keys.into_iter().map(|key| String::from_utf8(key).unwrap()).collect()
    }

    #[test]
    fn all_columns_are_read() {
        let found = read("0,list,lizards,241,quicklist,5,19,\n3,string,s,8,string,1,1,2022-02-18T06:15:29.123000\n");
        assert_eq!(found.keys, [&b"lizards"[..], b"s"]);
        assert_eq!((found.values.bytes, found.values.databases), (vec![241, 8], vec![0, 3]));
        assert_eq!(found.values.expiring, [false, true]);
        assert_eq!(found.types, [&b"list"[..], b"string"]);
        assert!(found.values.ops.is_empty() && found.rejects.is_empty());
    }

    #[test]
    fn keys_may_hold_commas_quotes_and_line_ends() {
        assert_eq!(keys("0,string,a,b,,1,string,1,1,\n"), ["a,b,"]);
        assert_eq!(keys("0,string,,1,string,1,1,\n"), [""]);
        assert_eq!(keys("0,string,\"a\"\"\",1,string,1,1,\n"), ["\"a\"\"\""]);
        assert_eq!(keys("0,set,a\n\nb\n,1,string,1,1,\n0,set,c,1,string,1,1,\n"), ["a\n\nb\n", "c"]);
    }

    #[test]
    fn a_row_that_never_ends_is_one_reject() {
        let found = read("0,set,a\nb\n0,set,c,1,x,1,1,\njunk\n,\n0,set,d\ne,1,x,1,1,\n1,2\n");
        assert_eq!(found.keys, [&b"c"[..], b"d\ne"]);
        let start = COLUMNS.len() + ",expiry\n".len();
        assert_eq!(found.rejects.iter().map(|(at, _)| at - start).collect::<Vec<_>>(), [0, 27, 53]);
    }

    #[test]
    fn older_and_newer_headers_and_line_ends_of_windows_are_read() {
        let old = read_whole(&RdbTools, format!("{COLUMNS}\n0,hash,h,1,ht,1,1\n").as_bytes());
        assert_eq!((old.keys, old.values.expiring), (vec![b"h".to_vec()], vec![]));
        let more = format!("{COLUMNS},expiry,idle,freq,slot_id\r\n0,hash,h,1,ht,1,1,,,5,77\r\n");
        assert_eq!(read_whole(&RdbTools, more.as_bytes()).keys, [b"h"]);
    }

    #[test]
    fn only_its_own_header_is_detected() {
        let detect = |content: &str| RdbTools.detect(Head { bytes: content.as_bytes(), whole: false });
        assert_eq!(detect(&format!("{COLUMNS},expiry\n")), Detected::Yes);
        assert_eq!(detect(&format!("\u{feff}{}\r\n", COLUMNS.to_uppercase())), Detected::Yes);
        assert_eq!(detect(COLUMNS), Detected::NeedMore);
        assert_eq!(detect("database,key,type,size\n"), Detected::No);
        assert!(RdbTools.open(Head { bytes: b"a\n", whole: true }).is_err());
    }
}
