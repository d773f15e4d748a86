//! Captures of real servers of each kind: MONITOR and the append-only file of a known workload contain the commands
//! sent.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use slotscope::slot::slot;

use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Client, Monitor, Reply, Server};

/// Runs a command that must succeed.
fn ask(client: &mut Client, command: &[&str]) {
    let reply = client.call(command);
    assert!(!matches!(reply, Reply::Error(_)), "{command:?}: {reply:?}");
}

/// A workload: operations by command and key, some of which only read.
#[derive(Default)]
struct Workload {
    done: BTreeMap<(&'static str, String), u64>,
}

impl Workload {
    fn did(&mut self, command: &'static str, key: &str) {
        *self.done.entry((command, key.into())).or_default() += 1;
    }

    fn by_command(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for ((command, _), ops) in self.done.iter().filter(|((command, _), _)| wanted(command)) {
            *sums.entry((*command).to_owned()).or_default() += ops;
        }
        sums
    }

    fn by_slot(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<usize, u64> {
        let mut sums = BTreeMap::new();
        for ((_, key), ops) in self.done.iter().filter(|((command, _), _)| wanted(command)) {
            *sums.entry(usize::from(slot(key.as_bytes()))).or_default() += ops;
        }
        sums
    }

    fn by_key(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for ((_, key), ops) in self.done.iter().filter(|((command, _), _)| wanted(command)) {
            *sums.entry(key.clone()).or_default() += ops;
        }
        sums
    }

    /// Runs it: a hot key, a hot tag, transactions, scripts, a function, a blocking command, and reads.
    fn run(server: &Server) -> Workload {
        let mut client = server.connect();
        let mut workload = Workload::default();
        ask(
            &mut client,
            &[
                "FUNCTION",
                "LOAD",
                "#!lua name=lib\nredis.register_function('put', function(keys) return redis.call('SET', keys[1], 'v') end)",
            ],
        );
        for i in 0..200 {
            let user = format!("user:{}", i % 50);
            ask(&mut client, &["SET", &user, "v\"\r\n\\"]);
            workload.did("set", &user);
            ask(&mut client, &["Get", &user]);
            workload.did("get", &user);
            ask(&mut client, &["INCR", "hot"]);
            workload.did("incr", "hot");
            let cart = [format!("{{cart}}:{i}"), format!("{{cart}}:{}", i + 1)];
            ask(&mut client, &["MSET", &cart[0], "1", &cart[1], "2"]);
            cart.iter().for_each(|key| workload.did("mset", key));
            ask(&mut client, &["PING"]);
            if i % 10 == 0 {
                ask(&mut client, &["MULTI"]);
                ask(&mut client, &["HSET", "{cart}:h", "f", &i.to_string()]);
                ask(&mut client, &["EXEC"]);
                workload.did("hset", "{cart}:h");
                let script = "redis.call('APPEND', KEYS[1], 'x') return 1";
                ask(&mut client, &["EVAL", script, "1", "by:script"]);
                workload.did("append", "by:script");
                ask(&mut client, &["FCALL", "put", "1", "by:function"]);
                workload.did("set", "by:function");
                ask(&mut client, &["RPUSH", "queue \u{1}\n", "a"]);
                workload.did("rpush", "queue \u{1}\n");
                ask(&mut client, &["BLPOP", "queue \u{1}\n", "1"]);
                workload.did("blpop", "queue \u{1}\n");
            }
        }
        ask(&mut client, &["SET", "the:end", "1"]);
        workload.did("set", "the:end");
        workload
    }
}

fn analyzed(paths: &[PathBuf]) -> Value {
    let paths: Vec<_> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let mut args = vec!["analyze", "--json", "--nodes", "3", "--top", "1000"];
    args.extend(paths);
    report(&slotscope(&args).output().unwrap())
}

fn commands_of(report: &Value) -> BTreeMap<String, u64> {
    let rows = report["operations"]["commands"].as_array();
    let rows = rows.unwrap_or_else(|| panic!("{}", report["input"])).iter();
    let row = |row: &Value| (row["command"].text().to_owned(), row["ops"].whole());
    rows.map(row).collect()
}

fn slots_of(report: &Value) -> BTreeMap<usize, u64> {
    let loads = report["slots"]["ops"].list().iter().enumerate();
    let taken = loads.map(|(slot, ops)| (slot, ops.whole()));
    taken.filter(|(_, ops)| *ops > 0).collect()
}

fn keys_of(report: &Value) -> BTreeMap<String, u64> {
    let rows = report["keys"]["top"].list().iter();
    let row = |row: &Value| (row["key"].text().to_owned(), row["ops"].whole());
    rows.map(row).collect()
}

#[test]
fn monitor_and_the_append_only_file_show_what_was_asked_of_servers_of_each_kind() {
    for kind in Kind::all() {
        let options = words(
            "--cluster-enabled no --appendonly yes --aof-timestamp-enabled yes --appendfsync always",
        );
        let server = kind.start(&options);
        let folder = Scratch::new();
        let file = folder.path("node.monitor");
        let monitor = Monitor::start(&server, &file);
        let workload = Workload::run(&server);
        monitor.sees("\"the:end\"");
        drop(monitor);

        let all = |_: &str| true;
        let found = analyzed(&[file]);
        assert_eq!(commands_of(&found), workload.by_command(all), "{kind:?}");
        assert_eq!(slots_of(&found), workload.by_slot(all), "{kind:?}");
        assert_eq!(keys_of(&found)["hot"], 200);
        assert_eq!(found["input"]["keys"], 0);
        let seconds = found["operations"]["to_ms"].whole() / 1000;
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        assert!(now.as_secs() - seconds < 600, "{seconds}");

        // The log has effects: no reads, and the effect of a blocking command.
        let is_write = |command: &str| command != "get";
        let logged = analyzed(&[server.folder().join("appendonlydir")]);
        let mut expected = workload.by_command(is_write);
        let popped = expected.remove("blpop").unwrap();
        expected.insert("lpop".into(), popped);
        assert_eq!(commands_of(&logged), expected, "{kind:?}");
        assert_eq!(slots_of(&logged), workload.by_slot(is_write), "{kind:?}");
        assert_eq!(
            keys_of(&logged)["{cart}:1"],
            workload.by_key(is_write)["{cart}:1"]
        );
        assert!(logged["operations"]["from_ms"].whole() / 1000 <= now.as_secs());
    }
}

#[test]
fn a_dump_and_a_capture_of_each_node_say_which_is_full_and_which_is_hot() {
    let scratch = Scratch::new();
    let mut parts = vec![(String::new(), String::new()); 2];
    for i in 0..4000 {
        // The first node owns more slots; a key on the second gets half of its traffic; some keys are only read.
        let key = format!("user:{i}");
        let place = usize::from(slot(key.as_bytes()) >= 10_000);
        let (dump, capture) = &mut parts[place];
        if i % 100 > 0 {
            *dump += &format!("\"{key}\"\n");
        }
        *capture += &format!("1795216373.{i:06} [0 10.0.0.1:5] \"GET\" \"{key}\"\n");
        if place == 1 {
            *capture += &format!("1795216373.{i:06} [0 10.0.0.1:5] \"GET\" \"user:8\"\n");
        }
    }
    assert!(slot(b"user:8") >= 10_000);
    let mut files = Vec::new();
    for (name, (dump, capture)) in ["a", "b"].iter().zip(&parts) {
        files.push(scratch.file(&format!("{name}.keys"), dump));
        files.push(scratch.file(&format!("{name}.monitor"), capture));
    }
    let files: Vec<_> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let args = [&["analyze", "--json"][..], &files].concat();
    let found = report(&slotscope(&args).output().unwrap());
    let lines = |texts: &dyn Fn(&(String, String)) -> usize| parts.iter().map(texts).sum::<usize>();
    let keys = lines(&|part| part.0.lines().count());
    let ops = lines(&|part| part.1.lines().count());
    assert_eq!(found["input"]["keys"], keys);
    assert_eq!(found["operations"]["ops"], ops);
    assert_eq!(found["operations"]["keys"], 4000);
    let absent = &found["operations"]["absent"];
    assert_eq!((&absent["keys"], &absent["ops"]), (&40.into(), &40.into()));
    assert_eq!(absent["looked_up"], ops);
    assert_eq!(absent["top"][0]["key"], "user:0");
    let nodes = found["nodes"]["list"].list();
    let loads: Vec<_> = nodes.iter().map(|node| node["ops"].whole()).collect();
    let ids: Vec<_> = nodes.iter().map(|node| node["id"].text()).collect();
    assert_eq!(ids, ["a", "b"]);
    // Some slots without keys have no owner.
    let unowned = found["nodes"]["unowned"]["ops"].whole();
    assert_eq!(loads[0] + loads[1] + unowned, ops as u64);
    assert!(unowned < 100 && loads[1] > loads[0], "{loads:?}, {unowned}");
    let verdicts = found["verdict"]["roles"].list();
    let by = |metric: &str| verdicts.iter().find(|of| of["metric"] == metric).unwrap();
    assert_eq!(by("keys")["fullest"]["node"], "a");
    assert_eq!(by("ops")["fullest"]["node"], "b");
    let causes = by("ops")["causes"].to_string();
    assert!(causes.contains("user:8"), "{causes}");
    assert_eq!(found["input"]["warnings"], serde_json::json!([]));
}

#[test]
fn a_base_that_is_no_snapshot_is_refused_with_the_files_to_name() {
    let scratch = Scratch::new();
    let command = "*2\r\n$4\r\nINCR\r\n$1\r\na\r\n";
    scratch.file("a.aof.1.base.aof", command);
    scratch.file("a.aof.1.incr.aof", command.repeat(3));
    scratch.file("a.aof.0.incr.aof", command.repeat(5));
    let listed = "file a.aof.0.incr.aof seq 0 type h\nfile a.aof.1.incr.aof seq 1 type i\n";
    scratch.file(
        "a.aof.manifest",
        format!("{listed}file a.aof.1.base.aof seq 1 type b\n"),
    );
    for path in [".", "a.aof.manifest"] {
        let said = scratch.run(&["analyze", path]);
        assert_fails(&said, &["a.aof.1.base.aof", "name the .incr.aof files"]);
    }
    // Without a base, the commands since then are read; history files are not.
    scratch.file("a.aof.manifest", listed);
    for path in [".", "a.aof.manifest"] {
        let found = scratch.report(&["analyze", "--json", path]);
        assert_eq!(found["operations"]["ops"], 3, "{path}");
    }
}

#[test]
fn commands_behind_an_rdb_file_are_operations_on_the_node_of_its_keys() {
    let options = ["--cluster-enabled", "no", "--appendonly", "yes"];
    let server = Server::start(&options);
    let mut client = server.connect();
    for i in 0..300 {
        ask(&mut client, &["SET", &format!("user:{i}"), "v"]);
    }
    ask(&mut client, &["SELECT", "0"]);
    ask(&mut client, &["SAVE"]);
    let snapshot = fs::read(server.folder().join("dump.rdb")).unwrap();
    let mut commands = String::from("*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n");
    for i in 0..40 {
        let name = format!("user:{}", i % 4);
        commands += &format!("*2\r\n$4\r\nINCR\r\n${}\r\n{name}\r\n", name.len());
    }
    // As written by servers before 7.0, and as sent to a replica.
    let mark = [b'a'; 40];
    for (between, torn) in [(&[][..], ""), (&mark[..], "*2\r\n$4\r\nIN")] {
        let scratch = Scratch::new();
        let content = [&snapshot, between, commands.as_bytes(), torn.as_bytes()].concat();
        let file = scratch.file("appendonly.aof", content);
        let found = analyzed(std::slice::from_ref(&file));
        assert_eq!(found["input"]["keys"], 300);
        assert_eq!(found["operations"]["ops"], 40);
        assert_eq!(slots_of(&found)[&usize::from(slot(b"user:3"))], 10);
        assert_eq!(found["input"]["incomplete"], serde_json::json!([]));
        let notes = found["input"]["notes"].to_string();
        assert!(notes.contains("followed by commands"), "{notes}");
        assert_eq!(notes.contains("cut off at the end"), !torn.is_empty());
        // Only the names of keys are checked.
        let linted = scratch.run(&["lint", "appendonly.aof", "--json"]);
        assert!(stdout(&linted).contains("\"keys\":300,"), "{linted:?}");
        let damaged = [&snapshot, between, b"*1\r\n:5\r\n".as_slice()].concat();
        scratch.file("damaged.aof", damaged);
        let said = scratch.run(&["analyze", "damaged.aof", "--json"]);
        assert_eq!(said.status.code(), Some(2));
        assert!(stdout(&said).contains("\"keys\":300,"));
    }
}

#[test]
fn operations_on_keys_that_no_dump_has_are_counted_in_any_order_of_the_inputs() {
    let scratch = Scratch::new();
    let long = |last: u32| format!("{}{last}", "k".repeat(600));
    let line = |key: &str| format!("1795216373.1 [0 10.0.0.1:5] \"GET\" \"{key}\"\n");
    let mut capture: String = (0..50)
        .flat_map(|i| vec![line(&format!("user:{i}")); i + 1])
        .collect();
    capture += &line(&long(1));
    capture += &line("\\x00\\n");
    scratch.file("a.monitor", capture);
    let keys = (0..30).map(|i| format!("\"user:{i}\"\n"));
    let keys: String = keys.chain([format!("\"{}\"\n", long(1))]).collect();
    scratch.file("a.keys", keys);
    let found = |args: &[&str]| {
        let args = [&["analyze", "--json", "--nodes", "3"][..], args].concat();
        scratch.report(&args)["operations"].clone()
    };
    let expected = found(&["a.keys", "a.monitor"]);
    let absent = &expected["absent"];
    let missing: u64 = (31..=50).sum::<u64>() + 1;
    absent.has(json!({"keys": 21, "ops": missing}));
    assert_eq!(absent["top"][0]["key"], "user:49");
    assert_eq!(absent["top"][20]["key"], "\\x00\\n");
    assert_eq!(absent["looked_up"], expected["ops"]);
    for args in [
        &["a.monitor", "a.keys"][..],
        &["a.monitor", "a.keys", "--threads", "4"],
        &["a.monitor", "a.keys", "--threads", "1"],
    ] {
        assert_eq!(found(args), expected, "{args:?}");
    }
    // A long key that differs after the retained start of its name has another slot.
    scratch.file("b.keys", format!("\"{}\"\n", long(2)));
    assert_eq!(found(&["b.keys", "a.monitor"])["absent"]["keys"], 52);
    for args in [
        &["a.monitor"][..],
        &["a.keys", "a.monitor", "--one-pass"],
        &["a.keys", "a.monitor", "--only", "slots"],
    ] {
        assert!(found(args).get("absent").is_none(), "{args:?}");
    }
    let text = scratch.run(&["analyze", "a.keys", "a.monitor", "--full", "--no-files"]);
    let text = stdout(&text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let sentence = "are on 21 keys that no dump has, which expired, are newer than the dump, or never existed: most on user:49 (50),";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn of_more_keys_than_a_table_holds_those_that_are_known_by_name_are_looked_up() {
    let scratch = Scratch::new();
    let line = |key: &str| format!("1795216373.1 [0 10.0.0.1:5] \"GET\" \"{key}\"\n");
    let many: String = (0..100_000).map(|i| line(&format!("user:{i}"))).collect();
    let hot = [line("gone").repeat(5000), line("user:7").repeat(5000)].concat();
    scratch.file("a.monitor", many + &hot);
    let keys: String = (0..100_000).map(|i| format!("\"user:{i}\"\n")).collect();
    scratch.file("a.keys", keys);
    let found = scratch.report(&["analyze", "--json", "a.keys", "a.monitor"]);
    let (operations, absent) = (&found["operations"], &found["operations"]["absent"]);
    assert_eq!(operations["ops"], 110_000);
    assert!(absent["looked_up"].as_u64() < operations["ops"].as_u64());
    assert_eq!(absent["keys"], 1);
    assert_eq!(absent["top"][0]["key"], "gone");
    let ops = absent["ops"].whole();
    assert!((4900..=5000).contains(&ops), "{ops}");
}
