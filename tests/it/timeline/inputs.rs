//! Other kinds of inputs, and odd times.

use super::timeline;
use testkit::prelude::*;
use testkit::timeline::{START, capture, seconds};

#[test]
fn an_operation_is_counted_at_its_time_whatever_comes_before_it() {
    let scratch = Scratch::new();
    let mut seconds = seconds(7);
    seconds.swap(10, 50);
    capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&scratch, "node.monitor");
    assert_eq!(found["buckets"][10]["ops"], seconds[50].len());
}

#[test]
fn input_without_times_is_refused_with_the_way_out() {
    let scratch = Scratch::new();
    scratch.file("keys.txt", "a\nb\n");
    capture(&scratch, "node.monitor", &seconds(1)[..5]);
    scratch.refuses(
        "timeline keys.txt | keys.txt | have no time | redis-cli MONITOR
         timeline node.monitor keys.txt | keys.txt | have no time",
    );
}

#[test]
fn an_append_only_file_has_the_times_of_its_lines() {
    let scratch = Scratch::new();
    let command = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nv\r\n";
    let (two, later) = (command.repeat(2), START + 2);
    scratch.file(
        "incr.aof",
        format!("{two}#TS:{START}\r\n{two}#TS:{later}\r\n{command}"),
    );
    let found = timeline(&scratch, "incr.aof");
    assert_eq!(found["buckets"].each("ops"), json!([2, 0, 1]));
    assert_eq!(found["untimed"], 2);
    scratch.file("without.aof", two);
    scratch.refuses("timeline without.aof | without.aof | have no time | aof-timestamp-enabled");
}

#[test]
fn of_an_append_only_directory_the_commands_are_counted_and_not_the_keys_before_them() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("aof")).unwrap();
    let manifest = "file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n";
    let snapshot = b"REDIS0011\xFE\x00\x00\x01k\x01v\xFF\0\0\0\0\0\0\0\0";
    let text = format!("#TS:{START}\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nv\r\n");
    scratch.file("aof/a.aof.manifest", manifest);
    scratch.file("aof/a.1.base.rdb", snapshot);
    scratch.file("aof/a.1.incr.aof", text);
    let found = timeline(&scratch, "aof");
    found.has(json!({"ops": 1, "untimed": 0}));
    found["notes"]
        .to_string()
        .says("passed over")
        .says("a.1.base.rdb");
}

#[test]
fn a_pipe_has_slots_and_bursts_without_names() {
    let text = seconds(8).concat().concat();
    let found = report(&feed(slotscope("timeline --json"), text.as_bytes()));
    assert_eq!(found["bursts"].list().len(), 1);
    assert!(found.get("tags").is_none() && found["bursts"][0].get("tag").is_none());
    found["notes"][0].text().says("a pipe is read once");
}

#[test]
fn times_of_any_size_neither_panic_nor_take_memory() {
    let times = [
        "0.000001",
        "1.5",
        "99999999999.000000",
        "253402300799.999999",
        "1795242395.1",
    ];
    let text: String = times
        .map(|time| format!("{time} [0 10.0.0.7:1] \"GET\" \"a\"\n"))
        .concat();
    let output = feed(slotscope("timeline --json"), text.as_bytes());
    if code(&output) == 0 {
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(found["buckets"].list().len() <= 400);
    }
}
