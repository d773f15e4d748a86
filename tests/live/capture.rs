//! Captures of real servers of each kind: MONITOR and the append-only file of a known workload contain the commands
//! sent.

use std::collections::BTreeMap;

use slotscope::slot::slot;

use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Monitor, Server};

/// A workload: operations by command and key, some of which only read.
#[derive(Default)]
struct Workload {
    done: BTreeMap<(&'static str, String), u64>,
}

impl Workload {
    fn did(&mut self, command: &'static str, key: &str) {
        *self.done.entry((command, key.into())).or_default() += 1;
    }

    /// The sums of wanted commands by something of command and key.
    fn sums<B: Ord>(
        &self,
        wanted: impl Fn(&str) -> bool,
        by: impl Fn(&str, &str) -> B,
    ) -> BTreeMap<B, u64> {
        let mut sums = BTreeMap::new();
        for ((command, key), ops) in self.done.iter().filter(|((command, _), _)| wanted(command)) {
            *sums.entry(by(command, key)).or_default() += ops;
        }
        sums
    }

    fn by_command(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<String, u64> {
        self.sums(wanted, |command, _| command.to_owned())
    }

    fn by_slot(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<usize, u64> {
        self.sums(wanted, |_, key| usize::from(slot(key.as_bytes())))
    }
    /// Runs it: a hot key, a hot tag, transactions, scripts, a function, a blocking command, and reads.
    fn run(server: &Server) -> Workload {
        let mut client = server.connect();
        let mut workload = Workload::default();
        let code = "#!lua name=lib\nredis.register_function('put', function(keys) return redis.call('SET', keys[1], 'v') end)";
        client.ask(&["FUNCTION", "LOAD", code]);
        for i in 0..200 {
            // Calls, and the command and key that are counted for each.
            let (user, number) = (format!("user:{}", i % 50), i.to_string());
            let carts = [i, i + 1].map(|i| format!("{{cart}}:{i}"));
            let mut calls = vec![
                (vec!["SET", &user, "v\"\r\n\\"], "set", &*user),
                (vec!["Get", &user], "get", &user),
                (vec!["INCR", "hot"], "incr", "hot"),
                (
                    vec!["MSET", &carts[0], "1", &carts[1], "2"],
                    "mset",
                    &carts[0],
                ),
                (vec!["PING"], "", ""),
            ];
            workload.did("mset", &carts[1]);
            if i % 10 == 0 {
                let script = "redis.call('APPEND', KEYS[1], 'x') return 1";
                let queue = "queue \u{1}\n";
                calls.extend([
                    (vec!["MULTI"], "", ""),
                    (vec!["HSET", "{cart}:h", "f", &number], "hset", "{cart}:h"),
                    (vec!["EXEC"], "", ""),
                    (
                        vec!["EVAL", script, "1", "by:script"],
                        "append",
                        "by:script",
                    ),
                    (
                        vec!["FCALL", "put", "1", "by:function"],
                        "set",
                        "by:function",
                    ),
                    (vec!["RPUSH", queue, "a"], "rpush", queue),
                    (vec!["BLPOP", queue, "1"], "blpop", queue),
                ]);
            }
            for (call, command, key) in calls {
                client.ask(&call);
                if !key.is_empty() {
                    workload.did(command, key);
                }
            }
        }
        client.ask(&["SET", "the:end", "1"]);
        workload.did("set", "the:end");
        workload
    }
}
fn analyzed(scratch: &Scratch, path: &str) -> Value {
    scratch.report(&format!("analyze --json --nodes 3 --top 1000 {path}"))
}

/// The operations of rows by the text in this column.
fn ops_by(rows: &Value, column: &str) -> BTreeMap<String, u64> {
    let row = |row: &Value| (row[column].text().to_owned(), row["ops"].whole());
    rows.list().iter().map(row).collect()
}
fn slots_of(report: &Value) -> BTreeMap<usize, u64> {
    let loads = report["slots"]["ops"].list().iter().enumerate();
    let taken = loads.map(|(slot, ops)| (slot, ops.whole()));
    taken.filter(|(_, ops)| *ops > 0).collect()
}

#[test]
fn monitor_and_the_append_only_file_show_what_was_asked_of_servers_of_each_kind() {
    for kind in Kind::all() {
        println!("{kind:?}");
        let options = "--cluster-enabled no --appendonly yes --aof-timestamp-enabled yes";
        let server = kind.start(&words(&format!("{options} --appendfsync always")));
        let scratch = Scratch::new();
        let monitor = Monitor::start(&server, &scratch.path("node.monitor"));
        let workload = Workload::run(&server);
        monitor.sees("\"the:end\"");
        drop(monitor);

        let all = |_: &str| true;
        let found = analyzed(&scratch, "node.monitor");
        let operations = &found["operations"];
        assert_eq!(
            ops_by(&operations["commands"], "command"),
            workload.by_command(all)
        );
        assert_eq!(slots_of(&found), workload.by_slot(all));
        assert_eq!(ops_by(&found["keys"]["top"], "key")["hot"], 200);
        assert_eq!(found["input"]["keys"], 0);
        let passed = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let seconds = operations["to_ms"].whole() / 1000;
        assert!(passed - seconds < 600, "{seconds}");

        // The log has effects: no reads, and the effect of a blocking command.
        let is_write = |command: &str| command != "get";
        let folder = server.folder().join("appendonlydir");
        let logged = analyzed(&scratch, folder.to_str().unwrap());
        let operations = &logged["operations"];
        let mut expected = workload.by_command(is_write);
        let popped = expected.remove("blpop").unwrap();
        expected.insert("lpop".into(), popped);
        assert_eq!(ops_by(&operations["commands"], "command"), expected);
        assert_eq!(slots_of(&logged), workload.by_slot(is_write));
        let by_key = workload.sums(is_write, |_, key| key.to_owned());
        let cart = ops_by(&logged["keys"]["top"], "key")["{cart}:1"];
        assert_eq!(cart, by_key["{cart}:1"]);
        assert!(operations["from_ms"].whole() / 1000 <= passed);
    }
}
#[test]
fn a_dump_and_a_capture_of_each_node_say_which_is_full_and_which_is_hot() {
    let scratch = Scratch::new();
    let mut parts = [(); 2].map(|()| (String::new(), String::new()));
    for i in 0..4000 {
        // The first node owns more slots; a key on the second gets half of its traffic; some keys are only read.
        let key = format!("user:{i}");
        let place = usize::from(slot(key.as_bytes()) >= 10_000);
        let (dump, capture) = &mut parts[place];
        if i % 100 > 0 {
            *dump += &format!("\"{key}\"\n");
        }
        for key in [&*key, "user:8"].into_iter().take(1 + place) {
            *capture += &format!("1795216373.{i:06} [0 10.0.0.1:5] \"GET\" \"{key}\"\n");
        }
    }
    assert!(slot(b"user:8") >= 10_000);
    for (name, (dump, capture)) in ["a", "b"].iter().zip(&parts) {
        scratch.file(&format!("{name}.keys"), dump);
        scratch.file(&format!("{name}.monitor"), capture);
    }
    let found = scratch.report("analyze --json a.keys a.monitor b.keys b.monitor");
    let keys: usize = parts.iter().map(|(dump, _)| dump.lines().count()).sum();
    let ops: usize = parts
        .iter()
        .map(|(_, capture)| capture.lines().count())
        .sum();
    found["input"].has(json!({"keys": keys, "warnings": []}));
    let absent = json!({"keys": 40, "ops": 40, "looked_up": ops, "top": [{"key": "user:0"}]});
    found["operations"].has(json!({"ops": ops, "keys": 4000, "absent": absent}));
    found["nodes"].has(json!({"list": [{"id": "a"}, {"id": "b"}]}));
    let loads = [0, 1].map(|node: usize| found["nodes"]["list"][node]["ops"].whole());
    // Some slots without keys have no owner.
    let unowned = found["nodes"]["unowned"]["ops"].whole();
    assert_eq!(loads[0] + loads[1] + unowned, ops as u64);
    assert!(unowned < 100 && loads[1] > loads[0], "{loads:?}, {unowned}");
    let verdicts = found["verdict"]["roles"].list();
    let by = |metric: &str| verdicts.iter().find(|of| of["metric"] == metric).unwrap();
    assert_eq!(by("keys")["fullest"]["node"], "a");
    assert_eq!(by("ops")["fullest"]["node"], "b");
    by("ops")["causes"].to_string().says("user:8");
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
    scratch.refuses(
        "analyze . | a.aof.1.base.aof | name the .incr.aof files
         analyze a.aof.manifest | a.aof.1.base.aof | name the .incr.aof files",
    );
    // Without a base, the commands since then are read; history files are not.
    scratch.file("a.aof.manifest", listed);
    for path in [".", "a.aof.manifest"] {
        let found = scratch.report(&format!("analyze --json {path}"));
        assert_eq!(found["operations"]["ops"], 3, "{path}");
    }
}

#[test]
fn commands_behind_an_rdb_file_are_operations_on_the_node_of_its_keys() {
    let server = Server::start(&words("--cluster-enabled no --appendonly yes"));
    let rows: Vec<_> = (0..300).map(|i| (format!("user:{i}"), "v")).collect();
    server.connect().set_all(&rows);
    let snapshot = server.saved();
    let mut commands = String::from("*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n");
    for i in 0..40 {
        commands += &format!("*2\r\n$4\r\nINCR\r\n$6\r\nuser:{}\r\n", i % 4);
    }
    // As written by servers before 7.0, and as sent to a replica.
    let mark = [b'a'; 40];
    for (between, torn) in [(&[][..], ""), (&mark[..], "*2\r\n$4\r\nIN")] {
        let scratch = Scratch::new();
        let content = [&snapshot, between, commands.as_bytes(), torn.as_bytes()].concat();
        scratch.file("appendonly.aof", content);
        let found = analyzed(&scratch, "appendonly.aof");
        found["input"].has(json!({"keys": 300, "incomplete": []}));
        assert_eq!(found["operations"]["ops"], 40);
        assert_eq!(slots_of(&found)[&usize::from(slot(b"user:3"))], 10);
        let notes = found["input"]["notes"].to_string();
        notes.says("followed by commands");
        assert_eq!(notes.contains("cut off at the end"), !torn.is_empty());
        // Only the names of keys are checked.
        let linted = scratch.run("lint appendonly.aof --json");
        stdout(&linted).says("\"keys\":300,");
        let damaged = [&snapshot, between, b"*1\r\n:5\r\n".as_slice()].concat();
        scratch.file("damaged.aof", damaged);
        let said = scratch.run("analyze damaged.aof --json");
        assert_eq!(code(&said), 2);
        stdout(&said).says("\"keys\":300,");
    }
}
#[test]
fn operations_on_keys_that_no_dump_has_are_counted_in_any_order_of_the_inputs() {
    let scratch = Scratch::new();
    let long = |last: u32| format!("{}{last}", "k".repeat(600));
    let line = |key: &str| format!("1795216373.1 [0 10.0.0.1:5] \"GET\" \"{key}\"\n");
    let users = (0..50).map(|i| line(&format!("user:{i}")).repeat(i + 1));
    let capture = users.chain([line(&long(1)), line("\\x00\\n")]);
    scratch.file("a.monitor", capture.collect::<String>());
    let keys = (0..30).map(|i| format!("\"user:{i}\"\n"));
    let keys: String = keys.chain([format!("\"{}\"\n", long(1))]).collect();
    scratch.file("a.keys", keys);
    let found = |args: &str| {
        let report = scratch.report(&format!("analyze --json --nodes 3 {args}"));
        report["operations"].clone()
    };
    let expected = found("a.keys a.monitor");
    let missing: u64 = (31..=50).sum::<u64>() + 1;
    expected["absent"].has(json!({"keys": 21, "ops": missing, "looked_up": expected["ops"]}));
    let top = &expected["absent"]["top"];
    assert_eq!([&top[0]["key"], &top[20]["key"]], ["user:49", "\\x00\\n"]);
    for threads in ["", "--threads 4", "--threads 1"] {
        let args = format!("a.monitor a.keys {threads}");
        assert_eq!(found(&args), expected, "{args}");
    }
    // A long key that differs after the retained start of its name has another slot.
    scratch.file("b.keys", format!("\"{}\"\n", long(2)));
    assert_eq!(found("b.keys a.monitor")["absent"]["keys"], 52);
    for alone in [
        "a.monitor",
        "a.keys a.monitor --one-pass",
        "a.keys a.monitor --only slots",
    ] {
        assert!(found(alone).get("absent").is_none(), "{alone}");
    }
    let text = scratch.text("analyze a.keys a.monitor --full --no-files");
    on_one_line(&text).says("are on 21 keys that no dump has, which expired, are newer than the dump, or never existed: most on user:49 (50),");
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
    let found = scratch.report("analyze --json a.keys a.monitor");
    let (operations, absent) = (&found["operations"], &found["operations"]["absent"]);
    assert_eq!(operations["ops"], 110_000);
    assert!(absent["looked_up"].as_u64() < operations["ops"].as_u64());
    assert_eq!(absent["keys"], 1);
    assert_eq!(absent["top"][0]["key"], "gone");
    let ops = absent["ops"].whole();
    assert!((4900..=5000).contains(&ops), "{ops}");
}
