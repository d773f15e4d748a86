//! The server is the truth: a real redis-server in cluster mode agrees on the slot of every key, and a real cluster
//! with three primaries and a replica on the node. Without redis-server these tests fail: run tests/run.

use std::collections::BTreeSet;
use std::sync::Arc;

use slotscope::batch::{BATCH_KEYS, KeyBatch, Spans, Values};
use slotscope::block::Block;
use slotscope::find_tag::{Template, in_slot, on_slots, spread};
use slotscope::metric::Metric;
use slotscope::renaming::RenameRules;
use slotscope::slot::policy::Policy;
use slotscope::slot::{SlotColumns, slot};
use slotscope::topology::{InFlight, Node, Topology};
use slotscope::whatif::{WhatIf, WhatIfChange};
use testkit::cluster::{Cluster, Ranges, call_ok, held, keyslots};
use testkit::dumps::mixed_keys;
use testkit::planted::even;
use testkit::redis::{Reply, Server, wait_for};
use testkit::rng::Rng;
use testkit::run::words;
use testkit::scan::Scanning;

/// Keys from the articles on hash tags that people read first, including their mistakes.
const ARTICLES: &str = ",123456789,foo,user::10086,user::10087,{user}::10086,{user}::10087,{user}::{10086},\
    {user}::10086::{profile},{user}::{10086}::{profile},{}user::10086,-{}user::10086,user{}::10086,\
    -user{}::10086,{user1000}.following,{user1000}.followers,foo{}{bar},foo{{bar}}zap,foo{bar}zap,\
    foo{bar}{zap},foo{bar,A}B{C,name,name1,name2,name3,{name},{name}1,{name}2,{name}3,\
    favorites:{uid123}:news001";
/// Keys of which half the bytes are braces: only one in a hundred random keys has a pair.
fn braces(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| *rng.pick(b"{}ab")).collect()
}

/// Every string of up to `len` of the characters `{`, `}`, `a`.
fn brace_arrangements(len: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..len {
        let longer = |key: &Vec<u8>| b"{}a".map(|letter| [key.as_slice(), &[letter]].concat());
        longest = longest.iter().flat_map(longer).collect();
        all.extend_from_slice(&longest);
    }
    all
}

/// More than 20,000 keys: all lengths, all arrangements of braces in short and long keys, the articles' keys.
fn keys() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(1);
    let mut keys: Vec<Vec<u8>> = ARTICLES.split(',').map(|key| key.into()).collect();
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
            let batch = KeyBatch {
                base: block.padded(),
                keys: &spans,
                values: &Values::default(),
            };
            let found = columns.compute(kernel, batch, 0).slots;
            for ((found, truth), key) in found.iter().zip(truth).zip(keys) {
                let place = (kernel.name, key.escape_ascii());
                assert_eq!(found, truth, "kernel {} of {}", place.0, place.1);
            }
        }
        let name = kernel.name;
        println!(
            "agrees with the server on {} keys: kernel {name}",
            keys.len()
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
    cluster.add_replicas(&[1], &option(3));
    replicate_something(&cluster);
    cluster
}

