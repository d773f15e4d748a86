//! Many keys with every type and encoding, of random lengths: a walk agrees with the server, and memory estimates are
//! close in sum. SLOTSCOPE_MEMORY_KEYS: keys per server. SLOTSCOPE_MEMORY_TABLE: a file for the table, as in
//! `reports/memory.md`. SLOTSCOPE_RECORD: a folder for the file of the server in REDIS_SERVER.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::rdb::asked::{Policy, described, saved, say};
use crate::rdb::fill::{Commands, LATER_MS};
use crate::rdb::memory::measured;
use crate::rdb::{agree, start, walked};
use testkit::env::size;
use testkit::kinds::Kind;
use testkit::rdb::most;
use testkit::redis::{Client, Server, wait_for};
use testkit::rng::Rng;

/// A word of letters.
fn word(rng: &mut Rng, most: usize) -> String {
    let len = 1 + rng.below(most);
    (0..len).map(|_| *rng.pick(&['a', 'b', 'c', 'd'])).collect()
}

fn words(rng: &mut Rng, count: usize, most: usize) -> Vec<String> {
    (0..count).map(|_| word(rng, most)).collect()
}

/// `count` keys, of all types in turn.
fn fill(client: &mut Client, kind: Kind, count: usize, seed: u64) {
    let rng = &mut Rng::new(seed);
    let mut types = vec![
        "int", "text", "list", "numbers", "set", "hash", "sorted", "stream",
    ];
    types.extend((kind != Kind::Installed).then_some("expiring"));
    types.extend(kind.has_vectors().then_some("vectors"));
    types.extend(kind.has_arrays().then_some("array"));
    for at in 0..count {
        let mut commands = Commands::default();
        let of = types[at % types.len()];
        let more = if rng.one_in(3) {
            word(rng, 150)
        } else {
            String::new()
        };
        let key = format!("{of}:{more}{at}");
        let elements = rng.log_between(1.0, 500.0) as usize;
        one(&mut commands, rng, of, &key, elements);
        if rng.one_in(3) {
            commands.say(&format!("PEXPIREAT {key} {LATER_MS}"));
        }
        commands.send(client);
    }
}

/// A value of this type.
fn one(commands: &mut Commands, rng: &mut Rng, of: &str, key: &str, elements: usize) {
    match of {
        "int" => commands.say(&format!("SET {key} {}", rng.next() as i64 >> rng.below(60))),
        "text" => {
            let most = rng.log_between(1.0, 2000.0) as usize;
            commands.push(&["SET", key, &word(rng, most)]);
        }
        "list" => {
            let most = *rng.pick(&[20, 60, 300]);
            commands.push_all("RPUSH", key, &words(rng, elements, most), 500);
        }
        "numbers" => {
            let shift = rng.below(60);
            let numbers = (0..elements).map(|_| (rng.next() as i64 >> shift).to_string());
            commands.push_all("SADD", key, &numbers.collect::<Vec<_>>(), 500);
        }
        "set" => commands.push_all("SADD", key, &words(rng, elements, 60), 500),
        "hash" | "expiring" => {
            let most = *rng.pick(&[20, 60, 150]);
            let pairs =
                (0..elements).flat_map(|at| [format!("f{at}{}", word(rng, 20)), word(rng, most)]);
            let pairs: Vec<String> = pairs.collect();
            commands.push_all("HSET", key, &pairs, 500);
            let step = 1 + rng.below(3);
            for field in pairs.iter().step_by(2 * step).filter(|_| of == "expiring") {
                let at = LATER_MS + rng.below(1_000_000_000) as i64;
                commands.say(&format!("HPEXPIREAT {key} {at} FIELDS 1 {field}"));
            }
        }
        "sorted" => {
            let pairs = (0..elements).flat_map(|_| [rng.unit().to_string(), word(rng, 60)]);
            commands.push_all("ZADD", key, &pairs.collect::<Vec<_>>(), 500);
        }
        "stream" => stream(commands, rng, key, elements),
        "vectors" => {
            let (dimensions, form) = (
                *rng.pick(&[3, 64, 100]),
                *rng.pick(&["NOQUANT", "Q8", "BIN"]),
            );
            for at in 0..elements.min(25) {
                let values = (0..dimensions).map(|_| rng.unit().to_string());
                let values = values.collect::<Vec<_>>().join(" ");
                commands.say(&format!(
                    "VADD {key} VALUES {dimensions} {values} e{at}{} {form}",
                    word(rng, 40)
                ));
            }
        }
        "array" => {
            let apart = *rng.pick(&[1, 1, 30, 5000, 1 << 24]);
            for at in 0..elements {
                let place = at * apart + rng.below(apart);
                commands.push(&["ARSET", key, &place.to_string(), &word(rng, 30)]);
            }
        }
        other => panic!("no values of {other}"),
    }
}

/// A stream with groups whose consumers have not acknowledged everything.
fn stream(commands: &mut Commands, rng: &mut Rng, key: &str, elements: usize) {
    for at in 0..elements {
        let id = format!("{}-{at}", 1_700_000_000_000 + 1000 * at + rng.below(900));
        commands.push(&["XADD", key, &id, "field", &word(rng, 60)]);
    }
    for group in 0..rng.below(3) {
        commands.say(&format!("XGROUP CREATE {key} group:{group} 0"));
        for consumer in 0..rng.below(3) {
            let count = 1 + rng.below(30);
            commands.say(&format!(
                "XREADGROUP GROUP group:{group} consumer:{consumer} COUNT {count} STREAMS {key} >"
            ));
        }
    }
}

