//! RDB files of real servers, whose replies say for every key what a walk must find.

pub(crate) mod asked;
pub(crate) mod fill;
pub(crate) mod many;
mod memory;
mod nodes;

use crate::rdb::asked::{Policy, described, say};
use slotscope::name::Name;
use testkit::cluster::{bulks, keyslots};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::rdb::{Found, found};
use testkit::redis::{Client, Reply, Server, wait_for};
use testkit::rng::Rng;

/// A server with all slots, a policy that maintains LFU counters, and its modules.
fn start(kind: Kind) -> Server {
    let modules = kind.modules();
    let mut options: Vec<&str> = modules.iter().map(String::as_str).collect();
    options.extend("--enable-debug-command local --maxmemory 2gb".split(' '));
    options.extend("--maxmemory-policy allkeys-lfu --lfu-decay-time 0".split(' '));
    let server = kind.start(&options);
    server.own_all_slots();
    server
}

/// The keys in a file, sorted, without attributes that a server cannot be asked for.
fn walked(bytes: &[u8]) -> Vec<Found> {
    let (mut keys, remarks, damage) = found(bytes);
    assert_eq!((remarks, damage), (vec![], None));
    keys.iter_mut()
        .for_each(|key| (key.bytes, key.memory) = (0, None));
    keys.sort();
    keys
}

/// A key with a long name abbreviated.
struct Short<'a>(&'a Found);

impl std::fmt::Debug for Short<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut key = self.0.clone();
        key.key.0.truncate(40);
        write!(f, "{key:?}, {} bytes", self.0.key.0.len())
    }
}

/// Types and encodings that a kind of server produces, at least.
fn made_by(kind: Kind) -> Vec<(&'static str, &'static str)> {
    let mut made = "string int,string embstr,string raw,list quicklist,set intset,set hashtable,\
         hash listpack,hash hashtable,zset listpack,zset skiplist,stream stream"
        .to_owned();
    let is_new = kind != Kind::Installed;
    for (is_made, more) in [
        (is_new, ",list listpack,set listpack"),
        (is_new && !kind.is_valkey(), ",hash listpackex"),
        (kind.has_vectors(), ",vectorset raw"),
        (kind.has_arrays(), ",array sliced-array"),
    ] {
        made += if is_made { more } else { "" };
    }
    if kind == Kind::Redis74 {
        made += ",ReJSON-RL ,MBbloom-- ,MBbloomCF ,CMSk-TYPE ,TopK-TYPE ,TDIS-TYPE ,TSDB-TYPE ";
    }
    let made: &'static str = made.leak();
    let pairs = made.split(',').map(|pair| pair.split_once(' '));
    pairs.map(Option::unwrap).collect()
}
#[test]
fn a_walk_finds_what_each_server_says_of_every_key() {
    for kind in Kind::all() {
        let server = start(kind);
        let client = &mut server.connect();
        fill::fill(client, kind);
        // Different counters.
        (0..300).for_each(|_| drop(say(client, "GET raw")));
        for compression in ["yes", "no"] {
            say(client, &format!("CONFIG SET rdbcompression {compression}"));
            let found = walked(&server.saved());
            agree(kind, &found, &described(client, 0, Policy::Lfu));
            assert!(found.iter().any(|key| key.lfu > Some(5)));
            let is_missing = |(type_name, encoding): &(&str, &str)| {
                let mut keys = found.iter();
                keys.all(|key| (&*key.type_name, key.encoding) != (*type_name, *encoding))
            };
            let missing = made_by(kind).into_iter().filter(is_missing);
            assert_eq!(missing.collect::<Vec<_>>(), [], "{kind:?}");
        }
        slots_are_the_servers(&server);

        let replicated = walked(&asked::replicated(&server, kind));
        agree(kind, &replicated, &described(client, 0, Policy::Lfu));
    }
}
/// Fails with the keys that differ from the server's description.
fn agree(kind: Kind, found: &[Found], expected: &[Found]) {
    assert_eq!(found.len(), expected.len(), "{kind:?}");
    let pairs = found.iter().zip(expected);
    let differing = pairs.filter(|(found, expected)| found != expected);
    let differing: Vec<_> = differing
        .map(|(found, expected)| format!("{:?}, not {:?}", Short(found), Short(expected)))
        .collect();
    assert!(differing.is_empty(), "{kind:?}: {differing:#?}");
}

