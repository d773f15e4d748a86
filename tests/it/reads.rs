//! The step for a hot key depends on the operations on this key, not on those of the whole capture.

use testkit::prelude::*;

/// A capture of three nodes in which one key has three fifths of the operations, a part of which are reads; for all
/// others it is the reverse.
fn analyzed(reads_of_hot: u64) -> Value {
    let command = |i: u64, reads: u64| if i % 10 < reads { "GET" } else { "INCR" };
    let line = |i: u64| {
        let at = 1_790_000_000.0 + i as f64 / 2000.0;
        let (key, command) = if i % 5 < 3 {
            ("hot".to_owned(), command(i / 5, reads_of_hot))
        } else {
            let key = format!("key:{}", i * 7919 % 5000);
            (key, command(i / 5, 10 - reads_of_hot))
        };
        format!("{at:.6} [0 127.0.0.1:50000] \"{command}\" \"{key}\"\n")
    };
    let scratch = Scratch::new();
    let lines: String = (0..60_000).map(line).collect();
    scratch.file("all.monitor", format!("OK\n{lines}"));
    scratch.report("analyze all.monitor --nodes 3 --json")
}

/// The first step for the application.
fn change(report: &Value) -> &Value {
    report["verdict"]["steps"].find("by", "application")
}

#[test]
fn a_key_that_is_read_is_cached_and_one_that_is_written_is_split() {
    let read = analyzed(10);
    read["keys"]["top"].has(json!([{"key": "hot", "reads": 1.0}, {"reads": 0.0}]));
    change(&read).has(json!({"kind": "cache"}));
    change(&read)["sentence"].text().says("100");
    let written = analyzed(0);
    assert_eq!(written["keys"]["top"][0]["reads"], 0.0);
    change(&written).has(json!({"kind": "split", "alternatives": null}));
    let both = analyzed(7);
    change(&both).has(json!({"kind": "cache"}));
    change(&both)["sentence"].text().says("70");
    // The rest is evened out by moves.
    both["verdict"]["steps"].find("kind", "move");
}
