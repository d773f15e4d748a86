//! Even splits, and every format: what is read from it, what is refused, round trips, hostile bytes.

use proptest::prelude::*;

use crate::*;

fn error(bytes: &[u8]) -> String {
    Topology::parse("x", bytes).unwrap_err().to_string()
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
        assert_eq!(topology.nodes[n - 1].id, format!("even-{n}"));
        assert_eq!(
            (topology.owner(16384), topology.owner(u16::MAX)),
            (None, None)
        );
    }
}

#[test]
fn more_nodes_than_slots_or_none_name_the_flag() {
    for n in [0, 16_385, usize::MAX] {
        let message = Topology::even(n, String::new()).unwrap_err().to_string();
        assert!(message.starts_with(&format!("--nodes {n}: ")), "{message}");
    }
}

/// The nodes, each in one line: id, name, address, ranges, number of replicas and health.
fn shown(text: &str) -> Vec<String> {
    let topology = Topology::parse("x", text.as_bytes()).unwrap();
    let shown = |node: &Node| {
        let ranges: Vec<String> = node
            .ranges
            .iter()
            .map(|(a, b)| format!("{a}-{b}"))
            .collect();
        let health = match (node.failed, node.suspected) {
            (true, _) => " failed",
            (_, true) => " suspected",
            _ => "",
        };
        format!(
            "{} {} at {}: {} +{}{health}",
            node.id,
            node.name(),
            node.address.as_deref().unwrap_or("?"),
            ranges.join(" "),
            node.replicas.unwrap()
        )
    };
    topology.nodes.iter().map(shown).collect()
}

