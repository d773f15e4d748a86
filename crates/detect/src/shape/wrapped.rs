//! Keys with the same text around each, one per line, as programs print them: literals of Python, bullets, `Found: key`;
//! and keys with their sizes in brackets or after names. Each is a pattern.

use slotscope_read::format::line::Pattern;
use slotscope_read::format::line::parse::literal;
use slotscope_read::format::line::reader::Patterned;
use slotscope_read::format::parse::quoted;

use crate::shape::column::{Column, MOST, MayBeSize, common_prefix, families, share};
use crate::shape::{labels, peel};

/// The text around a key.
#[derive(Debug, Clone)]
pub(crate) struct Wrap {
    /// Its description.
    pub name: &'static str,
    /// The pattern of the lines.
    pub pattern: Pattern,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Marks that nothing else has, with a size if that is likely one.
    Form,
    /// A text before the key, which may be a column.
    Prefix,
    /// A name before each value.
    Names,
}

const BULLETS: [&str; 3] = ["- ", "* ", "• "];

impl Wrap {
    /// The text around keys, if it is the same in nearly all rows.
    pub(super) fn of(rows: &[&[u8]]) -> Option<Wrap> {
        // The first and the last row of a list may have its brackets.
        let row = rows.get(rows.len() / 2)?.trim_ascii();
        let marks = [
            (pair(row), "pairs of a key and its size"),
            (quotes(row), "texts in quotes"),
            (address(row), "addresses of a server and a key"),
            (log(row), "lines of a log"),
        ];
        let wrap = |kind| {
            move |(text, name): (Option<String>, &'static str)| {
                let pattern = Pattern::parse(&text?).ok()?;
                Some(Wrap {
                    name,
                    pattern,
                    kind,
                })
            }
        };
        let mut marks = marks.into_iter().filter_map(wrap(Kind::Form));
        let others = || {
            [
                wrap(Kind::Prefix)((bullet(rows, row), "a list with bullets")),
                wrap(Kind::Names)((labels::pattern(rows), "names before values")),
                wrap(Kind::Prefix)((words(rows), "lines with the same words before each key")),
            ]
        };
        marks
            .find(|wrap| wrap.fits(rows))
            .or_else(|| others().into_iter().flatten().find(|wrap| wrap.fits(rows)))
    }

    /// Whether the text around keys may be a table column of its own.
    pub(super) fn may_be_cell(&self) -> bool {
        self.kind == Kind::Prefix
    }

    fn fits(&self, rows: &[&[u8]]) -> bool {
        let reader = Patterned::of(&self.pattern);
        let found: Vec<(&[u8], &[u8])> = rows
            .iter()
            .filter_map(|row| reader.key_and_size(row))
            .collect();
        let keys = Column::of(found.iter().map(|(key, _)| *key).collect());
        let sizes = Column::of(found.iter().map(|(_, size)| *size).collect());
        let are_pairs = || {
            keys.is_unique()
                && keys.look_like_keys() >= 0.7
                && sizes.size() == Some(MayBeSize::Likely)
        };
        share(found.len(), rows.len()) >= MOST
            && match self.kind {
                Kind::Form => !self.pattern.has_size() || are_pairs(),
                Kind::Prefix | Kind::Names => keys.is_unique(),
            }
    }
}

/// `["key",184]` or `(b'key', 184)`.
fn pair(row: &[u8]) -> Option<String> {
    let comma = if row.ends_with(b",") { "," } else { "" };
    let row = row.strip_suffix(b",").unwrap_or(row);
    let (open, close) = match row {
        [b'[', .., b']'] => ('[', ']'),
        [b'(', .., b')'] => ('(', ')'),
        _ => return None,
    };
    let text = row[1..].trim_ascii_start();
    let before = if text.len() + 1 < row.len() { " " } else { "" };
    let (inside, _) = quoted::start(text)?;
    let rest = &text[inside.end..];
    let rest = rest[quoted::close_len(rest)..].strip_prefix(b",")?;
    let blank = if rest.starts_with(b" ") { " " } else { "" };
    Some(format!(
        "{open}{before}{{key:q}},{blank}{{size}}{close}{comma}"
    ))
}

/// `b'key'`, `"key",`, `` `key` ``.
fn quotes(row: &[u8]) -> Option<String> {
    let comma = if row.ends_with(b",") { "," } else { "" };
    quoted::whole(row.strip_suffix(b",").unwrap_or(row))?;
    Some(format!("{{key:q}}{comma}"))
}

/// `redis://10.0.0.7:6379/0/key`.
fn address(row: &[u8]) -> Option<String> {
    let scheme = ["redis://", "rediss://", "valkey://", "valkeys://"];
    let scheme = scheme
        .into_iter()
        .find(|scheme| row.starts_with(scheme.as_bytes()))?;
    let path = row[scheme.len()..].splitn(2, |byte| *byte == b'/').nth(1)?;
    let end = memchr::memchr(b'/', path).filter(|end| *end > 0);
    let has_database = end.is_some_and(|end| path[..end].iter().all(u8::is_ascii_digit));
    let database = if has_database { "{db}/" } else { "" };
    Some(format!("{scheme}{{_}}/{database}{{key}}"))
}

/// `INFO:root:key`.
fn log(row: &[u8]) -> Option<String> {
    let levels = ["DEBUG:", "INFO:", "WARNING:", "ERROR:"];
    let level = levels
        .into_iter()
        .find(|level| row.starts_with(level.as_bytes()))?;
    let logger = row[level.len()..].splitn(2, |byte| *byte == b':').next()?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
    logger
        .iter()
        .all(is_name)
        .then(|| format!("{level}{{_}}:{{key}}"))
}

fn bullet(rows: &[&[u8]], row: &[u8]) -> Option<String> {
    let bullet = BULLETS
        .into_iter()
        .find(|bullet| row.starts_with(bullet.as_bytes()))?;
    let found = peel::pattern(rows).filter(|pattern| pattern.starts_with(bullet));
    Some(found.unwrap_or_else(|| format!("{bullet}{{key}}")))
}

/// The words up to a colon and a blank, if they precede names of several families.
fn words(rows: &[&[u8]]) -> Option<String> {
    let common = common_prefix(rows);
    // Dicts of Python start with a bracket.
    common.first().filter(|byte| byte.is_ascii_alphanumeric())?;
    let end = 2 + memchr::memmem::rfind(common, b": ")?;
    let names: Vec<&[u8]> = rows.iter().map(|row| &row[end..]).collect();
    let are_several = names.len() < 3 || families(&names) >= 2;
    let are_names = are_several && Column::of(names).look_like_keys() >= 0.7;
    let words = std::str::from_utf8(&common[..end]).ok()?;
    are_names.then(|| literal(words) + "{key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first key between the text around it, and its size.
    fn of(rows: &[&str]) -> Option<String> {
        let rows: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
        let pattern = Wrap::of(&rows)?.pattern;
        let (key, size) = Patterned::of(&pattern).key_and_size(rows[0])?;
        let text = [key, size].map(String::from_utf8_lossy).join(" ");
        Some(text.trim_end().to_owned())
    }

    #[test]
    fn the_text_around_keys_is_found_and_parts_of_keys_are_not() {
        for rows in [
            &["b'user:1'", "b\"it's\""][..],
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
