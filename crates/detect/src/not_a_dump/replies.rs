//! Server replies that are not key lists, by their first words. redis-cli prints replies in many ways: into a pipe
//! (RESP2 with name and value on separate lines, RESP3 on one), to a terminal, as JSON, as CSV. The words and their
//! order are always the same.

use crate::not_a_dump::{DUMP, NotADump, Sign};

const AS_JSON: &str = "take it in JSON: redis-cli -h HOST -p PORT --json SLOWLOG GET 128, HOTKEYS GET or CLUSTER SLOT-STATS SLOTSRANGE 0 16383 > \
    HOST-PORT.json, then slotscope analyze HOST-PORT.json";
const SHARDS_AS_JSON: &str = "redis-cli -h HOST -p PORT --json CLUSTER SHARDS > cluster.json, then slotscope analyze DUMP \
    --topology cluster.json";

/// All replies. Those that are readable in their structured form come first.
pub static REPLIES: &[NotADump] = &[
    NotADump::new(
        "CLUSTER SHARDS or CLUSTER SLOTS, a topology",
        Sign::Words(is_topology),
        SHARDS_AS_JSON,
    ),
    NotADump::new(
        "SLOWLOG GET, COMMANDLOG GET, HOTKEYS GET or CLUSTER SLOT-STATS in a form that loses its structure",
        Sign::Words(|words| {
            is_command_log(words)
                || starts(words, &[Is("tracking-active"), Number])
                || starts(words, &[Is("key"), Any, Is("db"), Number, Is("qps")])
                || starts(words, &[Number, Is("key-count"), Number])
        }),
        AS_JSON,
    ),
    NotADump::new(
        "what a server says of itself",
        Sign::Words(|words| {
            is_of_the_server(words)
                || is_of_commands(words)
                || is_error(words)
                || is_configuration(words)
        }),
        DUMP,
    ),
];

/// Words examined.
const WORDS: usize = 4000;

/// The telling words must be among this many.
const FIRST_WORDS: usize = 400;

/// The first words of a reply in any form.
pub(super) fn words<'a>(lines: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\",[]{}".contains(byte);
    let pieces = lines.iter().flat_map(|line| line.split(is_between));
    let words = pieces.map(|word| word.strip_prefix(b":").unwrap_or(word));
    words.filter(|word| !is_form(word)).take(WORDS).collect()
}

/// Whether a word is markup: a row number, a type, or empty.
fn is_form(word: &[u8]) -> bool {
    match word {
        [] | b"=>" => true,
        [number @ .., b')' | b'#' | b'~'] if is_number(number) => true,
        [b'(', ..] | [.., b')'] => true,
        _ => false,
    }
}

enum Word {
    Is(&'static str),
    OneOf(&'static [&'static str]),
    Number,
    /// A node or job id.
    Id,
    Any,
}
use Word::{Any, Id, Is, Number, OneOf};

impl Word {
    fn fits(&self, word: &[u8]) -> bool {
        match self {
            Is(name) => *word == *name.as_bytes(),
            OneOf(names) => names.iter().any(|name| *word == *name.as_bytes()),
            Number => is_number(word.strip_prefix(b"-").unwrap_or(word)),
            Id => is_id(word),
            Any => true,
        }
    }
}

fn starts(words: &[&[u8]], pattern: &[Word]) -> bool {
    let fits = |(word, pattern): (&&[u8], &Word)| pattern.fits(word);
    words.len() >= pattern.len() && words.iter().zip(pattern).all(fits)
}

