//! Output of redis-cli and servers that is not a key list, recognised by its line format.

use slotscope_read::format::redis_cli::noise;

use crate::not_a_dump::replies::is_id;
use crate::not_a_dump::{DUMP, NotADump, Sign, most};

const TOPOLOGY: &str = "give it with a dump: slotscope analyze DUMP --topology FILE";
const NODE_COUNTS: &str = "slotscope analyze --cluster-info FILE judges the nodes by it";

/// All forms.
pub static LINE_FORMS: &[NotADump] = &[
    NotADump::new(
        "CLUSTER NODES or a nodes.conf, a topology",
        Sign::Lines(|lines| most(lines, is_node)),
        TOPOLOGY,
    ),
    NotADump::new(
        "redis-cli --cluster info or --cluster check",
        Sign::Lines(|lines| lines.iter().any(|line| is_node_count(line))),
        NODE_COUNTS,
    ),
    NotADump::new(
        "what redis-cli --cluster prints",
        Sign::Lines(|lines| {
            lines
                .iter()
                .any(|line| noise::bare(line).starts_with(b">>> Performing "))
                || lines.first().is_some_and(|line| is_call(line))
        }),
        "redis-cli --no-raw --scan of each primary takes the keys, or slotscope analyze redis://HOST:PORT",
    ),
    NotADump::new("INFO", Sign::Lines(is_info), DUMP),
    NotADump::new(
        "the log of a server",
        Sign::Lines(|lines| share_of(lines, is_of_server) >= 0.5),
        DUMP,
    ),
    NotADump::new(
        "what redis-cli --cluster reshard prints",
        Sign::Lines(|lines| most(lines, |line| line.starts_with(b"Moving slot "))),
        DUMP,
    ),
    NotADump::new(
        "counts of keys by slot",
        Sign::Lines(|lines| most(lines, is_slot_count)),
        DUMP,
    ),
    NotADump::new(
        "notifications of events on keys",
        Sign::Lines(are_notifications),
        "slotscope analyze CAPTURE reads the operations of a capture of MONITOR",
    ),
    NotADump::new(
        "commands or replies in RESP whose CRLF became LF, as git and editors do",
        Sign::Lines(are_values_after_lengths),
        "sed 's/$/\\r/' FILE | slotscope analyze - brings it back",
    ),
    NotADump::new(
        "a configuration file of a server",
        Sign::Lines(is_configuration),
        DUMP,
    ),
    NotADump::new(
        "CLIENT LIST",
        Sign::Lines(|lines| {
            most(lines, |line| {
                line.starts_with(b"id=") && has(line, b" addr=")
            })
        }),
        DUMP,
    ),
    NotADump::new(
        "markup, HTML or XML",
        Sign::Lines(|lines| most(lines, is_element)),
        "let the program write CSV with columns key and size",
    )
    .with_keys(),
    NotADump::new(
        "statements of SQL",
        Sign::Lines(|lines| most(lines, |line| starts(line, b"INSERT INTO "))),
        "let the database write CSV with columns key and size",
    )
    .with_keys(),
    NotADump::new(
        "samples of Prometheus",
        Sign::Lines(|lines| most(lines, is_sample)),
        DUMP,
    )
    .with_keys(),
];

/// The part of the filled lines that have a form.
fn share_of(lines: &[&[u8]], is: fn(&[u8]) -> bool) -> f64 {
    let fits = filled(lines).filter(|line| is(line)).count();
    fits as f64 / filled(lines).count().max(1) as f64
}

/// `1234:M 20 Nov 2026 10:00:00.000 * text`, as servers and Sentinels log; before Redis 3 `[1234] 20 Nov 10:00:00 * text`.
fn is_of_server(line: &[u8]) -> bool {
    let mut words = words(line);
    let digits = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let is_process = |word: &[u8]| match word {
        [process @ .., b':', role] => digits(process) && role.is_ascii_uppercase(),
        [b'[', process @ .., b']'] => digits(process),
        _ => false,
    };
    words.next().is_some_and(is_process)
        && words.next().is_some_and(digits)
        && words.next().is_some_and(|month| month.len() == 3)
        && words
            .next()
            .is_some_and(|year| year.first().is_some_and(u8::is_ascii_digit))
}

