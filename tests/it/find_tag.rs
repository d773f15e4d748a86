//! `find-tag` as people use it; `live_redis` checks that a real server agrees on every slot.

use std::collections::{BTreeMap, BTreeSet};

use slotscope::topology::Topology;
use testkit::prelude::*;

/// The tag, slot and node in each line of `find-tag ARGS --json`.
fn found(scratch: &Scratch, args: &str) -> Vec<(String, u64, Option<String>)> {
    let said = scratch.text(&format!("find-tag --json {args}"));
    let lines = said
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let row = |line: Value| {
        let node = line["node"].as_str().map(String::from);
        (line["tag"].text().to_owned(), line["slot"].whole(), node)
    };
    lines.map(row).collect()
}

/// The cluster listing that a seed document prints.
fn seed_cluster(scratch: &Scratch) {
    let listing = include_bytes!("../../samples/seed-cluster.nodes");
    scratch.file("cluster.nodes", listing);
}

#[test]
fn a_node_is_asked_for_by_its_id_its_start_or_its_address() {
    let scratch = Scratch::new();
    seed_cluster(&scratch);
    let id = "cc6e6b899e6f2b90f829aeff9ec36316433258a6";
    let asked = |name: &str| {
        let args = format!("--node {name} --topology cluster.nodes --count 9");
        found(&scratch, &args)
    };
    let tags = asked(id);
    assert_eq!(tags, asked("cc6e"));
    assert_eq!(tags, asked("172.26.0.5:6379"));
    for (_, slot, node) in &tags {
        assert!((5461..=10922).contains(slot) && node.as_deref() == Some(id));
    }
    let slots: BTreeSet<_> = tags.iter().map(|(_, slot, _)| slot).collect();
    assert_eq!(slots.len(), 9, "one a slot");
}

#[test]
fn tags_are_short_easy_to_type_and_the_same_every_time() {
    let scratch = Scratch::new();
    for slot in ["0", "1", "8191", "16383"] {
        let args = format!("--slot {slot} --count 5");
        let tags = found(&scratch, &args);
        assert_eq!(tags, found(&scratch, &args));
        for (tag, ..) in tags {
            let is_easy = |c: char| "abcdefghjkmnpqrstuvwxyz23456789".contains(c);
            assert!(tag.len() <= 4 && tag.chars().all(is_easy), "{tag}");
        }
    }
}

#[test]
fn a_spread_is_even_over_nodes_and_over_the_slots_of_each() {
    let scratch = Scratch::new();
    let mut by_node: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for (_, slot, node) in found(&scratch, "--spread 12 --nodes 3") {
        by_node.entry(node.unwrap()).or_default().push(slot);
    }
    // Each node's slots are divided into quarters, and each quarter gets a tag.
    let topology = Topology::even(3, String::from("even 3")).unwrap();
    for node in &topology.nodes {
        let (first, last) = node.ranges[0];
        let quarter = |slot: &u64| (slot - u64::from(first)) * 4 / u64::from(last - first + 1);
        let quarters: Vec<u64> = by_node[&node.id].iter().map(quarter).collect();
        assert_eq!(quarters, [0, 1, 2, 3], "{}: {by_node:?}", node.id);
    }
    let all = found(&scratch, "--spread 16384");
    let all: BTreeSet<u64> = all.into_iter().map(|(_, slot, _)| slot).collect();
    assert_eq!(all.len(), 16384);
}

#[test]
fn people_read_the_slot_the_tag_as_it_stands_in_a_key_and_the_node() {
    let scratch = Scratch::new();
    let line = scratch.text("find-tag --slot 5474 --template fav:{} --nodes 3");
    line.begins("5474\t{fav:").ends("}\teven-2\n");
    let line = scratch.text("find-tag --slot 5474 --template \x1b[31m{}");
    line.begins("5474\t{\\x1b[31m");
}

#[test]
fn a_search_without_a_result_is_an_error_that_names_the_way_out() {
    let scratch = Scratch::new();
    seed_cluster(&scratch);
    let idle = "aaaa 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-16383\n\
                bbbb 127.0.0.1:7002@17002 master - 0 0 2 connected\n";
    scratch.file("idle.nodes", idle);
    scratch.refuses(
        "find-tag --slot 1 --template fav | has no {}
         find-tag --slot 1 --template {fav:{}} | other braces than its {}
         find-tag --node even-1 | --topology or --nodes
         find-tag --node even-9 --nodes 3 | the nodes are: \"even-1\", \"even-2\", \"even-3\"
         find-tag --node even --nodes 3 | 3 nodes are called so
         find-tag --node bbbb --topology idle.nodes | owns no slots
         find-tag --node '' --topology cluster.nodes | no such node",
    );
    for args in ["--slot 16384", "--spread 0", "--slot 1 --spread 2", ""] {
        assert_eq!(code(&scratch.run(&format!("find-tag {args}"))), 2, "{args}");
    }
}
