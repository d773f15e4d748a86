//! Finds the fields of a pattern in a line.

use std::ops::Range;

use slotscope_base::batch::Number;

use crate::format::line::field::{Field, Literal, Written};
use crate::format::line::{Pattern, Token};
use crate::format::parse::escape::Escapes;
use crate::format::parse::quoted;
use crate::format::parse::size::{is_missing, size, size_with_commas};
use crate::format::parse::unit::is_letter;
use crate::format::table::columns::{ROLES, Role};

/// The fields of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub key: Range<usize>,
    /// How the key is escaped.
    pub escapes: Escapes,
    /// The texts of the other fields, by role; empty where there is none.
    pub texts: [(usize, usize); ROLES],
}

impl Pattern {
    /// The fields of `line`, which has no blanks around it.
    ///
    /// # Errors
    /// The byte at which the line does not fit.
    pub fn find(&self, line: &[u8]) -> Result<Found, usize> {
        let mut texts = [(0, 0); ROLES];
        let mut from = 0;
        let mut left = self.left.as_slice();
        while let Some((token, rest)) = left.split_first() {
            from = match token {
                Token::Literal(literal) => from + literal.at_start(&line[from..]).ok_or(from)?,
                Token::Field(field) => {
                    let (text, end) = forward(field, line, from, rest.first())?;
                    check(field, &line[text.clone()]).ok_or(from)?;
                    note(&mut texts, field, text);
                    end
                }
            };
            left = rest;
        }
        let mut to = line.len();
        let mut right = self.right.as_slice();
        while let Some((token, rest)) = right.split_last() {
            to = match token {
                Token::Literal(literal) => {
                    let text = &line[from..to];
                    let start = literal.at_end(text);
                    let is_before_blanks = are_blanks_at(line, to);
                    let bare = || {
                        literal
                            .before_blanks_at_end(text)
                            .filter(|_| is_before_blanks)
                    };
                    from + start.or_else(|| Some(bare()?.0)).ok_or(to)?
                }
                Token::Field(field) => {
                    let start = match rest.last() {
                        Some(Token::Literal(before)) => backward(field, line, from..to, before),
                        // Right of a key with a width.
                        _ => self
                            .width_of_key()
                            .map(|width| from + columns(&line[from..to], width)),
                    };
                    let start = start.ok_or(to)?;
                    let text = trimmed(line, start..to);
                    check(field, &line[text.clone()]).ok_or(start)?;
                    note(&mut texts, field, text);
                    start
                }
            };
            right = rest;
        }
        self.found(line, from..to, texts)
    }

    fn found(
        &self,
        line: &[u8],
        key: Range<usize>,
        texts: [(usize, usize); ROLES],
    ) -> Result<Found, usize> {
        let (key, escapes) = match self.key {
            Written::Plain | Written::Csv => (key, Escapes::None),
            Written::Wide(_) => (trimmed(line, key), Escapes::None),
            Written::Markdown => (key, Escapes::Markdown),
            Written::Quoted => {
                let text = trimmed(line, key);
                // Where a name precedes a value, it is in quotes only if it needs them.
                if self.is_labelled() && quoted::start(&line[text.clone()]).is_none() {
                    return Ok(Found {
                        key: text,
                        escapes: Escapes::None,
                        texts,
                    });
                }
                let (inside, escapes) = quoted::whole(&line[text.clone()]).ok_or(text.start)?;
                (text.start + inside.start..text.start + inside.end, escapes)
            }
        };
        let is_quoted = self.key == Written::Quoted;
        // The empty key is written in quotes, or alone in its line.
        if key.is_empty() && !is_quoted {
            return Err(key.start);
        }
        Ok(Found {
            key,
            escapes,
            texts,
        })
    }

    /// Whether `=` or a word is before the key.
    pub fn is_labelled(&self) -> bool {
        matches!(self.left.last(), Some(Token::Literal(literal)) if literal.is_label())
    }

    fn width_of_key(&self) -> Option<usize> {
        match self.key {
            Written::Wide(width) => Some(width),
            _ => None,
        }
    }
}

