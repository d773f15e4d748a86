//! Replies of a server about its keys.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use memchr::memmem;
use slotscope::name::Name;
use testkit::cluster::bulks;
use testkit::kinds::Kind;
use testkit::rdb::Found;
use testkit::redis::{Client, Reply, Server, wait_for};

/// The reply to a command that must succeed.
#[track_caller]
pub(crate) fn call<W: AsRef<[u8]>>(client: &mut Client, words: &[W]) -> Reply {
    let reply = client.call(words);
    assert!(!matches!(reply, Reply::Error(_)), "{reply:?}");
    reply
}

/// Like `call`, for a command whose words contain no spaces.
#[track_caller]
pub(crate) fn say(client: &mut Client, command: &str) -> Reply {
    call(client, &command.split_whitespace().collect::<Vec<_>>())
}

fn int(reply: Reply) -> i64 {
    match reply {
        Reply::Int(number) => number,
        other => panic!("a number expected: {other:?}"),
    }
}

/// The replies to one command for each key, whose name replaces `KEY`.
pub(crate) fn each(client: &mut Client, command: &str, keys: &[Vec<u8>]) -> Vec<Reply> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let word = |word: &&'_ str, key: &'_ [u8]| match *word {
        "KEY" => key.to_vec(),
        word => word.as_bytes().to_vec(),
    };
    let commands: Vec<Vec<Vec<u8>>> = keys
        .iter()
        .map(|key| words.iter().map(|w| word(w, key)).collect())
        .collect();
    let commands: Vec<Vec<&[u8]>> = commands
        .iter()
        .map(|command| command.iter().map(Vec::as_slice).collect())
        .collect();
    client.pipeline(&commands)
}

/// Like `each`, for a command that returns a number.
pub(crate) fn numbers(client: &mut Client, command: &str, keys: &[Vec<u8>]) -> Vec<i64> {
    each(client, command, keys).into_iter().map(int).collect()
}

/// The keys in the selected database, from SCAN, sorted.
pub(crate) fn keys(client: &mut Client) -> Vec<Vec<u8>> {
    let (mut cursor, mut keys) = (b"0".to_vec(), Vec::new());
    loop {
        let words = [&b"SCAN"[..], &cursor, b"COUNT", b"1000"];
        let Reply::Array(mut page) = call(client, &words) else {
            panic!("no page of keys")
        };
        keys.extend(bulks(page.pop().unwrap()));
        let Some(Reply::Bulk(next)) = page.pop() else {
            panic!("no cursor")
        };
        cursor = next;
        if cursor == b"0" {
            break;
        }
    }
    keys.sort();
    keys.dedup();
    keys
}

/// The access information that the server's policy maintains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Lfu,
    Lru,
}

/// All keys of a database, as described by the server; idle time and LFU first, as other queries touch them.
pub(crate) fn described(client: &mut Client, database: u64, policy: Policy) -> Vec<Found> {
    let keys = keys(client);
    let clock = match policy {
        Policy::Lfu => numbers(client, "OBJECT FREQ KEY", &keys),
        Policy::Lru => numbers(client, "OBJECT IDLETIME KEY", &keys),
    };
    let types = each(client, "TYPE KEY", &keys);
    let encodings = each(client, "OBJECT ENCODING KEY", &keys);
    let expiries = numbers(client, "PEXPIRETIME KEY", &keys);
    let said = types
        .into_iter()
        .zip(encodings)
        .zip(clock.into_iter().zip(expiries));
    let mut describe =
        |key: Vec<u8>, type_name: String, encoding: String, clock: i64, expires_ms: i64| {
            let (encoding, elements) = match count_of(&type_name) {
                Count::Command(command) => {
                    let count = int(call(client, &[command.as_bytes(), &key]));
                    (encoding, Some(count as u64))
                }
                Count::One => (encoding, Some(1)),
                Count::Unknown => (String::new(), None),
            };
            Found {
                database,
                key: Name(key),
                type_name,
                encoding: Box::leak(encoding.into_boxed_str()),
                elements,
                expires_ms: (expires_ms >= 0).then_some(expires_ms),
                lfu: (policy == Policy::Lfu).then_some(clock as u8),
                idle_secs: (policy == Policy::Lru).then_some(clock as u64),
                bytes: 0,
                memory: None,
                is_damaged: false,
            }
        };
    let described = keys.into_iter().zip(said);
    described
        .map(|(key, ((type_name, encoding), (clock, expires_ms)))| {
            describe(key, type_name.text(), encoding.text(), clock, expires_ms)
        })
        .collect()
}

