//! Filters keys by name, type, size and expiry.

use std::ops::RangeInclusive;

use regex::bytes::Regex;

use slotscope_base::batch::{KeyBatch, MISSING, NEVER, Number, SOMETIME, Values, Word};
use slotscope_base::glob::Glob;
use slotscope_base::metric::Metric;

/// Conditions for a key to be counted, all of which must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Its name matches one of these, or one of the regular expressions.
    pub globs: Vec<Glob>,
    /// See `globs`.
    pub regexes: Vec<Regex>,
    /// Its type is one of these; empty for any.
    pub types: Vec<String>,
    /// Its size in bytes.
    pub sizes: Option<RangeInclusive<u64>>,
    /// When it expires.
    pub expiry: Option<Expires>,
    /// The conditions as words of a command line.
    pub words: Vec<String>,
}

/// Types of servers without modules.
const SERVER_TYPES: [&str; 7] = [
    "string",
    "list",
    "set",
    "zset",
    "hash",
    "stream",
    "vectorset",
];

/// Whether servers without modules have this type.
pub fn is_server_type(word: &str) -> bool {
    let mut names = SERVER_TYPES.iter();
    names.any(|name| word.eq_ignore_ascii_case(name))
}

/// A condition on the expiry of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expires {
    /// No TTL.
    Never,
    /// Any TTL.
    Sometime,
    /// Within this range, in milliseconds since 1970.
    Within(RangeInclusive<u64>),
}

/// A field of a key, besides its name, used by a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Its type.
    Type,
    /// Its size in bytes.
    Size,
    /// When it expires.
    Expiry,
}

impl Field {
    /// How formats without the field are described, and which formats have it.
    pub(crate) fn carried_by(self) -> (&'static str, &'static str) {
        match self {
            Field::Type => (
                "no types",
                "RDB files, and CSV and JSON lines with a column \"type\", carry them",
            ),
            Field::Size => (
                "no sizes",
                "RDB files, redis-cli --memkeys, and CSV and JSON lines with a column of sizes (--size-column), carry them",
            ),
            Field::Expiry => (
                "no times of expiry",
                "RDB files, and CSV and JSON lines with a column \"expiry\" or \"ttl\", carry them",
            ),
        }
    }
}

impl Filter {
    /// The option that uses a field.
    pub fn option(&self, field: Field) -> &'static str {
        let has_minimum = || self.sizes.as_ref().is_some_and(|sizes| *sizes.start() > 0);
        match field {
            Field::Type => "type",
            Field::Size if has_minimum() => "min-size",
            Field::Size => "max-size",
            Field::Expiry => "ttl",
        }
    }

    /// The first field needed by a condition but missing from a batch.
    pub fn lacks(&self, values: &Values) -> Option<Field> {
        let is_missing = |field| match field {
            Field::Type => !self.types.is_empty() && values.word(Word::Type).is_empty(),
            Field::Size => self.sizes.is_some() && values.column(Metric::Bytes).is_none(),
            Field::Expiry => self.expiry.is_some() && values.number(Number::Expiry).is_empty(),
        };
        let mut fields = [Field::Type, Field::Size, Field::Expiry].into_iter();
        fields.find(|field| is_missing(*field))
    }

    /// Whether a key meets all conditions; unknown fields meet none.
    pub fn keeps(&self, key: &KeyFacts<'_>) -> bool {
        let has_size =
            |range: &RangeInclusive<u64>| key.size != MISSING && range.contains(&key.size);
        let is_type = |wanted: &String| wanted.as_bytes().eq_ignore_ascii_case(key.kind);
        (self.types.is_empty() || self.types.iter().any(is_type))
            && self.sizes.as_ref().is_none_or(has_size)
            && self
                .expiry
                .as_ref()
                .is_none_or(|wanted| wanted.includes(key.expiry))
            && self.is_named(key.name)
    }

    fn is_named(&self, key: &[u8]) -> bool {
        (self.globs.is_empty() && self.regexes.is_empty())
            || self.globs.iter().any(|glob| glob.matches(key))
            || self.regexes.iter().any(|regex| regex.is_match(key))
    }

    /// The conditions as typed; unless `with_names`, without values that may contain names or module types.
    pub fn said(&self, with_names: bool) -> String {
        let mut option = "";
        let shown = self.words.iter().map(|word| {
            let is_hidden = match std::mem::take(&mut option) {
                "" => {
                    option = word;
                    false
                }
                "--type" => !word.split(',').all(is_server_type),
                previous => previous.starts_with("--match"),
            };
            if is_hidden && !with_names {
                "..."
            } else {
                word
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    }
}

/// The fields of a key used by conditions.
#[derive(Debug, Clone, Copy)]
pub struct KeyFacts<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// The reply to TYPE.
    pub kind: &'a [u8],
    /// Its size in bytes, or `MISSING`.
    pub size: u64,
    /// Its expiry, as in `Number::Expiry`.
    pub expiry: u64,
}

impl<'a> KeyFacts<'a> {
    pub(crate) fn of(batch: KeyBatch<'a>, i: usize) -> Self {
        let cell = |column: &[u64]| column.get(i).copied().unwrap_or(MISSING);
        let types = batch.values.word(Word::Type);
        KeyFacts {
            name: batch.keys.get(batch.base, i),
            kind: if types.is_empty() {
                b""
            } else {
                types.get(batch.base, i)
            },
            size: batch.values.column(Metric::Bytes).map_or(MISSING, cell),
            expiry: cell(batch.values.number(Number::Expiry)),
        }
    }
}

impl Expires {
    fn includes(&self, at: u64) -> bool {
        match self {
            Expires::Never => at == NEVER,
            Expires::Sometime => at != NEVER,
            Expires::Within(range) => ![NEVER, SOMETIME].contains(&at) && range.contains(&at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_not_known_is_in_no_range() {
        let all = Expires::Within(0..=u64::MAX);
        assert!(all.includes(5) && !all.includes(NEVER) && !all.includes(SOMETIME));
        assert!(Expires::Sometime.includes(SOMETIME) && !Expires::Sometime.includes(NEVER));
        assert!(Expires::Never.includes(NEVER) && !Expires::Never.includes(5));
    }

    #[test]
    fn what_may_hold_parts_of_names_is_hidden() {
        let words = ["--match", "--match", "--match-regex", "b", "--type", "hash"];
        let filter = Filter {
            words: words.map(String::from).to_vec(),
            ..Filter::default()
        };
        assert_eq!(filter.said(true), words.join(" "));
        assert_eq!(
            filter.said(false),
            "--match ... --match-regex ... --type hash"
        );
        let words = ["--type", "hash,secretmodule"];
        let filter = Filter {
            words: words.map(String::from).to_vec(),
            ..Filter::default()
        };
        assert_eq!(filter.said(true), words.join(" "));
        assert_eq!(filter.said(false), "--type ...");
    }
}
