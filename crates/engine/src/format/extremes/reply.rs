//! Replies as printed by redis-cli, as JSON or terminal output, in either protocol: nested arrays and maps of texts and
//! numbers. Names and values of a map alternate.
//!
//! ```text
//! 1) 1) (integer) 14              1) 1# "by-cpu-time-us" => 1) "user:1"
//!    2) 1) "GET"                     2# ...                 2) (integer) 70
//! ```
//! On a terminal, array rows are indented: the column of a row's value tells which array it belongs to. A value after
//! `=>` is indented as if it directly followed the number.

use crate::format::extremes::Text;
use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::parse::escape::{self, Escapes};
use crate::format::redis_cli::noise;
use crate::format::{Detected, Head, Notice};
use crate::source::block::Block;
use crate::source::boundary::line_at;

/// Maximum nesting of arrays.
const MAX_DEPTH: usize = 16;

const CUT: &str = "a reply that is cut off";
const DEEP: &str = "a reply with more arrays in arrays than any server sends";
const BEHIND: &str = "something after a value of a reply";
const NONE: &str = "neither a part of a reply nor anything that redis-cli prints around one";

/// A part of a reply.
pub(super) enum Part {
    /// Start of an array or map.
    Open,
    /// End of an array or map.
    Close,
    /// A text.
    Text(Text),
    /// A number or another unquoted word.
    Bare(Text),
    /// A line between replies, by its bounds.
    Line(usize, usize),
}

/// Splits replies into parts.
pub(super) struct Parts {
    at: usize,
    end: usize,
    /// For JSON: the number of open arrays.
    depth: usize,
    /// For terminal output: the value column of each open array.
    columns: Vec<usize>,
    /// The column after a row's number.
    column: Option<usize>,
}

impl Parts {
    /// The parts of `from..end`.
    pub(super) fn new(from: usize, end: usize) -> Self {
        Parts {
            at: from,
            end,
            depth: 0,
            columns: Vec::new(),
            column: None,
        }
    }

    /// The next part; `None` at the end.
    ///
    /// # Errors
    /// Why the rest cannot be parsed.
    pub(super) fn next(&mut self, content: &[u8]) -> Result<Option<Part>, &'static str> {
        loop {
            if self.depth > 0 {
                return self.json(content).map(Some);
            }
            if self.at >= self.end {
                return Ok(self.columns.pop().map(|_| Part::Close));
            }
            if let Some(column) = self.column {
                match self.row(content, column)? {
                    None => continue,
                    part => return Ok(part),
                }
            }
            let (line, next) = line_at(&content[..self.end], self.at);
            let blanks = line.len() - line.trim_ascii_start().len();
            match line.get(blanks) {
                Some(b'[' | b'{') if self.columns.is_empty() => {
                    self.at += blanks + 1;
                    self.depth = 1;
                    return Ok(Some(Part::Open));
                }
                _ if number(line).is_some() => self.column = Some(0),
                // Close open arrays before the line.
                _ if self.columns.pop().is_some() => return Ok(Some(Part::Close)),
                _ => {
                    let start = std::mem::replace(&mut self.at, next);
                    return Ok(Some(Part::Line(start, start + line.len())));
                }
            }
        }
    }

    /// The next part of JSON, parsed no deeper than needed to find parts.
    fn json(&mut self, content: &[u8]) -> Result<Part, &'static str> {
        let is_between = |byte: &&u8| byte.is_ascii_whitespace() || b",:".contains(byte);
        let rest = &content[self.at..self.end];
        self.at += rest.iter().take_while(is_between).count();
        let start = self.at;
        match content[..self.end].get(start) {
            None => Err(CUT),
            Some(b'[' | b'{') => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    Err(DEEP)
                } else {
                    Ok(Part::Open)
                }
            }
            Some(b']' | b'}') => {
                self.at += 1;
                self.depth -= 1;
                if self.depth == 0 {
                    let rest = &content[self.at..self.end];
                    self.at += rest.len() - rest.trim_ascii_start().len();
                }
                Ok(Part::Close)
            }
            Some(b'"') => {
                let to = escape::close(&content[..self.end], start + 1).ok_or(CUT)?;
                self.at = to + 1;
                Ok(Part::Text(Text {
                    from: start + 1,
                    to,
                    escapes: Escapes::Json,
                }))
            }
            Some(_) => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:[]{}\"".contains(byte);
                let rest = &content[start..self.end];
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                Ok(Part::Bare(Text {
                    from: start,
                    to: self.at,
                    escapes: Escapes::Json,
                }))
            }
        }
    }

    /// The next part of a terminal row; `None` after its number.
    fn row(&mut self, content: &[u8], column: usize) -> Result<Option<Part>, &'static str> {
        let (line, next) = line_at(&content[..self.end], self.at);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(len) = number(line) {
            let start = column + len;
            match self.columns.last() {
                Some(open) if *open > start => {
                    self.columns.pop();
                    return Ok(Some(Part::Close));
                }
                Some(open) if *open == start => {}
                _ if self.columns.len() == MAX_DEPTH => return Err(DEEP),
                _ => {
                    self.columns.push(start);
                    (self.at, self.column) = (self.at + len, Some(start));
                    return Ok(Some(Part::Open));
                }
            }
            (self.at, self.column) = (self.at + len, Some(start));
            return Ok(None);
        }
        let (part, end) = value(line, self.at).ok_or(CUT)?;
        match line[end..].strip_prefix(b" => ") {
            Some(_) => self.at += end + b" => ".len(),
            None if line[end..].trim_ascii().is_empty() => (self.at, self.column) = (next, None),
            None => return Err(BEHIND),
        }
        Ok(Some(part))
    }
}

