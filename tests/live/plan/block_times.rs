//! How long MIGRATE of one key takes on each server, beside the estimate: `--nocapture` prints the table.

use std::time::Instant;

use serde_json::Value;
use testkit::json::Json;
use testkit::kinds::Kind;
use testkit::redis::{Client, Reply};
use testkit::run::Scratch;

/// A type, what fills a key of it, and its elements; of a string, its bytes.
const KEYS: [(&str, &str, u64); 5] = [
    ("string", "SET", 32 << 20),
    ("zset", "ZADD", 300_000),
    ("hash", "HSET", 200_000),
    ("set", "SADD", 300_000),
    ("list", "RPUSH", 300_000),
];
/// Elements of a command.
const AT_ONCE: u64 = 1000;
/// A server that is measured with others beside it may be slower by this, or faster.
const OFF: f64 = 12.0;

fn fill(client: &mut Client, command: &str, count: u64) {
    if command == "SET" {
        let value = "x".repeat(count as usize);
        assert!(!matches!(
            client.call(&["SET", "k", &value]),
            Reply::Error(_)
        ));
        return;
    }
    for first in (0..count).step_by(AT_ONCE as usize) {
        let mut words = vec![command.to_owned(), "k".into()];
        for at in first..first + AT_ONCE {
            match command {
                "ZADD" => words.extend([format!("{}.5", at * 7), format!("player:{at}")]),
                "HSET" => words.extend([format!("field:{at}"), "v".repeat(60)]),
                _ => words.push(format!("element:{at}")),
            }
        }
        assert!(!matches!(client.call(&words), Reply::Error(_)));
    }
}

/// The estimate for a key by its attributes, in milliseconds.
fn estimate(kind: &str, bytes: u64, elements: u64) -> f64 {
    let scratch = Scratch::new();
    scratch.file(
        "d.csv",
        format!("key,type,size,elements\nk,{kind},{bytes},{elements}\nl,list,100,2\n"),
    );
    let args = [
        "plan",
        "d.csv",
        "--nodes",
        "2",
        "--max-block",
        "1ms",
        "--json",
    ];
    let plan: Value = scratch.report(&args);
    plan["pinned"][0]["block_ms"].float()
}

#[test]
#[ignore = "compares times: run it alone on a quiet machine"]
fn migrate_of_a_key_takes_about_as_long_as_estimated() {
    for kind in Kind::all() {
        let [from, to] = [(); 2].map(|()| kind.start(&["--cluster-enabled", "no"]));
        let port = to.port.to_string();
        for (name, command, count) in KEYS {
            let mut client = from.connect();
            fill(&mut client, command, count);
            let Reply::Int(bytes) = client.call(&["MEMORY", "USAGE", "k", "SAMPLES", "0"]) else {
                panic!("MEMORY USAGE");
            };
            let elements = if command == "SET" { 1 } else { count };
            let estimate = estimate(name, bytes as u64, elements);
            let start = Instant::now();
            let words = ["MIGRATE", "127.0.0.1", &port, "k", "0", "60000"];
            assert!(!matches!(client.call(&words), Reply::Error(_)));
            let measured = start.elapsed().as_secs_f64() * 1e3;
            drop(to.connect().call(&["DEL", "k"]));
            eprintln!(
                "{kind:?} {name} {bytes} bytes {elements} elements: {measured:.0} ms, estimated {estimate:.0}"
            );
            let ratio = measured / estimate;
            assert!(
                (1.0 / OFF..OFF).contains(&ratio),
                "{kind:?} {name}: {measured} {estimate}"
            );
        }
    }
}
