//! Recognises commands: in RESP by their first words, and as lines of text, which are refused.

use crate::command::COMMANDS;
use crate::format::parse::words::words;
use crate::format::resp_row::{LONG, Row, row};
use crate::format::shape::column::{MOST, share};
use crate::format::{Detected, Head};

/// Arrays of a head that decide whether it holds commands.
const ARRAYS: usize = 64;
/// A value of this many bytes is assumed not to be a key.
const VALUE: usize = 64 << 10;

/// Whether the arrays of bulk strings at the start are commands: the first one selects a database, or the first word of
/// each looks like a command name and one of them (or half, for other shapes) is known. A single array suffices after a
/// timestamp, or with a value too long for a key.
pub(in crate::format) fn in_resp(head: Head<'_>) -> Detected {
    let mut rest = head.bytes;
    // A server may write timestamps between commands.
    while rest.starts_with(b"#TS:") {
        rest = memchr::memchr(b'\n', rest).map_or(b"", |end| &rest[end + 1..]);
    }
    let has_time = rest.len() < head.bytes.len();
    let (mut arrays, mut known, mut worded, mut named) = (0, 0, 0, 0);
    let (mut selects, mut has_value) = (false, false);
    while let Some((Row::Array(_), end)) = row(rest).filter(|_| arrays < ARRAYS) {
        rest = &rest[end..];
        match row(rest) {
            Some((Row::Bulk(name), _)) => {
                let name = &rest[name];
                selects |= arrays == 0 && name.eq_ignore_ascii_case(b"select");
                known += usize::from(COMMANDS.named(name).is_some());
                worded += usize::from(is_word(name));
                named += usize::from(is_name(name));
                arrays += 1;
            }
            None => break,
            Some(_) => return Detected::No,
        }
        while let Some((Row::Bulk(bytes), end)) = row(rest) {
            has_value |= bytes.len() >= VALUE;
            rest = &rest[end..];
        }
    }
    let are_commands =
        selects || known > 0 && (worded == arrays || named == arrays && 2 * known >= arrays);
    match (arrays, row(rest)) {
        (0, _) => Detected::No,
        _ if !are_commands => Detected::No,
        (1, Some((Row::Wrong(LONG), _))) => Detected::Yes,
        (1, None) if !has_time && !head.whole => Detected::NeedMore,
        (1, _) if !has_time && !has_value => Detected::No,
        _ => Detected::Yes,
    }
}

/// Words of letters joined by dots, hyphens or underscores: `SET`, `JSON.SET`, `FT._CREATEIFNX`.
fn is_word(name: &[u8]) -> bool {
    let is_between = |byte: &u8| b"._-".contains(byte);
    let starts =
        name.len() >= 2 && name.len() <= 40 && name.iter().take(2).all(u8::is_ascii_alphabetic);
    starts
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphabetic() || is_between(byte))
}

fn is_name(name: &[u8]) -> bool {
    name.len() <= 40
        && name.first().is_some_and(u8::is_ascii_alphabetic)
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// Why lines that are redis-cli commands are refused.
pub(super) fn refused(rows: &[&[u8]]) -> Option<String> {
    let commands: Vec<bool> = rows.iter().filter_map(|row| has_keys(row)).collect();
    let with_keys = commands.iter().filter(|has| **has).count();
    let are_commands = share(commands.len(), rows.len()) >= MOST && 2 * with_keys >= commands.len();
    are_commands.then(|| {
        "commands for redis-cli, no key dump: awk '{print $2}' FILE | slotscope analyze - takes their first arguments, \
         slotscope fanout FILE says which of them span slots"
            .into()
    })
}

/// Whether the command in a line has keys, if there is one. Caches of web servers have keys like `GET /index.html`.
fn has_keys(line: &[u8]) -> Option<bool> {
    let first = line.split(|byte| *byte == b' ').next()?;
    let is_called = first == b"redis-cli" || first == b"valkey-cli";
    if !is_called {
        COMMANDS.named(first)?;
    }
    let written = words(line).ok()?;
    let words = &written[usize::from(is_called)..];
    let places = COMMANDS.find(words)?.keys(words).ok()?;
    let is_path = |place: &usize| words[*place].starts_with(b"/");
    (!places.iter().any(is_path)).then_some(!places.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are(lines: &[&str]) -> bool {
        let rows: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        refused(&rows).is_some()
    }

    #[test]
    fn one_command_with_a_long_value_is_no_list() {
        let array = |len: usize| {
            let value = "x".repeat(len);
            format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${len}\r\n{value}\r\n")
        };
        let detected = |len| {
            let bytes = array(len);
            in_resp(Head {
                bytes: bytes.as_bytes(),
                whole: true,
            })
        };
        assert_eq!(detected(VALUE), Detected::Yes);
        assert_eq!(detected(VALUE - 1), Detected::No);
    }

    #[test]
    fn commands_are_known_by_name_arity_and_words() {
        assert!(are(&["SET user:1 v1", "SET \"a b\" v2"]));
        assert!(are(&["del a", "hset b f 1"]));
        assert!(are(&["redis-cli get x"]));
        assert!(are(&["get user:1", "get user:2"]));
        for no in [
            &["SELECT * FROM a WHERE id=1"][..],
            &["GET /index.html", "GET /a.css"],
            &["user:1"],
            &["type-1", "list a"],
        ] {
            assert!(!are(no), "{no:?}");
        }
    }
}
