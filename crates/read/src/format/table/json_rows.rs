//! Uniformly written objects, parsed a batch at a time: takes a block and yields the bounds of all values, column by
//! column.
//!
//! A program writes each object with the same members in the same order, so the text between values is the same in each
//! line, including the quotes around names. Two kernel passes find the line ends and the quotes; quotes with the same
//! index in their lines delimit the same text. If all lines match the text of the first and nothing is escaped, the
//! values are known without parsing any line.

use std::ops::Range;

use hashslot::Kernel;

use slotscope_base::batch::Spans;
use slotscope_base::block::Padded;
use slotscope_base::simd::find_delimiters;

use crate::format::lines::cut_lines;
use crate::format::parse::json_object;
use crate::format::parse::json_object::Value;
use crate::format::parse::size::{ReadNumber, sixteen_digits};
use crate::format::table::{self, plain_rows};

/// Maximum members of the first object and bytes of its line; otherwise each line is parsed.
const MAX_MEMBERS: usize = 64;
const MAX_FIRST_LINE: usize = 64 << 10;

/// A batch of objects; its buffers are reused.
#[derive(Default)]
pub(crate) struct JsonRows {
    lines: Spans,
    /// The same number for each line.
    quotes: Vec<u32>,
    /// The members of the first line.
    members: Vec<Member>,
    /// The text before each value, and after the last.
    between: Vec<Between>,
    spans: Spans,
    /// The end of the last line whose objects were parsed one by one.
    line_end: usize,
}

/// A member of the first object.
struct Member {
    name: Range<usize>,
    /// Whether its value is in quotes.
    is_text: bool,
}

/// Text between two values, before the first, or after the last.
#[derive(Default)]
struct Between {
    text: Vec<u8>,
    /// Its offset in each line.
    at: Vec<u32>,
}

impl JsonRows {
    /// The end of the line containing `at`, searched once per line.
    pub(super) fn end_of_line(&mut self, content: &[u8], at: usize) -> usize {
        if at >= self.line_end {
            let left = memchr::memchr(b'\n', &content[at..]);
            self.line_end = left.map_or(content.len(), |left| at + left);
        }
        self.line_end
    }

    /// Parses the next lines from `from` on, one object each; returns the start of the following line. `None` if a line
    /// differs from the first in form, or has a backslash or a nested value.
    pub(super) fn cut(&mut self, base: Padded<'_>, from: u32, kernel: &Kernel) -> Option<u32> {
        let bytes = &base.bytes()[from as usize..];
        let head = &bytes[..bytes.len().min(MAX_FIRST_LINE)];
        self.take_shape(&head[..memchr::memchr(b'\n', head)?])?;
        let next = cut_lines(base, from, b'\n', &mut self.lines, kernel).next;
        let text = &base.bytes()[from as usize..base.len().min(next as usize)];
        if memchr::memchr(b'\\', text).is_some() || !self.find_quotes(base, from, next, kernel) {
            return None;
        }
        self.find_between();
        let fits = self.are_in_order() && self.between.iter().all(|between| between.is_in(base));
        fits.then_some(next)
    }

    /// The names of the members, as ranges of the first line.
    pub(super) fn names(&self) -> impl Iterator<Item = Range<usize>> {
        self.members.iter().map(|member| member.name.clone())
    }

    /// The values of a member, if they are strings.
    pub(super) fn texts(&self, member: usize, into: &mut Spans) -> bool {
        let is_text = self.members[member].is_text;
        if is_text {
            self.column(member, into);
        }
        is_text
    }

    /// The values of a member as numbers; false if one of them is not. The digits alone do not tell which kind of time.
    pub(super) fn numbers(
        &mut self,
        base: Padded<'_>,
        member: usize,
        (read, are_times): (ReadNumber, bool),
        into: &mut Vec<u64>,
    ) -> bool {
        let mut spans = std::mem::take(&mut self.spans);
        self.column(member, &mut spans);
        let is_text = self.members[member].is_text;
        let number = |text: &[u8]| {
            if is_text || json_object::is_bare(text) {
                table::optional(text, read)
            } else {
                None
            }
        };
        let are_numbers = if are_times {
            plain_rows::values(base, &spans, number, into)
        } else {
            plain_rows::numbers(base, &spans, number, into)
        };
        self.spans = spans;
        are_numbers
    }

    /// Whether all values are unquoted scalars, except for strings and the `known` members.
    pub(super) fn are_values(&mut self, base: Padded<'_>, known: &[usize]) -> bool {
        let mut spans = std::mem::take(&mut self.spans);
        let mut are_values = true;
        for (at, member) in self.members.iter().enumerate() {
            if !member.is_text && !known.contains(&at) {
                self.column(at, &mut spans);
                let mut bounds = spans.start.iter().zip(&spans.end);
                are_values &= bounds.all(|(start, end)| {
                    sixteen_digits(base.sixteen_at(*start), end - start).is_some()
                        || json_object::is_bare(&base.bytes()[*start as usize..*end as usize])
                });
            }
        }
        self.spans = spans;
        are_values
    }

