//! Guesses the content of a column from names as people write them: with units, in any case and spelling. Keys and sizes have
//! their names in other languages, too.
//!
//! Names used by tools are in `columns`; these are only consulted if none of those matches.

use crate::format::batch::{Number, SOMETIME, Word};
use crate::format::parse::size::{ReadNumber, bytes, size_in, size_in_thousands};
use crate::format::parse::time;
use crate::format::table::role::Role;
use crate::metric::Metric;

/// The content of a column by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its content; `None` if known but not read, such as a row number or a slot.
    pub role: Option<Role>,
    /// The number of names with precedence over it.
    pub rank: usize,
    /// The unit of its numbers: bytes as a power of two, or for times, milliseconds.
    pub unit: Unit,
}

/// The unit of a number written without one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    /// One.
    #[default]
    One,
    /// Bytes, of which a kilobyte is a thousand.
    Thousand,
    /// 2^10 bytes.
    Kib,
    /// 2^20 bytes.
    Mib,
    /// 2^30 bytes.
    Gib,
    /// TTL in seconds.
    SecondsLeft,
    /// TTL in milliseconds.
    MillisecondsLeft,
}

impl Unit {
    pub(crate) fn size_reader(self) -> ReadNumber {
        match self {
            Unit::Thousand => size_in_thousands,
            Unit::Kib => size_in::<10>,
            Unit::Mib => size_in::<20>,
            Unit::Gib => size_in::<30>,
            _ => bytes,
        }
    }

    pub(crate) fn expiry_reader(self) -> ReadNumber {
        match self {
            Unit::MillisecondsLeft => |text| known(time::expiry_in_milliseconds(text)),
            _ => |text| known(time::expiry(text)),
        }
    }
}

/// A time of expiry, if it could be read.
fn known(expiry: u64) -> Option<u64> {
    (expiry != SOMETIME).then_some(expiry)
}

const KEYS: &[&str] = &[
    "key", "keys", "keyname", "rediskey", "clé", "clef", "clave", "llave", "chave", "chiave",
    "ключ", "键", "键名", "キー", "키",
];
const NAMES: &[&str] = &["name", "names"];
const SIZES: &[&str] = &[
    "size",
    "sizes",
    "mem",
    "memory",
    "bytes",
    "byte",
    "used",
    "usage",
    "strlen",
    "length",
    "taille",
    "octets",
    "größe",
    "tamaño",
    "tam",
    "tamanho",
    "размер",
    "память",
    "大小",
    "内存",
    "サイズ",
];
/// The same in languages that write words without blanks between, or join them.
const SIZES_INSIDE: &[&str] = &[
    "大小",
    "内存",
    "字节",
    "容量",
    "サイズ",
    "メモリ",
    "バイト",
    "크기",
    "메모리",
    "바이트",
    "speicher",
    "größe",
    "mémoire",
];
/// A rate or a ratio in these languages.
const RATIOS_INSIDE: &[&str] = &["率", "比", "割合", "비율"];
/// A column with one of these words has this content, whatever else is in its name.
const OTHERS: &[(Option<Role>, &[&str])] = &[
    (
        EXPIRY,
        &["ttl", "pttl", "expires", "expire", "expiry", "expiration"],
    ),
    (Some(Role::Word(Word::Type)), &["type"]),
    (Some(Role::Word(Word::Encoding)), &["encoding"]),
    (Some(Role::Number(Number::Database)), &["db", "database"]),
    (Some(Role::Number(Number::Idle)), &["idle"]),
    (Some(Role::Number(Number::Lfu)), &["freq", "lfu"]),
    (
        Some(Role::Weight(Metric::Ops)),
        &["count", "hits", "ops", "qps", "requests"],
    ),
    (
        Some(Role::Number(Number::Elements)),
        &["elements", "len", "items", "members"],
    ),
    // Not about a single key, or not an amount.
    (
        None,
        &[
            "slot",
            "slots",
            "node",
            "host",
            "port",
            "shard",
            "id",
            "no",
            "nr",
            "index",
            "rank",
            "row",
            "unnamed",
            "bits",
            "blocks",
            "pages",
            "thousands",
            "unit",
            "units",
            "percent",
            "pct",
            "ratio",
            "share",
            "max",
            "min",
            "avg",
            "mean",
            "largest",
            "cpu",
            "prefix",
            "pattern",
            "readable",
            "human",
            "date",
            "time",
        ],
    ),
];
const EXPIRY: Option<Role> = Some(Role::Number(Number::Expiry));
/// Words without meaning.
const FILLERS: &[&str] = &[
    "redis",
    "valkey",
    "data",
    "the",
    "in",
    "of",
    "total",
    "estimated",
    "approx",
    "col",
    "column",
    "field",
];