/// Sums by type and encoding: keys, estimates, replies.
type Sums = BTreeMap<(String, String), (u64, u64, u64)>;

#[test]
fn sums_of_each_encoding_are_near_what_the_server_says() {
    let mut table = "| servers | type, encoding | keys | estimated, bytes | MEMORY USAGE, bytes | difference |\n\
        |---|---|--:|--:|--:|--:|\n"
        .to_owned();
    let mut far = Vec::new();
    for kind in Kind::all() {
        let server = start(kind);
        let client = &mut server.connect();
        fill(client, kind, size("SLOTSCOPE_MEMORY_KEYS", 400), 17);
        say(client, "DEBUG RELOAD");
        let found = walked(&saved(&server, client));
        agree(kind, &found, &described(client, 0, Policy::Lfu));
        let mut sums = Sums::new();
        for (key, said) in measured(&server, kind) {
            let of = (key.type_name.clone(), key.encoding.to_owned());
            let sum = sums.entry(of).or_default();
            (sum.0, sum.1, sum.2) = (sum.0 + 1, sum.1 + key.memory.unwrap(), sum.2 + said);
        }
        for ((type_name, encoding), (keys, estimated, said)) in &sums {
            let off = 100.0 * (*estimated as f64 / *said as f64 - 1.0);
            let row = format!(
                "| {} | {type_name} {encoding} | {keys} | {estimated} | {said} | {off:+.2}% |\n",
                version(client)
            );
            // Levels and buckets are random: a sum over few keys says little.
            let is_near = off.abs() <= most(type_name, encoding) || *keys < 20 && off.abs() <= 15.0;
            far.extend((!is_near).then(|| row.clone()));
            table += &row;
        }
        if kind == Kind::Given {
            record(&server, client);
        }
        with_other_limits(kind, &server, client);
    }
    print!("{table}");
    assert!(far.is_empty(), "{far:#?}");
    if let Some(file) = std::env::var_os("SLOTSCOPE_MEMORY_TABLE") {
        fs::write(file, table).unwrap();
    }
}

/// The version that a server reports.
fn version(client: &mut Client) -> String {
    let info = say(client, "INFO server").text();
    let field = |name: &str| {
        let mut lines = info.lines();
        lines.find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
    };
    match (field("valkey_version:"), field("redis_version:")) {
        (Some(version), _) => format!("Valkey {version}"),
        (_, Some(version)) if version == "255.255.255" => "Redis unstable".into(),
        (_, version) => format!("Redis {}", version.unwrap()),
    }
}

/// Other encoding limits, compressed list nodes, and the base of an append-only file.
fn with_other_limits(kind: Kind, server: &Server, client: &mut Client) {
    say(client, "FLUSHALL");
    for limit in [
        "hash-max-listpack-entries 8",
        "hash-max-listpack-value 20",
        "zset-max-listpack-entries 8",
        "set-max-intset-entries 16",
        "list-compress-depth 1",
        "list-max-listpack-size 5",
        "maxmemory-policy allkeys-lru",
    ] {
        say(client, &format!("CONFIG SET {limit}"));
    }
    fill(client, kind, 150, 18);
    say(client, "CONFIG SET appendonly yes");
    let base = wait_for(|| {
        let base = fs::read_dir(server.folder().join("appendonlydir")).ok();
        let mut files = base.into_iter().flatten().map(|file| file.unwrap().path());
        let is_rewritten = say(client, "INFO persistence")
            .text()
            .contains("aof_rewrite_in_progress:0");
        files
            .find(|file| is_rewritten && file.to_string_lossy().ends_with(".base.rdb"))
            .ok_or_else(|| "no base of the append-only file".to_owned())
    });
    let mut expected = described(client, 0, Policy::Lru);
    for bytes in [fs::read(base).unwrap(), saved(server, client)] {
        let mut found = walked(&bytes);
        // Seconds that pass during the test's queries.
        for (found, expected) in found.iter_mut().zip(&mut expected) {
            let apart = found
                .idle_secs
                .unwrap()
                .abs_diff(expected.idle_secs.unwrap());
            assert!(apart < 60, "{kind:?}: {found:?}, {expected:?}");
            found.idle_secs = expected.idle_secs;
        }
        agree(kind, &found, &expected);
    }
}

/// Saves a small file of the server with its replies for each key, if SLOTSCOPE_RECORD names a folder.
fn record(server: &Server, client: &mut Client) {
    let Some(folder) = std::env::var_os("SLOTSCOPE_RECORD") else {
        return;
    };
    say(client, "FLUSHALL");
    fill(client, Kind::Given, 110, 19);
    say(client, "DEBUG RELOAD");
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("dump.rdb"), saved(server, client)).unwrap();
    let usage = crate::rdb::asked::usage(client);
    let mut rows = "key\ttype\tencoding\telements\tmemory\texpires\tlfu\n".to_owned();
    for key in described(client, 0, Policy::Lfu) {
        let name = String::from_utf8(key.key.0.clone()).unwrap();
        writeln!(
            rows,
            "{name}\t{}\t{}\t{}\t{}\t{}\t{}",
            key.type_name,
            key.encoding,
            key.elements.unwrap(),
            usage[&key.key],
            key.expires_ms.unwrap_or(-1),
            key.lfu.unwrap()
        )
        .unwrap();
    }
    fs::write(folder.join("keys.tsv"), rows).unwrap();
}
