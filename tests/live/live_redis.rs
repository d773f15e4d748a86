//! The server is the truth: a real redis-server in cluster mode agrees on the slot of every key, and a real cluster
//! with three primaries and a replica on the node. Without redis-server these tests fail: run tests/run.

use std::collections::BTreeSet;
use std::sync::Arc;

use slotscope::find_tag::{Template, in_slot, on_slots, spread};
use slotscope::format::batch::{BATCH_KEYS, KeyBatch, Spans, Values};
use slotscope::metric::Metric;
use slotscope::slot::policy::Policy;
use slotscope::slot::{SlotColumns, slot};
use slotscope::source::block::Block;
use slotscope::topology::{InFlight, Node, Topology};
use slotscope::whatif::rules::RenameRules;
use slotscope::whatif::{WhatIf, WhatIfChange};
use testkit::cluster::{Cluster, Ranges, call_ok, held, keyslots};
use testkit::dumps::mixed_keys;
use testkit::redis::{Reply, Server, wait_for};
use testkit::rng::Rng;
use testkit::scan::Scanning;

/// Keys from the articles on hash tags that people read first, including their mistakes.
const ARTICLES: &[&str] = &[
    "",
    "123456789",
    "foo",
    "user::10086",
    "user::10087",
    "{user}::10086",
    "{user}::10087",
    "{user}::{10086}",
    "{user}::10086::{profile}",
    "{user}::{10086}::{profile}",
    "{}user::10086",
    "-{}user::10086",
    "user{}::10086",
    "-user{}::10086",
    "{user1000}.following",
    "{user1000}.followers",
    "foo{}{bar}",
    "foo{{bar}}zap",
    "foo{bar}zap",
    "foo{bar}{zap}",
    "foo{bar",
    "A}B{C",
    "name",
    "name1",
    "name2",
    "name3",
    "{name}",
    "{name}1",
    "{name}2",
    "{name}3",
    "favorites:{uid123}:news001",
];

/// Keys of which half the bytes are braces: only one in a hundred random keys has a pair.
fn braces(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| *rng.pick(b"{}ab")).collect()
}

/// Every string of up to `len` of the characters `{`, `}`, `a`.
fn brace_arrangements(len: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..len {
        longest = longest
            .iter()
            .flat_map(|key| b"{}a".map(|letter| [key.as_slice(), &[letter]].concat()))
            .collect();
        all.extend_from_slice(&longest);
    }
    all
}

/// More than 20,000 keys: all lengths, all arrangements of braces in short and long keys, the articles' keys.
fn keys() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(1);
    let mut keys: Vec<Vec<u8>> = ARTICLES.iter().map(|key| key.as_bytes().to_vec()).collect();
    for len in 0..=300 {
        keys.extend((0..60).map(|_| rng.bytes(len)));
        keys.extend((0..10).map(|_| braces(&mut rng, len)));
    }
    for braces in brace_arrangements(6) {
        keys.push([b"user:", braces.as_slice(), b":profile"].concat());
        let (before, after) = (rng.below(140), rng.below(140));
        keys.push([&vec![b'x'; before], braces.as_slice(), &vec![b'\n'; after]].concat());
        keys.push(braces);
    }
    keys
}

#[test]
fn cluster_keyslot_agrees_with_slot_and_with_every_kernel() {
    let server = Server::start(&[]);
    let keys = keys();
    assert!(keys.len() >= 20_000, "{} keys", keys.len());
    let truth = keyslots(&server, &keys);
    for (key, truth) in keys.iter().zip(&truth) {
        assert_eq!(slot(key), *truth, "slot() of {}", key.escape_ascii());
    }
    for kernel in hashslot::available() {
        let mut columns = SlotColumns::default();
        for (keys, truth) in keys.chunks(BATCH_KEYS).zip(truth.chunks(BATCH_KEYS)) {
            let mut spans = Spans::default();
            let mut end = 0;
            for key in keys {
                spans.push(end, end + key.len() as u32);
                end += key.len() as u32;
            }
            let block = Block::from_bytes(&keys.concat());
            let values = Values::default();
            let found = columns.compute(
                kernel,
                KeyBatch {
                    base: block.padded(),
                    keys: &spans,
                    values: &values,
                },
                0,
            );
            for (i, truth) in truth.iter().enumerate() {
                assert_eq!(
                    found.slots[i],
                    *truth,
                    "kernel {} of {}",
                    kernel.name,
                    keys[i].escape_ascii()
                );
            }
        }
        println!(
            "agrees with the server on {} keys: kernel {}",
            keys.len(),
            kernel.name
        );
    }
}

