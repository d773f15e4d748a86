//! Nodes given only by files: one RDB file, or any dump, per primary.

use testkit::cluster::Cluster;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::rdb::Snapshot;
use testkit::redis::Reply;

const FILES: [&str; 3] = ["7001.rdb", "7002.rdb", "7003.rdb"];

/// The RDB file of a server in cluster mode, with a key in each slot of `slots` that some of `keys` keys has.
fn of_cluster(keys: u32, slots: impl Fn(u16) -> bool) -> Vec<u8> {
    let file = Snapshot {
        written: None,
        headers: true,
    };
    let keys = (0..keys).map(|i| format!("key:{i:06}"));
    let own = keys.filter(|key| slots(slotscope::slot(key.as_bytes())));
    file.of(own.map(|key| (key, None)))
}

/// The lines of those of `keys` keys that are in `slots`.
fn lines(keys: u32, slots: impl Fn(u16) -> bool) -> String {
    let keys = (0..keys).map(|i| format!("key:{i:06}\n"));
    let is_wanted = |key: &String| slots(slotscope::slot(key.trim().as_bytes()));
    keys.filter(is_wanted).collect()
}

/// The files of a cluster with the hash tag {hot} on one node, and its own listing.
fn saved(scratch: &Scratch, cluster: &Cluster) {
    for i in 0..30_000 {
        let key = if i % 6 == 0 {
            format!("{{hot}}{i}")
        } else {
            format!("user:{i}")
        };
        let reply = cluster_set(cluster, &key);
        assert!(matches!(reply, Reply::Simple(_)), "{key}: {reply:?}");
    }
    for (server, file) in cluster.servers.iter().zip(FILES) {
        server.connect().call(&["SAVE"]);
        scratch.file(
            file,
            std::fs::read(server.folder().join("dump.rdb")).unwrap(),
        );
    }
    scratch.file("cluster.nodes", cluster.nodes(0));
}

fn cluster_set(cluster: &Cluster, key: &str) -> Reply {
    cluster
        .owner_of(key.as_bytes())
        .call(&["SET", key, "value"])
}

fn node_loads(report: &Value) -> Vec<(Value, Value)> {
    let nodes = report["nodes"]["list"].list().iter();
    nodes
        .map(|node| (node["keys"].clone(), node["bytes"].clone()))
        .collect()
}

fn ids(report: &Value) -> Vec<&str> {
    let nodes = report["nodes"]["list"].list().iter();
    nodes.map(|node| node["id"].text()).collect()
}