/// The way to get the number of elements of a value.
enum Count {
    /// By this command.
    Command(&'static str),
    /// It is one.
    One,
    /// Known only to a module.
    Unknown,
}

fn count_of(type_name: &str) -> Count {
    match type_name {
        "string" => Count::One,
        "list" => Count::Command("LLEN"),
        "set" => Count::Command("SCARD"),
        "hash" => Count::Command("HLEN"),
        "zset" => Count::Command("ZCARD"),
        "stream" => Count::Command("XLEN"),
        "vectorset" => Count::Command("VCARD"),
        "array" => Count::Command("ARCOUNT"),
        _ => Count::Unknown,
    }
}

/// The reply to MEMORY USAGE for each key, sampling all elements.
pub(crate) fn usage(client: &mut Client) -> BTreeMap<Name, u64> {
    let keys = keys(client);
    let usage = numbers(client, "MEMORY USAGE KEY SAMPLES 0", &keys);
    let names = keys.into_iter().map(Name);
    names
        .zip(usage.into_iter().map(|bytes| bytes as u64))
        .collect()
}

/// Assigns all slots to a server, so that it accepts commands.
pub(crate) fn own_all_slots(client: &mut Client) {
    say(client, "CLUSTER ADDSLOTSRANGE 0 16383");
    wait_for(|| {
        let info = say(client, "CLUSTER INFO").text();
        let is_up = info.contains("cluster_state:ok").then_some(());
        is_up.ok_or(info)
    });
}

/// The bytes of an RDB file that the server writes now.
pub(crate) fn saved(server: &Server, client: &mut Client) -> Vec<u8> {
    say(client, "SAVE");
    std::fs::read(server.folder().join("dump.rdb")).unwrap()
}

/// Everything a server sends to a replica, up to the end of its snapshot.
pub(crate) fn replicated(server: &Server, kind: Kind) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let patience = Duration::from_secs(90);
    stream.set_read_timeout(Some(patience)).unwrap();
    let mut sent = Vec::new();
    let more = |stream: &mut TcpStream, sent: &mut Vec<u8>| {
        let mut part = [0; 1 << 16];
        let len = stream.read(&mut part).unwrap();
        assert!(len > 0, "{kind:?}: {}", sent.escape_ascii());
        sent.extend_from_slice(&part[..len]);
    };
    // To replicas that do not state their version Valkey sends version 11, which cannot represent expiring fields.
    let version = kind.is_valkey().then_some("REPLCONF version 9.1.2\r\n");
    let commands = [
        "CONFIG SET repl-diskless-sync-delay 0\r\n",
        "REPLCONF capa eof\r\n",
    ];
    for command in commands.into_iter().chain(version) {
        stream.write_all(command.as_bytes()).unwrap();
        more(&mut stream, &mut sent);
    }
    stream.write_all(b"SYNC\r\n").unwrap();
    loop {
        more(&mut stream, &mut sent);
        let mark = memmem::find(&sent, b"$EOF:").map(|at| at + 5..at + 45);
        let Some(mark) = mark.filter(|mark| mark.end <= sent.len()) else {
            continue;
        };
        let end = memmem::rfind(&sent, &sent[mark.clone()]).unwrap();
        if end > mark.start {
            sent.truncate(end + mark.len());
            return sent;
        }
    }
}