/// `slot 12 has 3 keys`, `Slot 12: 3 keys`, `slot=12 count=3`.
fn is_slot_count(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    let Some(rest) = line.strip_prefix(b"slot") else {
        return false;
    };
    // `slot:12:key:3` is a key.
    let at = rest.iter().take_while(|byte| b" =".contains(byte)).count();
    let len = rest[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let behind = &rest[at + len..];
    let is_counted = has(behind, b" key") || has(behind, b" count");
    at > 0 && len > 0 && is_counted && behind.iter().any(u8::is_ascii_digit)
}

/// The kind of a message in a line of its own or at its start, and a fifth of all lines with an event.
fn are_notifications(lines: &[&[u8]]) -> bool {
    let is_kind = |line: &&[u8]| {
        let bare = line.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let bare = bare.split(|byte| *byte == b',').next().unwrap_or_default();
        let word: Vec<u8> = bare.iter().copied().filter(|byte| *byte != b'"').collect();
        [&b"message"[..], b"pmessage", b"subscribe", b"psubscribe"].contains(&word.as_slice())
    };
    let is_event = |line: &[u8]| has(line, b"__keyspace@") || has(line, b"__keyevent@");
    lines.iter().any(is_kind) && share_of(lines, is_event) >= 0.2
}

/// `*3`, then values below their lengths: `$3`, `SET`.
fn are_values_after_lengths(lines: &[&[u8]]) -> bool {
    let number = |line: &[u8], sign: u8| -> Option<usize> {
        let digits = line.strip_prefix(&[sign])?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    let first = filled(lines)
        .next()
        .is_some_and(|line| number(line, b'*').is_some());
    let pairs = lines
        .windows(2)
        .filter_map(|pair| Some((number(pair[0], b'$')?, pair[1].len())));
    let (count, fitting) = pairs.fold((0, 0), |(count, fitting), (said, len)| {
        (count + 1, fitting + usize::from(said == len))
    });
    first && count > 0 && 10 * fitting >= 9 * count
}

/// `name{key="user:1"} 7`.
fn is_sample(line: &[u8]) -> bool {
    let labels = memchr::memmem::find(line, b"=\"").map(|at| &line[..at]);
    labels.is_some_and(|start| start.contains(&b'{')) && line.last().is_some_and(u8::is_ascii_digit)
}

/// `<td>user:1</td>`, indented.
fn is_element(line: &[u8]) -> bool {
    match line.trim_ascii() {
        [b'<', second, .., b'>'] => second.is_ascii_alphabetic() || *second == b'/',
        _ => false,
    }
}

fn starts(line: &[u8], word: &[u8]) -> bool {
    let begins = line.get(..word.len());
    begins.is_some_and(|begins| begins.eq_ignore_ascii_case(word))
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

/// Comments and directives, including three that every server has; or the first line of the default configuration file.
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

/// `ID HOST:PORT@BUS FLAGS ...`, or the last line of a nodes.conf.
fn is_node(line: &[u8]) -> bool {
    let mut words = words(line);
    let is_listed = words.next().is_some_and(is_id)
        && words.next().is_some_and(|address| address.contains(&b':'));
    is_listed || line.starts_with(b"vars currentEpoch ")
}

/// The first lines of `redis-cli --cluster call`: `>>> Calling KEYS *`, `127.0.0.1:7901: user:1`.
fn is_call(line: &[u8]) -> bool {
    if noise::bare(line).starts_with(b">>> Calling") {
        return true;
    }
    let bytes = memchr::memmem::find(line, b": ").map(|end| &line[..end]);
    let address = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    address.is_some_and(|address| address.parse::<std::net::SocketAddr>().is_ok())
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
    // Below the name of a host, say.
    let known = [
        &b"used_memory:"[..],
        b"connected_clients:",
        b"uptime_in_seconds:",
        b"total_commands_processed:",
    ];
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_there = |start: &&&[u8]| {
        let mut values = lines.iter().filter_map(|line| line.strip_prefix(**start));
        values.any(is_number)
    };
    known.iter().filter(is_there).count() > 1
        || is_section && filled.next().is_some_and(is_field)
        || starts.iter().any(|start| first.starts_with(start))
}