#[test]
fn rdb_files_of_a_real_cluster_are_its_nodes() {
    let cluster = Cluster::start(&[
        vec![(0, 999), (4000, 8000)],
        vec![(1000, 3999)],
        vec![(8001, 16383)],
    ]);
    let scratch = Scratch::new();
    saved(&scratch, &cluster);
    let analyze = |more: &[&str]| {
        let words = [&["analyze", "--json"], &FILES[..], more].concat();
        scratch.report(&words)
    };
    let (of_files, listed) = (analyze(&[]), analyze(&["--topology", "cluster.nodes"]));
    assert_eq!(of_files["nodes"]["source"], "one node a file");
    assert_eq!(ids(&of_files), ["7001", "7002", "7003"]);
    assert_eq!(node_loads(&of_files), node_loads(&listed));
    assert_eq!(of_files["nodes"]["keys"], listed["nodes"]["keys"]);
    let (found, known) = (&of_files["verdict"], &listed["verdict"]);
    assert_eq!(found["state"], known["state"]);
    // An empty slot at the end of a range may belong to the neighbour.
    for (found, known) in of_files["nodes"]["list"]
        .list()
        .iter()
        .zip(listed["nodes"]["list"].list())
    {
        let slots = |node: &Value| node["slots"].as_i64().unwrap();
        assert!((slots(found) - slots(known)).abs() <= 8, "{found} {known}");
    }
    let sentence = found["sentence"].text();
    sentence.begins("7003 holds ").says("51% of the slots");

    // Every command in the report runs as pasted, and assumes no node.
    let words = [&["analyze", "--no-files"], &FILES[..]].concat();
    let text = succeeded(scratch.run(&words));
    let text = String::from_utf8(text).unwrap();
    let commands = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("slotscope "));
    let commands: Vec<&str> = commands.collect();
    assert!(!commands.is_empty(), "{text}");
    for command in commands {
        assert!(!command.contains("--nodes"), "{command}");
        let words: Vec<&str> = command.split(' ').collect();
        assert!(!command.contains(['\'', '"']), "{command}");
        assert_eq!(code(&scratch.run(&words)), 0, "{command}");
    }
    let words = [&["plan", "--json"], &FILES[..]].concat();
    let plan: Value = serde_json::from_slice(&succeeded(scratch.run(&words))).unwrap();
    assert_eq!(
        plan["before"]["bytes"]["max_over_mean"],
        of_files["nodes"]["bytes"]["max_over_mean"]
    );
    let words = [&["whatif", "--to-nodes", "4", "--json"], &FILES[..]].concat();
    let whatif: Value = serde_json::from_slice(&succeeded(scratch.run(&words))).unwrap();
    assert_eq!(
        whatif["before"]["nodes"]["max_over_mean"],
        of_files["nodes"]["bytes"]["max_over_mean"]
    );

    // The third node and its replica are one node.
    scratch.file("7013.rdb", std::fs::read(scratch.path(FILES[2])).unwrap());
    let twice = analyze(&["7013.rdb"]);
    assert_eq!(ids(&twice).len(), 3);
    assert_eq!(twice["verdict"]["state"], "suspicious");
    let warnings = twice["input"]["warnings"].to_string();
    warnings.says("7003.rdb, 7013.rdb hold the keys of one node, 7003");

    // The first node has two ranges.
    let missing = ["analyze", "--json", FILES[1], FILES[2]];
    let missing = scratch.report(&missing);
    assert_eq!(missing["verdict"]["state"], "suspicious");
    assert_eq!(ids(&missing), ["7002", "7003"]);
    assert!(
        missing["nodes"]["unowned"]["slots"].whole() > 4900,
        "{}",
        missing["nodes"]
    );
}

#[test]
fn headers_of_slots_say_that_few_keys_are_of_nodes_too() {
    let scratch = Scratch::new();
    for node in ["a", "b"] {
        std::fs::create_dir(scratch.path(node)).unwrap();
    }
    scratch.file("a/dump.rdb", of_cluster(40, |slot| slot < 8192));
    scratch.file("b/dump.rdb", of_cluster(40, |slot| slot >= 8192));
    let made = scratch.report(&["analyze", "a/dump.rdb", "b/dump.rdb", "--json"]);
    assert_eq!(ids(&made), ["a", "b"]);
    made["verdict"].has(json!({"state": "unjudged"}));
    let keys: u64 = made["nodes"]["list"]
        .list()
        .iter()
        .map(|node| node["keys"].whole())
        .sum();
    assert_eq!(keys, 40);
    assert_eq!(made["input"]["files"][0]["in_cluster"], true);
    // Without headers, a few keys are in different slots by chance.
    for (name, of_a) in [("a.keys", true), ("b.keys", false)] {
        scratch.file(name, lines(40, |slot| (slot < 8192) == of_a));
    }
    let made = scratch.report(&["analyze", "a.keys", "b.keys", "--json"]);
    assert_eq!(made["nodes"]["source"], "assumed even 3");
}

