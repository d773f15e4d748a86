//! RDB files of a real server, which answers for every key what a walk must find.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::rdb::{Found, found, found_with};
use crate::support::redis::{Client, Reply, Server};
use crate::support::rng::Rng;
use crate::support::run::{Scratch, report, stdout};
use slotscope::format::rdb::snapshot::allocator::Allocator;
use slotscope::name::Name;

/// Far enough away that nothing expires in a test.
const LATER_MS: i64 = 4_102_444_800_123;

fn call(client: &mut Client, words: &[&[u8]]) -> Reply {
    let reply = client.call(words);
    assert!(!matches!(reply, Reply::Error(_)), "{words:?}: {reply:?}");
    reply
}

fn number(client: &mut Client, words: &[&[u8]]) -> i64 {
    match call(client, words) {
        Reply::Int(number) => number,
        other => panic!("{words:?}: {other:?}"),
    }
}

/// A command that adds `count` members, of `len` bytes each, to a key; `pairs` puts a number before each.
fn add(client: &mut Client, command: &str, key: &str, pairs: bool, (count, len): (usize, usize)) {
    let members: Vec<String> = (0..count).map(|i| format!("{i:0len$}")).collect();
    for chunk in members.chunks(500) {
        let mut words = vec![command.as_bytes().to_vec(), key.as_bytes().to_vec()];
        for member in chunk {
            words.extend(pairs.then(|| b"7".to_vec()));
            words.push(member.clone().into_bytes());
        }
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        call(client, &words);
    }
}

/// Every type in every encoding that the server has, with names that are hard to spell; some expire.
fn fill(client: &mut Client) {
    let mut rng = Rng::new(7);
    let strings: [(&[u8], Vec<u8>); 12] = [
        (b"int:small", b"5".to_vec()),
        (b"int:8", b"-100".to_vec()),
        (b"int:16", b"-32768".to_vec()),
        (b"int:32", b"2147483647".to_vec()),
        (b"int:64", b"9223372036854775807".to_vec()),
        (b"not:int", b"0123".to_vec()),
        (b"not:int:too", b"9223372036854775808".to_vec()),
        (b"empty", Vec::new()),
        (b"embstr", rng.bytes(44)),
        (b"raw", rng.bytes(45)),
        (b"compressible", vec![b'x'; 100_000]),
        (b"incompressible", rng.bytes(100_000)),
    ];
    for (key, value) in &strings {
        call(client, &[b"SET", key, value]);
    }
    for key in [
        &b""[..],
        b"12345",
        b"-7",
        b"nul\0line\nend\xFF{tag}",
        &[b'k'; 300],
        &rng.bytes(70_000),
    ] {
        call(client, &[b"SET", key, b"v"]);
    }
    for (size, many) in [("one", 1), ("small", 100), ("large", 3000)] {
        for (name, len) in [("short", 4), ("long", 90)] {
            let key = |kind: &str| format!("{kind}:{size}:{name}");
            add(client, "RPUSH", &key("list"), false, (many, len));
            add(client, "SADD", &key("set"), false, (many, len));
            add(client, "HSET", &key("hash"), true, (1, len));
            add(client, "ZADD", &key("zset"), true, (many, len));
        }
        let fields: Vec<String> = (0..2 * many).map(|i| format!("f{i}")).collect();
        for chunk in fields.chunks(500) {
            let key = format!("hash:of:{size}");
            let words: Vec<&[u8]> = [b"HSET", key.as_bytes()]
                .into_iter()
                .chain(chunk.iter().map(String::as_bytes))
                .collect();
            call(client, &words);
        }
    }
    // An element of a list that is too long for a packed node.
    call(
        client,
        &[b"RPUSH", b"list:plain", &rng.bytes(20_000), b"b", b"c"],
    );
    let numbers: Vec<String> = (0..300).map(|i| (i * 1_000_003_i64).to_string()).collect();
    for (key, count) in [(&b"intset:16"[..], 5), (b"intset:64", 300)] {
        let words: Vec<&[u8]> = [b"SADD", key]
            .into_iter()
            .chain(numbers[..count].iter().map(String::as_bytes))
            .collect();
        call(client, &words);
    }
    for i in 0..500 {
        let value = format!("v{i}");
        call(client, &[b"XADD", b"stream", b"*", b"f", value.as_bytes()]);
    }
    call(client, &[b"XDEL", b"stream", b"0-1"]);
    call(client, &[b"XGROUP", b"CREATE", b"stream", b"g", b"0"]);
    call(
        client,
        &[
            b"XREADGROUP",
            b"GROUP",
            b"g",
            b"c",
            b"COUNT",
            b"20",
            b"STREAMS",
            b"stream",
            b">",
        ],
    );
    call(
        client,
        &[
            b"XGROUP",
            b"CREATE",
            b"stream:empty",
            b"g",
            b"$",
            b"MKSTREAM",
        ],
    );
    add(client, "PFADD", "hyperloglog", false, (100, 4));
    call(
        client,
        &[
            b"FUNCTION",
            b"LOAD",
            b"#!lua name=l\nredis.register_function('f', function() end)",
        ],
    );
    let later = LATER_MS.to_string();
    for key in [
        &b"raw"[..],
        b"list:large:long",
        b"stream",
        b"hash:one:short",
    ] {
        assert_eq!(number(client, &[b"PEXPIREAT", key, later.as_bytes()]), 1);
    }
}

