//! Many keys with every type and encoding, of random lengths: a walk agrees with the server, and memory estimates are
//! close in sum. SLOTSCOPE_MEMORY_KEYS: keys per server. SLOTSCOPE_MEMORY_TABLE: a file for the table, as in
//! `reports/memory.md`. SLOTSCOPE_RECORD: a folder for the file of the server in REDIS_SERVER.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::rdb::asked::{Policy, described, say};
use crate::rdb::fill::{Commands, LATER_MS};
use crate::rdb::memory::measured;
use crate::rdb::{agree, start, take_idle_times, walked};
use testkit::env::size;
use testkit::kinds::Kind;
use testkit::rdb::most;
use testkit::redis::{Client, Server};
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
    let mut types: Vec<&str> = "int text list numbers set hash sorted stream"
        .split(' ')
        .collect();
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
            let dimensions = *rng.pick(&[3, 64, 100]);
            let form = *rng.pick(&["NOQUANT", "Q8", "BIN"]);
            for at in 0..elements.min(25) {
                let values: String = (0..dimensions)
                    .map(|_| format!(" {}", rng.unit()))
                    .collect();
                let name = format!("e{at}{}", word(rng, 40));
                commands.say(&format!(
                    "VADD {key} VALUES {dimensions}{values} {name} {form}"
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
        let found = walked(&server.saved());
        agree(kind, &found, &described(client, 0, Policy::Lfu));
        let mut sums = Sums::new();
        for (key, said) in measured(&server, kind) {
            let of = (key.type_name.clone(), key.encoding.to_owned());
            let sum = sums.entry(of).or_default();
            (sum.0, sum.1, sum.2) = (sum.0 + 1, sum.1 + key.memory.unwrap(), sum.2 + said);
        }
        for ((type_name, encoding), (keys, estimated, said)) in &sums {
            let off = 100.0 * (*estimated as f64 / *said as f64 - 1.0);
            let of = format!("{} | {type_name} {encoding}", version(&server));
            let row = format!("| {of} | {keys} | {estimated} | {said} | {off:+.2}% |\n");
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
fn version(server: &Server) -> String {
    match (
        server.info("valkey_version:"),
        server.info("redis_version:"),
    ) {
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
    server.until("INFO persistence", "aof_rewrite_in_progress:0");
    let files = fs::read_dir(server.folder().join("appendonlydir")).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let base = files.find(|file| file.to_string_lossy().ends_with(".base.rdb"));
    let base = base.expect("a base of the append-only file");
    let mut expected = described(client, 0, Policy::Lru);
    for bytes in [fs::read(base).unwrap(), server.saved()] {
        let found = walked(&bytes);
        take_idle_times(&found, &mut expected);
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
    fs::write(folder.join("dump.rdb"), server.saved()).unwrap();
    let usage = crate::rdb::asked::usage(client);
    let columns = "key\ttype\tencoding\telements\tmemory\texpires\tlfu";
    let mut rows = vec![columns.to_owned()];
    for key in described(client, 0, Policy::Lfu) {
        let numbers = [
            key.elements.unwrap() as i64,
            usage[&key.key] as i64,
            key.expires_ms.unwrap_or(-1),
            key.lfu.unwrap().into(),
        ];
        let numbers = numbers.map(|number| number.to_string()).join("\t");
        let (name, of) = (String::from_utf8(key.key.0).unwrap(), key.type_name);
        rows.push(format!("{name}\t{of}\t{}\t{numbers}", key.encoding));
    }
    fs::write(folder.join("keys.tsv"), rows.join("\n") + "\n").unwrap();
}
