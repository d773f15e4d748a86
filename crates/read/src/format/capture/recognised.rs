//! Recognises commands in RESP by their first words.

use slotscope_base::command::COMMANDS;

use crate::format::resp_row::{LONG, Row, row};
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