/// What the server says of a key; its LFU counter first, as the other questions touch it.
fn asked(client: &mut Client, key: &[u8], is_lfu: bool) -> Found {
    let lfu = is_lfu.then(|| number(client, &[b"OBJECT", b"FREQ", key]) as u8);
    let type_name = call(client, &[b"TYPE", key]).text();
    let encoding = call(client, &[b"OBJECT", b"ENCODING", key]).text();
    let count = match type_name.as_str() {
        "string" => None,
        "list" => Some("LLEN"),
        "set" => Some("SCARD"),
        "hash" => Some("HLEN"),
        "zset" => Some("ZCARD"),
        "stream" => Some("XLEN"),
        other => panic!("{other}"),
    };
    let count = count.map_or(1, |command| number(client, &[command.as_bytes(), key]));
    let expires = number(client, &[b"PEXPIRETIME", key]);
    Found {
        database: 0,
        key: Name::from(key),
        type_name,
        encoding: Box::leak(encoding.into_boxed_str()),
        elements: Some(count as u64),
        expires_ms: (expires >= 0).then_some(expires),
        lfu,
        idle_secs: None,
        bytes: 0,
        memory: None,
        is_damaged: false,
    }
}

/// The keys of the database that the client has selected.
fn keys(client: &mut Client) -> Vec<Vec<u8>> {
    let Reply::Array(keys) = call(client, &[b"KEYS", b"*"]) else {
        panic!("no list of keys")
    };
    let bytes = |reply| match reply {
        Reply::Bulk(key) => key,
        other => panic!("{other:?}"),
    };
    keys.into_iter().map(bytes).collect()
}

/// Has the server write its RDB file.
fn saved(server: &Server, client: &mut Client) -> PathBuf {
    call(client, &[b"SAVE"]);
    server.folder().join("dump.rdb")
}

/// The keys in a file, sorted, without what a server cannot be asked.
fn walked(path: &PathBuf) -> Vec<Found> {
    let (mut keys, remarks, damage) = found(&std::fs::read(path).unwrap());
    assert_eq!((remarks, damage), (vec![], None));
    keys.iter_mut()
        .for_each(|key| (key.bytes, key.memory) = (0, None));
    keys.sort();
    keys
}