#[test]
fn servers_that_write_headers_of_slots_are_nodes_however_few_keys_they_have() {
    for kind in [Kind::Redis74, Kind::Valkey91] {
        let cluster = Cluster::of(kind, &[vec![(0, 8191)], vec![(8192, 16383)]]);
        for i in 0..80 {
            let key = format!("user:{i}");
            assert!(
                matches!(cluster_set(&cluster, &key), Reply::Simple(_)),
                "{kind:?}"
            );
        }
        let scratch = Scratch::new();
        for (server, file) in cluster.servers.iter().zip(FILES) {
            server.connect().call(&["SAVE"]);
            scratch.file(
                file,
                std::fs::read(server.folder().join("dump.rdb")).unwrap(),
            );
        }
        let made = scratch.report(&["analyze", FILES[0], FILES[1], "--json"]);
        assert_eq!(ids(&made), ["7001", "7002"], "{kind:?}");
        assert_eq!(made["input"]["keys"], 80);
        let held = cluster
            .servers
            .iter()
            .map(|server| server.connect().call(&["DBSIZE"]));
        let held: Vec<Value> = held
            .map(|size| match size {
                Reply::Int(keys) => keys.into(),
                other => panic!("{other:?}"),
            })
            .collect();
        let found = node_loads(&made).into_iter().map(|(keys, _)| keys);
        assert_eq!(found.collect::<Vec<_>>(), held, "{kind:?}");
        let alone = scratch.report(&["analyze", FILES[1], "--json"]);
        let sentence = alone["verdict"]["sentence"].text();
        assert!(
            sentence.contains("the RDB file of one node of a cluster"),
            "{kind:?}: {sentence}"
        );
    }
}

#[test]
fn accesses_are_those_that_the_counters_of_a_server_stand_for() {
    // A counter that never decays is the same in the reply and in the file.
    let options = words("--maxmemory-policy allkeys-lfu --maxmemory 1gb --lfu-decay-time 0");
    let options: Vec<String> = options.into_iter().map(String::from).collect();
    let cluster = Cluster::with_options(&[vec![(0, 16383)]], |_| options.clone());
    let server = &cluster.servers[0];
    let mut client = server.connect();
    for i in 0..100 {
        client.call(&["SET", &format!("user:{i}"), "some value"]);
    }
    for _ in 0..2000 {
        client.call(&["GET", "user:7"]);
    }
    let mut all = 0;
    for i in 0..100 {
        let counter = match client.call(&["OBJECT", "FREQ", &format!("user:{i}")]) {
            Reply::Int(counter) => counter,
            other => panic!("{other:?}"),
        };
        // A new key has 5 without an access.
        all += if counter > 5 {
            1 + 10 * (counter - 5)
        } else {
            0
        };
    }
    client.call(&["SAVE"]);
    let scratch = Scratch::new();
    scratch.file(
        "dump.rdb",
        std::fs::read(server.folder().join("dump.rdb")).unwrap(),
    );
    // Nodes are not judged by so few a minute, unless asked for.
    let made = scratch.report(&["analyze", "dump.rdb", "--by", "accesses", "--json"]);
    let slots = made["slots"]["accesses"].list().iter();
    assert_eq!(slots.map(|load| load.as_i64().unwrap()).sum::<i64>(), all);
    assert_eq!(made["keys"]["top"][0]["key"], "user:7");
}

#[test]
fn one_file_of_a_cluster_is_no_cluster() {
    let scratch = Scratch::new();
    scratch.file("few.rdb", of_cluster(60, |slot| slot <= 5460));
    let made = scratch.report(&["analyze", "few.rdb", "--json"]);
    assert_eq!(made["verdict"]["state"], "suspicious");
    let sentence = made["verdict"]["sentence"].text();
    sentence.says("the RDB file of one node of a cluster, all of its keys in slots");
    // All slots may belong to one server.
    scratch.file("all.rdb", of_cluster(60, |_| true));
    let made = scratch.report(&["analyze", "all.rdb", "--json"]);
    assert_ne!(made["verdict"]["state"], "suspicious");
}

