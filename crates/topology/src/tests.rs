//! Properties of every format: even splits, foreign files, round trips, hostile bytes.

use proptest::prelude::*;

use crate::*;

fn error(bytes: &[u8]) -> String {
    Topology::parse("x", bytes).unwrap_err().to_string()
}

#[test]
fn three_even_nodes_are_split_as_redis_cli_does() {
    let topology = Topology::even(3, String::from("assumed even 3")).unwrap();
    let ends: Vec<u16> = topology.nodes.iter().map(|node| node.ranges[0].1).collect();
    assert_eq!(ends, [5460, 10922, 16383]);
    assert_eq!(
        (topology.nodes[2].id.as_str(), topology.nodes[2].slots),
        ("even-3", 5461)
    );
    assert_eq!(topology.source, "assumed even 3");
}

#[test]
fn an_even_split_gives_every_slot_to_one_node_and_rounds_halves_up() {
    for n in (1..=200).chain([999, 1000, 4096, 10_922, 10_923, 16_383, 16_384]) {
        let topology = Topology::even(n, String::new()).unwrap();
        assert_eq!(topology.nodes.len(), n);
        let mut next = 0;
        for (i, node) in topology.nodes.iter().enumerate() {
            let end = ((i + 1) as f64 * 16384.0 / n as f64).round() as u32;
            assert_eq!(
                node.ranges,
                [(next as u16, (end - 1) as u16)],
                "node {i} of {n}"
            );
            assert_eq!(node.slots, end - next);
            assert!((next..end).all(|slot| topology.owner(slot as u16) == Some(i)));
            next = end;
        }
        assert_eq!(next, 16384);
    }
}

#[test]
fn more_nodes_than_slots_or_none_name_the_flag() {
    for n in [0, 16_385, usize::MAX] {
        let message = Topology::even(n, String::new()).unwrap_err().to_string();
        assert!(message.starts_with(&format!("--nodes {n}: ")), "{message}");
    }
}

#[test]
fn there_is_no_owner_past_the_last_slot() {
    let topology = Topology::even(1, String::new()).unwrap();
    assert_eq!(
        (
            topology.owner(16383),
            topology.owner(16384),
            topology.owner(u16::MAX)
        ),
        (Some(0), None, None)
    );
}

#[test]
fn a_file_that_is_something_else_says_what_it_is_and_how_to_make_one() {
    for (bytes, expected) in [
        (b"".as_slice(), "x: an empty file; make one with: "),
        (b"\xEF\xBB\xBF \r\n", "x: an empty file; "),
        (b"\xFF\xFEa\0 \0", "x: UTF-16 text, "),
        (b"\x1f\x8b\x08\x00", "x: line 1: not text, "),
        (b"a\nb\n\xFF", "x: line 3: not text, "),
        (b"{\"schema\":\"slotscope.report/1\"}", "x: a JSON object; "),
        (b"[]", "x: no primary in it; "),
        (b"[[0,1,[\"h\"", "x: line 1, column 10: broken JSON, "),
        (b"[1,2]", "x: shard 1: neither CLUSTER SHARDS "),
    ] {
        let message = error(bytes);
        assert!(message.starts_with(expected), "{message}");
    }
    let message = error(&vec![b'a'; MAX_BYTES + 1]);
    assert!(message.starts_with("x: more than 16 MiB, "), "{message}");
}

#[test]
fn a_byte_order_mark_before_a_listing_is_no_part_of_it() {
    assert!(
        Topology::parse(
            "x",
            "\u{FEFF}a h:1@2 master - 0 0 1 connected 0-16383\n".as_bytes()
        )
        .is_ok()
    );
}

#[test]
fn a_file_that_is_not_there_is_named_and_one_that_is_becomes_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.txt");
    let message = Topology::read(&path).unwrap_err().to_string();
    assert!(message.contains("nodes.txt: no such file"), "{message}");
    std::fs::write(&path, "a h:1@2 master - 0 0 1 connected 0-16383\n").unwrap();
    assert_eq!(
        Topology::read(&path).unwrap().source,
        path.to_string_lossy()
    );
}

