//! Directories of servers: their listings, logs, unfinished files and dumps of replicas.

use super::RANGES;
use slotscope::slot::slot;
use testkit::prelude::*;

#[test]
fn directories_are_read_as_servers_leave_them() {
    let scratch = Scratch::new();
    let rows = |(from, to): (u16, u16)| {
        let keys = (0..40_000).map(|number| format!("user:{number}\n"));
        let own = move |key: &String| (from..=to).contains(&slot(key.trim().as_bytes()));
        keys.filter(own).collect::<String>()
    };
    std::fs::create_dir(scratch.path("cluster")).unwrap();
    let listing = |own: usize| {
        let replica = |at: usize| {
            format!(
                "{at}r 127.0.0.1:{}@1 slave {at} 0 0 1 connected\n",
                7003 + at
            )
        };
        let primary = |at: usize| {
            let (from, to) = RANGES[at];
            format!(
                "{at} 127.0.0.1:{}@1 master - 0 0 1 connected {from}-{to}\n",
                7000 + at
            )
        };
        let nodes = (0..3).map(primary).chain((0..3).map(replica)).enumerate();
        let nodes = nodes.map(|(at, line)| {
            if at == own {
                line.replace("@1 ", "@1 myself,")
            } else {
                line
            }
        });
        nodes.collect::<String>() + "vars currentEpoch 6 lastVoteEpoch 0\n"
    };
    for own in 0..6 {
        let port = 7000 + own;
        scratch.file(&format!("cluster/dump-{port}.rdb"), rows(RANGES[own % 3]));
        scratch.file(&format!("cluster/nodes-{port}.conf"), listing(own));
        scratch.file(
            &format!("cluster/{port}.log"),
            "1:M 20 Nov 2026 10:00:00.000 * ready\n",
        );
    }
    // An older one, from before a slot moved.
    let old = listing(0)
        .replace("myself,", "")
        .replace("Epoch 6", "Epoch 5");
    let old = old.replace("0-5460", "0-5459").replace("5461-", "5460-");
    scratch.file("cluster/nodes.conf", old);
    // A reply that somebody saved through a replica.
    scratch.file(
        "cluster/cluster.nodes",
        listing(3).replace("Epoch 6", "Epoch 4"),
    );
    let report = scratch.report("analyze cluster --json --format lines");
    assert_eq!(
        report["verdict"]["state"], "balanced",
        "{}",
        report["verdict"]["sentence"]
    );
    assert_eq!(report["input"]["keys"], 40_000);
    assert_eq!(report["nodes"]["list"][0]["slots"], 5461);
    let left_out = |note: &&Value| note.to_string().contains("dumps of replicas: ");
    let notes = report["input"]["notes"].list();
    let note = notes.iter().find(left_out).unwrap().to_string();
    note.says("cluster/7000.log, cluster/7001.log, cluster/7002.log and 6 more");
    for (name, text) in [
        ("one/10.0.0.1-6379.keys", "a:1\na:2\n"),
        ("one/10.0.0.2-6379.keys", "b:1\nb:2\n"),
        ("one/nodes-6379.conf", &listing(4)),
        ("two/dump.rdb", "a:1\na:2\n"),
        ("two/nodes.conf", &listing(4)),
        ("three/temp-1.rdb", "a:1\na:2\n"),
        ("four/keys.rdb", "a:1\n"),
        ("four/more.log", "b:1\n"),
    ] {
        let directory = name.split('/').next().unwrap();
        std::fs::create_dir_all(scratch.path(directory)).unwrap();
        scratch.file(name, text);
    }
    for (directory, keys) in [("one", 4), ("two", 2), ("three", 2), ("four", 2)] {
        let read = scratch.run(&format!(
            "analyze {directory} --json --format lines --nodes 3"
        ));
        let report: Value = serde_json::from_str(stdout(&read)).unwrap();
        assert_eq!(report["input"]["keys"], keys, "{directory}");
    }
}