    fn column(&self, member: usize, into: &mut Spans) {
        let (before, behind) = (&self.between[member], &self.between[member + 1]);
        let len = before.text.len() as u32;
        into.clear();
        into.start.extend(before.at.iter().map(|at| at + len));
        into.end.extend(&behind.at);
    }

    /// Learns the members and the text between values from the first line.
    fn take_shape(&mut self, line: &[u8]) -> Option<()> {
        self.members.clear();
        let mut texts = Vec::new();
        let (mut behind, mut is_plain) = (0, true);
        let end = json_object::members(line, |at, name, value| {
            let (Value::Text(span) | Value::Bare(span)) = value else {
                is_plain = false;
                return;
            };
            if at < MAX_MEMBERS {
                texts.push(behind..span.0 as usize);
                behind = span.1 as usize;
            }
            is_plain &= at < MAX_MEMBERS;
            self.members.push(Member {
                name: name.0 as usize..name.1 as usize,
                is_text: matches!(value, Value::Text(_)),
            });
        })?;
        texts.push(behind..line.len());
        let is_separator = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b',' | b']');
        let is_plain = is_plain && !self.members.is_empty() && line[end..].iter().all(is_separator);
        self.between.resize_with(texts.len(), Between::default);
        for (between, text) in self.between.iter_mut().zip(texts) {
            between.text.clear();
            between.text.extend(&line[text]);
        }
        is_plain.then_some(())
    }

    /// Finds all quotes of the lines; false if a line has a different number than the first.
    fn find_quotes(&mut self, base: Padded<'_>, from: u32, next: u32, kernel: &Kernel) -> bool {
        let lines = self.lines.len();
        let in_line: usize = self.between.iter().map(Between::quotes).sum();
        let expected = lines * in_line;
        // Asking for one more reveals any excess.
        self.quotes.resize(expected + 1, 0);
        let count = find_delimiters(kernel, base, from, b'"', &mut self.quotes).ends;
        if count < expected || (count > expected && self.quotes[expected] < next) {
            return false;
        }
        self.quotes.truncate(expected);
        let bounds = self.lines.start.iter().zip(&self.lines.end);
        bounds
            .zip(self.quotes.chunks_exact(in_line))
            .fold(true, |fits, ((start, end), quotes)| {
                fits & (*start <= quotes[0]) & (quotes[in_line - 1] < *end)
            })
    }

    /// The expected offset of each text between values, by its first quote; the last one ends with the line.
    fn find_between(&mut self) {
        let in_line = self.between.iter().map(Between::quotes).sum();
        let mut before = 0;
        for between in &mut self.between {
            let quote = memchr::memchr(b'"', &between.text);
            between.at.clear();
            match quote {
                Some(offset) => {
                    let quotes = self
                        .quotes
                        .chunks_exact(in_line)
                        .map(|quotes| quotes[before]);
                    let at = quotes.map(|quote| quote.wrapping_sub(offset as u32));
                    between.at.extend(at);
                }
                None => {
                    let len = between.text.len() as u32;
                    let at = self.lines.end.iter().map(|end| end.wrapping_sub(len));
                    between.at.extend(at);
                }
            }
            before += between.quotes();
        }
    }

    /// Whether each line starts with the first text, ends with the last, and has the others in between, each after a
    /// non-empty unquoted value.
    fn are_in_order(&self) -> bool {
        let mut ordered = self.between[0].at == self.lines.start;
        for (pair, member) in self.between.windows(2).zip(&self.members) {
            let least = pair[0].text.len() as u64 + u64::from(!member.is_text);
            let bounds = pair[0].at.iter().zip(&pair[1].at);
            ordered &= bounds.fold(true, |ordered, (before, behind)| {
                ordered & (u64::from(*before) + least <= u64::from(*behind))
            });
        }
        let last = &self.between[self.members.len()];
        let len = last.text.len() as u64;
        let ends = last.at.iter().zip(&self.lines.end);
        ordered
            & ends.fold(true, |ordered, (at, end)| {
                ordered & (u64::from(*at) + len == u64::from(*end))
            })
    }
}

impl Between {
    fn quotes(&self) -> usize {
        memchr::memchr_iter(b'"', &self.text).count()
    }