const LONGEST: usize = 60;
const MOST_WORDS: usize = 4;

/// Names not listed in `columns` rank after those that are.
pub(crate) const FIRST_RANK: usize = 100;
pub(crate) const KEY: usize = FIRST_RANK;
pub(crate) const NAME: usize = 101;
const SIZE: usize = FIRST_RANK;
const SERIALIZED: usize = 101;
/// Beside the size of the value, that of the name.
const OF_NAME: usize = 102;

/// The content of a column called `name`; `None` if unknown.
pub(crate) fn named(name: &[u8]) -> Option<Named> {
    let is_odd = |byte: &u8| b"{}\"\\;,<>=".contains(byte);
    if name.len() > LONGEST || name.iter().any(is_odd) {
        return None;
    }
    let is_percent = name.contains(&b'%');
    let spelled = words(name);
    let words: Vec<&str> = spelled.iter().map(String::as_str).collect();
    let core: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !FILLERS.contains(word))
        .collect();
    let (Some(first), Some(last)) = (core.first(), core.last()) else {
        return None;
    };
    if core.len() > MOST_WORDS {
        return None;
    }
    let named = |role, rank, unit| Some(Named { role, rank, unit });
    let plain = |role| named(role, SIZE, Unit::One);
    if is_percent {
        return plain(None);
    }
    let is_key_name =
        core.len() == 2 && KEYS.contains(first) && ["name", "string", "text"].contains(last);
    if KEYS.contains(last) || is_key_name {
        return named(Some(Role::Key), KEY, Unit::One);
    }
    if core.len() == 1 && NAMES.contains(last) {
        return named(Some(Role::Key), NAME, Unit::One);
    }
    let is_size = || {
        core.iter()
            .any(|word| SIZES.contains(word) || unit(word).is_some() || is_size_inside(word))
    };
    let entry = core.iter().find_map(|word| {
        let entry = OTHERS.iter().find(|(_, terms)| terms.contains(word));
        entry.map(|(role, _)| (*word, *role))
    });
    match entry {
        // The length of a value in bytes is its size.
        Some(("len" | "count" | "total", _)) if core.contains(&"bytes") => {
            named(Some(Role::of(Metric::Bytes)), SIZE, Unit::One)
        }
        Some((word, EXPIRY)) => {
            let is_ms = word == "pttl" || ["ms", "msec", "millis", "milliseconds"].contains(last);
            let unit = if is_ms {
                Unit::MillisecondsLeft
            } else {
                Unit::SecondsLeft
            };
            named(EXPIRY, SIZE, unit)
        }
        Some((_, role)) => plain(role),
        None if is_size() => {
            let rank = match () {
                () if core.contains(&"serialized") || core.contains(&"value") => SERIALIZED,
                () if KEYS.contains(first) => OF_NAME,
                () => SIZE,
            };
            let unit = words.iter().rev().find_map(|word| unit(word));
            named(
                Some(Role::of(Metric::Bytes)),
                rank,
                unit.unwrap_or_default(),
            )
        }
        None => None,
    }
}