/// Unequal shares, one in three pieces, down to a single slot.
fn shares() -> [Ranges; 3] {
    [
        vec![(0, 99), (8000, 8999), (16383, 16383)],
        vec![(100, 7999)],
        vec![(9000, 16382)],
    ]
}

/// The hostname announced by server `i`.
fn hostname(i: usize) -> String {
    format!("h{}.example.com", i + 1)
}

/// Three primaries with these shares, and a replica of the second.
fn start() -> Cluster {
    let option = |i: usize| vec![String::from("--cluster-announce-hostname"), hostname(i)];
    let mut cluster = Cluster::with_options(&shares(), option);
    cluster.add_replica(1, &option(3));
    replicate_something(&cluster);
    cluster
}

/// CLUSTER SHARDS and SLOTS omit replicas that have replicated nothing yet to the knowledge of the queried node.
fn replicate_something(cluster: &Cluster) {
    let mut client = cluster.servers[1].connect();
    let key = (0..).map(|i: u32| i.to_string());
    let key = key
        .map(String::into_bytes)
        .find(|key| cluster.owner(slot(key)) == 1);
    let key = key.unwrap();
    call_ok(
        &mut client,
        &["SET", std::str::from_utf8(&key).unwrap(), "1"],
    );
    assert_eq!(client.call(&[b"DEL".as_slice(), &key]), Reply::Int(1));
    for server in &cluster.servers {
        wait_for(|| {
            let listed = server.redis_cli(&["--json", "CLUSTER", "SLOTS"]);
            let listed = String::from_utf8(listed).unwrap();
            if listed.contains(&cluster.ids[3]) {
                Ok(())
            } else {
                Err(listed)
            }
        });
    }
}

/// The nodes that every listing of this cluster must yield.
fn expected(cluster: &Cluster) -> Vec<Node> {
    let node = |(i, ranges): (usize, Ranges)| Node {
        id: cluster.ids[i].clone(),
        address: Some(cluster.address(i)),
        hostname: Some(hostname(i)),
        failed: false,
        suspected: false,
        // The fourth server is a replica of the second.
        replicas: Some(u32::from(i == 1)),
        slots: ranges
            .iter()
            .map(|(first, last)| u32::from(last - first) + 1)
            .sum(),
        ranges,
    };
    shares().into_iter().enumerate().map(node).collect()
}

/// A single cluster, since starting one takes seconds.
#[test]
fn a_real_cluster_is_read_as_it_is_and_holds_every_key_where_we_say() {
    let cluster = start();
    every_form_of_the_listing_is_read_alike(&cluster);
    every_key_lies_on_the_node_that_we_name(&cluster);
    a_migrating_slot_is_in_flight_in_the_listings_of_both_nodes(&cluster);
}

fn every_form_of_the_listing_is_read_alike(cluster: &Cluster) {
    for server in &cluster.servers {
        let read = |arguments: &[&str]| {
            Topology::parse("x", &server.redis_cli(arguments))
                .unwrap()
                .nodes
        };
        for endpoint in ["hostname", "unknown-endpoint", "ip"] {
            call_ok(
                &mut server.connect(),
                &["CONFIG", "SET", "cluster-preferred-endpoint-type", endpoint],
            );
            for form in ["NODES", "SHARDS", "SLOTS"] {
                let found = read(&["--json", "CLUSTER", form]);
                assert_eq!(found, expected(cluster), "{form} of {endpoint}");
            }
        }
        for form in ["SHARDS", "SLOTS"] {
            let found = read(&["-2", "--json", "CLUSTER", form]);
            assert_eq!(found, expected(cluster), "{form} in RESP2");
        }
        // The server rewrites the file in place at any time, so a read may find half of it.
        wait_for(
            || match Topology::read(&server.folder().join("nodes.conf")) {
                Ok(topology) if topology.nodes == expected(cluster) => Ok(()),
                other => Err(format!("nodes.conf: {other:?}")),
            },
        );
    }
}

