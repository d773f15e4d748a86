//! Keys in constant text, one per line: Python literals, bullets, `Found: key`; and pairs of a key and its size.

use std::ops::Range;

use crate::format::batch::{MISSING, Values};
use crate::format::frame::line_reader::{Line, Parsed, Row};
use crate::format::parse::escape;
use crate::format::parse::python;
use crate::format::parse::size::{is_missing, size};
use crate::format::parse::value::{Value, value};
use crate::format::shape::column::{Column, MOST, MayBeSize, families, share, share_of};

/// The text around a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wrap {
    /// A Python literal, optionally followed by a comma.
    Python,
    /// A JSON string followed by a comma.
    JsonItem,
    /// Backticks.
    Backticks,
    /// A hyphen, a star or a dot.
    Bullet,
    /// `redis://host:port/db/`.
    Address,
    /// This prefix.
    Prefix(Vec<u8>),
    /// `["key",184]` or `(b'key', 184)`.
    Pair,
}

/// Words that scripts print before a key.
const VERBS: [&str; 26] = [
    "found",
    "key",
    "keys",
    "name",
    "item",
    "deleted",
    "deleting",
    "del",
    "processing",
    "scanning",
    "scanned",
    "checking",
    "checked",
    "got",
    "expired",
    "evicted",
    "removed",
    "removing",
    "redis key",
    "matched",
    "match",
    "value",
    "result",
    "visited",
    "visiting",
    "unlinked",
];

impl Wrap {
    /// The text around keys, if it is the same in nearly all rows.
    pub(super) fn of(rows: &[&[u8]]) -> Option<Wrap> {
        let simple = [
            Wrap::Pair,
            Wrap::Python,
            Wrap::JsonItem,
            Wrap::Backticks,
            Wrap::Bullet,
            Wrap::Address,
        ];
        simple
            .into_iter()
            .find(|wrap| wrap.fits(rows))
            .or_else(|| prefix(rows))
    }

    /// Whether the text around keys may be a table column of its own.
    pub(super) fn may_be_cell(&self) -> bool {
        matches!(self, Wrap::Prefix(_) | Wrap::Bullet)
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Wrap::Python => "literals of Python",
            Wrap::JsonItem => "texts of JSON with a comma after each",
            Wrap::Backticks => "texts in backticks",
            Wrap::Bullet => "a list with bullets",
            Wrap::Address => "addresses of a server and a key",
            Wrap::Prefix(_) => "lines with the same words before each key",
            Wrap::Pair => "pairs of a key and its size",
        }
    }

    fn fits(&self, rows: &[&[u8]]) -> bool {
        let inside: Vec<&[u8]> = rows
            .iter()
            .filter_map(|row| Some(&row[self.key(row)?]))
            .collect();
        if share(inside.len(), rows.len()) < MOST {
            return false;
        }
        match self {
            Wrap::Bullet => Column::of(inside).is_unique(),
            Wrap::Pair => {
                let texts = rows
                    .iter()
                    .filter_map(|row| pair(row))
                    .map(|(.., size)| size);
                let sizes = Column::of(texts.collect());
                let keys = Column::of(inside);
                keys.is_unique()
                    && keys.look_like_keys() >= 0.7
                    && sizes.size() == Some(MayBeSize::Likely)
            }
            _ => true,
        }
    }

    /// The position of the key in a row, as written: a Python literal with its quotes.
    fn key(&self, row: &[u8]) -> Option<Range<usize>> {
        let from = row.len() - row.trim_ascii_start().len();
        let text = row.trim_ascii();
        let at = |range: Range<usize>| Some(from + range.start..from + range.end);
        match self {
            Wrap::Python => {
                let literal = text.strip_suffix(b",").unwrap_or(text);
                let is_one = python::is_bytes(literal)
                    || literal.starts_with(b"'") && python::is_text(literal);
                is_one.then_some(0..literal.len()).and_then(at)
            }
            Wrap::JsonItem => {
                let item = text.strip_suffix(b",")?;
                escape::is_quoted(item)
                    .then(|| 1..item.len() - 1)
                    .and_then(at)
            }
            Wrap::Backticks => matches!(text, [b'`', .., b'`'])
                .then(|| 1..text.len() - 1)
                .and_then(at),
            Wrap::Bullet => {
                let bullets: [&[u8]; 3] = [b"- ", b"* ", "• ".as_bytes()];
                let bullet = bullets
                    .into_iter()
                    .find(|bullet| text.starts_with(bullet))?;
                at(bullet.len()..text.len())
            }
            Wrap::Address => {
                let schemes: [&[u8]; 4] = [b"redis://", b"rediss://", b"valkey://", b"valkeys://"];
                let scheme = schemes
                    .into_iter()
                    .find(|scheme| text.starts_with(scheme))?;
                let path = scheme.len() + memchr::memchr(b'/', &text[scheme.len()..])? + 1;
                let digits = text[path..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                let database = if digits > 0 && text.get(path + digits) == Some(&b'/') {
                    digits + 1
                } else {
                    0
                };
                at(path + database..text.len())
            }
            Wrap::Prefix(prefix) => {
                let start = row.get(..prefix.len())?;
                start
                    .eq_ignore_ascii_case(prefix)
                    .then_some(prefix.len()..row.len())
            }
            Wrap::Pair => pair(row).map(|(key, ..)| key),
        }
    }
}