#[test]
fn a_walk_finds_what_the_server_says_of_every_key() {
    let server = Server::start(&[
        "--maxmemory",
        "500mb",
        "--maxmemory-policy",
        "allkeys-lfu",
        "--lfu-decay-time",
        "0",
    ]);
    let client = &mut server.connect();
    call(client, &[b"CLUSTER", b"ADDSLOTSRANGE", b"0", b"16383"]);
    crate::support::redis::wait_for(|| {
        let info = client.call(&[&b"CLUSTER"[..], b"INFO"]).text();
        let is_up = info.contains("cluster_state:ok").then_some(());
        is_up.ok_or(info)
    });
    fill(client);
    // Counters that differ.
    for _ in 0..2000 {
        call(client, &[b"GET", b"embstr"]);
    }
    for compression in [&b"yes"[..], b"no"] {
        call(client, &[b"CONFIG", b"SET", b"rdbcompression", compression]);
        let path = saved(&server, client);
        let found = walked(&path);
        let mut expected: Vec<_> = keys(client)
            .iter()
            .map(|key| asked(client, key, true))
            .collect();
        expected.sort();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
        assert!(found.iter().any(|key| key.lfu > Some(5)));
        let encodings: BTreeMap<_, usize> = found.iter().fold(BTreeMap::new(), |mut all, key| {
            *all.entry((&key.type_name[..], key.encoding)).or_default() += 1;
            all
        });
        assert_eq!(encodings.len(), 11, "{encodings:?}");
    }

    // The program, from the same file: every slot is the server's.
    let path = server.folder().join("dump.rdb");
    let scratch = Scratch::new();
    let output = scratch.run(&["dump", "--output", "jsonl", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let mut lines = 0;
    for line in stdout(&output).lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let key = Name::parse(line["key"].as_str().unwrap()).unwrap();
        let slot = number(client, &[b"CLUSTER", b"KEYSLOT", &key.0]);
        assert_eq!(line["slot"].as_i64(), Some(slot), "{key}");
        lines += 1;
    }
    assert_eq!(lines, number(client, &[b"DBSIZE"]));
}

#[test]
fn databases_and_idle_times_are_in_the_file() {
    let server = Server::start(&[
        "--cluster-enabled",
        "no",
        "--maxmemory",
        "500mb",
        "--maxmemory-policy",
        "allkeys-lru",
    ]);
    let client = &mut server.connect();
    for database in [&b"0"[..], b"3", b"15"] {
        call(client, &[b"SELECT", database]);
        call(client, &[b"SET", b"k", database]);
        call(client, &[b"SET", database, b"v", b"PX", b"100000000"]);
    }
    let path = saved(&server, client);
    let found = walked(&path);
    let listed: Vec<_> = found
        .iter()
        .map(|key| (key.database, &key.key.0[..]))
        .collect();
    let expected: [(u64, &[u8]); 6] = [
        (0, b"0"),
        (0, b"k"),
        (3, b"3"),
        (3, b"k"),
        (15, b"15"),
        (15, b"k"),
    ];
    assert_eq!(listed, expected);
    assert!(
        found
            .iter()
            .all(|key| key.idle_secs.is_some_and(|secs| secs < 60))
    );
    assert!(
        found
            .iter()
            .all(|key| key.expires_ms.is_some() == (key.key != Name::from("k")))
    );

    // The same file in every wrapping makes the same report.
    let bytes = std::fs::read(&path).unwrap();
    let scratch = Scratch::new();
    scratch.file("dump.rdb", &bytes);
    scratch.file("dump.rdb.zst", zstd::encode_all(&bytes[..], 1).unwrap());
    let reports = ["dump.rdb", "dump.rdb.zst"].map(|file| {
        let mut report = report(&scratch.run(&["analyze", file, "--json", "--db", "3"]));
        assert_eq!(report["input"]["keys"], 2);
        report["tags"].take()
    });
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn estimated_memory_is_what_the_server_says() {
    let server = Server::start(&["--enable-debug-command", "local"]);
    let client = &mut server.connect();
    let version = client.call(&[&b"INFO"[..], b"server"]).text();
    if !version.contains("redis_version:7.") || version.contains("server_name:valkey") {
        println!("not run: only Redis 7 is known to the byte");
        return;
    }
    call(client, &[b"CLUSTER", b"ADDSLOTSRANGE", b"0", b"16383"]);
    crate::support::redis::wait_for(|| {
        let info = client.call(&[&b"CLUSTER"[..], b"INFO"]).text();
        let is_up = info.contains("cluster_state:ok").then_some(());
        is_up.ok_or(info)
    });
    fill(client);
    // Loaded again, tables are as large as they must be.
    call(client, &[b"DEBUG", b"RELOAD"]);
    let bytes = std::fs::read(saved(&server, client)).unwrap();
    let usage: BTreeMap<Name, u64> = keys(client)
        .into_iter()
        .map(|key| {
            let usage = number(client, &[b"MEMORY", b"USAGE", &key, b"SAMPLES", b"0"]);
            (Name(key), usage as u64)
        })
        .collect();
    // Which allocator a server was built with, its replies do not say.
    let allocators = [
        Allocator::Jemalloc,
        Allocator::SystemJemalloc,
        Allocator::Libc,
    ];
    let misses = allocators.map(|allocator| misses(&found_with(&bytes, allocator).0, &usage));
    assert!(misses.iter().any(Vec::is_empty), "{misses:#?}");
}

/// The keys whose memory is not what the server says, as close as it can be: levels of skip lists are random, and how
/// ids share nodes of a tree is not known.
fn misses(found: &[Found], usage: &BTreeMap<Name, u64>) -> Vec<String> {
    assert_eq!(found.len(), usage.len());
    let miss = |key: &Found| {
        let (memory, usage) = (key.memory.unwrap(), usage[&key.key]);
        let most = match (&key.type_name[..], key.encoding) {
            ("stream", _) => 0.5,
            ("zset", "skiplist") => 0.03,
            _ => 0.0,
        };
        let is_off = memory.abs_diff(usage) as f64 > most * usage as f64;
        is_off.then(|| format!("{:.40}: {memory}, not {usage}", key.key.to_string()))
    };
    found.iter().filter_map(miss).collect()
}