#[test]
fn keys_of_each_primary_are_nodes_and_pieces_of_a_dump_are_not() {
    let scratch = Scratch::new();
    for (name, range) in [("x", 0..5461), ("y", 5461..10_923), ("z", 10_923..16_384)] {
        scratch.file(
            &format!("{name}.keys"),
            lines(50_000, |slot| range.contains(&slot)),
        );
    }
    let made = scratch.report(&["analyze", "x.keys", "y.keys", "z.keys", "--json"]);
    assert_eq!(ids(&made), ["x", "y", "z"]);
    assert_eq!(made["nodes"]["list"][1]["slots"], 5462);
    let again = scratch.report(&["analyze", "z.keys", "x.keys", "y.keys", "--json"]);
    assert_eq!(again["nodes"], made["nodes"]);

    let all = lines(50_000, |_| true);
    let (first, second) = all.split_at(all.len() / 2 / 11 * 11);
    scratch.file("1.keys", first);
    scratch.file("2.keys", second);
    let made = scratch.report(&["analyze", "1.keys", "2.keys", "--json"]);
    assert_eq!(made["nodes"]["source"], "assumed even 3");
    let output = scratch.run(&["plan", "1.keys", "2.keys"]);
    assert_fails(&output, &["no nodes", "--topology FILE"]);
}

#[test]
fn what_names_nodes_waits_for_those_of_the_files() {
    let scratch = Scratch::new();
    scratch.file("x.rdb", of_cluster(3000, |slot| slot < 9000));
    scratch.file("y.rdb", of_cluster(3000, |slot| slot >= 9000));
    let analyze =
        |more: &[&str]| scratch.run(&[&["analyze", "x.rdb", "y.rdb", "--no-files"], more].concat());
    let limit = ["--fail-on", "nodes.keys.max_over_mean > 1.01"];
    assert_eq!(code(&analyze(&limit)), 1);
    let room = words("--maxmemory 1gb --used-memory y=900mb --used-memory x=1mb --json");
    let made = report(&analyze(&room));
    assert_eq!(made["capacity"]["first"]["id"], "y");
    analyze(&["--maxmemory", "1gb", "--used-memory", "even-1=1gb"])
        .refused("--used-memory even-1=1gb | no such node; the nodes are: \"x\", \"y\"");
    let output = scratch.run(&["analyze", "x.rdb", "--no-files", limit[0], limit[1]]);
    assert_fails(&output, &["--fail-on nodes", "the nodes are not known"]);
    let output = scratch.run(&["plan", "x.rdb", "y.rdb", "--commands", "setslot"]);
    assert_fails(&output, &["--commands", "--topology FILE"]);
    // File names are names.
    let output = analyze(&["--redact", "--json"]);
    let made = report(&output);
    assert_eq!(made["nodes"]["source"], "one node a file");
    assert!(ids(&made).iter().all(|id| id.len() > 4), "{:?}", ids(&made));
    assert!(!stdout(&output).contains("x.rdb"));
}

#[test]
fn nodes_of_files_with_dates_in_their_names_are_compared_by_their_slots() {
    let scratch = Scratch::new();
    for (day, keys) in [("monday", 2000), ("tuesday", 3000)] {
        scratch.file(
            &format!("a-{day}.rdb"),
            of_cluster(keys, |slot| slot < 8192),
        );
        scratch.file(
            &format!("b-{day}.rdb"),
            of_cluster(keys, |slot| slot >= 8192),
        );
        let files = [format!("b-{day}.rdb"), format!("a-{day}.rdb")];
        succeeded(scratch.run(&["analyze", &files[0], &files[1], "--out", day]));
    }
    let output = scratch.run(&["diff", "monday", "tuesday", "--json"]);
    let found: Value = serde_json::from_slice(&succeeded(output)).unwrap();
    let nodes = found["nodes"].list();
    assert_eq!(nodes.len(), 2, "{nodes:?}");
    for (node, id) in nodes.iter().zip(["a-tuesday", "b-tuesday"]) {
        assert_eq!(node["id"], id);
        let keys = ["old", "new"].map(|side| node["keys"][side].whole());
        assert!(keys[0] > 900 && keys[1] > keys[0] + 400, "{node}");
    }
}