fn note(texts: &mut [(usize, usize); ROLES], field: &Field, text: Range<usize>) {
    if let Some(role) = field.role {
        texts[role.place()] = (text.start, text.end);
    }
}

/// The text of a field that starts at `from`, and where the next part of the pattern does.
fn forward(
    field: &Field,
    line: &[u8],
    from: usize,
    next: Option<&Token>,
) -> Result<(Range<usize>, usize), usize> {
    let rest = &line[from..];
    let end = match (field.written, next) {
        (Written::Quoted, _) => {
            let (inside, _) = quoted::start(rest).ok_or(from)?;
            let close = quoted::close_len(&rest[inside.end..]);
            return Ok((
                from + inside.start..from + inside.end,
                from + inside.end + close,
            ));
        }
        (Written::Wide(width), _) => columns(rest, width),
        (_, Some(Token::Literal(literal))) => until(field, rest, literal).ok_or(line.len())?,
        // A field is followed by text, or has a width.
        _ => rest.len(),
    };
    Ok((trimmed(line, from..from + end), from + end))
}

/// The end of a field before `literal`; a blank before a unit does not end a number.
fn until(field: &Field, rest: &[u8], literal: &Literal) -> Option<usize> {
    let (end, after) = literal.first_in(rest)?;
    let is_number = matches!(field.role, Some(Role::Weight(_)));
    if is_number && literal.blanks_at(false) > 0 {
        let longer = literal
            .first_in(&rest[after..])
            .map(|(more, _)| after + more);
        if let Some(longer) =
            longer.filter(|longer| is_with_unit(field, &rest[..end], &rest[..*longer]))
        {
            return Some(longer);
        }
    }
    Some(end)
}

/// Whether `longer` is the number with its unit, and `shorter` not.
fn is_with_unit(field: &Field, shorter: &[u8], longer: &[u8]) -> bool {
    let behind = longer[shorter.len()..].trim_ascii();
    let is_unit = !behind.is_empty() && behind.iter().all(is_letter);
    (is_unit || shorter == b"(integer)") && is_size(field, longer)
}

fn is_size(field: &Field, text: &[u8]) -> bool {
    let readers = [size, size_with_commas::<0>, field.unit.size_reader()];
    readers.iter().any(|read| read(text).is_some())
}

/// The start of a field that ends at the end of `within`, after `before`.
fn backward(field: &Field, line: &[u8], within: Range<usize>, before: &Literal) -> Option<usize> {
    let text = &line[within.clone()];
    if field.written == Written::Quoted {
        let from = quoted::open(text)?;
        return Some(within.start + from);
    }
    // A field may be empty: its blanks are those of the text after it, or the line ends before them.
    let is_before_blanks = are_blanks_at(line, within.end);
    let at_end = before
        .before_blanks_at_end(text)
        .filter(|_| is_before_blanks);
    let (at, start) = at_end.or_else(|| before.last_in(text))?;
    let is_number = matches!(field.role, Some(Role::Weight(_)));
    if is_number && before.blanks_at(true) > 0 {
        let longer = before.last_in(&text[..at]).map(|(_, longer)| longer);
        let is_word = |from: usize| {
            let word = text[from..at].trim_ascii();
            let unit = text[start..].trim_ascii();
            let is_unit = unit.iter().all(|byte| is_letter(byte) || *byte == b')');
            word == b"(integer)" || is_unit && !is_missing(unit)
        };
        if let Some(longer) =
            longer.filter(|longer| is_word(*longer) && is_size(field, &text[*longer..]))
        {
            return Some(within.start + longer);
        }
    }
    Some(within.start + start)
}

/// Whether a field may be this text.
fn check(field: &Field, text: &[u8]) -> Option<()> {
    let fits = match field.role {
        Some(Role::Weight(_)) => {
            let text = unquoted(text);
            let from = usize::from(matches!(text.first(), Some(b'(' | b'+' | b'-' | b'.')));
            let is_number =
                text.get(from).is_some_and(u8::is_ascii_digit) || text.starts_with(b"(integer)");
            is_number || is_missing(text)
        }
        Some(Role::Number(number)) if number != Number::Expiry => {
            is_missing(text) || text.iter().all(u8::is_ascii_digit)
        }
        _ => !field.is_word || !text.iter().any(|byte| matches!(byte, b' ' | b'\t')),
    };
    fits.then_some(())
}

