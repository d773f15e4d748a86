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
use testkit::redis::{Client, Reply, Server};

/// The reply to a command that must succeed, whose words contain no spaces.
#[track_caller]
pub(crate) fn say(client: &mut Client, command: &str) -> Reply {
    client.ask(&command.split_whitespace().collect::<Vec<_>>())
}

/// The replies to one command for each key, whose name replaces `KEY`.
pub(crate) fn each(client: &mut Client, command: &str, keys: &[Vec<u8>]) -> Vec<Reply> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let word = |word: &&'_ str, key: &'_ [u8]| match *word {
        "KEY" => key.to_vec(),
        word => word.as_bytes().to_vec(),
    };
    let of_key = |key: &'_ Vec<u8>| words.iter().map(|w| word(w, key)).collect();
    client.pipeline_of(keys.iter().map(of_key))
}

/// Like `each`, for a command that returns a number.
pub(crate) fn numbers(client: &mut Client, command: &str, keys: &[Vec<u8>]) -> Vec<i64> {
    let replies = each(client, command, keys).into_iter();
    replies.map(Reply::int).collect()
}

/// The keys in the selected database, from SCAN, sorted.
pub(crate) fn keys(client: &mut Client) -> Vec<Vec<u8>> {
    let (mut cursor, mut keys) = (b"0".to_vec(), Vec::new());
    loop {
        let words = [&b"SCAN"[..], &cursor, b"COUNT", b"1000"];
        let mut page = client.ask(&words).items();
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
    let said = types.into_iter().zip(encodings);
    let said = said.zip(clock.into_iter().zip(expiries));
    let described = keys.into_iter().zip(said);
    type Said = ((Reply, Reply), (i64, i64));
    let describe = |(key, ((type_name, encoding), (clock, expires_ms))): (Vec<u8>, Said)| {
        let (type_name, encoding) = (type_name.text(), encoding.text());
        let (encoding, elements) = match count_of(&type_name) {
            "1" => (encoding, Some(1)),
            // Known only to a module.
            "" => (String::new(), None),
            command => {
                let count = client.ask(&[command.as_bytes(), &key]).int();
                (encoding, Some(count as u64))
            }
        };
        Found {
            database,
            key: Name(key),
            type_name,
            encoding: encoding.leak(),
            elements,
            expires_ms: (expires_ms >= 0).then_some(expires_ms),
            lfu: (policy == Policy::Lfu).then_some(clock as u8),
            idle_secs: (policy == Policy::Lru).then_some(clock as u64),
            bytes: 0,
            memory: None,
            is_damaged: false,
        }
    };
    described.map(describe).collect()
}

/// The command that returns the number of elements of a value; `1` if it is one, nothing if there is none.
fn count_of(type_name: &str) -> &'static str {
    match type_name {
        "string" => "1",
        "list" => "LLEN",
        "set" => "SCARD",
        "hash" => "HLEN",
        "zset" => "ZCARD",
        "stream" => "XLEN",
        "vectorset" => "VCARD",
        "array" => "ARCOUNT",
        _ => "",
    }
}
/// The reply to MEMORY USAGE for each key, sampling all elements.
pub(crate) fn usage(client: &mut Client) -> BTreeMap<Name, u64> {
    let keys = keys(client);
    let usage = numbers(client, "MEMORY USAGE KEY SAMPLES 0", &keys);
    let usage = usage.into_iter().map(|bytes| bytes as u64);
    keys.into_iter().map(Name).zip(usage).collect()
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
    let at_once = "CONFIG SET repl-diskless-sync-delay 0\r\n";
    for command in [at_once, "REPLCONF capa eof\r\n"]
        .into_iter()
        .chain(version)
    {
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
