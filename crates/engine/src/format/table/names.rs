//! Guesses the content of a column from names as people write them: in ten languages, with units, in any case and
//! spelling.
//!
//! Names used by tools are in `columns`; these are only consulted if none of those matches.

use crate::format::batch::{Number, SOMETIME, Word};
use crate::format::parse::size::{ReadNumber, bytes, size_in};
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
    "key",
    "keys",
    "keyname",
    "keynames",
    "rediskey",
    "cle",
    "cles",
    "clef",
    "clave",
    "claves",
    "llave",
    "chave",
    "chaves",
    "chiave",
    "chiavi",
    "schlussel",
    "sleutel",
    "nyckel",
    "nokkel",
    "nogle",
    "klucz",
    "klic",
    "kulcs",
    "avain",
    "anahtar",
    "ключ",
    "ключи",
    "κλειδι",
    "键",
    "键名",
    "鍵",
    "キー",
    "키",
];
const NAMES: &[&str] = &[
    "name", "names", "nombre", "nom", "nome", "naam", "namn", "navn", "nazwa", "имя", "名称",
    "名前",
];
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
    "grosse",
    "große",
    "speicher",
    "tamano",
    "tam",
    "tamanho",
    "memoria",
    "memoire",
    "grootte",
    "geheugen",
    "dimensione",
    "storlek",
    "rozmiar",
    "pamiec",
    "размер",
    "память",
    "大小",
    "内存",
    "サイズ",
    "크기",
];
/// A column with one of these words has this content, whatever else is in its name.
const OTHERS: &[(&str, Option<Role>)] = &[
    ("ttl", EXPIRY),
    ("pttl", EXPIRY),
    ("expires", EXPIRY),
    ("expire", EXPIRY),
    ("expiry", EXPIRY),
    ("expiration", EXPIRY),
    ("type", Some(Role::Word(Word::Type))),
    ("encoding", Some(Role::Word(Word::Encoding))),
    ("db", Some(Role::Number(Number::Database))),
    ("database", Some(Role::Number(Number::Database))),
    ("idle", Some(Role::Number(Number::Idle))),
    ("freq", Some(Role::Number(Number::Lfu))),
    ("lfu", Some(Role::Number(Number::Lfu))),
    ("count", OPS),
    ("hits", OPS),
    ("ops", OPS),
    ("qps", OPS),
    ("requests", OPS),
    ("elements", ELEMENTS),
    ("len", ELEMENTS),
    ("items", ELEMENTS),
    ("members", ELEMENTS),
    ("slot", None),
    ("slots", None),
    ("ranura", None),
    ("node", None),
    ("host", None),
    ("port", None),
    ("shard", None),
    ("id", None),
    ("no", None),
    ("nr", None),
    ("index", None),
    ("rank", None),
    ("row", None),
    ("unnamed", None),
    // Not about a single key, or not an amount.
    ("bits", None),
    ("blocks", None),
    ("pages", None),
    ("thousands", None),
    ("unit", None),
    ("units", None),
    ("percent", None),
    ("pct", None),
    ("ratio", None),
    ("share", None),
    ("max", None),
    ("min", None),
    ("avg", None),
    ("mean", None),
    ("largest", None),
    ("cpu", None),
    ("prefix", None),
    ("pattern", None),
    ("readable", None),
    ("human", None),
    ("date", None),
    ("time", None),
];
const EXPIRY: Option<Role> = Some(Role::Number(Number::Expiry));
const OPS: Option<Role> = Some(Role::Weight(Metric::Ops));
const ELEMENTS: Option<Role> = Some(Role::Number(Number::Elements));
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
    "de",
    "en",
    "la",
    "du",
    "field",
];
/// Words that may follow the word for a key.
const OF_KEY: &[&str] = &["name", "nombre", "nom", "string", "text"];

