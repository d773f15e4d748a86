//! Keys with the same text around each, one per line, as programs print them: literals of Python, bullets, `Found: key`;
//! and keys with their sizes in brackets or after names.

use std::ops::Range;

use crate::format::batch::{MISSING, Values};
use crate::format::frame::line_reader::{Line, Parsed, Row};
use crate::format::parse::escape::{self, Escapes};
use crate::format::parse::python;
use crate::format::parse::size::{is_missing, size};
use crate::format::shape::column::{Column, MOST, MayBeSize, common_prefix, families, share};
use crate::format::table::columns::{ColumnNames, Role};
use crate::metric::Metric;

/// A key in a row, and its size.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    key: Range<usize>,
    escapes: Escapes,
    size: Option<Range<usize>>,
}

/// The text around a key.
#[derive(Debug, Clone)]
pub(crate) struct Wrap {
    /// Its description.
    pub name: &'static str,
    text: Around,
}

/// Finds the key of a line.
type Form = fn(&[u8]) -> Option<Found>;

#[derive(Debug, Clone)]
enum Around {
    /// The key that this finds.
    Form(Form),
    /// This before each key.
    Prefix(Vec<u8>),
    /// Names before the values of a row, the first of which is the key: `key=`, ` type=`, ` size=`; and which is the size.
    Names(Vec<Vec<u8>>, usize),
}

/// Forms of text around keys.
const FORMS: [(&str, Form); 6] = [
    ("pairs of a key and its size", pair),
    ("literals of Python", |row| {
        let text = row.strip_suffix(b",").unwrap_or(row);
        let (key, escapes) = python::literal(text)?;
        Some(with(key, escapes))
    }),
    ("texts of JSON with a comma after each", |row| {
        let text = row.strip_suffix(b",")?;
        escape::is_quoted(text).then(|| with(1..text.len() - 1, Escapes::Json))
    }),
    ("texts in backticks", |row| {
        let is_between = matches!(row, [b'`', .., b'`']);
        is_between.then(|| with(1..row.len() - 1, Escapes::None))
    }),
    ("addresses of a server and a key", |row| {
        let schemes = ["redis://", "rediss://", "valkey://", "valkeys://"];
        let len = length_of(row, &schemes)?;
        let path = len + memchr::memchr(b'/', &row[len..])? + 1;
        let is_database = |end: &usize| row[path..path + end].iter().all(u8::is_ascii_digit);
        let database = memchr::memchr(b'/', &row[path..]).filter(|end| *end > 0);
        let key = path + database.filter(is_database).map_or(0, |end| end + 1);
        Some(with(key..row.len(), Escapes::None))
    }),
    ("lines of a log", |row| {
        let len = length_of(row, &["DEBUG:", "INFO:", "WARNING:", "ERROR:"])?;
        let end = memchr::memchr(b':', &row[len..])?;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
        let is_logger = row[len..len + end].iter().all(is_name);
        is_logger.then(|| with(len + end + 1..row.len(), Escapes::None))
    }),
];
const BULLETS: [&str; 3] = ["- ", "* ", "• "];

fn with(key: Range<usize>, escapes: Escapes) -> Found {
    Found {
        key,
        escapes,
        size: None,
    }
}

/// The length of the text among these that starts a row.
fn length_of(row: &[u8], texts: &[&str]) -> Option<usize> {
    let mut texts = texts.iter();
    texts
        .find(|text| row.starts_with(text.as_bytes()))
        .map(|text| text.len())
}

/// `["key",184]` or `(b'key', 184)`.
fn pair(row: &[u8]) -> Option<Found> {
    let text = row.strip_suffix(b",").unwrap_or(row);
    if !matches!(text, [b'[', .., b']'] | [b'(', .., b')']) {
        return None;
    }
    let from = text.len() - text[1..].trim_ascii_start().len();
    let (inside, escapes) = python::start(&text[from..])?;
    let is_json = text[0] == b'[' && text[from] == b'"';
    let end = from + inside.end + 1;
    let number = text[end..text.len() - 1].trim_ascii_start();
    let number = number.strip_prefix(b",")?.trim_ascii_start();
    Some(Found {
        key: from + inside.start..from + inside.end,
        escapes: if is_json { Escapes::Json } else { escapes },
        size: Some(text.len() - 1 - number.len()..text.len() - 1),
    })
}

