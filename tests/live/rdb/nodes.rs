//! Nodes given only by files: one RDB file, or any dump, per primary.

use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::rdb::Snapshot;

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

/// Writes the files of a cluster.
fn save(scratch: &Scratch, cluster: &Cluster) {
    for (server, file) in cluster.servers.iter().zip(FILES) {
        scratch.file(file, server.saved());
    }
}

fn node_loads(report: &Value) -> Vec<[&Value; 2]> {
    let nodes = report["nodes"]["list"].list().iter();
    nodes.map(|node| [&node["keys"], &node["bytes"]]).collect()
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
    // A sixth of the keys has the hash tag {hot}.
    let key = |i| match i % 6 {
        0 => format!("{{hot}}{i}"),
        _ => format!("user:{i}"),
    };
    cluster.set_all((0..30_000).map(|i| (key(i), "value")));
    let (scratch, files) = (Scratch::new(), FILES.join(" "));
    save(&scratch, &cluster);
    scratch.file("cluster.nodes", cluster.nodes(0));
    let of_files = scratch.report(&format!("analyze --json {files}"));
    let listed = scratch.report(&format!("analyze --json {files} --topology cluster.nodes"));
    assert_eq!(of_files["nodes"]["source"], "one node a file");
    assert_eq!(ids(&of_files), ["7001", "7002", "7003"]);
    assert_eq!(node_loads(&of_files), node_loads(&listed));
    assert_eq!(of_files["nodes"]["keys"], listed["nodes"]["keys"]);
    let verdict = &of_files["verdict"];
    assert_eq!(verdict["state"], listed["verdict"]["state"]);
    // An empty slot at the end of a range may belong to the neighbour.
    for at in 0..3 {
        let [found, known] =
            [&of_files, &listed].map(|of| of["nodes"]["list"][at]["slots"].whole());
        assert!(found.abs_diff(known) <= 8, "{found} {known}");
    }
    let sentence = verdict["sentence"].text();
    sentence.begins("7003 holds ").says("51% of the slots");

    // Every command in the report runs as pasted, and assumes no node.
    let text = scratch.text(&format!("analyze --no-files {files}"));
    let lines = text.lines().map(str::trim);
    let commands: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("slotscope "))
        .collect();
    assert!(!commands.is_empty(), "{text}");
    for command in commands {
        command.lacks("--nodes").lacks("'").lacks("\"");
        scratch.text(command);
    }
    let most = &of_files["nodes"]["bytes"]["max_over_mean"];
    let plan = scratch.report(&format!("plan --json {files}"));
    assert_eq!(plan["before"]["bytes"]["max_over_mean"], *most);
    let whatif = scratch.report(&format!("whatif --to-nodes 4 --json {files}"));
    assert_eq!(whatif["before"]["nodes"]["max_over_mean"], *most);

    // The third node and its replica are one node.
    scratch.file("7013.rdb", cluster.servers[2].saved());
    let twice = scratch.report(&format!("analyze --json {files} 7013.rdb"));
    assert_eq!(ids(&twice).len(), 3);
    assert_eq!(twice["verdict"]["state"], "suspicious");
    let warnings = twice["input"]["warnings"].to_string();
    warnings.says("7003.rdb, 7013.rdb hold the keys of one node, 7003");

    // The first node has two ranges.
    let missing = scratch.report("analyze --json 7002.rdb 7003.rdb");
    assert_eq!(missing["verdict"]["state"], "suspicious");
    assert_eq!(ids(&missing), ["7002", "7003"]);
    let unowned = &missing["nodes"]["unowned"];
    assert!(unowned["slots"].whole() > 4900, "{unowned}");
}
#[test]
fn headers_of_slots_say_that_few_keys_are_of_nodes_too() {
    let scratch = Scratch::new();
    for node in ["a", "b"] {
        std::fs::create_dir(scratch.path(node)).unwrap();
        let is_its = |slot: u16| (slot < 8192) == (node == "a");
        scratch.file(&format!("{node}/dump.rdb"), of_cluster(40, is_its));
        scratch.file(&format!("{node}.keys"), lines(40, is_its));
    }
    let made = scratch.report("analyze a/dump.rdb b/dump.rdb --json");
    assert_eq!(ids(&made), ["a", "b"]);
    made["verdict"].has(json!({"state": "unjudged"}));
    let keys = node_loads(&made).into_iter().map(|[keys, _]| keys.whole());
    assert_eq!(keys.sum::<u64>(), 40);
    made["input"].has(json!({"files": [{"in_cluster": true}]}));
    // Without headers, a few keys are in different slots by chance.
    let made = scratch.report("analyze a.keys b.keys --json");
    assert_eq!(made["nodes"]["source"], "assumed even 3");
}
#[test]
fn servers_that_write_headers_of_slots_are_nodes_however_few_keys_they_have() {
    for kind in [Kind::Redis74, Kind::Valkey91] {
        println!("{kind:?}");
        let cluster = Cluster::of(kind, &even(2));
        cluster.set_all((0..80).map(|i| (format!("user:{i}"), "value")));
        let scratch = Scratch::new();
        save(&scratch, &cluster);
        let made = scratch.report("analyze 7001.rdb 7002.rdb --json");
        assert_eq!(ids(&made), ["7001", "7002"]);
        assert_eq!(made["input"]["keys"], 80);
        for (server, [keys, _]) in cluster.servers.iter().zip(node_loads(&made)) {
            assert_eq!(
                server.connect().call(&["DBSIZE"]).int(),
                keys.whole() as i64
            );
        }
        let alone = scratch.report("analyze 7002.rdb --json");
        let sentence = alone["verdict"]["sentence"].text();
        sentence.says("the RDB file of one node of a cluster");
    }
}
#[test]
fn accesses_are_those_that_the_counters_of_a_server_stand_for() {
    // A counter that never decays is the same in the reply and in the file.
    let options = words("--maxmemory-policy allkeys-lfu --maxmemory 1gb --lfu-decay-time 0");
    let server = Kind::Installed.start(&options);
    server.own_all_slots();
    let mut client = server.connect();
    let keys = (0..100).map(|i| format!("user:{i}"));
    let keys: Vec<String> = keys.collect();
    client.set_all(
        &keys
            .iter()
            .map(|key| (key, "some value"))
            .collect::<Vec<_>>(),
    );
    client.pipeline(&vec![vec![&b"GET"[..], b"user:7"]; 2000]);
    let mut accesses = |key: &String| {
        // A new key has 5 without an access.
        let more = client.call(&["OBJECT", "FREQ", key]).int() - 5;
        if more > 0 { 1 + 10 * more } else { 0 }
    };
    let all: i64 = keys.iter().map(&mut accesses).sum();
    let scratch = Scratch::new();
    scratch.file("dump.rdb", server.saved());
    // Nodes are not judged by so few a minute, unless asked for.
    let made = scratch.report("analyze dump.rdb --by accesses --json");
    let slots = made["slots"]["accesses"].list().iter();
    assert_eq!(slots.map(|load| load.as_i64().unwrap()).sum::<i64>(), all);
    assert_eq!(made["keys"]["top"][0]["key"], "user:7");
}
#[test]
fn one_file_of_a_cluster_is_no_cluster() {
    let scratch = Scratch::new();
    scratch.file("few.rdb", of_cluster(60, |slot| slot <= 5460));
    let made = scratch.report("analyze few.rdb --json");
    assert_eq!(made["verdict"]["state"], "suspicious");
    let sentence = made["verdict"]["sentence"].text();
    sentence.says("the RDB file of one node of a cluster, all of its keys in slots");
    // All slots may belong to one server.
    scratch.file("all.rdb", of_cluster(60, |_| true));
    let made = scratch.report("analyze all.rdb --json");
    assert_ne!(made["verdict"]["state"], "suspicious");
}
#[test]
fn what_names_nodes_waits_for_those_of_the_files() {
    let scratch = Scratch::new();
    scratch.file("x.rdb", of_cluster(3000, |slot| slot < 9000));
    scratch.file("y.rdb", of_cluster(3000, |slot| slot >= 9000));
    let both = "analyze x.rdb y.rdb --no-files";
    let limit = "--fail-on 'nodes.keys.max_over_mean > 1.01'";
    assert_eq!(code(&scratch.run(&format!("{both} {limit}"))), 1);
    let room = "--maxmemory 1gb --used-memory y=900mb --used-memory x=1mb --json";
    let made = scratch.report(&format!("{both} {room}"));
    assert_eq!(made["capacity"]["first"]["id"], "y");
    scratch.refuses(&format!(
        r#"{both} --maxmemory 1gb --used-memory even-1=1gb | --used-memory even-1=1gb | no such node; the nodes are: "x", "y"
        analyze x.rdb --no-files {limit} | --fail-on nodes | the nodes are not known
        plan x.rdb y.rdb --commands setslot | --commands | --topology FILE"#
    ));
    // File names are names.
    let text = scratch.text(&format!("{both} --redact --json"));
    text.lacks("x.rdb");
    let made: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(made["nodes"]["source"], "one node a file");
    assert!(ids(&made).iter().all(|id| id.len() > 4), "{:?}", ids(&made));
}

#[test]
fn nodes_of_files_with_dates_in_their_names_are_compared_by_their_slots() {
    let scratch = Scratch::new();
    for (day, keys) in [("monday", 2000), ("tuesday", 3000)] {
        let file = |node: &str, content| scratch.file(&format!("{node}-{day}.rdb"), content);
        file("a", of_cluster(keys, |slot| slot < 8192));
        file("b", of_cluster(keys, |slot| slot >= 8192));
        scratch.text(&format!("analyze b-{day}.rdb a-{day}.rdb --out {day}"));
    }
    let found = scratch.report("diff monday tuesday --json");
    let nodes = found["nodes"].list();
    assert_eq!(nodes.len(), 2, "{nodes:?}");
    for (node, id) in nodes.iter().zip(["a-tuesday", "b-tuesday"]) {
        assert_eq!(node["id"], id);
        let keys = ["old", "new"].map(|side| node["keys"][side].whole());
        assert!(keys[0] > 900 && keys[1] > keys[0] + 400, "{node}");
    }
}