    /// Whether the text is where it is expected.
    fn is_in(&self, base: Padded<'_>) -> bool {
        self.text.chunks(16).enumerate().all(|(number, part)| {
            let mut bytes = [0; 16];
            bytes[..part.len()].copy_from_slice(part);
            let wanted = u128::from_le_bytes(bytes);
            let outside = 128 - 8 * part.len() as u32;
            let at = self.at.iter().map(|at| at + 16 * number as u32);
            at.fold(0, |difference, at| {
                difference | (base.sixteen_at(at) ^ wanted) << outside
            }) == 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{Found, read_whole};
    use crate::format::table::columns::Role;
    use crate::format::table::jsonl::USUAL;
    use proptest::prelude::*;
    use slotscope_base::block::Block;

    /// Whether all lines are parsed as one batch.
    fn are_alike(lines: &str) -> bool {
        let block = Block::from_bytes(lines.as_bytes());
        let next = JsonRows::default().cut(block.padded(), 0, hashslot::best());
        next == Some(block.len() as u32)
    }

    /// The keys found when parsing line by line, which is forced by an appended row with an escape; that row is
    /// removed.
    fn looked_at(lines: &str) -> Found {
        let mut found = read_whole(&USUAL, format!("{lines}{{\"key\":\"\\n\"}}\n").as_bytes());
        assert_eq!(found.keys.pop().as_deref(), Some(&b"\n"[..]));
        let values = &mut found.values;
        let columns = values.weights.iter_mut().chain(&mut values.numbers);
        columns.for_each(|column| column.truncate(found.keys.len()));
        found.types.pop();
        found.encodings.pop();
        found.seen.keys -= 1;
        found
    }

    #[test]
    fn objects_that_are_written_alike_are_read_at_once() {
        let lines = |line: fn(usize) -> String| (0..100).map(line).collect::<String>();
        for alike in [
            lines(|i| format!("{{\"key\":\"user:{i}\"}}\n")),
            lines(|i| format!("{{\"key\":\"{i}\",\"size\":{i},\"ops\":null}}\r\n")),
            lines(|i| format!("{{ \"n\" : {i}.5 , \"name\" : \"{i}\" }},\n")),
            lines(|i| {
                format!("{{\"type\":\"t{i}\",\"key\":\"\",\"a longer name than that\":\"{i}\"}}\n")
            }),
        ] {
            assert!(are_alike(&alike), "{alike}");
            assert!(
                read_whole(&USUAL, alike.as_bytes()) == looked_at(&alike),
                "{alike}"
            );
        }
    }

    #[test]
    fn one_line_that_is_other_is_not_passed_over() {
        let lines = "{\"key\":\"a\",\"size\":1,\"x\":2}\n".repeat(20);
        for other in [
            "{\"key\":\"a\",\"size\":1,\"x\":[2]}",
            "{\"key\":\"a\",\"size\":1,\"x\":2 3}",
            "{\"key\":\"a\",\"size\":1,\"x\":}",
            "{\"key\":\"a\",\"size\":1 ,\"x\":2}",
            "{\"key\":\"a\",\"size\":1,2,\"x\":2}",
            "{\"key\":\"a\",\"size\":\"1\",\"x\":2}",
            "{\"key\":\"a\",\"xxxx\":1,\"x\":2}",
            "{\"key\":\"a\",\"size\":1,\"x\":2},{\"key\":\"b\"}",
            "{\"key\":\"a\",\"size\":many,\"x\":2}",
            "{\"key\":\"a\",\"size\":1,\"x\":2",
            "\"",
            "",
        ] {
            let lines = format!("{lines}{other}\n{lines}");
            assert!(
                read_whole(&USUAL, lines.as_bytes()) == looked_at(&lines),
                "{other}"
            );
        }
    }

    /// A raw value: usually the same in all lines, sometimes anything.
    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => (0u64..1_000_000).prop_map(|number| number.to_string()),
            2 => Just(String::from("null")),
            4 => "[a-z:{}]{0,20}".prop_map(|text| format!("\"{text}\"")),
            1 => prop::sample::select(vec!["", "[1]", "{}", "1 2", " 7", "7 ", "\"\"", "1.5kB", "-", "[", "\"1\""])
                .prop_map(String::from),
            1 => "[\\[\\]{}\",: 0-9a]{0,6}",
        ]
    }

    proptest! {
        #[test]
        fn lines_that_are_read_at_once_are_what_each_is(
            names in prop::collection::vec(prop::sample::select(vec!["key", "name", "size", "ops", "type", "ttl", "x"]), 1..5),
            space in " {0,2}",
            rows in prop::collection::vec((prop::collection::vec(value(), 5), 0u8..40), 1..40),
            texts in any::<u8>(),
            tail in prop::sample::select(vec!["", ",", "\r", " ", "]", "x"]),
        ) {
            let row = |(values, odd): &(Vec<String>, u8)| {
                let member = |(at, (name, value)): (usize, (&&str, &String))| {
                    let value = if texts >> at & 1 == 1 && *odd > 0 { format!("\"{}\"", value.replace('"', "")) } else { value.clone() };
                    format!("\"{name}\":{space}{value}")
                };
                let members: Vec<_> = names.iter().zip(values).enumerate().map(member).collect();
                format!("{{{}}}{tail}\n", members.join(","))
            };
            let head = "{\"key\":\"\",\"size\":1,\"type\":\"\",\"ttl\":1}\n";
            let alike = rows.iter().map(|(values, _)| row(&(values.clone(), 1))).collect::<String>();
            let mixed = rows.iter().map(row).collect::<String>();
            for lines in [mixed, alike] {
                for lines in [format!("{head}{lines}"), lines] {
                    if USUAL.names.has(&names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>(), Role::Key)
                        || lines.starts_with(head)
                    {
                        prop_assert_eq!(read_whole(&USUAL, lines.as_bytes()), looked_at(&lines));
                    }
                }
            }
        }
    }
}
