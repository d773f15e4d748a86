//! Replies as `redis-cli --json` prints them, in either protocol: nested arrays and maps of texts and numbers.

use slotscope_base::block::Block;

use crate::format::extremes::Text;
use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::frame::row_boundary::RowBoundary;
use crate::format::parse::escape;
use crate::format::redis_cli::noise;
use crate::format::{Detected, Head, Notice, Opened, Reader};
use crate::source::boundary::line_at;

/// Maximum nesting of arrays, and number of values in a reply.
const MAX_DEPTH: usize = 16;
const MAX_VALUES: usize = 1 << 20;

const CUT: &str = "a reply that is cut off";
const LARGE: &str = "a reply with more values, or more arrays in arrays, than any server sends";
const NONE: &str = "neither a reply in JSON nor anything that redis-cli prints around one";

/// A value of a reply.
pub(super) enum Value {
    Text(Text),
    /// A number or another unquoted word.
    Bare(Text),
    /// An array, or a map, in which names and values alternate; and whether its end is there.
    List(Vec<Value>, bool),
}

impl Value {
    /// The bytes of a text or a number.
    pub(super) fn bytes<'c>(&self, content: &'c [u8]) -> &'c [u8] {
        match self {
            Value::Text(text) | Value::Bare(text) => text.of(content),
            Value::List(..) => b"",
        }
    }
}

/// Parses a reply, no deeper than needed to find its values.
struct Parser<'a> {
    content: &'a [u8],
    at: usize,
    values: usize,
    /// Why the rest cannot be parsed.
    error: Option<&'static str>,
}

impl Parser<'_> {
    /// The list whose bracket is before `at`.
    fn list(&mut self, depth: usize) -> Value {
        let mut items = Vec::new();
        loop {
            let is_between = |byte: &&u8| byte.is_ascii_whitespace() || b",:".contains(byte);
            let rest = &self.content[self.at..];
            let start = self.at + rest.iter().take_while(is_between).count();
            self.at = start + 1;
            self.values += 1;
            items.push(match self.content.get(start) {
                Some(b']' | b'}') => return Value::List(items, true),
                Some(_) if depth == MAX_DEPTH || self.values > MAX_VALUES => {
                    self.error = Some(LARGE);
                    return Value::List(items, false);
                }
                Some(b'[' | b'{') => self.list(depth + 1),
                Some(b'"') => {
                    let from = start + 1;
                    let Some(to) = escape::close(self.content, from) else {
                        self.error = Some(CUT);
                        return Value::List(items, false);
                    };
                    self.at = to + 1;
                    Value::Text(Text { from, to })
                }
                None => {
                    self.error = Some(CUT);
                    return Value::List(items, false);
                }
                Some(_) => {
                    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:[]{}\"".contains(byte);
                    let rest = &self.content[start..];
                    self.at = start + rest.iter().position(ends).unwrap_or(rest.len());
                    Value::Bare(Text {
                        from: start,
                        to: self.at,
                    })
                }
            });
            if self.error.is_some() {
                return Value::List(items, false);
            }
        }
    }
}

/// The reply at `from`, which is a bracket, and its parser.
fn reply(content: &[u8], from: usize) -> (Value, Parser<'_>) {
    let mut parser = Parser {
        content,
        at: from + 1,
        values: 0,
        error: None,
    };
    (parser.list(1), parser)
}

/// Replies as an input of the format called `format`.
pub(super) fn opened(format: &'static str, reader: impl Reader + 'static) -> Opened {
    Opened::blocks(format, RowBoundary::Counted(end), reader)
}

/// The end of a reply: the line end before the next one.
fn end(bytes: &[u8]) -> Option<usize> {
    let mut ends = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
    ends.find(|end| starts(&bytes[*end..]))
}

/// Whether a line starts a reply.
fn starts(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'[' | b'{'))
}

/// Calls `take` with the bounds of each reply from `from` on, and with the reply. Lines between replies are noted or
/// rejected, and so is a reply that cannot be parsed, after its values. A reply is empty if `take` finds nothing in it.
pub(super) fn each(
    block: &mut Block,
    from: u32,
    gather: &mut BatchBuilder<'_, '_>,
    mut take: impl FnMut(
        &mut Block,
        usize,
        &Value,
        &mut BatchBuilder<'_, '_>,
    ) -> Result<bool, &'static str>,
) {
    let mut start = from as usize;
    while start < block.len() {
        let (line, mut end) = line_at(block.content(), start);
        if !starts(line) {
            let line_end = start + line.len();
            between(gather, block, start, line_end);
            start = end;
            continue;
        }
        while end < block.len() && !starts(line_at(block.content(), end).0) {
            end = line_at(block.content(), end).1;
        }
        let (value, Parser { at, error, .. }) = reply(&block.content()[..end], start);
        let outcome = take(block, start, &value, gather);
        match error.map_or(outcome, Err) {
            Ok(true) => {}
            Ok(false) => gather.note(Notice::EmptyReply),
            Err(reason) => {
                gather.reject(start, reason);
                start = end;
                continue;
            }
        }
        // The rest of the last line, if it is not blank.
        start = match line_at(block.content(), at) {
            (rest, next) if rest.trim_ascii().is_empty() => next,
            _ => at,
        };
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
pub(super) fn detect(head: Head<'_>, is: impl Fn(&Value, &[u8]) -> bool) -> Detected {
    let mut at = 0;
    while at < head.bytes.len() {
        let (line, next) = line_at(head.bytes, at);
        if starts(line) {
            let is_all = head.whole || head.bytes.len() - at > LOOKED_AT;
            let (value, parser) = reply(head.bytes, at);
            return if is(&value, head.bytes) {
                Detected::Yes
            } else if parser.error == Some(CUT) && !is_all {
                Detected::NeedMore
            } else {
                Detected::No
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

    fn written(content: &str) -> String {
        fn add(value: &Value, content: &[u8], into: &mut String) {
            match value {
                Value::Text(text) => {
                    *into += &format!("'{}' ", String::from_utf8_lossy(text.of(content)));
                }
                Value::Bare(text) => {
                    *into += &format!("{} ", String::from_utf8_lossy(text.of(content)));
                }
                Value::List(items, is_closed) => {
                    *into += "[";
                    items.iter().for_each(|item| add(item, content, into));
                    *into += if *is_closed { "]" } else { "" };
                }
            }
        }
        let (value, parser) = reply(content.as_bytes(), 0);
        let mut found = String::new();
        add(&value, content.as_bytes(), &mut found);
        found + parser.error.unwrap_or_default()
    }

    #[test]
    fn arrays_and_maps_are_lists() {
        let expected = "[['a' 1 'list' ['k' 70 'l' 5 ]]['b' ['c' ]]]";
        for spelled in [
            r#"[["a",1,"list",["k",70,"l",5]],["b",["c"]]]"#,
            "[\n {\"a\": 1, \"list\": {\"k\": 70, \"l\": 5}},\n {\"b\": [\"c\"]}\n]\n",
        ] {
            assert_eq!(written(spelled), expected, "{spelled}");
        }
    }

    #[test]
    fn hostile_replies_end_with_a_reason() {
        for (text, why) in [("[\"a", CUT), ("[1,", CUT)] {
            assert!(written(text).ends_with(why), "{text}: {}", written(text));
        }
        assert!(written(&"[".repeat(1 << 20)).ends_with(LARGE));
        assert!(written(&("[".to_owned() + &"1,".repeat(1 << 21))).ends_with(LARGE));
        assert_eq!(written("[]]\n"), "[]");
    }
}
