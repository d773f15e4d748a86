//! `find-tag` as people use it; `live_redis` checks that a real server agrees on every slot.

use std::collections::{BTreeMap, BTreeSet};

use slotscope::topology::Topology;
use testkit::prelude::*;

/// The output of `find-tag ARGS --json`.
fn found(scratch: &Scratch, args: &[&str]) -> Vec<(String, u64, Option<String>)> {
    let said = scratch.run(&[&["find-tag", "--json"], args].concat());
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    let row = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        (
            line["tag"].text().into(),
            line["slot"].whole(),
            line["node"].as_str().map(String::from),
        )
    };
    stdout(&said).lines().map(row).collect()
}

/// The cluster listing that a seed document prints.
fn seed_cluster(scratch: &Scratch) -> String {
    scratch.file(
        "cluster.nodes",
        include_bytes!("../../samples/seed-cluster.nodes"),
    );
    String::from("cluster.nodes")
}

#[test]
fn a_node_is_asked_for_by_its_id_its_start_or_its_address() {
    let scratch = Scratch::new();
    let topology = seed_cluster(&scratch);
    let id = "cc6e6b899e6f2b90f829aeff9ec36316433258a6";
    let asked = |name: &str| {
        found(
            &scratch,
            &["--node", name, "--topology", &topology, "--count", "9"],
        )
    };
    let tags = asked(id);
    assert_eq!(tags, asked("cc6e"));
    assert_eq!(tags, asked("172.26.0.5:6379"));
    assert!(
        tags.iter()
            .all(|(_, slot, node)| (5461..=10922).contains(slot) && node.as_deref() == Some(id))
    );
    let slots: BTreeSet<_> = tags.iter().map(|(_, slot, _)| slot).collect();
    assert_eq!(slots.len(), 9, "one a slot");
}

#[test]
fn tags_are_short_easy_to_type_and_the_same_every_time() {
    let scratch = Scratch::new();
    for slot in ["0", "1", "8191", "16383"] {
        let tags = found(&scratch, &["--slot", slot, "--count", "5"]);
        assert_eq!(tags, found(&scratch, &["--slot", slot, "--count", "5"]));
        for (tag, ..) in tags {
            assert!(tag.len() <= 4, "{tag}");
            assert!(
                tag.bytes()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()),
                "{tag}"
            );
            assert!(!tag.contains(['0', 'o', '1', 'i', 'l']), "{tag}");
        }
    }
}

#[test]
fn a_spread_is_even_over_nodes_and_over_the_slots_of_each() {
    let scratch = Scratch::new();
    let tags = found(&scratch, &["--spread", "12", "--nodes", "3"]);
    let mut by_node: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    tags.iter().for_each(|(_, slot, node)| {
        by_node
            .entry(node.clone().unwrap())
            .or_default()
            .push(*slot)
    });
    // Each node's slots are divided into quarters, and each quarter gets a tag.
    let topology = Topology::even(3, String::from("even 3")).unwrap();
    for node in &topology.nodes {
        let (first, last) = node.ranges[0];
        let quarter = |slot: &u64| (slot - u64::from(first)) * 4 / u64::from(last - first + 1);
        let quarters: Vec<u64> = by_node[&node.id].iter().map(quarter).collect();
        assert_eq!(quarters, [0, 1, 2, 3], "{}: {by_node:?}", node.id);
    }
    let all: BTreeSet<u64> = found(&scratch, &["--spread", "16384"])
        .into_iter()
        .map(|(_, slot, _)| slot)
        .collect();
    assert_eq!(all.len(), 16384);
}

#[test]
fn people_read_the_slot_the_tag_as_it_stands_in_a_key_and_the_node() {
    let scratch = Scratch::new();
    let printed = |args: &[&str]| {
        let args = [&["find-tag", "--slot", "5474"], args].concat();
        stdout(&scratch.run(&args)).to_owned()
    };
    let line = printed(&["--template", "fav:{}", "--nodes", "3"]);
    line.begins("5474\t{fav:").ends("}\teven-2\n");
    let line = printed(&["--template", "\x1b[31m{}"]);
    assert!(line.starts_with("5474\t{\\x1b[31m"), "{line}");
}

#[test]
fn a_search_without_a_result_is_an_error_that_names_the_way_out() {
    let scratch = Scratch::new();
    seed_cluster(&scratch);
    scratch.file(
        "idle.nodes",
        b"aaaa 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-16383\nbbbb 127.0.0.1:7002@17002 master - 0 0 2 connected\n",
    );
    scratch.refuses(
        "find-tag --slot 1 --template fav | has no {}
         find-tag --slot 1 --template {fav:{}} | other braces than its {}
         find-tag --node even-1 | --topology or --nodes
         find-tag --node even-9 --nodes 3 | the nodes are: \"even-1\", \"even-2\", \"even-3\"
         find-tag --node even --nodes 3 | 3 nodes are called so
         find-tag --node bbbb --topology idle.nodes | owns no slots
         find-tag --node '' --topology cluster.nodes | no such node",
    );
    for args in [
        vec!["--slot", "16384"],
        vec!["--spread", "0"],
        vec!["--slot", "1", "--spread", "2"],
        vec![],
    ] {
        let args = [&["find-tag"], args.as_slice()].concat();
        assert_eq!(code(&scratch.run(&args)), 2, "{args:?}");
    }
}
