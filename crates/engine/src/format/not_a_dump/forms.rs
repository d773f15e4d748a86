//! Output of redis-cli and servers that is not a list of keys, recognised by the form of its lines.

use crate::format::not_a_dump::{DUMP, NotADump, Sign, most};
use crate::format::parse::json_object;
use crate::format::redis_cli::noise;
use crate::format::table::header::DELIMITERS;

const TOPOLOGY: &str = "give it with a dump: slotscope analyze DUMP --topology FILE";
const NODE_COUNTS: &str = "slotscope analyze --cluster-info FILE judges the nodes by it";

/// Every form.
pub static LINE_FORMS: &[NotADump] = &[
    lines(
        "CLUSTER NODES or a nodes.conf, a topology",
        |lines| most(lines, is_node),
        TOPOLOGY,
    ),
    lines(
        "redis-cli --cluster info or --cluster check",
        |lines| lines.iter().any(|line| is_node_count(line)),
        NODE_COUNTS,
    ),
    lines(
        "what redis-cli --cluster does to a cluster",
        |lines| {
            lines
                .iter()
                .any(|line| noise::bare(line).starts_with(b">>> Performing "))
        },
        DUMP,
    ),
    lines("INFO", is_info, DUMP),
    lines("a configuration file of a server", is_configuration, DUMP),
    lines(
        "CLIENT LIST",
        |lines| {
            most(lines, |line| {
                line.starts_with(b"id=") && has(line, b" addr=")
            })
        },
        DUMP,
    ),
    lines(
        "JSON over several lines",
        |lines| {
            filled(lines)
                .next()
                .is_some_and(|line| [&b"["[..], b"{", b"[{"].contains(&line.trim_ascii()))
        },
        "jq -c '.[]' FILE | slotscope analyze -",
    ),
    lines(
        "JSON without a member key",
        |lines| {
            most(lines, |line| {
                json_object::members(line, |_, _, _| {}).is_some()
            })
        },
        "slotscope analyze FILE --key-column NAME",
    ),
    lines(
        "a table whose header names no key",
        is_table,
        "slotscope analyze FILE --key-column NAME, or --format lines where each line is a key",
    ),
    lines(
        "keys with a TAB and a number after them",
        |lines| most(lines, is_key_and_number),
        "(printf 'key\\tsize\\n'; cat FILE) | slotscope analyze -",
    ),
];

const fn lines(what: &'static str, is: fn(&[&[u8]]) -> bool, way_out: &'static str) -> NotADump {
    let sign = Sign::Lines(is);
    NotADump {
        what,
        way_out,
        sign,
    }
}

fn filled<'a>(lines: &'a [&'a [u8]]) -> impl Iterator<Item = &'a [u8]> {
    lines.iter().copied().filter(|line| !line.is_empty())
}

fn has(line: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(line, part).is_some()
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b' ')
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Comments and directives, and of those three that every server has; or the first line of the file that servers come with.
fn is_configuration(lines: &[&[u8]]) -> bool {
    const DIRECTIVES: [&[u8]; 12] = [
        b"appendonly",
        b"bind",
        b"cluster-enabled",
        b"daemonize",
        b"dir",
        b"loglevel",
        b"maxmemory",
        b"maxmemory-policy",
        b"port",
        b"protected-mode",
        b"requirepass",
        b"save",
    ];
    let is_known = |line: &&[u8]| {
        let name = words(line).next().unwrap_or_default();
        name.len() < line.len() && DIRECTIVES.contains(&name)
    };
    let is_one = |line: &[u8]| {
        let name = words(line).next().unwrap_or_default();
        let is_name = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'-';
        line.starts_with(b"#") || name.len() < line.len() && name.iter().all(is_name)
    };
    let is_published = |line: &[u8]| line.starts_with(b"# ") && has(line, b" configuration file");
    filled(lines).next().is_some_and(is_published)
        || filled(lines).all(is_one) && filled(lines).filter(is_known).count() >= 3
}

/// 40 hexadecimal digits.
fn is_node_id(text: &[u8]) -> bool {
    text.len() == 40 && text.iter().all(u8::is_ascii_hexdigit)
}

/// `ID HOST:PORT@BUS FLAGS ...`, or the last line of a nodes.conf.
fn is_node(line: &[u8]) -> bool {
    let mut words = words(line);
    let is_listed = words.next().is_some_and(is_node_id)
        && words.next().is_some_and(|address| address.contains(&b':'));
    is_listed || line.starts_with(b"vars currentEpoch ")
}

/// `127.0.0.1:7901 (98e3a8e4...) -> 7 keys | 5461 slots | 0 replicas.`
fn is_node_count(line: &[u8]) -> bool {
    let arrow = memchr::memmem::find(line, b"...) -> ");
    arrow.is_some_and(|at| has(&line[at..], b" keys | ") && has(&line[at..], b" slots | "))
}

/// `# Server`, then fields.
fn is_info(lines: &[&[u8]]) -> bool {
    let is_field = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        name.len() < line.len()
            && name
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let mut filled = filled(lines);
    let Some(first) = filled.next() else {
        return false;
    };
    let section = first.strip_prefix(b"# ").unwrap_or_default();
    let is_section = !section.is_empty() && section.iter().all(u8::is_ascii_alphanumeric);
    let starts = [
        &b"cluster_state:"[..],
        b"cluster_enabled:",
        b"redis_version:",
    ];
    is_section && filled.next().is_some_and(is_field)
        || starts.iter().any(|start| first.starts_with(start))
}

/// A header of words, and rows of as many cells with a number among them.
fn is_table(lines: &[&[u8]]) -> bool {
    let Some((header, rows)) = lines.split_first() else {
        return false;
    };
    let is_word = |cell: &[u8]| {
        let is_of_words = |byte: &u8| byte.is_ascii_alphabetic() || b"_ ".contains(byte);
        !cell.is_empty() && cell.iter().all(is_of_words)
    };
    DELIMITERS.iter().any(|delimiter| {
        let is_end = |byte: &u8| byte == delimiter;
        let columns = header.split(is_end).count();
        let is_row = |row: &[u8]| {
            // The name of a column is not in its rows; the first part of a key is.
            let has_name = row
                .split(is_end)
                .zip(header.split(is_end))
                .any(|(cell, name)| cell == name);
            row.split(is_end).count() == columns && row.split(is_end).any(is_number) && !has_name
        };
        columns > 1 && header.split(is_end).all(is_word) && most(rows, is_row)
    })
}

/// A key without quotes, a TAB and a number.
fn is_key_and_number(line: &[u8]) -> bool {
    let tab = memchr::memrchr(b'\t', line);
    tab.is_some_and(|tab| tab > 0 && is_number(&line[tab + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_a_separator_are_no_table() {
        for keys in [
            &[&b"user|admin"[..], b"user|1", b"user|2"][..],
            &[b"sess;lock", b"sess;1", b"sess;2"],
            &[b"user|admin", b"user|root"],
        ] {
            assert!(!is_table(keys), "{keys:?}");
        }
        assert!(is_table(&[
            b"id;redis key;bytes",
            b"1;user:1;104",
            b"2;user:2;96"
        ]));
    }
}