impl Wrap {
    /// The text around keys, if it is the same in nearly all rows.
    pub(super) fn of(rows: &[&[u8]]) -> Option<Wrap> {
        let mut forms = FORMS.into_iter().map(|(name, form)| Wrap {
            name,
            text: Around::Form(form),
        });
        let first = *rows.first()?;
        let others = [bullet(first), names(first), words(rows)];
        forms
            .find(|wrap| wrap.fits(rows))
            .or_else(|| others.into_iter().flatten().find(|wrap| wrap.fits(rows)))
    }

    /// Whether the text around keys may be a table column of its own.
    pub(super) fn may_be_cell(&self) -> bool {
        matches!(self.text, Around::Prefix(_))
    }

    fn fits(&self, rows: &[&[u8]]) -> bool {
        let found = rows.iter().filter_map(|row| Some((*row, self.find(row)?)));
        let found: Vec<(&[u8], Found)> = found.collect();
        let keys = Column::of(
            found
                .iter()
                .map(|(row, found)| &row[found.key.clone()])
                .collect(),
        );
        let sizes = found
            .iter()
            .filter_map(|(row, found)| Some(&row[found.size.clone()?]));
        let sizes = Column::of(sizes.collect());
        let are_pairs = || {
            keys.is_unique()
                && keys.look_like_keys() >= 0.7
                && sizes.size() == Some(MayBeSize::Likely)
        };
        share(found.len(), rows.len()) >= MOST
            && match self.text {
                Around::Form(_) => sizes.len() == 0 || are_pairs(),
                Around::Prefix(_) | Around::Names(..) => keys.is_unique(),
            }
    }

    fn find(&self, row: &[u8]) -> Option<Found> {
        match &self.text {
            Around::Form(form) => {
                let from = row.len() - row.trim_ascii_start().len();
                let found = form(row.trim_ascii())?;
                let at = |range: Range<usize>| from + range.start..from + range.end;
                Some(Found {
                    key: at(found.key),
                    size: found.size.map(at),
                    ..found
                })
            }
            Around::Prefix(prefix) => row
                .starts_with(prefix)
                .then(|| with(prefix.len()..row.len(), Escapes::None)),
            Around::Names(names, size) => {
                // The key may contain names of values, so they are sought from the end.
                let mut end = row.len();
                let mut value = None;
                for (at, name) in names.iter().enumerate().skip(1).rev() {
                    let start = memchr::memmem::rfind(&row[..end], name)?;
                    if at == *size {
                        value = Some(start + name.len()..end);
                    }
                    end = start;
                }
                let key = names[0].len()..end;
                (row.starts_with(&names[0]) && key.start <= end).then_some(())?;
                let bare = |text: Range<usize>| {
                    if escape::is_quoted(&row[text.clone()]) {
                        (text.start + 1..text.end - 1, Escapes::C)
                    } else {
                        (text, Escapes::None)
                    }
                };
                let (key, escapes) = bare(key);
                // Another name that the first row lacks.
                let is_name = |word: &[u8]| memchr::memchr(b'=', word).is_some_and(|at| at > 0);
                let mut words = row[key.clone()].split(|byte| *byte == b' ');
                if escapes == Escapes::None && words.by_ref().skip(1).any(is_name) {
                    return None;
                }
                Some(Found {
                    size: value.map(|value| bare(value).0),
                    ..with(key, escapes)
                })
            }
        }
    }
}

fn bullet(first: &[u8]) -> Option<Wrap> {
    let blanks = first.len() - first.trim_ascii_start().len();
    let end = blanks + length_of(&first[blanks..], &BULLETS)?;
    Some(Wrap {
        name: "a list with bullets",
        text: Around::Prefix(first[..end].to_vec()),
    })
}

