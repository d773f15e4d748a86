//! Clusters of managed services: only steps and commands that are possible there.

use testkit::prelude::*;

/// Three nodes with names as given by a service, the first with most slots.
fn fixture(domain: &str) -> Scratch {
    let scratch = Scratch::new();
    let node = |(id, ranges): (&str, &str)| {
        let host = format!("10.0.0.1:6379@16379,shop-{ranges}.{domain}");
        format!(
            "{} {host} master - 0 0 1 connected {ranges}\n",
            id.repeat(40)
        )
    };
    let listing = [("a", "0-9999"), ("b", "10000-13191"), ("c", "13192-16383")];
    scratch.file("cluster.nodes", listing.map(node).concat());
    let keys = (0..30_000).map(|i| format!("key:{i},{}\n", 100 + i % 7));
    let tagged = (0..3000).map(|i| format!("{{tenant:acme}}:{i},1500\n"));
    let rows: String = keys.chain(tagged).collect();
    scratch.file("dump.csv", format!("key,size\n{rows}"));
    scratch
}

fn analyzed(scratch: &Scratch, flags: &str) -> Value {
    scratch.report(&format!(
        "analyze dump.csv --topology cluster.nodes --json {flags}"
    ))
}

fn steps(report: &Value) -> Vec<Value> {
    let steps = report["verdict"]["steps"].list().iter();
    let with_others = steps.flat_map(|step| {
        let others = step["alternatives"].as_array().into_iter().flatten();
        std::iter::once(step).chain(others)
    });
    with_others.cloned().collect()
}

fn has(steps: &[Value], kind: &str) -> bool {
    steps.iter().any(|step| step["kind"] == kind)
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
    let all = steps(&analyzed(&scratch, ""));
    let restored = |step: &&Value| step["sentence"].text().starts_with("restore");
    assert!(all.iter().filter(restored).count() <= 1, "{all:?}");
    assert!(all.first().is_none_or(|first| !restored(&first)), "{all:?}");
    let keys: String = (0..30_000)
        .map(|i| format!("key:{i},{}\n", 100 + i % 7))
        .collect();
    scratch.file("dump.csv", format!("key,size\n{keys}"));
    let found = steps(&analyzed(&scratch, ""));
    assert_possible(&found);
    let ranges = &found[0];
    ranges["sentence"]
        .text()
        .says("restore a backup into 3 shards");
    succeeded(scratch.shell(ranges["command"].text()));
    let shards = scratch.json("shards.json");
    let line = |(shard, id): (&Value, &str)| {
        let (id, slots) = (id.repeat(40), shard["Slots"].text());
        let group = shard["NodeGroupId"].text().trim_start_matches('0');
        format!("{id} 10.0.0.{group}:6379@16379 master - 0 0 1 connected {slots}\n")
    };
    let listing = shards.list().iter().zip(["a", "b", "c"]).map(line);
    scratch.file("cluster.nodes", listing.collect::<String>());
    let after = analyzed(&scratch, "--service elasticache");
    let memory = &after["verdict"]["roles"][0]["fullest"]["max_over_mean"];
    let promised = &ranges["after"]["memory"]["max_over_mean"];
    let [found, promised] = [memory, promised].map(|ratio| ratio.float());
    near(found, promised, 1e-6);
    // The same state again needs no step.
    let again = steps(&after);
    let is_none = |step: &Value| step["kind"] != "move" || step["command"].is_null();
    assert!(again.iter().all(is_none), "{again:?}");
}

#[test]
fn other_services_get_changes_of_the_application_alone() {
    let scratch = fixture("example.com");
    for service in ["memorydb", "memorystore", "azure"] {
        let found = steps(&analyzed(&scratch, &format!("--service {service}")));
        assert_possible(&found);
        assert!(
            !has(&found, "move") && has(&found, "split"),
            "{service}: {found:?}"
        );
    }
    for flags in ["", "--service self"] {
        assert!(has(&steps(&analyzed(&scratch, flags)), "move"), "{flags}");
    }
    let named = fixture("memorydb.eu-west-1.amazonaws.com");
    assert!(!has(&steps(&analyzed(&named, "")), "move"));
    assert!(has(&steps(&analyzed(&named, "--service self")), "move"));
}

#[test]
fn plan_refuses_scripts_that_a_service_does_not_carry_out() {
    let scratch = fixture("ab12.euw1.cache.amazonaws.com");
    let plan = |flags: &str| format!("plan dump.csv --topology cluster.nodes {flags}");
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let parts = format!("--commands | {kind} | Amazon ElastiCache | --commands elasticache");
        scratch.refuses(&format!(
            "{} | {parts}",
            plan(&format!("--commands {kind}"))
        ));
    }
    let other = scratch.run(&plan("--commands elasticache --service memorystore"));
    other.refused("Google Cloud Memorystore | ranges of slots cannot be chosen");
    let unknown = scratch.run(&plan("--service heroku"));
    unknown.refused("--service heroku | elasticache, memorydb");
    let way_out = "slots cannot be moved one by one on Amazon ElastiCache: --commands elasticache prints ranges";
    scratch.prose(&plan("")).says(way_out).lacks("setslot");
    scratch
        .prose(&plan("--service self"))
        .says("--commands setslot takes about");
    let script = scratch.text(&plan("--commands setslot --service self"));
    script.begins("#!/usr/bin/env bash");
    let four = scratch.run(&plan("--commands elasticache --add 1"));
    assert_eq!(stdout(&four).matches("NodeGroupId").count(), 4);
    stderr(&four).says("4 shards");
}