/// CLUSTER SHARDS and SLOTS omit replicas that have replicated nothing yet to the knowledge of the queried node.
fn replicate_something(cluster: &Cluster) {
    let mut client = cluster.servers[1].connect();
    let mut keys = (0..).map(|i: u32| i.to_string());
    let key = keys.find(|key| cluster.owner(slot(key.as_bytes())) == 1);
    let key = key.unwrap();
    call_ok(&mut client, &["SET", &key, "1"]);
    assert_eq!(client.call(&["DEL", &key]).int(), 1);
    for server in &cluster.servers {
        wait_for(|| {
            let listed = server.redis_cli(&["--json", "CLUSTER", "SLOTS"]);
            let listed = String::from_utf8(listed).unwrap();
            listed.contains(&cluster.ids[3]).then_some(()).ok_or(listed)
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
        slots: ranges.iter().map(|of| u32::from(of.1 - of.0) + 1).sum(),
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
        let is_read = |line: &str| {
            let found = Topology::parse("x", &server.redis_cli(&words(line)));
            assert_eq!(found.unwrap().nodes, expected(cluster), "{line}");
        };
        for endpoint in ["hostname", "unknown-endpoint", "ip"] {
            println!("{endpoint}");
            let set = format!("CONFIG SET cluster-preferred-endpoint-type {endpoint}");
            call_ok(&mut server.connect(), &words(&set));
            is_read("--json CLUSTER NODES");
            is_read("--json CLUSTER SHARDS");
            is_read("--json CLUSTER SLOTS");
        }
        is_read("-2 --json CLUSTER SHARDS");
        is_read("-2 --json CLUSTER SLOTS");
        // The server rewrites the file in place at any time, so a read may find half of it.
        saves(server, |topology| topology.nodes == expected(cluster));
    }
}

/// Waits until the file with a server's nodes is as expected.
fn saves(server: &Server, is_it: impl Fn(&Topology) -> bool) {
    let file = server.folder().join("nodes.conf");
    wait_for(|| match Topology::read(&file) {
        Ok(topology) if is_it(&topology) => Ok(()),
        other => Err(format!("nodes.conf: {other:?}")),
    });
}

fn every_key_lies_on_the_node_that_we_name(cluster: &Cluster) {
    let listing = cluster.nodes(3);
    let topology = Topology::parse("CLUSTER NODES", listing.as_bytes()).unwrap();
    let keys: BTreeSet<Vec<u8>> = keys().into_iter().step_by(3).collect();
    let owner = |key: &[u8]| topology.owner(slot(key)).unwrap();
    // The keys of wanted nodes, and the replies of server `i` to SET.
    let set = |i: usize, is_sent: &dyn Fn(usize) -> bool| {
        let sent = keys
            .iter()
            .map(Vec::as_slice)
            .filter(|key| is_sent(owner(key)));
        let sent: Vec<&[u8]> = sent.collect();
        let sets: Vec<_> = sent
            .iter()
            .map(|key| vec![&b"SET"[..], key, b"1"])
            .collect();
        let replies = cluster.servers[i].connect().pipeline(&sets);
        sent.into_iter().zip(replies)
    };
    for i in 0..3 {
        assert_eq!(topology.nodes[i].address, Some(cluster.address(i)));
        let mut named = BTreeSet::new();
        for (key, reply) in set(i, &|node| node == i) {
            let place = key.escape_ascii();
            assert_eq!(reply, Reply::Simple("OK".into()), "SET {place} on node {i}");
            named.insert(key.to_vec());
        }
        assert!(named.len() > 100, "only {} keys for node {i}", named.len());
        let held = held(&mut cluster.servers[i].connect());
        assert!(held == named, "what node {i} holds");
    }
    // Every other node, including the replica, redirects to that node.
    for i in 0..4 {
        for (key, reply) in set(i, &|node| node != i) {
            let address = topology.nodes[owner(key)].address.as_deref();
            let moved = format!("MOVED {} {}", slot(key), address.unwrap());
            let place = key.escape_ascii();
            assert_eq!(reply, Reply::Error(moved), "SET {place} on node {i}");
        }
    }
}
fn a_migrating_slot_is_in_flight_in_the_listings_of_both_nodes(cluster: &Cluster) {
    let [from, to] = [1, 0].map(|i| cluster.ids[i].clone());
    for (i, state, other) in [(0, "IMPORTING", &from), (1, "MIGRATING", &to)] {
        let words = ["CLUSTER", "SETSLOT", "100", state, other];
        call_ok(&mut cluster.servers[i].connect(), &words);
    }
    let [target, source, bystander] = [0, 1, 2].map(|i| cluster.nodes(i));
    let moving = [InFlight {
        slot: 100,
        from,
        to,
    }];
    for (listing, moving) in [
        (source.clone(), &moving[..]),
        (target.clone(), &moving),
        (source + &target, &moving),
        (bystander, &[]),
    ] {
        let topology = Topology::parse("CLUSTER NODES", listing.as_bytes()).unwrap();
        assert_eq!(topology.in_flight, moving, "{listing}");
        // The owner keeps the slot until the end.
        assert_eq!(topology.nodes, expected(cluster), "{listing}");
    }
    for i in [0, 1] {
        saves(&cluster.servers[i], |topology| topology.in_flight == moving);
    }
}
#[test]
fn found_tags_land_where_they_were_wanted() {
    let mut found = Vec::new();
    let long = "{}:cart:a tail that is longer than a word";
    for template in ["{}", "fav:{}", long, "é-{}-\u{1f511}"] {
        let template = Template::parse(template.as_bytes()).unwrap();
        for slot in [0, 5474, 16383] {
            found.extend(in_slot(slot, &template).take(20));
        }
        found.extend(on_slots(&[1, 2, 700], &template).take(9));
        found.extend(spread(300, &even(6), &template).unwrap());
    }
    let keys = |tag: &str| {
        [
            format!("prod:news:{{{tag}}}:{{x}}"),
            format!("{{{tag}}}"),
            tag.into(),
        ]
    };
    let wanted: Vec<u16> = found.iter().flat_map(|tag| [tag.slot; 3]).collect();
    let keys: Vec<String> = found
        .iter()
        .flat_map(|tag| keys(&tag.tag.to_string()))
        .collect();
    assert_eq!(keyslots(&Server::start(&[]), &keys), wanted);
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

#[test]
fn slots_of_renamed_keys_are_those_that_a_real_server_gives() {
    let (rules, keys) = (rules(), mixed_keys());
    let rename = |key: &Vec<u8>| {
        let mut name = Vec::new();
        rules.rename(key, &Policy::Oss, &mut rules.start(), &mut name);
        name
    };
    let renamed: Vec<Vec<u8>> = keys.iter().map(rename).collect();
    for name in [&b"favorites:{fav:0}:news000"[..], b"cart:user:0:2"] {
        assert!(renamed.iter().any(|renamed| renamed == name));
    }
    let server = Server::start(&[]);
    let [before, after] = [&keys, &renamed].map(|names| keyslots(&server, names));
    let mut loads = vec![0u64; 16384];
    after.iter().for_each(|slot| loads[usize::from(*slot)] += 1);
    let slots = || before.iter().zip(&after);
    let moved = slots().filter(|(before, after)| before != after).count() as u64;
    let topologies = [&even(3), &even(5)];
    // Out of five even nodes, the first, third and fifth share most slots with the three.
    let same = [Some(0), None, Some(1), None, Some(2)];
    let node_after = |slot: u16| topologies[1].owner(slot).and_then(|node| same[node]);
    let changed =
        slots().filter(|(before, after)| topologies[0].owner(**before) != node_after(**after));
    let changed = changed.count() as u64;
    let differing = keys.iter().zip(&renamed).filter(|(old, new)| old != new);

    let plan = Arc::new(WhatIfChange::new(rules, Policy::Oss, topologies));
    let truth = count(&plan, 1, 1 << 20, &keys);
    assert_eq!(truth.after().slots.loads.keys, loads);
    let found = [&truth.moved, &truth.changed_node].map(|of| of[Metric::Keys]);
    assert_eq!(found, [moved, changed]);
    assert_eq!(truth.renamed[Metric::Keys], differing.count() as u64);
    for (threads, chunk) in [(2, 1 << 13), (4, 1 << 15)] {
        let found = count(&plan, threads, chunk, &keys);
        let is_same = found.before == truth.before && found.after() == truth.after();
        assert!(is_same, "{threads} threads");
        let expected = (truth.moved, truth.changed_node, truth.tag_splits.clone());
        assert_eq!(
            (found.moved, found.changed_node, found.tag_splits),
            expected
        );
    }
}