/// Slots scattered over up to nine nodes: owner by slot, `NO_NODE` if unassigned, runs of every length.
fn owners() -> impl Strategy<Value = Vec<u16>> {
    let run = (
        prop_oneof![4 => 0u16..9, 1 => Just(NO_NODE)],
        prop_oneof![1usize..4, 1usize..6000],
    );
    prop::collection::vec(run, 1..200)
        .prop_map(|runs| {
            let mut owners: Vec<u16> = runs
                .into_iter()
                .flat_map(|(node, len)| std::iter::repeat_n(node, len))
                .take(SLOTS)
                .collect();
            owners.resize(SLOTS, NO_NODE);
            owners
        })
        .prop_filter("some slot has an owner", |owners| {
            owners.iter().any(|owner| *owner != NO_NODE)
        })
}

/// The runs of one owner, as ranges.
fn ranges_of(owners: &[u16], node: u16) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for slot in (0..owners.len()).filter(|slot| owners[*slot] == node) {
        match ranges.last_mut() {
            Some(range) if range.1 + 1 == slot => range.1 = slot,
            _ => ranges.push((slot, slot)),
        }
    }
    ranges
}

/// The same cluster in all three formats: nodes `n0`.., where `n9` owns nothing, and a replica.
fn forms(owners: &[u16]) -> [String; 3] {
    let mut text = String::from("r ::1:9@19 slave n0 0 0 1 connected\n");
    let (mut shards, mut slots) = (Vec::new(), Vec::new());
    for node in 0..10 {
        let ranges = ranges_of(owners, node);
        let items: Vec<String> = ranges
            .iter()
            .map(|(a, b)| {
                if a == b {
                    format!("{a}")
                } else {
                    format!("{a}-{b}")
                }
            })
            .collect();
        text.push_str(&format!(
            "n{node} ::1:{node}@1{node},h master - 0 0 1 connected {}\n",
            items.join(" ")
        ));
        let bounds: Vec<String> = ranges.iter().map(|(a, b)| format!("{a},{b}")).collect();
        shards.push(format!(
            r#"{{"slots":[{}],"nodes":[{{"id":"r{node}","role":"replica"}},{{"id":"n{node}","port":{node},"ip":"::1","role":"master"}}]}}"#,
            bounds.join(",")
        ));
        slots.extend(ranges.iter().map(|(a, b)| {
            format!(r#"[{a},{b},["::1",{node},"n{node}",{{}}],["::1",9,"r",{{}}]]"#)
        }));
    }
    [
        text,
        format!("[{}]", shards.join(",")),
        format!("[{}]", slots.join(",")),
    ]
}

proptest! {
    #[test]
    fn every_form_of_a_cluster_comes_back_as_the_same_owners(owners in owners()) {
        for form in forms(&owners) {
            let topology = Topology::parse("x", form.as_bytes()).unwrap();
            for (slot, owner) in owners.iter().enumerate() {
                let found = topology.owner(slot as u16).map(|index| topology.nodes[index].id.clone());
                prop_assert_eq!(found, (*owner != NO_NODE).then(|| format!("n{owner}")));
            }
            let slots: u32 = topology.nodes.iter().map(|node| node.slots).sum();
            prop_assert_eq!(slots as usize, owners.iter().filter(|owner| **owner != NO_NODE).count());
            for node in &topology.nodes {
                prop_assert!(node.ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
                prop_assert_eq!(node.address.clone(), Some(format!("::1:{}", &node.id[1..])));
                prop_assert!(!node.failed);
            }
            let firsts: Vec<u32> =
                topology.nodes.iter().map(|node| node.ranges.first().map_or(u32::MAX, |first| first.0.into())).collect();
            prop_assert!(firsts.is_sorted());
        }
    }

    #[test]
    fn any_bytes_give_a_topology_or_one_printable_line(bytes: Vec<u8>) {
        check_hostile(&bytes)?;
    }

    #[test]
    fn a_damaged_listing_gives_a_topology_or_one_printable_line(
        owners in owners(), form in 0usize..3, damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0usize..3), 1..6)
    ) {
        let mut bytes = forms(&owners)[form].clone().into_bytes();
        for (at, byte, kind) in damage {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"[]{},-\" \n0\x1b"[usize::from(byte) % 11]),
                _ => { bytes.remove(at); }
            }
            if bytes.is_empty() { break; }
        }
        check_hostile(&bytes)?;
    }
}

fn check_hostile(bytes: &[u8]) -> std::result::Result<(), TestCaseError> {
    if let Err(error) = Topology::parse("x", bytes) {
        let message = error.to_string();
        prop_assert!(
            message.starts_with("x: ") && !message.chars().any(char::is_control),
            "{message:?}"
        );
        prop_assert!(message.len() < 600, "{message}");
    }
    Ok(())
}
