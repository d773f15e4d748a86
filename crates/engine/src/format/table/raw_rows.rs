//! Rows in which tools write keys raw, whatever they contain: yields the bounds of rows and keys.
//!
//! The numbers of commas before and after the key are known, and the bytes between them are the key. A line that is a
//! complete row always counts as one. Between two such lines, a line with the columns before a key starts a row, which
//! ends with the next line that has the columns after one; lines outside of rows are one reject.

use std::sync::Arc;

use crate::format::batch::{MISSING, NEVER, Number, Word};
use crate::format::frame::row_boundary::RowBoundary;
use crate::format::parse::size::{integer, size_in_thousands};
use crate::format::parse::time;
use crate::format::table;
use crate::format::table::columns::Role;
use crate::format::table::{Carried, Row, Rows, Step, Unreadables};
use crate::format::{Columns, Head, Opened, ReadStats, Reader, Sink};
use crate::metric::Metric;
use crate::source::block::{Block, Piece};
use crate::source::boundary::line_at;

/// The columns that are always present, in this order; others may follow.
pub(crate) const COLUMNS: &str =
    "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element";

/// The first line, if the head contains its end.
pub(crate) fn header<'a>(head: Head<'a>) -> Option<&'a [u8]> {
    let text = table::unmarked(head.bytes);
    match memchr::memchr(b'\n', text) {
        Some(end) => Some(&text[..end]),
        None => head.whole.then_some(text),
    }
}

/// A column after the key.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The size of the key, or of its largest element.
    Size,
    Length,
    Number,
    Word,
    Expiry,
    /// A number, possibly empty.
    Extra,
}

impl Kind {
    /// Whether it is quoted when keys are.
    fn is_in_quotes(self) -> bool {
        matches!(self, Kind::Size | Kind::Length | Kind::Expiry)
    }

    fn fits(self, field: &[u8]) -> bool {
        match self {
            // The number parser decides.
            Kind::Size | Kind::Length => true,
            Kind::Number => integer(field).is_some(),
            Kind::Word => is_word(field),
            Kind::Extra => field.is_empty() || integer(field).is_some(),
            Kind::Expiry => {
                field.first().is_none_or(u8::is_ascii_digit) && field.iter().all(is_in_time)
            }
        }
    }
}

fn is_word(field: &[u8]) -> bool {
    let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !field.is_empty() && field.iter().all(is_in_word)
}

fn is_in_time(byte: &u8) -> bool {
    byte.is_ascii_digit() || b"-:.+TZ ".contains(byte)
}

/// The form of an input's rows.
pub(crate) struct Shape {
    /// The columns after the key, last one first.
    behind: Vec<Kind>,
    /// Whether every line ends with CR LF.
    crlf: bool,
    /// Whether key, sizes and expiry are quoted. Quotes inside the key are not escaped.
    quotes: bool,
}

/// The part of a line after the key.
struct Tail {
    /// The offset of the key's end in its line.
    end: usize,
    bytes: u64,
    expiry: u64,
    elements: u64,
    /// The position of the encoding in its line.
    encoding: (usize, usize),
}

impl Shape {
    /// The form implied by a header line, if it is one of these tools'.
    pub(crate) fn of(line: &[u8], quotes: bool) -> Option<Shape> {
        let (line, crlf) = line
            .strip_suffix(b"\r")
            .map_or((line, false), |line| (line, true));
        let extra = line
            .get(COLUMNS.len()..)
            .filter(|_| line[..COLUMNS.len()].eq_ignore_ascii_case(COLUMNS.as_bytes()))?;
        let mut behind = vec![Kind::Size, Kind::Word, Kind::Number, Kind::Length];
        if !extra.is_empty() {
            let names = extra.strip_prefix(b",")?.split(|byte| *byte == b',');
            behind.extend(names.map(|name| {
                if name.eq_ignore_ascii_case(b"expiry") {
                    Kind::Expiry
                } else {
                    Kind::Extra
                }
            }));
        }
        behind.reverse();
        Some(Shape {
            behind,
            crlf,
            quotes,
        })
    }

    /// The offset of the key in a line that starts with the columns before it.
    fn before_key(&self, line: &[u8]) -> Option<usize> {
        let database = memchr::memchr(b',', line)?;
        integer(&line[..database])?;
        let kind = memchr::memchr(b',', &line[database + 1..])?;
        let key = database + kind + 2;
        let opened = !self.quotes || line.get(key) == Some(&b'"');
        (opened && is_word(&line[database + 1..][..kind])).then_some(key + usize::from(self.quotes))
    }

    /// The columns at the end of a line, if complete.
    fn behind_key(&self, line: &[u8]) -> Option<Tail> {
        let mut end = if self.crlf {
            line.len() - usize::from(line.ends_with(b"\r"))
        } else {
            line.len()
        };
        let mut tail = Tail {
            end: 0,
            bytes: 0,
            expiry: NEVER,
            elements: MISSING,
            encoding: (0, 0),
        };
        for kind in &self.behind {
            let comma = memchr::memrchr(b',', &line[..end])?;
            let field = self.bare(*kind, &line[comma + 1..end])?;
            match kind {
                Kind::Size => tail.bytes = self.size(field)?,
                Kind::Length => drop(self.size(field)?),
                Kind::Expiry => tail.expiry = time::expiry(field),
                Kind::Number => tail.elements = integer(field)?,
                Kind::Word => tail.encoding = (comma + 1, end),
                Kind::Extra => {}
            }
            if !kind.fits(field) {
                return None;
            }
            end = comma;
        }
        tail.end = if self.quotes {
            end.checked_sub(1).filter(|quote| line[*quote] == b'"')?
        } else {
            end
        };
        Some(tail)
    }