fn every_key_lies_on_the_node_that_we_name(cluster: &Cluster) {
    let listing = cluster.servers[3]
        .connect()
        .call(&["CLUSTER", "NODES"])
        .text();
    let topology = Topology::parse("CLUSTER NODES", listing.as_bytes()).unwrap();
    let keys: BTreeSet<Vec<u8>> = keys().into_iter().step_by(3).collect();
    let owner = |key: &[u8]| topology.owner(slot(key)).unwrap();
    let set = |i: usize, is_sent: &dyn Fn(usize) -> bool| {
        let sent: Vec<&[u8]> = keys
            .iter()
            .map(Vec::as_slice)
            .filter(|key| is_sent(owner(key)))
            .collect();
        let commands: Vec<Vec<&[u8]>> = sent
            .iter()
            .map(|key| vec![b"SET".as_slice(), key, b"1"])
            .collect();
        (
            sent.clone(),
            cluster.servers[i].connect().pipeline(&commands),
        )
    };
    for i in 0..3 {
        assert_eq!(topology.nodes[i].address, Some(cluster.address(i)));
        let (named, replies) = set(i, &|node| node == i);
        for (key, reply) in named.iter().zip(replies) {
            assert_eq!(
                reply,
                Reply::Simple(String::from("OK")),
                "SET {} on node {i}",
                key.escape_ascii()
            );
        }
        let mut client = cluster.servers[i].connect();
        assert_eq!(
            held(&mut client),
            named.iter().map(|key| key.to_vec()).collect(),
            "what node {i} holds"
        );
        assert_eq!(client.call(&["DBSIZE"]), Reply::Int(named.len() as i64));
        assert!(named.len() > 100, "only {} keys for node {i}", named.len());
    }
    // Every other node, including the replica, redirects to that node.
    for i in 0..4 {
        let (sent, replies) = set(i, &|node| node != i);
        for (key, reply) in sent.iter().zip(replies) {
            let expected = format!(
                "MOVED {} {}",
                slot(key),
                topology.nodes[owner(key)].address.as_deref().unwrap()
            );
            assert_eq!(
                reply,
                Reply::Error(expected),
                "SET {} on node {i}",
                key.escape_ascii()
            );
        }
    }
}

fn a_migrating_slot_is_in_flight_in_the_listings_of_both_nodes(cluster: &Cluster) {
    let [from, to] = [1, 0].map(|i| cluster.ids[i].as_str());
    let [mut source, mut target] = [1, 0].map(|i| cluster.servers[i].connect());
    call_ok(
        &mut target,
        &["CLUSTER", "SETSLOT", "100", "IMPORTING", from],
    );
    call_ok(&mut source, &["CLUSTER", "SETSLOT", "100", "MIGRATING", to]);
    let [seen_by_source, seen_by_target] =
        [source, target].map(|mut client| client.call(&["CLUSTER", "NODES"]).text());
    let bystander = cluster.servers[2]
        .connect()
        .call(&["CLUSTER", "NODES"])
        .text();
    let in_flight = InFlight {
        slot: 100,
        from: from.to_owned(),
        to: to.to_owned(),
    };
    for (listing, moving) in [
        (seen_by_source.clone(), vec![in_flight.clone()]),
        (seen_by_target.clone(), vec![in_flight.clone()]),
        (seen_by_source + &seen_by_target, vec![in_flight.clone()]),
        (bystander, vec![]),
    ] {
        let topology = Topology::parse("CLUSTER NODES", listing.as_bytes()).unwrap();
        assert_eq!(topology.in_flight, moving, "{listing}");
        assert_eq!(
            topology.nodes,
            expected(cluster),
            "the owner keeps the slot until the end: {listing}"
        );
    }
    for i in [0, 1] {
        wait_for(
            || match Topology::read(&cluster.servers[i].folder().join("nodes.conf")) {
                Ok(topology) if topology.in_flight == [in_flight.clone()] => Ok(()),
                other => Err(format!("nodes.conf: {other:?}")),
            },
        );
    }
}

