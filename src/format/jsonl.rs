//! `jsonl`: a JSON object a line, one of whose fields is the key; also where all lines stand in one pair of brackets.
//! Fields are found by their names, a key is decoded where it stands.
//!
//! Only as much of JSON is read as tells fields apart: strings and brackets. A key need not be valid UTF-8.

use std::ops::Range;

use super::batch::MISSING;
use super::columns::{ColumnNames, ROLES, Role};
use super::csv::Csv;
use super::escape::{self, Escapes};
use super::size::{integer, size};
use super::table::{self, Carried, Row, Step};
use super::{Columns, Detected, Format, Head, Reader, Seen, Sink};
use crate::source::block::{Block, Piece};
use crate::source::cut::Cut;

/// Objects at the start of an input whose fields say which columns it has.
const LOOKED_AT: usize = 200;

/// The format.
pub struct Jsonl {
    /// Fields with names of their own.
    pub names: ColumnNames,
}

/// `jsonl` with the field names that tools use.
pub static USUAL: Jsonl = Jsonl { names: ColumnNames::USUAL };

impl Format for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn example(&self) -> &'static str {
        r#"{"key":"user:{1000}:profile","type":"hash","size":184,"ops":17}"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        match first_object(head) {
            Ok(object) if fields(object).is_ok_and(|fields| self.names.at(object, &fields, Role::Key).is_some()) => {
                Detected::Yes
            }
            Ok(_) => Detected::No,
            Err(detected) => detected,
        }
    }

    fn open(&self, head: Head<'_>) -> Result<Box<dyn Reader>, String> {
        Ok(Box::new(JsonKeys::open(self.name(), head, self.names.clone())))
    }
}

/// `csv` or `jsonl`, whichever the input is, with columns of the user's.
pub struct Table {
    /// Their names.
    pub names: ColumnNames,
}

impl Format for Table {
    fn name(&self) -> &'static str {
        "csv or jsonl"
    }

    fn example(&self) -> &'static str {
        USUAL.example()
    }

    fn detect(&self, _: Head<'_>) -> Detected {
        Detected::Yes
    }

    fn open(&self, head: Head<'_>) -> Result<Box<dyn Reader>, String> {
        match table::unmarked(head.bytes).trim_ascii_start().first() {
            Some(b'{' | b'[') => Jsonl { names: self.names.clone() }.open(head),
            _ => Csv { names: self.names.clone() }.open(head),
        }
    }
}

/// The first line that is not empty or a bracket, if it is an object; otherwise whether there may be one.
pub fn first_object(head: Head<'_>) -> Result<&[u8], Detected> {
    let text = table::unmarked(head.bytes);
    let mut lines = text.split(|byte| *byte == b'\n').map(row_of).peekable();
    while let Some(line) = lines.next() {
        let is_whole = head.whole || lines.peek().is_some();
        match line {
            b"" | b"[" => {}
            [b'{', ..] if is_whole => return Ok(line),
            [b'{', ..] => return Err(Detected::NeedMore),
            _ => return Err(Detected::No),
        }
    }
    Err(if head.whole { Detected::No } else { Detected::NeedMore })
}

/// A line without blanks, and without the comma behind an object or the bracket before the first.
fn row_of(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    let line = line.strip_suffix(b",").map_or(line, <[u8]>::trim_ascii_end);
    match line.strip_prefix(b"[").map(<[u8]>::trim_ascii_start) {
        Some(object @ [b'{', ..]) => object,
        _ => line,
    }
}

/// A field of an object: its name and its value, without the quotes of a string.
pub struct Field {
    name: Range<usize>,
    value: Range<usize>,
    is_text: bool,
}