    fn size(&self, field: &[u8]) -> Option<u64> {
        if self.quotes {
            size_in_thousands(field)
        } else {
            integer(field)
        }
    }

    /// A field without its quotes, if it has the expected ones.
    fn bare<'a>(&self, kind: Kind, field: &'a [u8]) -> Option<&'a [u8]> {
        match kind {
            kind if self.quotes && kind.is_in_quotes() => {
                field.strip_prefix(b"\"")?.strip_suffix(b"\"")
            }
            _ => Some(field),
        }
    }

    /// Whether a line is a complete row.
    pub(crate) fn is_row(&self, line: &[u8]) -> bool {
        self.row(line).is_some()
    }

    /// The position of the key in a line that is a complete row.
    fn row(&self, line: &[u8]) -> Option<(usize, Tail)> {
        let tail = self.behind_key(line)?;
        let key = self.before_key(line)?;
        (key <= tail.end).then_some((key, tail))
    }
}

/// A row whose first line is at `at`, with the key from its byte `key` up to the tail of the line at `last`.
fn key_of(first: &[u8], at: usize, key: usize, last: usize, tail: &Tail) -> Step {
    let database = memchr::memchr(b',', first).unwrap_or(0);
    let kind = memchr::memrchr(b',', &first[..key]).unwrap_or(database);
    let mut row = Row::of(((at + key) as u32, (last + tail.end) as u32));
    row.weights[Metric::SIZE] = tail.bytes;
    row.numbers[Number::Database as usize] = integer(&first[..database]).unwrap_or(MISSING);
    row.numbers[Number::Expiry as usize] = tail.expiry;
    row.numbers[Number::Elements as usize] = tail.elements;
    row.words[Word::Type as usize] = ((at + database + 1) as u32, (at + kind) as u32);
    let (from, to) = tail.encoding;
    row.words[Word::Encoding as usize] = ((last + from) as u32, (last + to) as u32);
    Step::Key(row, Unreadables::default())
}

/// An input of raw rows.
pub(crate) struct RawRows(Arc<Shape>);

impl RawRows {
    /// Opens an input whose first line is the header of `format`.
    ///
    /// # Errors
    /// The header is missing.
    pub(crate) fn open(
        format: &'static str,
        head: Head<'_>,
        quotes: bool,
    ) -> Result<Opened, String> {
        let parsed = header(head).and_then(|line| Shape::of(line, quotes));
        let shape = parsed.ok_or_else(|| {
            format!("the first line is not the header of {format}: {COLUMNS},expiry")
        })?;
        let rows = RawRows(Arc::new(shape));
        let shape = rows.0.clone();
        let boundary = RowBoundary::Rows(Arc::new(move |line| shape.row(line).is_some()));
        Ok(Opened::blocks(format, boundary, rows))
    }
}

impl Rows for Shape {
    type Memory = ();

    fn carried(&self) -> Carried {
        let mut carried = Carried::default();
        let role = Role::Number(Number::Expiry);
        let expiry = self.behind.contains(&Kind::Expiry).then_some(role);
        for role in [
            Role::Key,
            Role::of(Metric::Bytes),
            Role::Number(Number::Database),
            Role::Number(Number::Elements),
            Role::Word(Word::Type),
            Role::Word(Word::Encoding),
        ]
        .into_iter()
        .chain(expiry)
        {
            carried[role.place()] = true;
        }
        carried
    }

    fn first(&self, block: &Block, piece: Piece, from: usize) -> usize {
        if piece.first {
            line_at(block.content(), from).1
        } else {
            from
        }
    }

    fn next(&self, content: &mut [u8], at: usize, _: &mut ()) -> (usize, Step) {
        let (line, after) = line_at(content, at);
        if let Some((key, tail)) = self.row(line) {
            return (after, key_of(line, at, key, at, &tail));
        }
        let head = self.before_key(line);
        let mut end = after;
        while end < content.len() {
            let (next_line, after) = line_at(content, end);
            match (head, self.behind_key(next_line)) {
                (_, Some(_)) if self.row(next_line).is_some() => break,
                (Some(key), Some(tail)) => {
                    return (after, key_of(line, at, key, end, &tail));
                }
                (None, _) if self.before_key(next_line).is_some() => break,
                _ => end = after,
            }
        }
        (end, Step::Reject("no row of the table".into()))
    }
}

impl Reader for RawRows {
    fn read(
        &self,
        block: &mut Block,
        piece: Piece,
        columns: &mut Columns<'_>,
        sink: &mut dyn Sink,
    ) -> ReadStats {
        table::read(&*self.0, block, piece, columns, sink)
    }
}
