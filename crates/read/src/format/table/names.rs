//! Guesses the content of a column from names as people write them: with units, in any case and spelling. Keys and sizes have
//! their names in other languages, too.
//!
//! Names used by tools are in `columns`; these are only consulted if none of those matches.

use slotscope_base::batch::Number;
use slotscope_base::metric::Metric;

use crate::format::table::role::Role;
use crate::format::table::units::Unit;
use crate::format::table::vocabulary::{
    FILLERS, KEYS, MILLISECONDS, NAMES, OF_SIZES, OF_TABLES, OTHERS, PERIODS, SECONDS, SIZES,
    UNREAD, is_of_size, unit,
};

/// The content of a column by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Its content; `None` if known but not read, such as a row number or a slot.
    pub role: Option<Role>,
    /// The number of names with precedence over it.
    pub rank: usize,
    /// The unit of its numbers: bytes as a power of two, or for times, milliseconds.
    pub unit: Unit,
}

const LONGEST: usize = 60;
const MOST_WORDS: usize = 4;

/// Names not listed in `columns` rank after those that are.
pub const FIRST_RANK: usize = 100;
pub(crate) const KEY: usize = FIRST_RANK;
pub(crate) const NAME: usize = 101;
const SIZE: usize = FIRST_RANK;
const SERIALIZED: usize = 101;
/// Beside the size of the value, that of the name.
const OF_NAME: usize = 102;

/// The content of a column called `name`; `None` if unknown.
pub fn named(name: &[u8]) -> Option<Named> {
    let is_odd = |byte: &u8| b"{}\"\\;,<>=".contains(byte);
    if name.len() > LONGEST || name.iter().any(is_odd) {
        return None;
    }
    let is_percent = name.contains(&b'%');
    let spelled = words(name);
    let words: Vec<&str> = spelled.iter().map(String::as_str).collect();
    let is_filler = |word: &&str| {
        FILLERS.contains(word) || OF_TABLES.contains(word) && !words.contains(&"count")
    };
    let is_number = |word: &&str| word.starts_with(char::is_numeric);
    // A preposition at the end has a meaning: `bytes_in`, `expires_in`.
    let ends_open = matches!(words.as_slice(), [.., "in" | "of"]);
    let (before, end) = words.split_at(words.len() - usize::from(ends_open));
    let core: Vec<&str> = before
        .iter()
        .filter(|word| !is_filler(word))
        .chain(end)
        .copied()
        .filter(|word| !is_number(word))
        .collect();
    let (Some(first), Some(last)) = (core.first(), core.last()) else {
        return None;
    };
    if core.len() > MOST_WORDS {
        return None;
    }
    let named = |role, rank, unit| Some(Named { role, rank, unit });
    if is_percent {
        return named(None, SIZE, Unit::One);
    }
    let is_key_name =
        core.len() == 2 && KEYS.contains(first) && ["name", "string", "text"].contains(last);
    if KEYS.contains(last) || is_key_name {
        return named(Some(Role::Key), KEY, Unit::One);
    }
    if core.len() == 1 && NAMES.contains(last) {
        return named(Some(Role::Key), NAME, Unit::One);
    }
    // An unknown word may change the meaning of the others: `size (x1000)`, `bytes_in`, `ttl (h)`.
    let is_odd = words.iter().any(is_number);
    if !is_odd && let Some(unit) = size_unit(&core) {
        let rank = match () {
            () if core.contains(&"serialized") || core.contains(&"value") => SERIALIZED,
            () if KEYS.contains(first) => OF_NAME,
            () => SIZE,
        };
        return named(Some(Role::of(Metric::Bytes)), rank, unit);
    }
    let other = OTHERS
        .iter()
        .find(|(role, terms)| !is_odd && are_all_of(&core, *role, terms));
    if let Some((role, _)) = other {
        let is_ms = |word: &&str| *word == "pttl" || MILLISECONDS.contains(word);
        let unit = match role {
            Role::Number(Number::Expiry) if core.iter().any(is_ms) => Unit::MillisecondsLeft,
            Role::Number(Number::Expiry) => Unit::SecondsLeft,
            _ => Unit::One,
        };
        return named(Some(*role), SIZE, unit);
    }
    let is_known = |word: &&str| {
        let has = |(_, terms): &(Role, &[&[&str]])| terms[0].contains(word);
        UNREAD.contains(word) || is_of_size(word) || OTHERS.iter().any(has)
    };
    // The user may say that these are sizes.
    let unit = core.iter().rev().find_map(|word| unit(word));
    core.iter().any(is_known).then_some(Named {
        role: None,
        rank: SIZE,
        unit: unit.unwrap_or_default(),
    })
}

/// Whether all words are those of a content, and one of them names it; operations may be those of a period.
fn are_all_of(words: &[&str], role: Role, terms: &[&[&str]]) -> bool {
    let words = match words {
        [amount @ .., "per", period]
            if role == Role::of(Metric::Ops)
                && (SECONDS.contains(period) || PERIODS.contains(period)) =>
        {
            amount
        }
        words => words,
    };
    let is_of = |word: &&str| terms.iter().any(|terms| terms.contains(word));
    words.iter().any(|word| terms[0].contains(word)) && words.iter().all(is_of)
}

