//! Lists of extremes from real servers: each key has its entries in them, and nothing is judged by them.

use slotscope::slot::slot;

use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Client, Reply, Server};

/// Runs a command that must succeed.
fn ask(client: &mut Client, command: &[&str]) {
    let reply = client.call(command);
    assert!(!matches!(reply, Reply::Error(_)), "{command:?}: {reply:?}");
}

/// A report on `inputs`, which are files in `scratch`.
fn analyzed(scratch: &Scratch, inputs: &[&str]) -> Value {
    let args = [&["analyze", "--json", "--nodes", "3"][..], inputs].concat();
    scratch.report(&args)
}

/// The list by `by`.
fn list<'r>(report: &'r Value, by: &str) -> &'r Value {
    let lists = report["extremes"].as_array();
    let mut lists = lists
        .unwrap_or_else(|| panic!("{}", report["input"]))
        .iter();
    lists.find(|list| list["by"] == by).unwrap()
}

fn key<'l>(list: &'l Value, name: &str) -> &'l Value {
    let mut keys = list["keys"].list().iter();
    let found = keys.find(|key| key["key"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {list}"))
}

#[test]
fn command_logs_of_servers_of_each_kind_say_where_slow_keys_are() {
    for kind in Kind::all() {
        let options = ["--cluster-enabled", "no", "--slowlog-log-slower-than", "0"];
        let server = kind.start(&options);
        let mut client = server.connect();
        ask(&mut client, &["SLOWLOG", "RESET"]);
        ask(&mut client, &["MSET", "{t}:1", "v", "{t}:2", "v\n\""]);
        ask(&mut client, &["SET", "\"quoted\" \u{1}\n", "v"]);
        for _ in 0..20 {
            ask(&mut client, &["GET", "{t}:1"]);
        }
        ask(&mut client, &["SET", &"k".repeat(200), "v"]);
        let numbers: Vec<String> = (0..60).map(|number| number.to_string()).collect();
        let mut many = vec!["DEL"];
        many.extend(numbers.iter().map(String::as_str));
        ask(&mut client, &many);
        ask(&mut client, &["EVAL", "return 1", "1", "by:script"]);

        let scratch = Scratch::new();
        scratch.file(
            "terminal",
            server.redis_cli(&["--no-raw", "SLOWLOG", "GET", "100"]),
        );
        let refused = scratch.run(&["analyze", "terminal"]);
        testkit::run::assert_fails(&refused, &["--json SLOWLOG GET"]);
        let mut forms = vec![("json", vec!["--json", "SLOWLOG", "GET", "100"])];
        if kind == Kind::Valkey91 {
            forms.push((
                "commandlog",
                vec!["--json", "COMMANDLOG", "GET", "100", "slow"],
            ));
        }
        for (form, command) in forms {
            scratch.file(form, server.redis_cli(&command));
            let found = analyzed(&scratch, &[form]);
            let logged = list(&found, "logged");
            let hot = key(logged, "{t}:1");
            assert_eq!(
                (&hot["entries"], &hot["slot"], &hot["tag"], &hot["node"]),
                (
                    &json!(21),
                    &json!(slot(b"t")),
                    &json!("t"),
                    &json!("even-3")
                ),
                "{kind:?} {form}"
            );
            assert!(hot["amount"].is_u64());
            for (name, entries) in [("\"quoted\" \\x01\\n", 1), ("by:script", 1), ("29", 1)] {
                assert_eq!(key(logged, name)["entries"], entries, "{kind:?} {form}");
            }
            // The first 30 keys of DEL are logged.
            assert_eq!(logged["keys"].list().len(), 4 + 30);
            let rejected = &found["input"]["rejected"];
            assert_eq!(rejected["count"], 2, "{rejected}");
            let times = [&logged["from_ms"], &logged["to_ms"]].map(|at| at.whole());
            assert!(times[0] <= times[1] && times[1] % 1000 == 0);
            assert_eq!(found["verdict"]["state"], "empty");
            assert_eq!(found["input"]["files"][0]["format"], "command-log");
            assert_eq!(found["input"]["warnings"], json!([]));
        }
    }
}

#[test]
fn what_redis_cli_finds_is_where_the_server_has_it() {
    let options = words("--cluster-enabled no --maxmemory 100mb --maxmemory-policy allkeys-lfu");
    let server = Server::start(&options);
    let mut client = server.connect();
    ask(&mut client, &["SET", "hot \"key\"\n", "v"]);
    ask(&mut client, &["RPUSH", "{t}:list", "a", "b", "c"]);
    ask(&mut client, &["SET", "large", &"v".repeat(5000)]);
    for _ in 0..2000 {
        ask(&mut client, &["GET", "hot \"key\"\n"]);
    }
    let freq = match client.call(&["OBJECT", "FREQ", "hot \"key\"\n"]) {
        Reply::Int(freq) => freq as u64,
        other => panic!("{other:?}"),
    };
    let scratch = Scratch::new();
    for flag in ["--hotkeys", "--memkeys", "--bigkeys"] {
        scratch.file(flag.trim_start_matches('-'), server.redis_cli(&[flag]));
    }
    let found = analyzed(&scratch, &["hotkeys", "memkeys", "bigkeys"]);
    let hot = key(list(&found, "accesses"), "hot \"key\"\\n");
    assert_eq!(hot["amount"], 1 + 10 * (freq - 5));
    assert_eq!(hot["slot"], slot(b"hot \"key\"\n"));
    let elements = key(list(&found, "elements"), "{t}:list");
    elements.has(json!({"amount": 3, "tag": "t"}));
    // Memory and length are shown as means.
    let bytes = key(list(&found, "bytes"), "large");
    assert_eq!(bytes["entries"], 2);
    assert!(bytes["amount"].whole() >= 5000);
    assert_eq!(found["input"]["rejected"]["count"], 0);
}

#[test]
fn lists_next_to_a_dump_mark_its_keys_and_change_no_number() {
    let scratch = Scratch::new();
    // The last ones are heavy enough to be listed.
    let size = |i: usize| if i < 2990 { 100 + i } else { 100_000 + i };
    let rows: String = (0..3000)
        .map(|i| format!("{{\"key\":\"user:{i}\",\"size\":{}}}\n", size(i)))
        .collect();
    scratch.file("dump.jsonl", rows);
    let hotkeys = r#"[{"tracking-active":1,"by-cpu-time-us":["user:2999",70,"gone",9],"by-net-bytes":["user:2998",8]}]"#;
    scratch.file("hotkeys.json", hotkeys);
    scratch.file(
        "qps.json",
        r#"[{"key":"user:2999","db":0,"qps":12.6},{"key":"{t}:b","db":3,"qps":1}]"#,
    );
    let alone = analyzed(&scratch, &["dump.jsonl"]);
    let found = analyzed(&scratch, &["dump.jsonl", "hotkeys.json", "qps.json"]);
    for part in [
        "verdict", "slots", "nodes", "tags", "keys", "patterns", "sizes",
    ] {
        let mut expected = alone[part].clone();
        // The commands of steps name all inputs.
        let (expected, found) = (&mut expected, &mut found[part].clone());
        for verdict in [&mut *expected, &mut *found] {
            let steps = verdict.get_mut("steps").and_then(Value::as_array_mut);
            steps.into_iter().flatten().for_each(without_command);
        }
        assert_eq!(found, expected, "{part}");
    }
    assert_eq!(key(list(&found, "cpu_time"), "gone")["amount"], 9);
    assert_eq!(key(list(&found, "lookups"), "user:2999")["amount"], 13);
    let files = ["dump.jsonl", "hotkeys.json", "qps.json"];
    let text = scratch.run(&[&["analyze", "--full", "--no-files"][..], &files].concat());
    let line = |start: &str| {
        let mut lines = stdout(&text).lines();
        lines
            .find(|line| line.trim_start().starts_with(start))
            .unwrap_or_else(|| panic!("{}", stdout(&text)))
            .to_owned()
    };
    assert!(
        line("user:2999 ").ends_with("CPU time, lookups"),
        "{}",
        line("user:2999 ")
    );
    assert!(line("user:2998 ").ends_with("network traffic"));
    assert!(!line("user:2997 ").contains("lookups"));
    // A single database may be requested.
    let args = ["analyze", "--json", "--db", "3", "qps.json"];
    let of_three = scratch.report(&args);
    assert_eq!(list(&of_three, "lookups")["entries"], 1);
}

#[test]
fn lists_alone_are_no_verdict_in_any_form_of_the_report() {
    let scratch = Scratch::new();
    let rows: Vec<String> = (0..16)
        .map(|i| format!("\"{{hot}}:{i}\",{}", 100 - i))
        .collect();
    let hotkeys = format!("[{{\"by-cpu-time-us\":[{}]}}]", rows.join(","));
    scratch.file("hotkeys.json", hotkeys);
    let said = scratch.run(&["analyze", "hotkeys.json", "--out", "out"]);
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    let page = scratch.read("out/report.html");
    for text in [stdout(&said), &page] {
        assert!(text.contains("only lists of the hottest"), "{text}");
        assert!(text.contains("{hot}:0"));
    }
    assert_contains(stdout(&said), &[" 16; of tags: {hot} 16"]);
    // A check has no basis.
    let said = scratch.run(&words(
        "analyze hotkeys.json --no-files --fail-on 'verdict >= watch'",
    ));
    assert_eq!(code(&said), 2);
    let text = "slotscope: hotkeys.json: ";
    for command in ["lint", "timeline"] {
        let said = scratch.run(&[command, "hotkeys.json"]);
        assert_eq!(code(&said), 2, "{command}");
        assert!(stderr(&said).starts_with(text), "{}", stderr(&said));
    }
}