/// The fields of an object, as places in `object`.
pub fn fields(object: &[u8]) -> Result<Vec<Field>, &'static str> {
    const NO_OBJECT: &str = "not one JSON object a line";
    let blank = |mut at: usize| {
        while object.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let mut found = Vec::new();
    let mut at = blank(1);
    if object.first() != Some(&b'{') {
        return Err(NO_OBJECT);
    }
    if object.get(at) == Some(&b'}') && at + 1 == object.len() {
        return Ok(found);
    }
    loop {
        if object.get(at) != Some(&b'"') {
            return Err(NO_OBJECT);
        }
        let end = escape::close(object, at + 1).ok_or(NO_OBJECT)?;
        let name = at + 1..end;
        at = blank(end + 1);
        if object.get(at) != Some(&b':') {
            return Err(NO_OBJECT);
        }
        at = blank(at + 1);
        let (value, is_text, behind) = value(object, at).ok_or(NO_OBJECT)?;
        found.push(Field { name, value, is_text });
        at = blank(behind);
        match object.get(at) {
            Some(b',') => at = blank(at + 1),
            Some(b'}') if at + 1 == object.len() => return Ok(found),
            _ => return Err(NO_OBJECT),
        }
    }
}

/// The value at `at`, whether it is a string, and where it ends.
fn value(object: &[u8], at: usize) -> Option<(Range<usize>, bool, usize)> {
    match object.get(at)? {
        b'"' => {
            let end = escape::close(object, at + 1)?;
            Some((at + 1..end, true, end + 1))
        }
        b'{' | b'[' => {
            let (mut depth, mut end) = (0usize, at);
            loop {
                match object.get(end)? {
                    b'"' => end = escape::close(object, end + 1)?,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                end += 1;
                if depth == 0 {
                    return Some((at..end, false, end));
                }
            }
        }
        _ => {
            let len = object[at..].iter().position(|byte| b",}] \t\r".contains(byte))?;
            (len > 0).then_some((at..at + len, false, at + len))
        }
    }
}

impl ColumnNames {
    /// The field of a role that is preferred to others of it.
    fn at<'f>(&self, object: &[u8], fields: &'f [Field], wanted: Role) -> Option<&'f Field> {
        let ranked = fields.iter().filter_map(|field| match self.role(&object[field.name.clone()]) {
            Some((role, rank)) if role == wanted => Some((rank, field)),
            _ => None,
        });
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, field)| field)
    }
}

/// JSON lines that are open; other tools' JSON is read by it too.
pub struct JsonKeys {
    format: &'static str,
    names: ColumnNames,
    carried: Carried,
}

impl JsonKeys {
    /// Finds out which columns there are from the first objects.
    pub fn open(format: &'static str, head: Head<'_>, names: ColumnNames) -> Self {
        let mut carried = [false; ROLES];
        let lines = table::unmarked(head.bytes).split(|byte| *byte == b'\n').map(row_of);
        for line in lines.filter(|line| line.starts_with(b"{")).take(LOOKED_AT) {
            for field in fields(line).into_iter().flatten() {
                if let Some((role, _)) = names.role(&line[field.name]) {
                    carried[role as usize] = true;
                }
            }
        }
        JsonKeys { format, names, carried }
    }

    /// What the line at `content[from..to]` says.
    fn step(&self, content: &mut [u8], from: usize, to: usize) -> Step {
        let row = row_of(&content[from..to]);
        if matches!(row, b"" | b"[" | b"]") {
            return Step::Blank;
        }
        let start = from + (row.as_ptr() as usize - content[from..to].as_ptr() as usize);
        let found = match fields(row) {
            Ok(found) => found,
            Err(reason) => return Step::Reject(reason.into()),
        };
        let field = |role| self.names.at(row, &found, role);
        let text = |role| field(role).map_or(&b""[..], |field| &row[field.value.clone()]);
        let kind = field(Role::Type).filter(|field| field.is_text).map(|field| field.value.clone());
        let kind = kind.unwrap_or_default();
        let Some(key) = field(Role::Key).filter(|field| field.is_text).map(|field| field.value.clone()) else {
            return if is_no_key(&row[kind]) {
                Step::NoKey
            } else {
                Step::Reject("no field with the key in it".into())
            };
        };
        if is_no_key(&row[kind.clone()]) {
            return Step::NoKey;
        }
        let number = |role, read: fn(&[u8]) -> Option<u64>| match text(role) {
            b"" | b"null" => Ok(MISSING),
            text => read(text).ok_or_else(|| format!("no number: \"{}\"", text[..text.len().min(40)].escape_ascii())),
        };
        let numbers = [number(Role::Bytes, size), number(Role::Ops, integer), number(Role::Database, integer)];
        let [Ok(bytes), Ok(ops), Ok(database)] = numbers else {
            let reason = numbers.into_iter().find_map(Result::err).unwrap_or_default();
            return Step::Reject(reason.into());
        };
        let expiring = table::expires(text(Role::Expiry));
        let place = |range: Range<usize>| ((start + range.start) as u32, (start + range.end) as u32);
        let (kind, key) = (place(kind), place(key));
        let end = escape::undo(Escapes::Json, content, key.0 as usize, key.1 as usize);
        Step::Key(Row { key: (key.0, end as u32), bytes, ops, database, expiring, kind })
    }
}

