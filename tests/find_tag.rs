//! `find-tag` as people use it; that a real server agrees on every slot is in `live_redis`.

#[path = "support/scratch.rs"]
mod scratch;

use std::collections::{BTreeMap, BTreeSet};

use scratch::Scratch;
use serde_json::Value;

/// What `find-tag ARGS --json` prints.
fn found(desk: &Scratch, args: &[&str]) -> Vec<(String, u64, Option<String>)> {
    let said = desk.run("find-tag", &[&["--json"], args].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    let row = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        (line["tag"].as_str().unwrap().into(), line["slot"].as_u64().unwrap(), line["node"].as_str().map(String::from))
    };
    said.out.lines().map(row).collect()
}

/// The listing of the cluster that a seed document prints.
fn seed_cluster(desk: &Scratch) -> String {
    desk.file("cluster.nodes", include_bytes!("../samples/seed-cluster.nodes"));
    String::from("cluster.nodes")
}

#[test]
fn a_node_is_asked_for_by_its_id_its_start_or_its_address() {
    let desk = Scratch::new();
    let topology = seed_cluster(&desk);
    let id = "cc6e6b899e6f2b90f829aeff9ec36316433258a6";
    let asked = |name: &str| found(&desk, &["--node", name, "--topology", &topology, "--count", "9"]);
    let tags = asked(id);
    assert_eq!(tags, asked("cc6e"));
    assert_eq!(tags, asked("172.26.0.5:6379"));
    assert!(tags.iter().all(|(_, slot, node)| (5461..=10922).contains(slot) && node.as_deref() == Some(id)));
    let slots: BTreeSet<_> = tags.iter().map(|(_, slot, _)| slot).collect();
    assert_eq!(slots.len(), 9, "one a slot");
}

#[test]
fn tags_are_short_easy_to_type_and_the_same_every_time() {
    let desk = Scratch::new();
    for slot in ["0", "1", "8191", "16383"] {
        let tags = found(&desk, &["--slot", slot, "--count", "5"]);
        assert_eq!(tags, found(&desk, &["--slot", slot, "--count", "5"]));
        for (tag, ..) in tags {
            assert!(tag.len() <= 4, "{tag}");
            assert!(tag.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{tag}");
            assert!(!tag.contains(['0', 'o', '1', 'i', 'l']), "{tag}");
        }
    }
}

#[test]
fn a_spread_is_even_over_nodes_and_over_the_slots_of_each() {
    let desk = Scratch::new();
    let tags = found(&desk, &["--spread", "12", "--nodes", "3"]);
    let mut by_node: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    tags.iter().for_each(|(_, slot, node)| by_node.entry(node.clone().unwrap()).or_default().push(*slot));
    for (i, (node, slots)) in by_node.iter().enumerate() {
        assert_eq!(slots.len(), 4, "{node}");
        for (quarter, slot) in slots.iter().enumerate() {
            let from = (i * 5461 + quarter * 1365) as u64;
            assert!((from.saturating_sub(1)..from + 1368).contains(slot), "{node}: {slot} in quarter {quarter}");
        }
    }
    let all: BTreeSet<u64> = found(&desk, &["--spread", "16384"]).into_iter().map(|(_, slot, _)| slot).collect();
    assert_eq!(all.len(), 16384);
}

#[test]
fn tags_in_use_are_not_found_again_and_their_slots_are_spared() {
    let desk = Scratch::new();
    let first = found(&desk, &["--slot", "77", "--template", "fav:{}", "--count", "3"]);
    // A tag, a key that has one, and a line end of Windows.
    let list = format!("{}\r\nprod:{{{}}}:meta\n\nunrelated\n", first[0].0, first[1].0);
    desk.file("used.tags", list.as_bytes());
    let again = found(&desk, &["--slot", "77", "--template", "fav:{}", "--avoid", "used.tags"]);
    assert_eq!(again, first[2..]);

    let spread = found(&desk, &["--spread", "40", "--nodes", "3"]);
    let in_use: String = spread.iter().map(|(tag, ..)| format!("{tag}\n")).collect();
    desk.file("spread.tags", in_use.as_bytes());
    let other = found(&desk, &["--spread", "40", "--nodes", "3", "--avoid", "spread.tags"]);
    let slots = |tags: &[(String, u64, Option<String>)]| tags.iter().map(|(_, slot, _)| *slot).collect::<BTreeSet<_>>();
    assert!(slots(&spread).is_disjoint(&slots(&other)));
    // A node of three slots, two of them in use: the third is found, and once that is in use too, any.
    desk.file(
        "small.nodes",
        b"aaaa 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-9 13-16383\nbbbb 127.0.0.1:7002@17002 master - 0 0 2 connected 10-12\n",
    );
    let used = [10, 11, 12].map(|slot| found(&desk, &["--slot", &slot.to_string(), "--template", "x:{}"])[0].0.clone());
    let of_node = |used: &[String]| {
        desk.file("small.tags", used.join("\n").as_bytes());
        found(&desk, &["--node", "bbbb", "--topology", "small.nodes", "--avoid", "small.tags"])[0].1
    };
    let spared = [&used[1..], &[used[0].clone(), used[2].clone()], &used[..2]].map(of_node);
    assert_eq!(spared, [10, 11, 12]);
    assert!((10..=12).contains(&of_node(&used)));
    // Where all slots are wanted, those in use are taken too, with other tags.
    let all = found(&desk, &["--spread", "16384", "--avoid", "spread.tags"]);
    assert_eq!(slots(&all).len(), 16384);
    assert!(all.iter().all(|(tag, ..)| spread.iter().all(|(used, ..)| used != tag)));
}

#[test]
fn people_read_the_slot_the_tag_as_it_stands_in_a_key_and_the_node() {
    let desk = Scratch::new();
    let line = desk.run("find-tag", &["--slot", "5474", "--template", "fav:{}", "--nodes", "3"]).out;
    assert!(line.starts_with("5474\t{fav:") && line.ends_with("}\teven-2\n"), "{line}");
    let line = desk.run("find-tag", &["--slot", "5474", "--template", "\x1b[31m{}"]).out;
    assert!(line.starts_with("5474\t{\\x1b[31m"), "{line}");
}

#[test]
fn what_cannot_be_found_is_told_with_the_way_out() {
    let desk = Scratch::new();
    let topology = seed_cluster(&desk);
    desk.file(
        "idle.nodes",
        b"aaaa 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-16383\nbbbb 127.0.0.1:7002@17002 master - 0 0 2 connected\n",
    );
    for (args, part) in [
        (vec!["--slot", "1", "--template", "fav"], "has no {}"),
        (vec!["--slot", "1", "--template", "{fav:{}}"], "braces beside its {}"),
        (vec!["--node", "even-1"], "--topology or --nodes"),
        (vec!["--node", "even-9", "--nodes", "3"], "there are: even-1, even-2, even-3"),
        (vec!["--node", "even", "--nodes", "3"], "3 nodes are called so"),
        (vec!["--node", "bbbb", "--topology", "idle.nodes"], "owns no slots"),
        (vec!["--node", "", "--topology", &topology], "no such node"),
        (vec!["--slot", "1", "--avoid", "nothing.tags"], "nothing.tags: no such file"),
    ] {
        desk.fails("find-tag", &args, part);
    }
    for args in [vec!["--slot", "16384"], vec!["--spread", "0"], vec!["--slot", "1", "--spread", "2"], vec![]] {
        assert_eq!(desk.run("find-tag", &args).code, 2, "{args:?}");
    }
}
