//! Refusals of `slotscope plan`: flags that contradict the cluster, incomplete dumps, failed primaries.

use super::{LISTING, fixture, line, planned, said};
use slotscope::slot::slot;
use slotscope::topology::Topology;
use testkit::prelude::*;

#[test]
fn a_refusal_names_the_flag_and_the_way_out() {
    let scratch = fixture();
    scratch.file("empty.keys", "");
    scratch.file("a.keys", "a\n");
    let of_fixture = r#"--by size | --by size | bytes,ops
        --by keys,keys | each once
        --by bytes=2,ops=1 | metrics have no weights
        --weight x=1 | --weight x=1 | no such node; the nodes are: "10.0.0.1:7000"
        --weight aaaa=0 | --remove
        --weight aaaa | ID=W
        --remove aaaa --remove bbbb --remove c | no node would be left
        --remove bbbb | slot 13000 | --exclude | on its way
        --remove aaaa --exclude 9,8 | slot 8
        --exclude 16384 | 0-5,77
        --exclude 5-0 | --exclude 5-0
        --tolerance=-1 | percent
        --max-bytes 1x | 512mb
        --add 16384 | 16384"#;
    for row in of_fixture.lines() {
        scratch.refuses(&line(row.trim()));
    }
    scratch.refuses(
        "plan a.keys | --topology | --nodes
         plan empty.keys --nodes 3 | no load | rebalance
         plan a.keys --nodes 3 --by ops | --by ops | it has: keys
         plan a.keys --nodes 3 --max-bytes 1gb | --max-bytes | it has: keys",
    );
}

/// Four primaries, one failed and one possibly failed.
const FAILED: &str = "a 10.0.0.1:1@2 master - 0 0 1 connected 0-9999\n\
    b 10.0.0.2:1@2,pod-2 master,fail - 0 0 2 connected 10000-11999\n\
    c 10.0.0.3:1@2 master,fail? - 0 0 3 connected 12000-12999\n\
    d 10.0.0.4:1@2 master - 0 0 4 connected 13000-16383\n";

#[test]
fn failed_primaries_neither_give_nor_take_slots() {
    let scratch = fixture();
    scratch.file("cluster.nodes", FAILED);
    let json = planned(&scratch, "");
    let moves = json["moves"].each("from to");
    assert!(
        moves.list().iter().all(|of| *of == json!(["a", "d"])),
        "{moves}"
    );
    for at in [1, 2] {
        let node = &json["nodes"][at];
        assert_eq!(node["failed"], true);
        assert_eq!(node["slots"]["before"], node["slots"]["after"], "{node}");
        assert!(node["keys"]["before"].whole() > 1000, "{node}");
    }
    super::prose(&said(&scratch, ""))
        .says("as failed: it takes no slots, and its 2,000 slots stay")
        .says("pod-2 (failed)");
    // The script neither queries them nor waits for them.
    let script = said(&scratch, "--commands setslot");
    script.lacks("host[2]=").says("host[4]='10.0.0.4'");
}

#[test]
fn where_only_failed_primaries_could_take_the_slots_no_plan_is_made() {
    let scratch = fixture();
    scratch.file("cluster.nodes", FAILED);
    let plan = "plan dump.csv --topology cluster.nodes";
    scratch.refuses(&format!(
        "{plan} --remove a --remove d | no primary that could take slots | as failed
         {plan} --remove pod-2 | --remove pod-2 | fail over to a replica
         {plan} --weight pod-2=2 | --weight pod-2=2 | fail over to a replica"
    ));
}

#[test]
fn a_dump_that_does_not_look_whole_makes_a_plan_by_force_only() {
    let scratch = Scratch::with("cluster.nodes", LISTING);
    // A dump without keys of the second node.
    let topology = Topology::parse("nodes", LISTING).unwrap();
    let keys = (0..60_000).map(|i| format!("key:{i}"));
    let keys = keys.filter(|key| topology.owner(slot(key.as_bytes())) != Some(1));
    scratch.file("dump.csv", keys.map(|key| key + "\n").collect::<String>());
    for flags in ["", "--commands setslot", "--json"] {
        let output = scratch.run(&line(flags));
        output.refused("the dump does not look whole | --force");
    }
    let script = said(&scratch, "--commands setslot --force");
    let head = script.lines().take_while(|line| line.starts_with('#'));
    let warnings = head.filter(|line| line.starts_with("# warning: ")).count();
    assert_eq!(warnings, 2, "the dump, and the slot on its way: {script}");
}