#[test]
fn listings_as_servers_of_all_versions_print_them() {
    let cases: [(&str, &[&str]); 8] = [
        // Copied from a session.
        (
            "127.0.0.1:6379> cluster nodes\r\n\
            r 10.0.0.7:6379@16379 slave b 0 1685681651000 2 connected\r\n\
            c 10.0.0.4:6379@16379 master - 0 1685681652000 3 connected 10923-16383\r\n\
            b 10.0.0.5:6379@16379 master - 0 1685681651976 2 connected 5461-10922\r\n\
            a 10.0.0.6:6379@16379 myself,master - 0 1685681650000 1 connected 0-5460\r\n",
            &[
                "a 10.0.0.6:6379 at 10.0.0.6:6379: 0-5460 +0",
                "b 10.0.0.5:6379 at 10.0.0.5:6379: 5461-10922 +1",
                "c 10.0.0.4:6379 at 10.0.0.4:6379: 10923-16383 +0",
            ],
        ),
        // A nodes.conf, with a byte order mark.
        (
            "\u{FEFF}a 127.0.0.1:7901@17901,,tls-port=0,shard-id=2607 master - 0 0 1 connected 0-1 3 5\n\
            b :7902@17902,h2.example.com,tls-port=0,shard-id=2608 myself,master - 0 0 2 connected 2\n\
            c 10.0.0.3:7903@17903,h3.example.com,shard-id=2609 master - 0 0 2 connected 4 6-16383\n\
            vars currentEpoch 3 lastVoteEpoch 0\n",
            &[
                "a 127.0.0.1:7901 at 127.0.0.1:7901: 0-1 3-3 5-5 +0",
                "b h2.example.com:7902 at h2.example.com:7902: 2-2 +0",
                "c h3.example.com:7903 at 10.0.0.3:7903: 4-4 6-16383 +0",
            ],
        ),
        // Older servers, IPv6, nodes that have failed or gone, and replicas of all kinds.
        (
            "a 10.0.0.1:6379 myself,master - 0 0 1 connected 0-99\n\
            b ::1:7000@17000 master,fail? - 17 16 3 disconnected 100-199\n\
            c :0@0 master,fail,noaddr - 17 16 3 disconnected 200-299\n\
            d 10.0.0.4:0 master,noaddr - 0 0 0 disconnected\n\
            e 10.0.0.5:6379@16379 handshake - 0 0 0 connected\n\
            f 10.0.0.6:6379@16379 noflags - 0 0 0 connected\n\
            g 10.0.0.7:6379@16379 slave,nofailover a 0 0 0 connected\n\
            g 10.0.0.7:6379@16379 slave,nofailover a 0 0 0 connected\n\
            h 10.0.0.8:6379@16379 master,nofailover - 0 0 0 connected\n\
            i h:3@2 slave,fail a 0 0 1 disconnected\n\
            j :0@0 slave,noaddr a 0 0 1 disconnected\n\
            k h:5@2 replica,fail? a 0 0 1 connected\n",
            &[
                "a 10.0.0.1:6379 at 10.0.0.1:6379: 0-99 +2",
                "b ::1:7000 at ::1:7000: 100-199 +0 suspected",
                "c c at ?: 200-299 +0 failed",
                "d d at ?:  +0",
                "h 10.0.0.8:6379 at 10.0.0.8:6379:  +0",
            ],
        ),
        // CLUSTER SLOTS.
        (
            r#"[[0,5460,["127.0.0.1",7901,"a",{"hostname":"h1"}],["127.0.0.1",7909,"r",{}]],
                [5462,5462,["127.0.0.1",7901,"a",{}]],
                [5461,5461,["h2",7902,"b",{"ip":"10.0.0.2"}]],
                [5463,5463,[null,7903,"c",["ip","","hostname","h3"]]],
                [5464,5464,["?",7904,"d",{"ip":"::1"}]]]"#,
            &[
                "a h1:7901 at 127.0.0.1:7901: 0-5460 5462-5462 +1",
                "b h2:7902 at 10.0.0.2:7902: 5461-5461 +0",
                "c h3:7903 at h3:7903: 5463-5463 +0",
                "d ::1:7904 at ::1:7904: 5464-5464 +0",
            ],
        ),
        // The same without ids.
        (
            r#"[[0,9,["10.0.0.1",1]],[10,19,["10.0.0.2",1]],[20,29,["10.0.0.1",1]]]"#,
            &[
                "10.0.0.1:1 10.0.0.1:1 at 10.0.0.1:1: 0-9 20-29 +0",
                "10.0.0.2:1 10.0.0.2:1 at 10.0.0.2:1: 10-19 +0",
            ],
        ),
        // CLUSTER SHARDS, with maps as objects and as the flat arrays of an older protocol.
        (
            r#"[{"slots":[10,20,30,30],"nodes":[
                {"id":"r","port":7903,"ip":"10.0.0.3","endpoint":"10.0.0.3","role":"replica","health":"online"},
                {"id":"b","port":7902,"ip":"10.0.0.2","endpoint":"h2","hostname":"h2","role":"master","health":"online"}]},
              {"slots":[0,9],"nodes":[{"id":"a","tls-port":7901,"ip":"","endpoint":"?","hostname":"h1","role":"master","health":"fail"}]},
              {"slots":[],"nodes":[{"id":"c","port":7904,"ip":"::1","endpoint":"::1","role":"master","health":"online"}]}]"#,
            SHARDS,
        ),
        (
            r#"[["slots",[0,9],"nodes",[["id","a","tls-port",7901,"ip","","endpoint",null,"hostname","h1","role","master","health","fail"]]],
              ["slots",[10,20,30,30],"nodes",[["id","r","port",7903,"ip","10.0.0.3","role","replica"],["id","b","port",7902,"ip","10.0.0.2","hostname","h2","role","master","health","online"]]],
              ["slots",[],"nodes",[["id","c","port",7904,"ip","::1","role","master","health","online"]]]]"#,
            SHARDS,
        ),
        // After a failover.
        (
            r#"[{"slots":[0,16383],"nodes":[{"id":"old","port":1,"ip":"h","role":"master","health":"fail"},
                {"id":"new","port":2,"ip":"h","role":"master","health":"online"},
                {"id":"r","port":3,"ip":"h","role":"replica","health":"online"},
                {"id":"s","port":4,"ip":"h","role":"replica","health":"loading"}]}]"#,
            &["new h:2 at h:2: 0-16383 +1", "old h:1 at h:1:  +0 failed"],
        ),
    ];
    for (text, nodes) in cases {
        assert_eq!(shown(text), nodes, "{text}");
    }
}

const SHARDS: &[&str] = &[
    "a h1:7901 at h1:7901: 0-9 +0 failed",
    "b h2:7902 at 10.0.0.2:7902: 10-20 30-30 +1",
    "c ::1:7904 at ::1:7904:  +0",
];