/// The position of a pair's key, whether it is a Python literal, and its size.
fn pair(row: &[u8]) -> Option<(Range<usize>, bool, &[u8])> {
    let line = row.trim_ascii_end();
    let text = line.strip_suffix(b",").unwrap_or(line);
    let (open, inside) = match text {
        [open @ b'[', inside @ .., b']'] | [open @ b'(', inside @ .., b')'] => (*open, inside),
        _ => return None,
    };
    let blanks = inside.len() - inside.trim_ascii_start().len();
    let inside = &inside[blanks..];
    let is_bytes = inside.first() == Some(&b'b');
    let literal = &inside[usize::from(is_bytes)..];
    let quote = *literal.first().filter(|byte| b"'\"".contains(byte))?;
    let mut end = 1;
    while *literal.get(end)? != quote {
        end += if literal[end] == b'\\' { 2 } else { 1 };
    }
    let end = end + 1 + usize::from(is_bytes);
    let rest = inside[end..]
        .trim_ascii_start()
        .strip_prefix(b",")?
        .trim_ascii();
    let is_python = open == b'(' || is_bytes || quote == b'\'';
    let from = 1 + blanks;
    let key = if is_python {
        from..from + end
    } else {
        from + 1..from + end - 1
    };
    Some((key, is_python, rest))
}

/// A script's word before names of several kinds, or a log prefix.
fn prefix(rows: &[&[u8]]) -> Option<Wrap> {
    let first = rows.first()?;
    let prefix = verb(first).or_else(|| logged(first))?;
    let of_rows = rows.iter().filter_map(|row| {
        let (start, rest) = row.split_at_checked(prefix)?;
        start.eq_ignore_ascii_case(&first[..prefix]).then_some(rest)
    });
    let names: Vec<&[u8]> = of_rows.collect();
    let is_log = verb(first).is_none();
    let are_numbers = share_of(&names, |name| {
        matches!(value(name), Value::Number(_) | Value::Missing)
    }) >= MOST;
    let is_wrap = share(names.len(), rows.len()) >= MOST
        && (is_log
            || Column::of(names.clone()).look_like_keys() >= 0.7
                && (names.len() < 3 || families(&names) >= 2)
                && !are_numbers);
    is_wrap.then(|| Wrap::Prefix(first[..prefix].to_vec()))
}