/// Checks that the program's output for the server's file has the server's slots.
fn slots_are_the_servers(server: &Server) {
    let path = server.folder().join("dump.rdb");
    let text = Scratch::new().text(&format!("dump --output jsonl {}", path.display()));
    let (mut keys, mut slots) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        keys.push(Name::parse(line["key"].text()).unwrap().0);
        slots.push(line["slot"].whole() as u16);
    }
    assert_eq!(slots, keyslots(server, &keys));
    let size = say(&mut server.connect(), "DBSIZE").int();
    assert_eq!(size, keys.len() as i64);
}
#[test]
fn databases_idle_times_and_expired_keys_are_in_the_file() {
    for kind in Kind::all() {
        println!("{kind:?}");
        // Valkey 9 has several databases in cluster mode too.
        let databases = ["--cluster-enabled no", "--cluster-databases 16"];
        let databases = databases[usize::from(kind.is_valkey())];
        let memory = "--maxmemory 500mb --maxmemory-policy allkeys-lru";
        let options = format!("{databases} {memory} --enable-debug-command local");
        let server = kind.start(&words(&options));
        if kind.is_valkey() {
            server.own_all_slots();
        }
        let client = &mut server.connect();
        let gone_ms = expired_key(client);
        for database in [0, 3, 15] {
            say(client, &format!("SELECT {database}"));
            say(client, &format!("SET k {database}"));
            say(client, &format!("SET {database} v PX 100000000"));
            let Reply::Bulk(dumped) = say(client, "DUMP k") else {
                panic!("nothing dumped")
            };
            let restore = [
                &b"RESTORE"[..],
                b"old",
                b"0",
                &dumped,
                b"IDLETIME",
                b"50000",
            ];
            client.ask(&restore);
        }
        wait_for(|| match now_ms(client) {
            now if now > gone_ms => Ok(()),
            now => Err(format!("it is {now}, not yet {gone_ms}")),
        });
        let bytes = server.saved();
        let mut found = walked(&bytes);
        found.retain(|key| key.key != Name::from("gone"));
        let mut expected = Vec::new();
        for database in [0, 3, 15] {
            say(client, &format!("SELECT {database}"));
            expected.extend(described(client, database, Policy::Lru));
        }
        take_idle_times(&found, &mut expected);
        agree(kind, &found, &expected);
        for key in &found {
            let is_old = key.key == Name::from("old");
            assert_eq!(key.idle_secs >= Some(50_000), is_old, "{key:?}");
        }
        assert_eq!(found.len(), 9);

        // The same file in any wrapping yields the same report.
        let scratch = Scratch::new();
        scratch.file("dump.rdb", &bytes);
        scratch.file("dump.rdb.zst", zstd::encode_all(&bytes[..], 1).unwrap());
        let reports = ["dump.rdb", "dump.rdb.zst"].map(|file| {
            let mut report = scratch.report(&format!("analyze {file} --json --db 3"));
            assert_eq!(report["input"]["keys"], 4);
            let input = report["input"].to_string();
            input.says("already expired when the RDB file was written");
            report["tags"].take()
        });
        assert_eq!(reports[0], reports[1]);
    }
}

/// Takes over idle times that are longer by the seconds that passed between the file and the queries.
fn take_idle_times(found: &[Found], expected: &mut [Found]) {
    for (found, expected) in found.iter().zip(expected) {
        let (before, now) = (found.idle_secs.unwrap(), expected.idle_secs.unwrap());
        assert!(before.abs_diff(now) < 60, "{found:?}, {expected:?}");
        expected.idle_secs = found.idle_secs;
    }
}
/// Sets a key that expires soon but is retained; returns its expiry as in files with full seconds.
fn expired_key(client: &mut Client) -> i64 {
    // In one command: a server drops a key that has expired by the time it is set.
    const SET: &str =
        "local now = redis.call('TIME'); local at = now[1] * 1000 + math.floor(now[2] / 1000) + 50
        redis.call('SET', KEYS[1], 'v', 'PXAT', string.format('%.0f', at)); return at";
    say(client, "DEBUG SET-ACTIVE-EXPIRE 0");
    say(client, "SELECT 3");
    let at_ms = client.ask(&["EVAL", SET, "1", "gone"]).int();
    // The clock of files may lag by some milliseconds.
    1000 * (at_ms / 1000 + 1) + 100
}

/// The server's clock.
fn now_ms(client: &mut Client) -> i64 {
    let parts = bulks(say(client, "TIME")).into_iter();
    let mut parts = parts.map(|part| String::from_utf8(part).unwrap().parse::<i64>().unwrap());
    1000 * parts.next().unwrap() + parts.next().unwrap() / 1000
}

#[test]
fn a_key_that_is_too_long_is_rejected_with_its_place_and_the_walk_goes_on() {
    let long = Rng::new(11).bytes(20 << 20);
    let packed = vec![b'k'; 20 << 20];
    for kind in Kind::all() {
        let server = kind.start(&[]);
        server.own_all_slots();
        let keys = [&b"before"[..], &long, b"between", &packed, b"behind"];
        server.connect().set_all(&keys.map(|key| (key, "value")));
        let bytes = server.saved();
        // The text starts after its type and length.
        let at = memchr::memmem::find(&bytes, &long[..100]).unwrap() - 6;
        let path = server.folder().join("dump.rdb");
        let (scratch, path) = (Scratch::new(), path.display());
        let report = scratch.report(&format!("analyze {path} --json"));
        let input = &report["input"];
        input.has(json!({"keys": 3, "rejected": {"count": 2}}));
        let first = input["rejected"]["first"].list();
        assert!(first.iter().any(|reject| reject["byte"] == at), "{first:?}");
        input["warnings"].to_string().lacks("header");
        let output = scratch.run(&format!("dump {path}"));
        assert_eq!((code(&output), stdout(&output).lines().count()), (2, 1 + 3));
        let said = "a key of over 16 MiB, which is not counted: it has 20,971,520 bytes";
        stderr(&output).says(&format!("byte {at}: {said}"));
        let strict = scratch.run(&format!("analyze {path} --strict"));
        assert_eq!(code(&strict), 2);
    }
}