/// The unit of a size with this name; `None` if a word does not describe the size of a key and its value.
fn size_unit(words: &[&str]) -> Option<Unit> {
    const LENGTHS: &[&str] = &["size", "sizes", "length", "strlen", "bytes", "byte"];
    let has = |terms: &[&str]| words.iter().any(|word| terms.contains(word));
    // The length of a value in bytes is its size, that of a key may be the one of its name.
    let is_of_bytes = |word: &&str| has(&["bytes", "byte"]) && ["len", "count"].contains(word);
    let is_of_key = |word: &&str| KEYS.contains(word) && !has(LENGTHS);
    let is_size = |word: &&str| {
        is_of_size(word)
            || OF_SIZES.contains(word)
            || unit(word).is_some()
            || is_of_bytes(word)
            || is_of_key(word)
    };
    let mut units = words.iter().filter_map(|word| unit(word));
    let one = units.next().unwrap_or_default();
    let is_one = units.all(|other| other == one);
    let is_named = words.iter().any(|word| is_of_size(word));
    (is_one && is_named && words.iter().all(is_size)).then_some(one)
}

/// Whether a column of this name may hold sizes, in a unit or of a kind that is not understood.
pub fn speaks_of_size(name: &[u8]) -> bool {
    words(name)
        .iter()
        .any(|word| is_of_size(word) || word.starts_with("bit"))
}

/// Whether a column of this name holds the units of another one's numbers.
pub fn is_unit(name: &[u8]) -> bool {
    const UNITS: [&str; 2] = ["unit", "units"];
    let words = words(name);
    let is_about = |word: &String| UNITS.contains(&word.as_str()) || SIZES.contains(&word.as_str());
    words
        .last()
        .is_some_and(|last| UNITS.contains(&last.as_str()))
        && words.iter().all(is_about)
}

/// The words and numbers of a name, in lower case; a slash is the word for it.
fn words(name: &[u8]) -> Vec<String> {
    // A unit is one word.
    let text = String::from_utf8_lossy(name)
        .replace("iB", "ib")
        .replace('/', " per ");
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in text.chars() {
        let is_next = before.is_lowercase() && letter.is_uppercase()
            || before.is_numeric() != letter.is_numeric();
        if !letter.is_alphanumeric() || is_next {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::table::vocabulary::EXPIRY;

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
            ("TTL (s)", Some(Some(EXPIRY))),
            ("hits", Some(Some(Role::Weight(Metric::Ops)))),
            ("key_memory", bytes),
            ("Размер (МБ)", bytes),
            ("taille en octets", bytes),
            ("byte_count", bytes),
            ("ops/min", Some(Some(Role::of(Metric::Ops)))),
            ("hit_count", Some(Some(Role::of(Metric::Ops)))),
            ("number of requests", Some(Some(Role::of(Metric::Ops)))),
            ("expires_at", Some(Some(EXPIRY))),
            ("expires in (s)", Some(Some(EXPIRY))),
            ("expires_in", Some(Some(EXPIRY))),
            ("foo", None),
            ("{user}key", None),
            ("", None),
        ] {
            assert_eq!(role(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_with_a_word_that_is_not_understood_is_not_read() {
        for name in [
            "bytes_in|bytes_sent|network_bytes|bytes_read|request_bytes|bytes_per_sec|MB/s|size (KB/s)|bytes_per_element",
            "bytes_saved|memory_limit|size_limit|memory_delta|memory_before|size_old|key_length|key_size|key_bytes",
            "size (Mbit)|size_kbit|size (x1000)|size (1000s)|size_words|bytes (thousands)|memory (pages)|size_ops|db_size",
        ]
        .iter()
        .flat_map(|names| names.split('|'))
        {
            assert_eq!(role(name), Some(None), "{name}");
            assert!(speaks_of_size(name.as_bytes()), "{name}");
        }
        for name in [
            "ops_latency|requests_avg_ms|hits_ms|ops_pct|ops_failed|count_distinct|key_count|field_count|ops (k)",
            "requests (millions)|ttl_days|ttl (h)|ttl (min)|expiry_days|idle_ms|idle (days)",
        ]
        .iter()
        .flat_map(|names| names.split('|'))
        {
            assert_eq!(role(name), Some(None), "{name}");
            assert!(!speaks_of_size(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn units_are_in_names() {
        let unit = |name: &[u8]| named(name).unwrap().unit;
        assert_eq!(unit(b"size in kilobytes"), Unit::Kib);
        assert_eq!(unit(b"memory (K)"), Unit::Kib);
        assert_eq!((unit(b"size (M)"), unit(b"size_m")), (Unit::Mib, Unit::Mib));
        assert_eq!(named(b"size_bits").unwrap().role, None);
        assert_eq!(unit(b"backlog (KB)"), Unit::Kib);
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