/// The length of a script's word at the start of a row, including the separator before the key.
fn verb(row: &[u8]) -> Option<usize> {
    let starts = |word: &&&str| {
        row.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    let ends = |word: &&str| {
        let rest = &row[word.len()..];
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let behind = &rest[blanks..];
        let mark = usize::from(matches!(behind.first(), Some(b':' | b'=')));
        let after = &behind[mark..];
        let gap = after.len() - after.trim_ascii_start().len();
        let is_apart = if mark == 1 { gap > 0 } else { blanks == 1 };
        (is_apart && gap < after.len())
            .then_some(word.len() + blanks + mark + if mark == 1 { gap } else { 0 })
    };
    VERBS.iter().filter(starts).find_map(ends)
}

/// The length of a log prefix: `INFO:root:`.
fn logged(row: &[u8]) -> Option<usize> {
    let levels: [&[u8]; 4] = [b"DEBUG:", b"INFO:", b"WARNING:", b"ERROR:"];
    let level = levels.into_iter().find(|level| row.starts_with(level))?;
    let end = memchr::memchr(b':', &row[level.len()..])?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
    row[level.len()..][..end]
        .iter()
        .all(is_name)
        .then_some(level.len() + end + 1)
}

/// Rows of keys in constant text.
pub(crate) struct Wrapped(pub Wrap);

impl Row for Wrapped {
    fn row(&self, line: Line<'_>, values: &mut Values) -> Parsed {
        let Some(key) = self.0.key(line.text) else {
            return Parsed::Reject("a key without the text that is around the others");
        };
        match &self.0 {
            Wrap::Python => Parsed::Python(key),
            Wrap::JsonItem => Parsed::Json(key),
            Wrap::Pair => {
                let Some((_, is_python, text)) = pair(line.text) else {
                    return Parsed::Reject("no pair of a key and its size");
                };
                let number = if is_missing(text) {
                    Some(MISSING)
                } else {
                    size(text)
                };
                values.sizes_mut().push(number.unwrap_or(MISSING));
                let key = if is_python {
                    Parsed::Python(key)
                } else {
                    Parsed::Json(key)
                };
                match number {
                    Some(_) => key,
                    None => {
                        let from = text.as_ptr() as usize - line.text.as_ptr() as usize;
                        Parsed::WithoutSize(Box::new(key), from..from + text.len())
                    }
                }
            }
            _ => Parsed::Key(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&str]) -> Option<Wrap> {
        Wrap::of(&rows.iter().map(|row| row.as_bytes()).collect::<Vec<_>>())
    }

    #[test]
    fn the_text_around_keys_is_found_and_parts_of_keys_are_not() {
        assert_eq!(of(&["b'user:1'", "b\"it's\","]), Some(Wrap::Python));
        assert_eq!(of(&["'a:1',", "'b:2'"]), Some(Wrap::Python));
        assert_eq!(of(&["- user:1", "- cart:2"]), Some(Wrap::Bullet));
        assert_eq!(of(&["`user:1`"]), Some(Wrap::Backticks));
        assert_eq!(of(&["redis://10.0.0.7:6379/0/user:1"]), Some(Wrap::Address));
        assert_eq!(
            of(&["Found: user:1", "Found: cart:2", "found: lock.3"]),
            Some(Wrap::Prefix(b"Found: ".to_vec()))
        );
        assert_eq!(
            of(&["[\"user:1\",184]", "[\"user:2\",96]"]),
            Some(Wrap::Pair)
        );
        assert_eq!(
            of(&["(b'user:1', 184)", "(b'cart:2', 96)"]),
            Some(Wrap::Pair)
        );
        for no in [
            &["[\"user\",5]", "[\"user\",6]"][..],
            &["key:1", "key:2"],
            &["item 1", "item 2"],
            &["found a", "lost b"],
        ] {
            assert_eq!(of(no), None, "{no:?}");
        }
    }

    #[test]
    fn an_address_ends_before_its_key() {
        let key = |row: &str| {
            Wrap::Address
                .key(row.as_bytes())
                .map(|key| row[key].to_string())
        };
        assert_eq!(key("redis://h:1/0/a/b").as_deref(), Some("a/b"));
        assert_eq!(key("redis://h:1/a").as_deref(), Some("a"));
        assert_eq!(key("http://h/a"), None);
    }
}
