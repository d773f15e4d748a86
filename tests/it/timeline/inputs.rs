//! Other kinds of inputs, and odd times.

use std::fmt::Write as _;

use super::timeline;
use testkit::prelude::*;
use testkit::timeline::{START, capture, seconds};

#[test]
fn an_operation_is_counted_at_its_time_whatever_comes_before_it() {
    let scratch = Scratch::new();
    let mut seconds = seconds(7);
    seconds.swap(10, 50);
    let found = timeline(&[&capture(&scratch, "node.monitor", &seconds)]);
    assert_eq!(found["buckets"][10]["ops"], seconds[50].len());
}

#[test]
fn input_without_times_is_refused_with_the_way_out() {
    let scratch = Scratch::new();
    let keys = scratch.file("keys.txt", "a\nb\n").display().to_string();
    let output = slotscope(&["timeline", &keys]).output().unwrap();
    assert_fails(&output, &["keys.txt", "have no time", "redis-cli MONITOR"]);
    let both = capture(&scratch, "node.monitor", &seconds(1)[..5]);
    let output = slotscope(&["timeline", &both, &keys]).output().unwrap();
    assert_fails(&output, &["keys.txt", "have no time"]);
}

#[test]
fn an_append_only_file_has_the_times_of_its_lines() {
    let scratch = Scratch::new();
    let command = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nv\r\n";
    let text = format!(
        "{command}{command}#TS:{START}\r\n{command}{command}#TS:{}\r\n{command}",
        START + 2
    );
    let file = scratch.file("incr.aof", text).display().to_string();
    let found = timeline(&[&file]);
    let ops: Vec<_> = found["buckets"]
        .list()
        .iter()
        .map(|bucket| &bucket["ops"])
        .collect();
    assert_eq!(ops, [2, 0, 1]);
    assert_eq!(found["untimed"], 2);
    let without = scratch
        .file("without.aof", command.repeat(2))
        .display()
        .to_string();
    let output = slotscope(&["timeline", &without]).output().unwrap();
    output.refused("without.aof | have no time | aof-timestamp-enabled");
}

#[test]
fn of_an_append_only_directory_the_commands_are_counted_and_not_the_keys_before_them() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("aof")).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(scratch.path("aof").join(name), bytes).unwrap();
    };
    write(
        "a.aof.manifest",
        b"file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n",
    );
    write(
        "a.1.base.rdb",
        b"REDIS0011\xFE\x00\x00\x01k\x01v\xFF\0\0\0\0\0\0\0\0",
    );
    let text = format!("#TS:{START}\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nv\r\n");
    write("a.1.incr.aof", text.as_bytes());
    let found = timeline(&[&scratch.path("aof").display().to_string()]);
    assert_eq!((&found["ops"], &found["untimed"]), (&1.into(), &0.into()));
    let notes = found["notes"].to_string();
    assert_contains(&notes, &["passed over", "a.1.base.rdb"]);
}

#[test]
fn a_pipe_has_slots_and_bursts_without_names() {
    let text = seconds(8).concat().concat();
    let output = feed(slotscope(&["timeline", "--json"]), text.as_bytes());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["bursts"].list().len(), 1);
    assert!(found.get("tags").is_none() && found["bursts"][0].get("tag").is_none());
    assert_contains(found["notes"][0].text(), &["a pipe is read once"]);
}

#[test]
fn times_of_any_size_neither_panic_nor_take_memory() {
    let mut text = String::new();
    for time in [
        "0.000001",
        "1.5",
        "99999999999.000000",
        "253402300799.999999",
        "1795242395.1",
    ] {
        let _ = writeln!(text, "{time} [0 10.0.0.7:1] \"GET\" \"a\"");
    }
    let output = feed(slotscope(&["timeline", "--json"]), text.as_bytes());
    if code(&output) == 0 {
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(found["buckets"].list().len() <= 400);
    }
}