fn first<'w, 'a>(words: &'w [&'a [u8]]) -> impl Iterator<Item = &'w &'a [u8]> {
    words.iter().take(FIRST_WORDS)
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// 40 hexadecimal digits.
pub(super) fn is_id(text: &[u8]) -> bool {
    text.len() == 40 && text.iter().all(u8::is_ascii_hexdigit)
}

/// Slots, followed within a few words by a node id.
fn is_topology(words: &[&[u8]]) -> bool {
    let is_shards =
        starts(words, &[Is("slots"), Number, Number]) || starts(words, &[Is("slots"), Is("nodes")]);
    is_shards && first(words).any(|word| is_id(word))
        || starts(words, &[Number, Number, Any, Number, Id])
        // A node that does not know its own address.
        || starts(words, &[Number, Number, Number, Id])
}

/// Entry number, time in seconds, duration, the words, and the client.
fn is_command_log(words: &[&[u8]]) -> bool {
    let is_client = |word: &&[u8]| {
        let port = memchr::memrchr(b':', word).map(|at| &word[at + 1..]);
        port.is_some_and(is_number)
    };
    starts(words, &[Number, Number, Number])
        && words[1].len() == 10
        && words[3..].iter().take(64).any(is_client)
}

/// Replies about the server, its users, modules and statistics.
fn is_of_the_server(words: &[&[u8]]) -> bool {
    const ON: Word = OneOf(&["on", "off"]);
    let names: &[&[Word]] = &[
        &[Is("id"), Id, Is("slots")],
        &[Is("name"), Id, Is("operation")],
        &[Is("direction"), OneOf(&["to", "from"]), Is("node"), Id],
        &[Is("peak.allocated"), Number],
        &[Any, Is("calls"), Number, Is("histogram_usec")],
        &[Is("flags"), ON],
        &[Is("user"), Any, ON],
        &[Is("count"), Number, Is("reason")],
        &[Is("name"), Any, Is("ver"), Number],
        &[Is("running_script")],
        &[Is("library_name"), Any, Is("engine")],
        &[Is("server"), OneOf(&["redis", "valkey"]), Is("version")],
        &[Is("length"), Number, Is("radix-tree-keys"), Number],
        &[
            Is("slave"),
            Any,
            Number,
            OneOf(&["connect", "connecting", "sync", "connected"]),
        ],
        &[Is("master"), Number, Any, Number, Number],
        &[OneOf(LATENCY_EVENTS), Number, Number, Number],
    ];
    names.iter().any(|names| starts(words, names))
        || words.len() == 2 && starts(words, &[Is("master"), Number])
}

/// The events measured by LATENCY.
const LATENCY_EVENTS: &[&str] = &[
    "active-defrag-cycle",
    "aof-fsync-always",
    "aof-write",
    "command",
    "eviction-cycle",
    "expire-cycle",
    "fast-command",
    "fork",
    "rdb-unlink-temp-file",
];

/// COMMAND, COMMAND INFO, COMMAND DOCS and COMMAND LIST.
fn is_of_commands(words: &[&[u8]]) -> bool {
    const FLAGS: Word = OneOf(&[
        "admin", "blocking", "denyoom", "fast", "loading", "module", "noscript", "pubsub",
        "readonly", "write",
    ]);
    const COMMANDS: &[&str] = &[
        "cluster", "del", "get", "hget", "hset", "incr", "lpush", "mget", "ping", "sadd", "set",
        "slowlog", "type", "xadd", "zadd",
    ];
    starts(words, &[Any, Number, FLAGS])
        || starts(words, &[Any, Is("summary")])
        || all_of(words, COMMANDS)
}

/// redis-cli's error prefix, followed by the error code in capitals.
fn is_error(words: &[&[u8]]) -> bool {
    let code = words.get(1).copied().unwrap_or_default();
    let is_code = code.len() > 2 && code.iter().all(u8::is_ascii_uppercase);
    is_code && starts(words, &[OneOf(&["error:", "ERROR"])])
}

/// Directives that every server has, in any order.
fn is_configuration(words: &[&[u8]]) -> bool {
    const DIRECTIVES: &[&str] = &[
        "appendonly",
        "bind",
        "daemonize",
        "dir",
        "loglevel",
        "maxmemory",
        "maxmemory-policy",
        "port",
        "save",
    ];
    all_of(words, DIRECTIVES)
}

fn all_of(words: &[&[u8]], names: &[&str]) -> bool {
    let has = |name: &&str| words.contains(&name.as_bytes());
    words.len() >= names.len() && names.iter().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(reply: &str) -> &'static str {
        let lines: Vec<&[u8]> = reply.lines().map(str::as_bytes).collect();
        let words = words(&lines);
        let mut all = REPLIES.iter();
        let found = all.find(|one| matches!(one.sign, Sign::Words(is) if is(&words)));
        found.map_or("", |one| one.what)
    }

    #[test]
    fn a_reply_is_the_same_in_every_form() {
        for hello in [
            "server\nredis\nversion\n8.2.3\n",
            "server redis\nversion 8.2.3\n",
            "1) \"server\"\n2) \"redis\"\n3) \"version\"\n4) \"8.2.3\"\n",
            "1# \"server\" => \"redis\"\n2# \"version\" => \"8.2.3\"\n",
            "{\"server\":\"redis\",\"version\":\"8.2.3\"}",
            "\"server\",\"redis\",\"version\",\"8.2.3\"\n",
        ] {
            assert_eq!(what(hello), "what a server says of itself", "{hello}");
        }
        for counts in [
            "0\nkey-count\n7\n",
            "0\nkey-count 7\ncpu-usec 0\n",
            "1) 1) (integer) 0\n   2) 1) \"key-count\"\n      2) (integer) 7\n",
            "1) 1) (integer) 0\n   2) 1# \"key-count\" => (integer) 7\n",
            "0,\"key-count\",7,\"cpu-usec\",0\n",
        ] {
            assert!(what(counts).contains("CLUSTER SLOT-STATS"), "{counts}");
        }
    }

    #[test]
    fn slots_that_move_are_no_keys_and_errors_are_none_either() {
        let id = "7ecfd1a45a355091995aa1cb901f47c1d43ee299";
        for moves in [
            format!("id\n{id}\nslots\n1002-1002\nsource\n"),
            format!("id {id}\nslots 1002-1002\n"),
            format!("1) 1# \"name\" => \"{id}\"\n   2# \"operation\" => \"IMPORT\"\n"),
        ] {
            assert_eq!(what(&moves), "what a server says of itself", "{moves}");
        }
        assert_eq!(
            what("error:\"ERR unknown command\"\n"),
            "what a server says of itself"
        );
        assert_eq!(what("error:\"7\"\n"), "");
    }

    #[test]
    fn keys_are_no_reply() {
        for keys in [
            "",
            "0\n1\n2\n3\n",
            "master\n0\n1\n",
            "key\nid\nname\nslots\n",
            "count:7\nuser on\n",
            "1) \"get\"\n2) \"set\"\n3) \"readonly\"\n",
            "[\"slots\",\"7\",\"8\",\"9\"]",
            "fork\n17\nx\n",
            "port\nbind\ndir\nsave\n",
        ] {
            assert_eq!(what(keys), "", "{keys}");
        }
    }
}
