//! Recordings of clients by real servers: MONITOR captures and append-only files.

use std::fs;

use testkit::prelude::*;
use testkit::redis::{Monitor, Server, wait_for};

/// A server outside a cluster, so that commands over several slots succeed, with an append-only file.
fn start() -> Server {
    Server::start(&words(
        "--cluster-enabled no --appendonly yes --aof-timestamp-enabled yes",
    ))
}

/// Commands of two concurrent clients: single keys, several keys, a transaction with others in between, scripts.
fn use_it(server: &Server) {
    let (mut a, mut b) = (server.connect(), server.connect());
    for i in 0..120 {
        a.ask(&words(&format!("MSET cart:{i}:items 1 cart:{i}:meta 2")));
        b.ask(&words(&format!("SET user:{i} x")));
    }
    // Two slots at EXEC; the other client's keys are not part of it.
    a.ask(&["MULTI"]);
    b.ask(&["SET", "between", "1"]);
    a.ask(&["SET", "x", "1"]);
    b.ask(&["SET", "between", "2"]);
    a.ask(&["SET", "y", "\"\\x00"]);
    a.ask(&["EXEC"]);
    for discarded in ["MULTI", "SET never 1", "DISCARD"] {
        a.ask(&words(discarded));
    }
    // Its commands use the keys that it declares.
    let script = "redis.call('SET', KEYS[1], '1') redis.call('INCR', KEYS[2]) return redis.call('GET', KEYS[1])";
    a.ask(&["EVAL", script, "2", "{s}1", "{s}2"]);
    // If it declares none, the keys of its commands count: two slots.
    let script = "redis.call('SET', 'p', '1') return redis.call('SET', 'q', '1')";
    a.ask(&["EVAL", script, "0"]);
    b.ask(&["PING"]);
}

fn fanout(scratch: &Scratch, inputs: &str) -> Value {
    scratch.report(&format!("fanout --json {inputs}"))
}

/// The number of batches that end in `answer`.
fn ending(found: &Value, answer: &str) -> u64 {
    found["answers"].find("answer", answer)["batches"].whole()
}

#[test]
fn a_capture_of_monitor_is_read_command_by_command() {
    let (server, scratch) = (start(), Scratch::new());
    let file = scratch.path("node.monitor");
    let monitor = Monitor::start(&server, &file);
    use_it(&server);
    server.connect().call(&["ECHO", "the end"]);
    monitor.sees("the end");
    drop(monitor);
    let found = fanout(&scratch, "node.monitor");
    // 120 MSETs, 120 SETs and two between; the transaction, and two scripts.
    assert_eq!(found["batches"], 120 + 122 + 1 + 2, "{found}");
    assert_eq!(ending(&found, "crossslot"), 120 + 1 + 1);
    assert_eq!(ending(&found, "served"), 122 + 1);
    found.has(json!({"discarded": 1, "of_scripts": 3}));
    found.has(json!({"rejected": {"count": 0}, "unknown": 0}));
    assert!(found["without_keys"].as_u64() >= Some(2), "ECHO and PING");
    let worst = &found["worst"][0];
    worst.has(json!({"command": "mset", "batches": 120}));
    // In the protocol, a line begins with + and ends with CR; the capture may begin anywhere.
    let text = fs::read_to_string(&file).unwrap();
    let wire = text.lines().skip(1).map(|line| format!("+{line}\r\n"));
    scratch.file("wire", wire.collect::<String>());
    assert_eq!(fanout(&scratch, "wire"), found);
    let (_, rest) = text.split_once("\"MULTI\"\n").unwrap();
    scratch.file("rest", rest);
    let rest = fanout(&scratch, "rest --batches monitor");
    // Queued commands are counted one by one: x and y, with two between and two scripts.
    rest.has(json!({"torn_transactions": 1, "batches": 2 + 2 + 2}));
}