/// The length of a row's number with surrounding blanks and parenthesis: ` 1) `, `1# `, `1~ `.
fn number(line: &[u8]) -> Option<usize> {
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    let digits = line[blanks..].iter();
    let end = blanks + digits.take_while(|byte| byte.is_ascii_digit()).count();
    let is_one = end > blanks && matches!(line[end..], [b')' | b'#' | b'~', b' ', ..]);
    is_one.then_some(end + 2)
}

/// The value at the start of `line`, which is at block position `at`, and its end within the line.
fn value(line: &[u8], at: usize) -> Option<(Part, usize)> {
    let text = |from: usize, to: usize| Text {
        from: at + from,
        to: at + to,
        escapes: Escapes::C,
    };
    if line.first() == Some(&b'"') {
        let end = escape::close(line, 1)?;
        return Some((Part::Text(text(1, end)), end + 1));
    }
    let end = memchr::memmem::find(line, b" => ").unwrap_or(line.len());
    // `(integer) 14`, `(double) 1.5`
    let start = memchr::memmem::rfind(&line[..end], b") ").map_or(0, |kind| kind + 2);
    Some((Part::Bare(text(start, end)), end))
}

/// Whether a line starts a reply: JSON, or the first rows of nested arrays, whose value satisfies `first`.
pub(super) fn starts_row(line: &[u8], first: fn(&[u8]) -> bool) -> bool {
    if matches!(line.first(), Some(b'[' | b'{')) {
        return true;
    }
    let inner = number(line).and_then(|len| {
        let rest = &line[len..];
        let is_first = rest.trim_ascii_start().first() == Some(&b'1');
        number(rest).filter(|_| is_first).map(|len| &rest[len..])
    });
    inner.is_some_and(first)
}

/// Calls `row` with the bounds of each reply from `from` on: its first line and the following ones.
pub(super) fn each_row(
    block: &mut Block,
    from: u32,
    starts: impl Fn(&[u8]) -> bool,
    mut row: impl FnMut(&mut Block, usize, usize),
) {
    let mut start = from as usize;
    while start < block.len() {
        let (_, mut end) = line_at(block.content(), start);
        while end < block.len() {
            let (line, next) = line_at(block.content(), end);
            if starts(line) {
                break;
            }
            end = next;
        }
        row(block, start, end);
        start = end;
    }
}

/// Calls `take` with each part of the replies in `from..to`. Lines between replies are noted or rejected, and so is
/// whatever ends the walk. A reply is empty if `take` finds nothing in any part.
pub(super) fn each_part(
    block: &mut Block,
    (from, to): (usize, usize),
    gather: &mut BatchBuilder<'_, '_>,
    mut take: impl FnMut(&mut Block, Part, &mut BatchBuilder<'_, '_>) -> Result<bool, &'static str>,
) {
    let mut parts = Parts::new(from, to);
    let (mut is_reply, mut has_something) = (false, false);
    loop {
        let taken = match parts.next(block.content()) {
            Ok(None) => break,
            Ok(Some(Part::Line(from, to))) => {
                between(gather, block, from, to);
                continue;
            }
            Ok(Some(part)) => take(block, part, gather),
            Err(reason) => Err(reason),
        };
        is_reply = true;
        match taken {
            Ok(has) => has_something |= has,
            Err(reason) => return gather.reject(from, reason),
        }
    }
    if is_reply && !has_something {
        gather.note(Notice::EmptyReply);
    }
}

