//! Recognises commands: in RESP by their first words, and as lines of text, which are refused.

use crate::command::COMMANDS;
use crate::format::parse::words::words;
use crate::format::resp_row::{LONG, Row, row};
use crate::format::shape::column::{MOST, share, share_of};
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
    let parsed: Vec<Option<Found>> = rows.iter().map(|row| Found::in_line(row)).collect();
    let commands: Vec<&Found> = parsed.iter().flatten().collect();
    if share(commands.len(), rows.len()) < MOST || is_http_cache(rows) {
        return None;
    }
    let first = commands.first()?;
    let are_shouted = commands.iter().all(|command| command.is_upper);
    let are_several = commands.iter().any(|command| command.name != first.name);
    let are_called = commands.iter().all(|command| command.is_called);
    let keys: Vec<&Found> = commands
        .iter()
        .copied()
        .filter(|command| command.has_delimiter)
        .collect();
    let have_keys = share(keys.len(), commands.len()) >= 0.7;
    let with_keys = commands.iter().filter(|command| command.has_keys).count();
    let are_commands =
        (are_shouted || are_several || are_called || have_keys) && 2 * with_keys >= commands.len();
    are_commands.then(|| {
        "commands for redis-cli, no key dump: awk '{print $2}' FILE | slotscope analyze - takes their first arguments, \
         slotscope fanout FILE says which of them span slots; --format lines reads each line as a key"
            .into()
    })
}

/// Web server caches have such keys: `GET /index.html`.
fn is_http_cache(rows: &[&[u8]]) -> bool {
    let is_request = |row: &&[u8]| {
        let rest = row
            .get(..4)
            .filter(|word| word.eq_ignore_ascii_case(b"get "))
            .map(|_| &row[4..]);
        rest.is_some_and(|rest| rest.starts_with(b"/") || rest.starts_with(b"http"))
    };
    share_of(rows, is_request) > 0.5
}

/// A command in a line.
struct Found {
    name: &'static str,
    is_upper: bool,
    /// Whether the line invokes redis-cli.
    is_called: bool,
    has_keys: bool,
    /// Whether its first argument has a colon, as key names do.
    has_delimiter: bool,
}

impl Found {
    fn in_line(line: &[u8]) -> Option<Found> {
        if !line.first().is_some_and(u8::is_ascii_alphabetic) {
            return None;
        }
        let first = line.split(|byte| *byte == b' ').next()?;
        let is_called = first == b"redis-cli" || first == b"valkey-cli";
        if !is_called {
            COMMANDS.named(first)?;
        }
        let written = words(line).ok()?;
        let words = &written[usize::from(is_called)..];
        let command = COMMANDS.find(words)?;
        let places = command.keys(words).ok()?;
        let is_in_form = match command.name {
            "set" => words.get(3).is_none_or(|option| is_option_of_set(option)),
            "select" => words.len() == 2 && words[1].iter().all(u8::is_ascii_digit),
            _ => !places.is_empty() || words.len() > 1,
        };
        is_in_form.then(|| Found {
            name: command.name,
            is_upper: words[0].iter().all(|byte| !byte.is_ascii_lowercase()),
            is_called,
            has_keys: !places.is_empty(),
            has_delimiter: words.get(1).is_some_and(|word| word.contains(&b':')),
        })
    }
}

fn is_option_of_set(word: &[u8]) -> bool {
    [
        "ex", "px", "nx", "xx", "get", "keepttl", "exat", "pxat", "ifeq",
    ]
    .iter()
    .any(|option| word.eq_ignore_ascii_case(option.as_bytes()))
}

/// Whether lines are Prometheus samples.
pub(super) fn are_samples(rows: &[&[u8]]) -> bool {
    let is_sample = |row: &&[u8]| is_sample(row);
    let is_comment = |row: &&[u8]| row.starts_with(b"# ");
    share_of(rows, |row| is_sample(row) || is_comment(row)) >= MOST && rows.iter().any(is_sample)
}

/// Whether a line is like `name{label="value"} 1`.
fn is_sample(row: &[u8]) -> bool {
    let (Some(open), Some(close)) = (memchr::memchr(b'{', row), memchr::memrchr(b'}', row)) else {
        return false;
    };
    let (name, labels) = (&row[..open], &row[open..close.max(open)]);
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:".contains(byte);
    let number = row[close + 1..].strip_prefix(b" ");
    let is_number = number.is_some_and(|number| {
        std::str::from_utf8(number).is_ok_and(|number| number.trim().parse::<f64>().is_ok())
    });
    is_number
        && !name.is_empty()
        && name.iter().all(is_of_name)
        && memchr::memmem::find(labels, b"=\"").is_some()
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
            &["set k v w", "set k v x"],
            &["GET /index.html", "GET /a.css"],
            &["get 5", "get 6"],
            &["user:1"],
            &["type-1", "list a"],
        ] {
            assert!(!are(no), "{no:?}");
        }
    }
}