/// Whether a line ends here, or has blanks.
fn are_blanks_at(line: &[u8], at: usize) -> bool {
    line.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t'))
}

/// A number without the quotes around it.
pub fn unquoted(text: &[u8]) -> &[u8] {
    match text {
        [b'"', inside @ .., b'"'] | [b'\'', inside @ .., b'\''] => inside,
        text => text,
    }
}

/// The bytes of the first `width` characters.
fn columns(text: &[u8], width: usize) -> usize {
    let is_start = |byte: &u8| *byte & 0xC0 != 0x80;
    let starts = (0..text.len()).filter(|at| is_start(&text[*at]));
    starts
        .skip(1)
        .chain([text.len()])
        .nth(width.saturating_sub(1))
        .unwrap_or(text.len())
}

fn trimmed(line: &[u8], range: Range<usize>) -> Range<usize> {
    let text = &line[range.clone()];
    let from = range.start + text.len() - text.trim_ascii_start().len();
    from..from + text.trim_ascii().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::metric::Metric;

    /// The key and the size of a line.
    fn found(pattern: &str, line: &str) -> Option<String> {
        let found = Pattern::parse(pattern)
            .unwrap()
            .find(line.as_bytes())
            .ok()?;
        let (from, to) = found.texts[Role::of(Metric::Bytes).place()];
        Some(format!("{}|{}", &line[found.key], &line[from..to]))
    }

    #[test]
    fn fields_are_cut_from_both_ends_and_the_key_takes_the_rest() {
        for (pattern, line, expected) in [
            (
                "{key} {size}",
                "search:red shoes 120",
                "search:red shoes|120",
            ),
            ("{key} {size}", "user:1 \t1.5 KiB", "user:1|1.5 KiB"),
            (
                "{key} {size}",
                "user:1 (integer) 184",
                "user:1|(integer) 184",
            ),
            ("{key} {size}", "user:1 (nil)", "user:1|(nil)"),
            ("{key},{size}", "a,b,7", "a,b|7"),
            ("{size} {key}", "1.5 MB a b", "a b|1.5 MB"),
            ("{size} {key}", "15 MBs", "MBs|15"),
            ("{_} {_} {key}", "2026-11-20 10:11:12 a b", "a b|"),
            (
                "time={_} msg=\"found key\" key={key} size={size}",
                "time=10 msg=\"found key\" key=a key=b size=3",
                "a key=b|3",
            ),
            ("({key:q}, {size}),", "(b'it\\'s', 12),", "it\\'s|12"),
            ("{_} \"{key}\" {size}", "1 \"a\" b\" 7", "a\" b|7"),
            ("{{{key}}}:{size}", "{u}:7", "u|7"),
            ("{key:w6}{type} {size}", "user:1string 7", "user:1|7"),
            ("{key:w6}{type} {size}", "é:1   string 7", "é:1|7"),
            ("{key}\\t{_}", "a b\tc", "a b|"),
            ("{key} | {size} | {_} | {_}", "a | 7 |      | x", "a|7"),
            ("{key} | {size} | {_} | {_}", "a | 7 | x |", "a|7"),
            ("{key} | {size} | {_}", "a |    | x", "a|"),
            ("{key:q}", "\u{ab}user:1\u{bb}", "user:1|"),
            ("- `{key}`", "- `user:1`", "user:1|"),
        ] {
            assert_eq!(
                found(pattern, line).as_deref(),
                Some(expected),
                "{pattern}: {line}"
            );
        }
        for (pattern, line) in [
            ("{key} {size}", "search:red shoes"),
            ("{key} {size}", "120"),
            ("{key}\\t{_}", "a b c"),
            ("{key:q} {size}", "a 7"),
            ("key={key}", "kee=a"),
        ] {
            assert_eq!(found(pattern, line), None, "{pattern}: {line}");
        }
    }
}