#[test]
fn an_append_only_file_is_read_command_by_command() {
    let (server, scratch) = (start(), Scratch::new());
    use_it(&server);
    let folder = server.folder().join("appendonlydir");
    let folder = folder.to_str().unwrap();
    let found = wait_for(|| {
        let found = fanout(&scratch, folder);
        match found["batches"].as_u64() {
            Some(count) if count >= 245 => Ok(found),
            count => Err(format!("{count:?} batches")),
        }
    });
    // The writes of a script are a transaction if there are several.
    assert_eq!(found["batches"], 120 + 122 + 1 + 2, "{found}");
    // x and y, p and q.
    assert_eq!(ending(&found, "crossslot"), 120 + 2);
    assert_eq!(ending(&found, "served"), 122 + 1);
    // The manifest names the files; the snapshot contains no commands.
    let passed_over = found["passed_over"].list();
    assert_eq!(passed_over.len(), 1, "{passed_over:?}");
    found.has(json!({"rejected": {"count": 0}, "incomplete": []}));
    let base = format!("{folder}/appendonly.aof.1.base.rdb");
    scratch.refuses(&format!("fanout {base} | it is a snapshot | .incr.aof"));
    // A crash leaves a truncated last command, and a transaction without EXEC.
    let incr = fs::read(format!("{folder}/appendonly.aof.1.incr.aof")).unwrap();
    scratch.file("torn.aof", &incr[..incr.len() - 5]);
    let torn = fanout(&scratch, "torn.aof");
    torn.has(json!({"torn_commands": 1, "torn_transactions": 1}));
    assert_eq!(torn["batches"], 120 + 122 + 1 + 1);
    // Damage in the middle is reported.
    let mut damaged = incr.clone();
    let at = incr.len() / 2;
    let at = at + incr[at..].iter().position(|byte| *byte == b'*').unwrap();
    damaged[at] = b'?';
    scratch.file("damaged.aof", damaged);
    let output = scratch.run("fanout damaged.aof");
    assert_eq!(code(&output), 2);
    stdout(&output).says("incomplete: damaged.aof: byte ");
}

#[test]
fn commands_that_are_not_known_are_counted_by_name() {
    let scratch = Scratch::new();
    let lines = "GET a\nJSON.NEW a b c $\njson.new x y $\nNEWCMD a b\nuser:1 user:2\n";
    scratch.file("batches", lines);
    let found = fanout(&scratch, "batches");
    found.has(json!({"batches": 2, "keys": 3, "unknown": 3}));
    let unknown = json!([["JSON.NEW", 2], ["NEWCMD", 1]]);
    assert_eq!(found["unknown_commands"].each("name count"), unknown);
    let warning = "warning: 3 commands with an unknown name, not counted: JSON.NEW 2,";
    scratch.text("fanout batches").says(warning);
    let monitor = "1.5 [0 a:1] \"FT.NEW\" \"idx\" \"q\"\n1.6 [0 a:1] \"get\" \"k\"\nnot a line\n";
    scratch.file("m", monitor);
    let found = fanout(&scratch, "m");
    found.has(json!({"unknown": 1, "batches": 1, "rejected": {"count": 1}}));
}

#[test]
fn a_key_that_a_script_did_not_declare_is_one_of_its_call() {
    let scratch = Scratch::new();
    let lines: String = (0..20)
        .map(|i| {
            format!(
                "1700000000.{i:06} [0 10.0.0.7:5] \"EVALSHA\" \"{sha}\" \"1\" \"bull:queue{i}:wait\"\n\
                 1700000000.{i:06} [0 lua] \"rpush\" \"bull:queue{i}:wait\" \"1\"\n\
                 1700000000.{i:06} [0 lua] \"hset\" \"bull:queue{i}:{i}\" \"d\" \"1\"\n",
                sha = "0".repeat(40)
            )
        })
        .collect();
    scratch.file("bull.monitor", lines);
    let found = fanout(&scratch, "bull.monitor");
    found.has(json!({"batches": 20, "keys": 40, "of_scripts": 40}));
    assert_eq!(ending(&found, "crossslot"), 20);
}