/// Entries of a dump that describe the dump.
fn is_no_key(kind: &[u8]) -> bool {
    matches!(kind, b"aux" | b"functions" | b"dbsize")
}

impl Reader for JsonKeys {
    fn format(&self) -> &'static str {
        self.format
    }

    fn cut(&self) -> Cut {
        Cut::Lines(b'\n')
    }

    fn read(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>, sink: &mut dyn Sink) -> Seen {
        let mut seen = Seen::default();
        let from = table::start(block, piece, &mut seen);
        seen += table::read_rows(block, from, self.carried, columns, sink, |content, at| {
            let end = memchr::memchr(b'\n', &content[at..]).map_or(content.len(), |len| at + len);
            (end + 1, self.step(content, at, end))
        });
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Notice;
    use crate::format::reading::read_whole;

    #[test]
    fn fields_are_found_by_name_and_keys_are_decoded() {
        let dump = b"{\"type\":\"hash\",\"Key\":\"a\\u0000\\\"b\\u00e9\",\"used_memory\":\"1.2kB\",\"hits\":7,\"db\":0,\"ttl\":-1}\n\
            { \"key\" : \"\xff\" , \"nested\":{\"key\":\"no\",\"l\":[1,\"}\"]}, \"used_memory\": 88, \"ttl\":60 }\r\n";
        let found = read_whole(&USUAL, dump);
        assert_eq!(found.keys, [&b"a\0\"b\xc3\xa9"[..], b"\xff"]);
        assert_eq!((found.values.bytes, found.values.ops), (vec![1200, 88], vec![7, MISSING]));
        assert_eq!(found.values.expiring, [false, true]);
        assert_eq!(found.types, [&b"hash"[..], b""]);
        assert!(found.rejects.is_empty());
    }

    #[test]
    fn brackets_and_commas_around_objects_are_their_frame() {
        let found = read_whole(&USUAL, b"[{\"key\":\"a\"},\n{\"key\":\"b\"},\n\n{\"key\":\"x\",\"type\":\"aux\"}\n]\n");
        assert_eq!((found.keys.len(), found.seen.count(Notice::NoKey)), (2, 1));
        assert!(found.rejects.is_empty(), "{:?}", found.rejects);
    }

    #[test]
    fn what_is_no_object_or_has_no_key_is_refused_where_it_stands() {
        let rows = [
            "{\"key\":\"a\"",
            "{\"a\":1}",
            "{\"key\":5}",
            "{\"key\":\"a\",\"size\":\"x\"}",
            "plain",
            "{\"key\":\"a\"} x",
        ];
        for row in rows {
            let found = read_whole(&USUAL, format!("{{\"key\":\"ok\",\"size\":1}}\n{row}\n").as_bytes());
            assert_eq!((found.keys.len(), found.rejects.len()), (1, 1), "{row}");
            assert_eq!(found.rejects[0].0, 22, "{row}");
        }
    }

    #[test]
    fn an_object_with_a_key_tells_the_form() {
        let detect = |text: &str, whole| USUAL.detect(Head { bytes: text.as_bytes(), whole });
        assert_eq!(detect("{\"key\":\"a\"}\n", false), Detected::Yes);
        assert_eq!(detect("[\n{\"name\":\"a\"},\n", false), Detected::Yes);
        assert_eq!(detect("{\"key\":\"a\"", false), Detected::NeedMore);
        assert_eq!(detect("{user}:1\n", false), Detected::No);
        assert_eq!(detect("[\"a\"]\n", true), Detected::No);
        assert_eq!(detect("[\n", false), Detected::NeedMore);
    }
}