/// Handles a line between replies.
fn between(gather: &mut BatchBuilder<'_, '_>, block: &Block, from: usize, to: usize) {
    match noise::noise(&block.content()[from..to]) {
        Some(Notice::ErrorReply) => gather.failure(from),
        Some(notice) => gather.note(notice),
        None => gather.reject(from, NONE),
    }
}

/// Bytes of an input examined.
const LOOKED_AT: usize = 4 << 10;

/// Whether the first reply of a head, after the lines redis-cli prints around replies, satisfies `is`.
pub(super) fn detect(
    head: Head<'_>,
    starts: fn(&[u8]) -> bool,
    is: impl Fn(&[u8], &mut Parts) -> Detected,
) -> Detected {
    let mut at = 0;
    while at < head.bytes.len() {
        let (line, next) = line_at(head.bytes, at);
        if starts(line) {
            let is_all = head.whole || head.bytes.len() - at > LOOKED_AT;
            return match is(head.bytes, &mut Parts::new(at, head.bytes.len())) {
                Detected::NeedMore if is_all => Detected::No,
                detected => detected,
            };
        }
        if noise::noise(line).is_none() {
            return Detected::No;
        }
        at = next;
    }
    Detected::No
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(content: &str) -> String {
        let content = content.as_bytes();
        let mut walk = Parts::new(0, content.len());
        let mut found = String::new();
        loop {
            let text = |text: Text| String::from_utf8_lossy(text.of(content)).into_owned();
            match walk.next(content) {
                Ok(None) => return found,
                Ok(Some(Part::Open)) => found += "[",
                Ok(Some(Part::Close)) => found += "]",
                Ok(Some(Part::Text(of))) => found += &format!("'{}' ", text(of)),
                Ok(Some(Part::Bare(of))) => found += &format!("{} ", text(of)),
                Ok(Some(Part::Line(from, to))) => {
                    found += &format!("<{}>", String::from_utf8_lossy(&content[from..to]));
                }
                Err(why) => return found + why,
            }
        }
    }

    #[test]
    fn json_and_a_terminal_of_either_protocol_have_the_same_parts() {
        let expected = "[['a' 1 'list' ['k' 70 'l' 5 ]]['b' ['c' ]]]";
        for spelled in [
            r#"[["a",1,"list",["k",70,"l",5]],["b",["c"]]]"#,
            "[\n {\"a\": 1, \"list\": {\"k\": 70, \"l\": 5}},\n {\"b\": [\"c\"]}\n]\n",
            "1) 1) \"a\"\n   2) (integer) 1\n   3) \"list\"\n   4) 1) \"k\"\n      2) (integer) 70\n      3) \"l\"\n      \
             4) (integer) 5\n2) 1) \"b\"\n   2) 1) \"c\"\n",
            "1) 1# \"a\" => (integer) 1\n   2# \"list\" => 1) \"k\"\n      2) (integer) 70\n      3) \"l\"\n      \
             4) (integer) 5\n2) 1# \"b\" => 1~ \"c\"\n",
        ] {
            assert_eq!(parts(spelled), expected, "{spelled}");
        }
    }

    #[test]
    fn rows_of_two_digits_are_aligned_by_their_values() {
        let rows = |width: usize| -> String {
            let row = |i| format!("{i:>width$}) 1) (integer) {i}\n{:>width$}  2) \"x\"\n", "");
            (9..12).map(row).collect()
        };
        assert_eq!(parts(&rows(3)), "[[9 'x' ][10 'x' ][11 'x' ]]");
    }

    #[test]
    fn lines_between_replies_end_what_is_open() {
        let text = "127.0.0.1:1> SLOWLOG GET\n1) 1) \"a\"\n(1.5s)\n[]\n\n[\"b\"]";
        assert_eq!(
            parts(text),
            "<127.0.0.1:1> SLOWLOG GET>[['a' ]]<(1.5s)>[]['b' ]"
        );
    }

    #[test]
    fn hostile_replies_end_with_a_reason() {
        for (text, why) in [
            ("[\"a", CUT),
            ("[1,", CUT),
            ("1) \"a", CUT),
            ("1) \"a\" b", BEHIND),
        ] {
            assert!(parts(text).ends_with(why), "{text}: {}", parts(text));
        }
        assert!(parts(&"[".repeat(1 << 20)).ends_with(DEEP));
        assert!(parts(&"1) ".repeat(1 << 20)).ends_with(DEEP));
        assert_eq!(parts("[]]\n"), "[]<]>");
    }
}