/// Names before values, `key=K size=N`, the first of which is called a key and another one a size.
fn names(first: &[u8]) -> Option<Wrap> {
    let mut names = Vec::new();
    let mut size = None;
    let mut at = 0;
    for word in first.split(|byte| *byte == b' ') {
        let end = memchr::memchr(b'=', word).unwrap_or_default();
        let name = &word[..end];
        if end > 0
            && name
                .iter()
                .all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        {
            let role = ColumnNames::USUAL.role(name).map(|(role, _)| role);
            if names.is_empty() && role != Some(Role::Key) {
                return None;
            }
            size = size.or((role == Some(Role::of(Metric::Bytes))).then_some(names.len()));
            let blank = usize::from(at > 0);
            names.push(first[at - blank..=at + end].to_vec());
        }
        at += word.len() + 1;
    }
    Some(Wrap {
        name: "names before values",
        text: Around::Names(names, size?),
    })
}

/// The words up to a colon and a blank, if they precede names of several families.
fn words(rows: &[&[u8]]) -> Option<Wrap> {
    let common = common_prefix(rows);
    // Dicts of Python start with a bracket.
    common.first().filter(|byte| byte.is_ascii_alphanumeric())?;
    let end = 2 + memchr::memmem::rfind(common, b": ")?;
    let names: Vec<&[u8]> = rows.iter().map(|row| &row[end..]).collect();
    let are_several = names.len() < 3 || families(&names) >= 2;
    let are_names = are_several && Column::of(names).look_like_keys() >= 0.7;
    are_names.then(|| Wrap {
        name: "lines with the same words before each key",
        text: Around::Prefix(common[..end].to_vec()),
    })
}

/// Rows of keys with text around.
pub(crate) struct Wrapped(pub Wrap);

impl Row for Wrapped {
    fn row(&self, line: Line<'_>, values: &mut Values) -> Parsed {
        let Some(found) = self.0.find(line.text) else {
            return Parsed::Reject("a key without the text that is around the others");
        };
        let Some(at) = found.size else {
            return Parsed::Escaped(found.escapes, found.key);
        };
        let text = &line.text[at.clone()];
        let number = if is_missing(text) {
            Some(MISSING)
        } else {
            size(text)
        };
        values.sizes_mut().push(number.unwrap_or(MISSING));
        match number {
            Some(_) => Parsed::Escaped(found.escapes, found.key),
            None => Parsed::WithoutSize(found.escapes, found.key, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first key between the text around it, and its size.
    fn of(rows: &[&str]) -> Option<String> {
        let rows: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
        let found = Wrap::of(&rows)?.find(rows[0])?;
        let text = |range: Range<usize>| String::from_utf8_lossy(&rows[0][range]).into_owned();
        let size = found
            .size
            .map_or(String::new(), |size| format!(" {}", text(size)));
        Some(text(found.key) + &size)
    }

    #[test]
    fn the_text_around_keys_is_found_and_parts_of_keys_are_not() {
        for rows in [
            &["b'user:1'", "b\"it's\","][..],
            &["'user:1',", "'b:2'"],
            &["  \"user:1\",", "  \"cart:2\","],
            &["- user:1", "- cart:2"],
            &["`user:1`"],
            &["redis://10.0.0.7:6379/0/user:1"],
            &["redis://h/user:1", "redis://h/cart:2"],
            &["INFO:root:user:1", "INFO:root:cart:2"],
            &["Found: user:1", "Found: cart:2", "Found: lock.3"],
        ] {
            assert_eq!(of(rows).as_deref(), Some("user:1"), "{rows:?}");
        }
        for rows in [
            &["[\"user:1\",184]", "[\"user:2\",96]"][..],
            &["(b'user:1', 184)", "(b'cart:2', 96)"],
            &["key=user:1 size=184", "key=a b size=96"],
            &["key=\"user:1\" size=\"184\"", "key=b size=96"],
            &["key=user:1 type=set size=184", "key=b type=hash size=96"],
        ] {
            assert_eq!(of(rows).as_deref(), Some("user:1 184"), "{rows:?}");
        }
        for no in [
            &["[\"user\",5]", "[\"user\",6]"][..],
            &["key:1", "key:2"],
            &["item 1", "item 2"],
            &["found a", "lost b"],
            &["'a", "b'"],
            &["id=1&a=2", "id=2&a=2"],
            &["{'key': 'user:1'}", "{'key': 'cart:2'}"],
            &["Found: user:1", "Found: user:2", "Found: user:3"],
        ] {
            assert_eq!(of(no), None, "{no:?}");
        }
    }
}
