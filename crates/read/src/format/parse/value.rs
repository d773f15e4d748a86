//! The kind of a cell without a header: a number, a server word, a time, or text.

use crate::format::parse::size::{is_missing, size, size_with_commas};
use crate::format::parse::time;

/// Type names, as printed by tools.
const TYPES: [&str; 12] = [
    "string",
    "hash",
    "list",
    "set",
    "zset",
    "stream",
    "none",
    "json",
    "rejson-rl",
    "geo",
    "hyperloglog",
    "module",
];
const LEVELS: [&str; 8] = [
    "debug", "info", "warn", "warning", "error", "notice", "trace", "fatal",
];

/// The kind of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Number(u64),
    /// A spelling of "no number".
    Missing,
    /// A type name, or a log level.
    Word,
    /// A date or a time of day.
    Time,
    Text,
}

/// The kind of a cell.
pub fn value(cell: &[u8]) -> Value {
    let cell = cell.trim_ascii();
    if is_missing(cell) {
        return Value::Missing;
    }
    let with_commas = || size_with_commas::<0>(cell).filter(|_| !cell.ends_with(b","));
    if let Some(number) = size(cell).or_else(with_commas) {
        return Value::Number(number);
    }
    let is_around = |byte: &u8| b"()[]<>\"'".contains(byte);
    let from = cell.iter().position(|byte| !is_around(byte)).unwrap_or(0);
    let to = cell
        .iter()
        .rposition(|byte| !is_around(byte))
        .map_or(0, |at| at + 1);
    let bare = cell.get(from..to).unwrap_or_default();
    let is_among = |words: &[&str]| {
        words
            .iter()
            .any(|word| bare.eq_ignore_ascii_case(word.as_bytes()))
    };
    match () {
        () if is_among(&TYPES) || is_among(&LEVELS) => Value::Word,
        () if is_time(bare) => Value::Time,
        () => Value::Text,
    }
}

/// A date, a time of day, or both.
fn is_time(text: &[u8]) -> bool {
    let text = text.strip_suffix(b":").unwrap_or(text);
    time::timestamp(text).is_some()
        || is_date(text)
        || is_duration(text)
        || is_clock(text.strip_suffix(b"Z").unwrap_or(text))
}

fn is_date(text: &[u8]) -> bool {
    let shape = |at: usize, byte: &u8| match at {
        4 | 7 => b"-/".contains(byte),
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.iter().enumerate().all(|(at, byte)| shape(at, byte))
}

/// `7410s`, `3h20m`, `120ms`; minutes alone are read as mebibytes.
fn is_duration(text: &[u8]) -> bool {
    const UNITS: [&[u8]; 8] = [b"ms", b"s", b"sec", b"m", b"min", b"h", b"d", b"days"];
    let mut parts = text.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let is_digits = |part: &[u8]| part[0].is_ascii_digit() && part.len() < 16;
    text.first().is_some_and(u8::is_ascii_digit)
        && parts.all(|part| is_digits(part) || UNITS.contains(&part))
        && text.last().is_some_and(u8::is_ascii_alphabetic)
}

fn is_clock(text: &[u8]) -> bool {
    let (text, fraction) = match text.iter().position(|byte| b".,".contains(byte)) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &text[..0]),
    };
    let parts: Vec<&[u8]> = text.split(|byte| *byte == b':').collect();
    let is_part =
        |part: &&[u8]| (1..=2).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    (2..=3).contains(&parts.len())
        && parts.iter().all(is_part)
        && parts[1..].iter().all(|part| part.len() == 2)
        && fraction.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_values_or_texts() {
        let number = |cell: &str| matches!(value(cell.as_bytes()), Value::Number(_));
        assert!(number("1,234") && number(" 95.4 MiB ") && number("(184 bytes)"));
        assert_eq!(value(b"NaN"), Value::Missing);
        for word in ["zset", "[INFO]", "(hash)"] {
            assert_eq!(value(word.as_bytes()), Value::Word, "{word}");
        }
        for time in [
            "2026-11-20",
            "10:01:02,123",
            "[2026-11-20T10:01:02Z]",
            "3h20m",
            "7s",
        ] {
            assert_eq!(value(time.as_bytes()), Value::Time, "{time}");
        }
        for text in ["user:1", "1:2:3:4", "-13.4", "12 monkeys", "7sx", "d4h"] {
            assert_eq!(value(text.as_bytes()), Value::Text, "{text}");
        }
    }
}
