//! What was not seen is not even: inputs that lack a part that matters are named, not judged, and nothing is planned for them.

use slotscope::slot::slot;
use testkit::dumps::gzip;
use testkit::prelude::*;

const NODES: &str = "a 127.0.0.1:7000@1 master - 0 0 1 connected 0-5460\n\
    b 127.0.0.1:7001@1 master - 0 0 2 connected 5461-10922\n\
    c 127.0.0.1:7002@1 master - 0 0 3 connected 10923-16383\n";
const RANGES: [(u16, u16); 3] = [(0, 5460), (5461, 10_922), (10_923, 16_383)];

/// The reply of a primary to CLUSTER SLOT-STATS, of slots `from` to `to`.
fn reply((from, to): (u16, u16)) -> String {
    let rows = (from..=to).map(|slot| format!("[{slot},{{\"key-count\":{}}}]", 90 + slot % 7));
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

/// The state, and the first line; `--fail-on` does not pass.
#[track_caller]
fn first_line(scratch: &Scratch, inputs: &str) -> (String, String) {
    let line = format!("analyze {inputs} --json --fail-on verdict>=watch");
    let output = scratch.run(&line);
    assert_eq!(code(&output), 2, "{inputs}: {}", stdout(&output));
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    let verdict = &report["verdict"];
    let moves = verdict["steps"].as_array().unwrap().iter();
    assert_eq!(
        moves.filter(|step| step["kind"] == "move").count(),
        0,
        "{inputs}"
    );
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&verdict["state"]), text(&verdict["sentence"]))
}

#[test]
fn counts_by_slot_of_a_part_of_the_cluster_are_not_judged() {
    let scratch = Scratch::with("three.nodes", NODES);
    let most = |(from, _)| (from, from + 99);
    for (at, range) in RANGES.into_iter().enumerate() {
        scratch.file(&format!("{}.json", 7000 + at), reply(range));
        scratch.file(&format!("top-{}.json", 7000 + at), reply(most(range)));
    }
    let whole =
        scratch.report("analyze 7000.json 7001.json 7002.json --topology three.nodes --json");
    assert_eq!(
        whole["verdict"]["state"], "balanced",
        "{}",
        whole["verdict"]["sentence"]
    );
    assert_eq!(
        whole["coverage"]["roles"][0]["nodes"][2],
        json!({"node": "c", "seen": "whole"})
    );
    for (inputs, says) in [
        (
            "7000.json --topology three.nodes",
            "127.0.0.1:7001, 127.0.0.1:7002 of 3 nodes were not read",
        ),
        (
            "7000.json --nodes 3",
            "even-2, even-3 of 3 nodes were not read",
        ),
        (
            "7000.json 7002.json --topology three.nodes",
            "127.0.0.1:7001 of 3 nodes was not read",
        ),
        (
            "7000.json 7002.json",
            "5,462 slots are in none of the replies",
        ),
        (
            "top-7000.json 7001.json 7002.json --topology three.nodes",
            "only 100 of 5,461 slots of 127.0.0.1:7000 were read",
        ),
        (
            "top-7000.json top-7001.json top-7002.json --topology three.nodes",
            "only 100 of 5,461 slots of 127.0.0.1:7000 were read, and only some of 2 other nodes",
        ),
    ] {
        let (state, sentence) = first_line(&scratch, inputs);
        assert_eq!(state, "unjudged", "{inputs}: {sentence}");
        sentence.says(says);
    }
    let plan = "plan 7000.json 7002.json --topology three.nodes";
    let refused = scratch.run(plan);
    refused
        .refused("the dump does not look whole | 127.0.0.1:7001 of 3 nodes was not read | --force");
    let forced = scratch.prose(&format!("{plan} --force"));
    forced.says("by --force, although 127.0.0.1:7001 of 3 nodes was not read");
    forced.says("move ");
}

#[test]
fn a_forced_plan_is_that_of_the_loads_and_not_of_the_doubt() {
    let scratch = Scratch::with(
        "nodes",
        "a 10.0.0.1:1@2 master - 0 0 1 connected 0-9999\n\
        b 10.0.0.2:1@2 master - 0 0 2 connected 10000-13000\n\
        c 10.0.0.3:1@2 master - 0 0 3 connected 13001-16383\n",
    );
    let rows = (0..60_000).map(|i| format!("key:{i},{}\n", 100 + i % 50));
    let table = format!("key,size\n{}", rows.collect::<String>());
    // The last bytes of a compressed file are missing.
    let whole = gzip(table.as_bytes());
    scratch.file("dump.csv.gz", &whole[..whole.len() / 2]);
    let moved = |flags: &str| {
        let plan = format!("plan dump.csv.gz --topology nodes --force --json {flags}");
        let plan = scratch.report(&plan);
        (plan["slots_moved"].as_u64().unwrap(), plan["moves"].clone())
    };
    assert!(moved("").0 > 3000);
    assert_eq!(moved(""), moved("--by bytes"));
}