/// Maximum length of a column name, in bytes and in words.
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
    let is_key_name = core.len() == 2 && KEYS.contains(first) && OF_KEY.contains(last);
    if KEYS.contains(last) || is_key_name {
        return named(Some(Role::Key), KEY, Unit::One);
    }
    if core.len() == 1 && NAMES.contains(last) {
        return named(Some(Role::Key), NAME, Unit::One);
    }
    let is_size = || {
        core.iter()
            .any(|word| SIZES.contains(word) || unit(word).is_some())
    };
    let entry = core
        .iter()
        .find_map(|word| OTHERS.iter().find(|(term, _)| term == word));
    match entry {
        // The length of a value in bytes is its size.
        Some(("len" | "count" | "total", _)) if core.contains(&"bytes") => {
            named(Some(Role::of(Metric::Bytes)), SIZE, Unit::One)
        }
        Some((word, role)) if *role == EXPIRY => {
            let is_ms = *word == "pttl" || ["ms", "msec", "millis", "milliseconds"].contains(last);
            named(
                *role,
                SIZE,
                if is_ms {
                    Unit::MillisecondsLeft
                } else {
                    Unit::SecondsLeft
                },
            )
        }
        Some((_, role)) => plain(*role),
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
        "kb" | "kib" | "k" | "ko" | "kbyte" | "kbytes" | "kilobyte" | "kilobytes" => {
            Some(Unit::Kib)
        }
        "mb" | "mib" | "mo" | "mbyte" | "mbytes" | "megabyte" | "megabytes" => Some(Unit::Mib),
        "gb" | "gib" | "go" | "gbyte" | "gbytes" | "gigabyte" | "gigabytes" => Some(Unit::Gib),
        _ => None,
    }
}

/// The words of a name in lower case, without diacritics.
fn words(name: &[u8]) -> Vec<String> {
    let text = match std::str::from_utf8(name) {
        Ok(text) => text.to_owned(),
        // Latin-1, as written by spreadsheets.
        Err(_) => name.iter().map(|byte| char::from(*byte)).collect(),
    };
    // A unit is one word.
    let text = text.replace("iB", "ib");
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        let is_mark = ('\u{300}'..='\u{36F}').contains(&letter);
        let is_letter = letter.is_alphanumeric() && !letter.is_numeric();
        if is_mark {
            continue;
        }
        if !is_letter || was_lower && letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| is_letter) {
            letter
                .to_lowercase()
                .for_each(|letter| word.push_str(&plain(letter)));
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A letter without its diacritic.
fn plain(letter: char) -> String {
    const MARKED: [(&str, &str); 14] = [
        ("àáâãäåāąă", "a"),
        ("çćčĉ", "c"),
        ("ďđ", "d"),
        ("èéêëēęě", "e"),
        ("ìíîïīı", "i"),
        ("ľł", "l"),
        ("ñńň", "n"),
        ("òóôõöøőō", "o"),
        ("řŕ", "r"),
        ("śşš", "s"),
        ("ťţ", "t"),
        ("ùúûüūűů", "u"),
        ("ýÿ", "y"),
        ("źżž", "z"),
    ];
    let row = MARKED.iter().find(|(marked, _)| marked.contains(letter));
    match (letter, row) {
        ('ß', _) => "ss".into(),
        (_, Some((_, plain))) => (*plain).into(),
        (letter, None) => letter.to_string(),
    }
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
            ("Schlüssel", key),
            ("键名", key),
            ("user_name", None),
            ("size (bytes)", bytes),
            ("Memory (MB)", bytes),
            ("memory_bytes", bytes),
            ("Größe", bytes),
            ("tamaño", bytes),
            ("内存", bytes),
            ("value_len_bytes", bytes),
            ("%mem", Some(None)),
            ("slot", Some(None)),
            ("Unnamed: 0", Some(None)),
            ("TTL (s)", Some(EXPIRY)),
            ("hits", Some(OPS)),
            ("key_size", bytes),
            ("foo", None),
            ("{user}key", None),
            ("", None),
        ] {
            assert_eq!(role(name), expected, "{name}");
        }
        assert_eq!(
            named(b"cl\xE9").and_then(|named| named.role),
            Some(Role::Key)
        );
    }

    #[test]
    fn units_are_in_names() {
        let unit = |name: &[u8]| named(name).unwrap().unit;
        assert_eq!(unit(b"size in kilobytes"), Unit::Kib);
        assert_eq!(unit(b"memory (K)"), Unit::Kib);
        assert_eq!(unit(b"taille (Mo)"), Unit::Mib);
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