#[test]
fn found_tags_land_where_they_were_wanted() {
    let even = Topology::even(6, String::from("even 6")).unwrap();
    let mut found = Vec::new();
    for template in [
        "{}",
        "fav:{}",
        "{}:cart:a tail that is longer than a word",
        "é-{}-\u{1f511}",
    ] {
        let template = Template::parse(template.as_bytes()).unwrap();
        found.extend(
            [0, 5474, 16383]
                .map(|slot| in_slot(slot, &template).take(20))
                .into_iter()
                .flatten(),
        );
        found.extend(on_slots(&[1, 2, 700], &template).take(9));
        found.extend(spread(300, &even, &template).unwrap());
    }
    let server = Server::start(&[]);
    let mut client = server.connect();
    for tag in found {
        for key in [
            format!("prod:news:{{{}}}:{{x}}", tag.tag),
            format!("{{{}}}", tag.tag),
            tag.tag.to_string(),
        ] {
            assert_eq!(
                client.call(&["CLUSTER", "KEYSLOT", &key]),
                Reply::Int(i64::from(tag.slot)),
                "{key}"
            );
        }
    }
}

fn rules() -> RenameRules {
    let texts = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| text.to_string())
            .collect::<Vec<_>>()
    };
    RenameRules::parse(
        &texts(&[
            r"^favorites:(\d+):(.*)$ => favorites:{fav:$1}:$2",
            "^cart:[{](.*)[}] => cart:$1",
        ]),
        &texts(&["common = 16", r"/\d*7/ = 3"]),
    )
    .unwrap()
}

fn count(change: &Arc<WhatIfChange>, threads: usize, chunk: usize, keys: &[Vec<u8>]) -> WhatIf {
    Scanning::of("lines")
        .cut(threads, chunk)
        .dump(&keys.join(&b'\n'), || WhatIf::new(change.clone()))
        .tally
}

fn even(nodes: usize) -> Topology {
    Topology::even(nodes, format!("even {nodes}")).unwrap()
}

#[test]
fn slots_of_renamed_keys_are_those_that_a_real_server_gives() {
    let (rules, keys) = (rules(), mixed_keys());
    let mut renamed = Vec::new();
    for key in &keys {
        let mut name = Vec::new();
        rules.rename(key, &Policy::Oss, &mut rules.start(), &mut name);
        renamed.push(name);
    }
    assert!(
        renamed.contains(&b"favorites:{fav:0}:news000".to_vec())
            && renamed.contains(&b"cart:user:0:2".to_vec())
    );
    let server = Server::start(&[]);
    let keyslot = |names: &[Vec<u8>]| -> Vec<usize> {
        keyslots(&server, names)
            .into_iter()
            .map(usize::from)
            .collect()
    };
    let (before, after) = (keyslot(&keys), keyslot(&renamed));
    let mut loads = vec![0u64; 16384];
    after.iter().for_each(|slot| loads[*slot] += 1);
    let moved = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .count() as u64;
    let topologies = [&even(3), &even(5)];
    // Out of five even nodes, the first, third and fifth share most slots with the three.
    let same = [Some(0), None, Some(1), None, Some(2)];
    let node = |slot: usize| topologies[0].owner(slot as u16);
    let node_after = |slot: usize| topologies[1].owner(slot as u16).and_then(|node| same[node]);
    let changed = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| node(**before) != node_after(**after))
        .count();

    let plan = Arc::new(WhatIfChange::new(rules, Policy::Oss, topologies));
    let truth = count(&plan, 1, 1 << 20, &keys);
    assert_eq!(truth.after().slots.loads.keys, loads);
    assert_eq!(
        (truth.moved[Metric::Keys], truth.changed_node[Metric::Keys]),
        (moved, changed as u64)
    );
    assert_eq!(
        truth.renamed,
        keys.iter()
            .zip(&renamed)
            .filter(|(old, new)| old != new)
            .count() as u64
    );
    for (threads, chunk) in [(2, 1 << 13), (4, 1 << 15)] {
        let found = count(&plan, threads, chunk, &keys);
        assert!(
            found.before == truth.before && found.after() == truth.after(),
            "{threads} threads"
        );
        assert_eq!(
            (found.moved, found.changed_node, found.tag_splits),
            (truth.moved, truth.changed_node, truth.tag_splits.clone())
        );
    }
}
