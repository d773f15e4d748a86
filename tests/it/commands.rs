//! Small commands: keyslot, bench, completions, man, and help.

use testkit::prelude::*;

#[test]
fn bench_checks_and_times_every_kernel() {
    let scratch = Scratch::new();
    let args = words("bench --rounds 1 --threads 2 --json");
    let output = scratch.run(&args);
    let json = report(&output);
    assert_eq!(json["schema"], "slotscope.bench/1");
    for kernel in hashslot::available() {
        let rows = json["kernels"]
            .list()
            .iter()
            .filter(|row| row["kernel"] == kernel.name);
        let rates: Vec<f64> = rows.map(|row| row["keys_per_sec"].float()).collect();
        assert!(
            rates.len() >= 20 && rates.iter().all(|rate| *rate > 1e3),
            "{}: {rates:?}",
            kernel.name
        );
    }
}

#[test]
fn keyslot_answers_as_the_server_does() {
    let scratch = Scratch::new();
    let output = scratch.run(&["keyslot", "123456789", "{user}::10086", "", "a\tb"]);
    assert_eq!(
        stdout(&output),
        "12739\t123456789\n5474\t{user}::10086\n0\t\n6695\ta\\tb\n"
    );
    let output = scratch.piped(&["keyslot"], b"foo\n{user1000}.following\n");
    assert_eq!(stdout(&output), "12182\tfoo\n3443\t{user1000}.following\n");
    let output = scratch.run(&["keyslot", "--nodes", "3", "foo"]);
    assert_eq!(stdout(&output), "12182\tfoo\teven-3\n");
    let output = scratch.run(&["keyslot", "--json", "foo", "{a\\}"]);
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines[0],
        serde_json::json!({"key": "foo", "slot": 12182, "tag": null})
    );
    assert_eq!(lines[1]["tag"], "a\\\\");
    let output = scratch.run(&["keyslot", "--json", "--nodes", "2", "foo"]);
    assert_eq!(
        serde_json::from_str::<Value>(stdout(&output)).unwrap()["node"],
        "even-2"
    );
}

#[test]
fn keyslot_keeps_the_order_of_a_long_dump() {
    let scratch = Scratch::new();
    let keys: String = (0..300_000).map(|i| format!("key:{i}\n")).collect();
    let output = scratch.piped(&["keyslot"], keys.as_bytes());
    let shown: String = stdout(&output)
        .lines()
        .map(|line| format!("{}\n", line.split_once('\t').unwrap().1))
        .collect();
    assert!(shown == keys, "order or keys differ");
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = scratch.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            stdout(&output).contains("keyslot") && stdout(&output).contains("topology"),
            "{shell}"
        );
    }
    let page = scratch.run(&["man"]);
    stdout(&page).begins(".ie").says(".TH slotscope");
    assert!(stdout(&scratch.run(&["man", "analyze"])).contains("\\-\\-topology"));
    scratch
        .run(&["man", "no\nthing\u{1b}"])
        .refused("no\\nthing\\x1b | keyslot, find-tag");
}

#[test]
fn help_and_format_help_are_results() {
    let scratch = Scratch::new();
    for args in [&["--help"][..], &["analyze", "--help"], &["--version"]] {
        let output = scratch.run(args);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    }
    for command in ["analyze", "keyslot"] {
        let output = scratch.run(&[command, "--format", "help"]);
        for format in slotscope::format::FORMATS {
            assert!(
                stdout(&output).contains(format.name())
                    && stdout(&output).contains(format.example())
            );
        }
    }
    assert_eq!(
        scratch.run(&["analyze", "--nonsense"]).status.code(),
        Some(2)
    );
}

#[test]
fn keyslot_names_the_node_of_a_topology() {
    let scratch = Scratch::new();
    scratch.file(
        "two.nodes",
        b"aa 10.0.0.1:1@2 master - 0 0 1 connected 0-12181\nbb 10.0.0.2:1@2 master - 0 0 2 connected 12182\n",
    );
    let output = scratch.run(&words("keyslot --topology two.nodes foo name 123456789"));
    assert_eq!(
        stdout(&output),
        "12182\tfoo\t10.0.0.2:1\n5798\tname\t10.0.0.1:1\n12739\t123456789\t\n"
    );
}