#[test]
fn what_cannot_be_right_is_named_with_its_place_and_the_way_out() {
    let line = |slots: &str| {
        format!("a h:1@2 master - 0 0 1 connected 0-9\nb h:3@4 master - 0 0 1 connected {slots}")
    };
    let entry = |entry: &str| format!(r#"[[0,9,["h",1,"a"]],{entry}]"#);
    let shard = |slots: &str, node: &str| {
        let good = r#"{"slots":[0,9],"nodes":[{"id":"a","port":1,"ip":"h","role":"master"}]}"#;
        format!(r#"[{good},{{"slots":{slots},"nodes":[{{{node}}}]}}]"#)
    };
    let master = r#""id":"b","role":"master""#;
    for (text, expected) in [
        (String::new(), "an empty file; make one with: "),
        ("\u{FEFF} \r\n".into(), "an empty file; "),
        (
            r#"{"schema":"slotscope.report/1"}"#.into(),
            "a JSON object; ",
        ),
        ("[]".into(), "no primary in it; "),
        (r#"[[0,1,["h""#.into(), "line 1, column 10: broken JSON, "),
        ("[1,2]".into(), "shard 1: neither CLUSTER SHARDS "),
        (
            "user:1\nuser:2\n".into(),
            "line 1: \"user:1\" is not a line of CLUSTER NODES",
        ),
        (
            "a b c d e f g h\n".into(),
            "line 1: \"a b c d e f g h\" is not a line of",
        ),
        (
            "ERR This instance has cluster support disabled\n".into(),
            "line 1: \"ERR This instance has cluster support disabled\" is not a line of CLUSTER NODES or a \
             nodes.conf, nor is the file CLUSTER SHARDS or CLUSTER SLOTS as redis-cli --json prints them; the server \
             is not in cluster mode: --nodes N",
        ),
        (
            "a h:1@2 slave b 0 0 1 connected\n".into(),
            "no primary in it; ",
        ),
        (
            "a h:1@2 master - 0 0 1 connected\n".into(),
            "none of its primaries owns a slot; ",
        ),
        (
            "a h:1@2 slave b 0 0 1 connected 0-9".into(),
            "line 1: a replica that owns slots, \"a\"; make one with: ",
        ),
        (line("16384"), "line 2: slots 16384-16384 end past 16383, "),
        (
            line("10 [16384->-a]"),
            "line 2: slots 16384-16384 end past 16383, ",
        ),
        (line("20-10"), "line 2: slots 20-10 run backwards; "),
        (line("10-"), "line 2: \"10-\" is neither "),
        (
            line("10-99999999999999999999"),
            "line 2: \"10-99999999999999999999\" is neither ",
        ),
        (line("10 [11>b]"), "line 2: \"[11>b]\" is neither "),
        (
            line("9"),
            "line 2: slot 9 belongs to node \"b\" here and to node \"a\" in line 1; ",
        ),
        (entry("[10,12]"), "entry 2: no entry of CLUSTER SLOTS: "),
        (
            entry(r#"[10,12,["h",1,7]]"#),
            "entry 2: no entry of CLUSTER SLOTS: ",
        ),
        (
            entry(r#"[10,12,["h","1","b"]]"#),
            "entry 2: no entry of CLUSTER SLOTS: ",
        ),
        (
            entry(r#"[12,10,["h",1,"b"]]"#),
            "entry 2: slots 12-10 run backwards; ",
        ),
        (
            entry(r#"[9,12,["h",1,"b"]]"#),
            "entry 2: slot 9 belongs to node \"b\" here",
        ),
        (entry("7"), "entry 2: no entry of CLUSTER SLOTS: "),
        (
            shard("[9,12]", master),
            "shard 2: slot 9 belongs to node \"b\" here",
        ),
        (shard("[10]", master), "shard 2: slots that are not pairs"),
        (
            shard("[-1,10]", master),
            "shard 2: slots that are not pairs",
        ),
        (
            shard("[12,10]", master),
            "shard 2: slots 12-10 run backwards",
        ),
        (
            shard("[10,11]", r#""id":"b","role":"replica""#),
            "shard 2: slots but no primary",
        ),
        (
            shard("[10,11]", r#""role":"master""#),
            "shard 2: a node without an id",
        ),
        (
            r#"[{"nodes":[]}]"#.into(),
            "shard 1: neither CLUSTER SHARDS",
        ),
    ] {
        let message = error(text.as_bytes());
        let reason = message.strip_prefix("x: ").unwrap();
        assert!(
            reason.starts_with(expected) && reason.contains("; "),
            "{text}: {message}"
        );
    }
    for (bytes, expected) in [
        (b"\xFF\xFEa\0 \0".to_vec(), "x: UTF-16 text, "),
        (b"\x1f\x8b\x08\x00".to_vec(), "x: line 1: not text, "),
        (b"a\nb\n\xFF".to_vec(), "x: line 3: not text, "),
        (vec![b'a'; MAX_BYTES + 1], "x: more than 16 MiB, "),
    ] {
        let message = error(&bytes);
        assert!(message.starts_with(expected), "{message}");
    }
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
}