/// Whether a word of another language has a size in it, and no ratio.
fn is_size_inside(word: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    has(SIZES_INSIDE) && !has(RATIOS_INSIDE)
}

/// Whether a column of this name holds the units of another one's numbers.
pub(crate) fn is_unit(name: &[u8]) -> bool {
    const UNITS: [&str; 2] = ["unit", "units"];
    let words = words(name);
    let is_about = |word: &String| UNITS.contains(&word.as_str()) || SIZES.contains(&word.as_str());
    words
        .last()
        .is_some_and(|last| UNITS.contains(&last.as_str()))
        && words.iter().all(is_about)
}

/// The unit denoted by a word in the name of a size.
fn unit(word: &str) -> Option<Unit> {
    match word {
        "kb" | "kib" | "k" | "kbyte" | "kbytes" | "kilobyte" | "kilobytes" => Some(Unit::Kib),
        "mb" | "mib" | "mbyte" | "mbytes" | "megabyte" | "megabytes" => Some(Unit::Mib),
        "gb" | "gib" | "gbyte" | "gbytes" | "gigabyte" | "gigabytes" => Some(Unit::Gib),
        _ => None,
    }
}

/// The words of a name, in lower case.
fn words(name: &[u8]) -> Vec<String> {
    // A unit is one word.
    let text = String::from_utf8_lossy(name).replace("iB", "ib");
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        if !letter.is_alphabetic() || was_lower && letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str) -> Option<Option<Role>> {
        named(name.as_bytes()).map(|named| named.role)
    }

    #[test]
    fn names_of_people_are_known_and_others_are_not() {
        let bytes = Some(Some(Role::of(Metric::Bytes)));
        let key = Some(Some(Role::Key));
        for (name, expected) in [
            ("@key", key),
            ("redis_key", key),
            ("Key Name", key),
            ("data.key", key),
            ("keyName", key),
            ("clé", key),
            ("Ключ", key),
            ("键名", key),
            ("user_name", None),
            ("size (bytes)", bytes),
            ("Memory (MB)", bytes),
            ("memory_bytes", bytes),
            ("Größe", bytes),
            ("tamaño", bytes),
            ("内存", bytes),
            ("内存大小", bytes),
            ("占用内存", bytes),
            ("内存占用率", None),
            ("メモリ", bytes),
            ("Speicherverbrauch", bytes),
            ("serializedlength", None),
            ("value_len_bytes", bytes),
            ("%mem", Some(None)),
            ("slot", Some(None)),
            ("Unnamed: 0", Some(None)),
            ("TTL (s)", Some(EXPIRY)),
            ("hits", Some(Some(Role::Weight(Metric::Ops)))),
            ("key_size", bytes),
            ("foo", None),
            ("{user}key", None),
            ("", None),
        ] {
            assert_eq!(role(name), expected, "{name}");
        }
    }

    #[test]
    fn units_are_in_names() {
        let unit = |name: &[u8]| named(name).unwrap().unit;
        assert_eq!(unit(b"size in kilobytes"), Unit::Kib);
        assert_eq!(unit(b"memory (K)"), Unit::Kib);
        assert_eq!(named(b"size_bits").unwrap().role, None);
        assert!(is_unit(b"Unit") && is_unit(b"size_unit") && is_unit(b"sizeUnit"));
        assert!(!is_unit(b"business_unit") && !is_unit(b"size"));
        assert_eq!(unit(b"size_kb"), Unit::Kib);
        assert_eq!(unit(b"Memory (MiB)"), Unit::Mib);
        assert_eq!(unit(b"bytes"), Unit::One);
        assert_eq!(unit(b"ttl_ms"), Unit::MillisecondsLeft);
        assert_eq!(unit(b"pttl"), Unit::MillisecondsLeft);
        assert_eq!(unit(b"TTL (s)"), Unit::SecondsLeft);
    }
}
