//! Clusters of managed services: only steps and commands that are possible there.

use testkit::prelude::*;

/// Three nodes with names as given by a service, the first with most slots.
fn fixture(domain: &str) -> Scratch {
    let scratch = Scratch::new();
    let node = |id: char, ranges: &str| {
        let id = id.to_string().repeat(40);
        format!(
            "{id} 10.0.0.1:6379@16379,shop-{ranges}.{domain} master - 0 0 1 connected {ranges}\n"
        )
    };
    let listing = [
        node('a', "0-9999"),
        node('b', "10000-13191"),
        node('c', "13192-16383"),
    ];
    scratch.file("cluster.nodes", listing.concat());
    let keys = (0..30_000).map(|i| format!("key:{i},{}\n", 100 + i % 7));
    let tagged = (0..3000).map(|i| format!("{{tenant:acme}}:{i},1500\n"));
    let rows: String = keys.chain(tagged).collect();
    scratch.file("dump.csv", format!("key,size\n{rows}"));
    scratch
}

fn analyzed(scratch: &Scratch, flags: &[&str]) -> Value {
    let args = words("analyze dump.csv --topology cluster.nodes --json");
    scratch.report(&[&args, flags].concat())
}

fn steps(report: &Value) -> Vec<Value> {
    let steps = report["verdict"]["steps"].list().iter();
    let with_others = steps.flat_map(|step| {
        let others = step["alternatives"].as_array().into_iter().flatten();
        std::iter::once(step).chain(others)
    });
    with_others.cloned().collect()
}

/// No step is suggested that a service would refuse.
#[track_caller]
fn assert_possible(steps: &[Value]) {
    for step in steps {
        let command = step["command"].as_str().unwrap_or_default();
        command.lacks("redis-cli").lacks("--commands setslot");
        command.lacks("--commands valkey").lacks("--commands redis");
    }
}

#[test]
fn elasticache_restores_ranges_that_give_what_was_promised() {
    let scratch = fixture("ab12.euw1.cache.amazonaws.com");
    // Changes of the application come first, and a backup is restored once.
    let all = steps(&analyzed(&scratch, &[]));
    let restored = |step: &&Value| step["sentence"].text().starts_with("restore");
    assert!(all.iter().filter(restored).count() <= 1, "{all:?}");
    assert!(all.first().is_none_or(|first| !restored(&first)), "{all:?}");
    let keys: String = (0..30_000)
        .map(|i| format!("key:{i},{}\n", 100 + i % 7))
        .collect();
    scratch.file("dump.csv", format!("key,size\n{keys}"));
    let found = steps(&analyzed(&scratch, &[]));
    assert_possible(&found);
    let ranges = &found[0];
    assert!(
        ranges["sentence"]
            .text()
            .contains("restore a backup into 3 shards"),
        "{ranges}"
    );
    let command = ranges["command"].text();
    let output = scratch.shell(command);
    assert!(output.status.success(), "{command}: {}", stderr(&output));
    let shards: Value =
        serde_json::from_slice(&std::fs::read(scratch.path("shards.json")).unwrap()).unwrap();
    let listing: Vec<String> = shards
        .list()
        .iter()
        .zip(["a", "b", "c"])
        .map(|(shard, id)| {
            let slots = shard["Slots"].text();
            format!(
                "{} 10.0.0.{}:6379@16379 master - 0 0 1 connected {slots}\n",
                id.repeat(40),
                shard["NodeGroupId"].text().trim_start_matches('0')
            )
        })
        .collect();
    scratch.file("cluster.nodes", listing.concat());
    let after = analyzed(&scratch, &["--service", "elasticache"]);
    let memory = &after["verdict"]["roles"][0]["fullest"]["max_over_mean"];
    let promised = &ranges["after"]["memory"]["max_over_mean"];
    let [found, promised] = [memory, promised].map(|ratio| ratio.float());
    assert!((found - promised).abs() < 1e-6, "{found} {promised}");
    // The same state again needs no step.
    let again = steps(&after);
    assert!(
        again
            .iter()
            .all(|step| step["kind"] != "move" || step["command"].is_null()),
        "{again:?}"
    );
}

#[test]
fn other_services_get_changes_of_the_application_alone() {
    let scratch = fixture("example.com");
    for service in ["memorydb", "memorystore", "azure"] {
        let found = steps(&analyzed(&scratch, &["--service", service]));
        assert_possible(&found);
        assert!(
            found.iter().all(|step| step["kind"] != "move"),
            "{service}: {found:?}"
        );
        assert!(
            found.iter().any(|step| step["kind"] == "split"),
            "{service}: {found:?}"
        );
    }
    let own = |flags: &[&str]| {
        let found = steps(&analyzed(&scratch, flags));
        found.iter().any(|step| {
            step["command"]
                .as_str()
                .unwrap_or_default()
                .contains("setslot")
        })
    };
    assert!(own(&[]) && own(&["--service", "self"]));
    let named = fixture("memorydb.eu-west-1.amazonaws.com");
    assert!(
        steps(&analyzed(&named, &[]))
            .iter()
            .all(|step| step["kind"] != "move")
    );
    let moves = steps(&analyzed(&named, &["--service", "self"]));
    assert!(moves.iter().any(|step| step["kind"] == "move"), "{moves:?}");
}

#[test]
fn plan_refuses_scripts_that_a_service_does_not_carry_out() {
    let scratch = fixture("ab12.euw1.cache.amazonaws.com");
    let plan = |flags: &[&str]| {
        let args = ["plan", "dump.csv", "--topology", "cluster.nodes"];
        scratch.run(&[&args, flags].concat())
    };
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let parts = format!("--commands | {kind} | Amazon ElastiCache | --commands elasticache");
        plan(&["--commands", kind]).refused(&parts);
    }
    let parts = [
        "Google Cloud Memorystore",
        "ranges of slots cannot be chosen",
    ];
    assert_fails(
        &plan(&["--commands", "elasticache", "--service", "memorystore"]),
        &parts,
    );
    plan(&["--service", "heroku"]).refused("--service heroku | elasticache, memorydb");
    let (managed, own) = (plan(&[]), plan(&["--service", "self"]));
    let on_one_line = |output| {
        stdout(output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let (managed, own) = (on_one_line(&managed), on_one_line(&own));
    let way_out = "slots cannot be moved one by one on Amazon ElastiCache: --commands elasticache prints ranges";
    managed.says(way_out).lacks("setslot");
    assert!(own.contains("--commands setslot takes about"), "{own}");
    let script = plan(&["--commands", "setslot", "--service", "self"]);
    assert!(
        stdout(&script).starts_with("#!/usr/bin/env bash"),
        "{}",
        stderr(&script)
    );
    let four = plan(&["--commands", "elasticache", "--add", "1"]);
    assert_eq!(
        stdout(&four).matches("NodeGroupId").count(),
        4,
        "{}",
        stdout(&four)
    );
    assert!(stderr(&four).contains("4 shards"), "{}", stderr(&four));
}
