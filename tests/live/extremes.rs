//! Lists of extremes from real servers: each key has its entries in them, and nothing is judged by them.

use slotscope::slot::slot;

use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::Server;

/// A report on `inputs`, which are files in `scratch`.
fn analyzed(scratch: &Scratch, inputs: &str) -> Value {
    scratch.report(&format!("analyze --json --nodes 3 {inputs}"))
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
        println!("{kind:?}");
        let options = words("--cluster-enabled no --slowlog-log-slower-than 0");
        let (server, scratch) = (kind.start(&options), Scratch::new());
        let mut client = server.connect();
        client.ask(&["SLOWLOG", "RESET"]);
        client.ask(&["MSET", "{t}:1", "v", "{t}:2", "v\n\""]);
        client.ask(&["SET", "\"quoted\" \u{1}\n", "v"]);
        (0..20).for_each(|_| drop(client.ask(&["GET", "{t}:1"])));
        client.ask(&["SET", &"k".repeat(200), "v"]);
        let numbers: Vec<String> = (0..60).map(|number| number.to_string()).collect();
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        client.ask(&[&["DEL"], &numbers[..]].concat());
        client.ask(&["EVAL", "return 1", "1", "by:script"]);

        let terminal = server.redis_cli(&words("--no-raw SLOWLOG GET 100"));
        scratch.file("terminal", terminal);
        scratch.refuses("analyze terminal | --json SLOWLOG GET");
        let commands = ["--json SLOWLOG GET 100", "--json COMMANDLOG GET 100 slow"];
        for command in &commands[..1 + usize::from(kind == Kind::Valkey91)] {
            println!("{command}");
            scratch.file("json", server.redis_cli(&words(command)));
            let found = analyzed(&scratch, "json");
            let logged = list(&found, "logged");
            let hot = key(logged, "{t}:1");
            hot.has(json!({"entries": 21, "slot": slot(b"t"), "tag": "t", "node": "even-3"}));
            assert!(hot["amount"].is_u64());
            for name in ["\"quoted\" \\x01\\n", "by:script", "29"] {
                assert_eq!(key(logged, name)["entries"], 1);
            }
            // The first 30 keys of DEL are logged.
            assert_eq!(logged["keys"].list().len(), 4 + 30);
            let times = [&logged["from_ms"], &logged["to_ms"]].map(|at| at.whole());
            assert!(times[0] <= times[1] && times[1] % 1000 == 0);
            assert_eq!(found["verdict"]["state"], "empty");
            let files = json!([{"format": "command-log"}]);
            found["input"].has(json!({"rejected": {"count": 2}, "files": files, "warnings": []}));
        }
    }
}
#[test]
fn what_redis_cli_finds_is_where_the_server_has_it() {
    let options =
        "--cluster-enabled no --maxmemory 100mb --maxmemory-policy allkeys-lfu --lfu-decay-time 0";
    let server = Server::start(&words(options));
    let (scratch, name) = (Scratch::new(), "hot \"key\"\n");
    let mut client = server.connect();
    client.ask(&["SET", name, "v"]);
    client.ask(&["RPUSH", "{t}:list", "a", "b", "c"]);
    client.ask(&["SET", "large", &"v".repeat(5000)]);
    (0..2000).for_each(|_| drop(client.ask(&["GET", name])));
    let freq = client.ask(&["OBJECT", "FREQ", name]).int();
    for of in ["hotkeys", "memkeys", "bigkeys"] {
        scratch.file(of, server.redis_cli(&[&format!("--{of}")]));
    }
    let found = analyzed(&scratch, "hotkeys memkeys bigkeys");
    let hot = key(list(&found, "accesses"), "hot \"key\"\\n");
    hot.has(json!({"amount": 1 + 10 * (freq - 5), "slot": slot(name.as_bytes())}));
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
    let row = |i| format!("{{\"key\":\"user:{i}\",\"size\":{}}}\n", size(i));
    scratch.file("dump.jsonl", (0..3000).map(row).collect::<String>());
    let hotkeys = r#"[{"tracking-active":1,"by-cpu-time-us":["user:2999",70,"gone",9],"by-net-bytes":["user:2998",8]}]"#;
    scratch.file("hotkeys.json", hotkeys);
    let qps = r#"[{"key":"user:2999","db":0,"qps":12.6},{"key":"{t}:b","db":3,"qps":1}]"#;
    scratch.file("qps.json", qps);
    let files = "dump.jsonl hotkeys.json qps.json";
    let (alone, found) = (analyzed(&scratch, "dump.jsonl"), analyzed(&scratch, files));
    for part in words("verdict slots nodes tags keys patterns sizes") {
        let [alone, found] = [&alone, &found].map(|report| {
            let mut part = report[part].clone();
            // The commands of steps name all inputs.
            let steps = part.get_mut("steps").and_then(Value::as_array_mut);
            steps.into_iter().flatten().for_each(without_command);
            part
        });
        assert_eq!(found, alone, "{part}");
    }
    assert_eq!(key(list(&found, "cpu_time"), "gone")["amount"], 9);
    assert_eq!(key(list(&found, "lookups"), "user:2999")["amount"], 13);
    let text = scratch.text(&format!("analyze --full --no-files {files}"));
    let line = |start: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.trim_start().starts_with(start));
        line.unwrap_or_else(|| panic!("{text}"))
    };
    line("user:2999 ").ends("CPU time, lookups");
    line("user:2998 ").ends("network traffic");
    line("user:2997 ").lacks("lookups");
    // A single database may be requested.
    let of_three = scratch.report("analyze --json --db 3 qps.json");
    assert_eq!(list(&of_three, "lookups")["entries"], 1);
}
#[test]
fn lists_alone_are_no_verdict_in_any_form_of_the_report() {
    let scratch = Scratch::new();
    let rows = (0..16).map(|i| format!("\"{{hot}}:{i}\",{}", 100 - i));
    let rows = rows.collect::<Vec<_>>().join(",");
    scratch.file("hotkeys.json", format!("[{{\"by-cpu-time-us\":[{rows}]}}]"));
    let said = scratch.text("analyze hotkeys.json --out out");
    for text in [&said, &scratch.read("out/report.html")] {
        text.says("only lists of the hottest").says("{hot}:0");
    }
    said.says(" 16; of tags: {hot} 16");
    // A check has no basis.
    let check = "analyze hotkeys.json --no-files --fail-on 'verdict >= watch'";
    assert_eq!(code(&scratch.run(check)), 2);
    for command in ["lint hotkeys.json", "timeline hotkeys.json"] {
        let said = scratch.run(command);
        assert_eq!(code(&said), 2, "{command}");
        stderr(&said).begins("slotscope: hotkeys.json: ");
    }
}
