//! The server is the truth: a real redis-server in cluster mode agrees with us on the slot of every key, and a
//! real cluster of three primaries and a replica on the node. Without redis-server these tests fail: run tests/run.

#[path = "support/redis.rs"]
mod redis;

use std::collections::BTreeSet;
use std::sync::Arc;

use redis::{Client, Reply, Server, wait_for};
use slotscope::advice::find_tag::{Template, Used, in_slot, on_slots, spread};
use slotscope::advice::whatif::rules::Rules;
use slotscope::advice::whatif::{Plan, WhatIf};
use slotscope::format::batch::{BATCH_KEYS, KeyBatch, Spans, Values};
use slotscope::format::lines::Lines;
use slotscope::metric::Metric;
use slotscope::scan::{Only, Scan};
use slotscope::slot::policy::Policy;
use slotscope::slot::{SlotColumns, kernel, slot};
use slotscope::source::Input;
use slotscope::source::block::Block;
use slotscope::topology::{InFlight, Node, Topology};

/// Keys of the articles on hash tags that people read first, slips in them included.
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

/// Bytes without a pattern, the same every time (xorshift64).
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as usize % end
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }

    /// Braces in every other place: where random bytes hold a pair once in a hundred keys.
    fn braces(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| b"{}ab"[self.below(4)]).collect()
    }
}

/// Every string of up to `len` letters of `{`, `}`, `a`.
fn brace_arrangements(len: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..len {
        longest = longest.iter().flat_map(|key| b"{}a".map(|letter| [key.as_slice(), &[letter]].concat())).collect();
        all.extend_from_slice(&longest);
    }
    all
}

/// More than 20,000 keys: all lengths, all arrangements of braces in short and long keys, the articles.
fn keys() -> Vec<Vec<u8>> {
    let mut noise = Noise(0x9E37_79B9_7F4A_7C15);
    let mut keys: Vec<Vec<u8>> = ARTICLES.iter().map(|key| key.as_bytes().to_vec()).collect();
    for len in 0..=300 {
        keys.extend((0..60).map(|_| noise.bytes(len)));
        keys.extend((0..10).map(|_| noise.braces(len)));
    }
    for braces in brace_arrangements(6) {
        keys.push([b"user:", braces.as_slice(), b":profile"].concat());
        let (before, after) = (noise.below(140), noise.below(140));
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
    let commands: Vec<Vec<&[u8]>> =
        keys.iter().map(|key| vec![b"CLUSTER".as_slice(), b"KEYSLOT", key.as_slice()]).collect();
    let truth: Vec<u16> = (server.connect().pipeline(&commands).into_iter())
        .map(|reply| if let Reply::Int(slot) = reply { slot as u16 } else { panic!("a slot expected: {reply:?}") })
        .collect();
    for (key, truth) in keys.iter().zip(&truth) {
        assert_eq!(slot(key), *truth, "slot() of {}", key.escape_ascii());
    }
    for kernel in kernel::available() {
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
            let found = columns.compute(kernel, KeyBatch { base: block.padded(), keys: &spans, values: &values }, 0);
            for (i, truth) in truth.iter().enumerate() {
                assert_eq!(found.slots[i], *truth, "kernel {} of {}", kernel.name, keys[i].escape_ascii());
            }
        }
        println!("agrees with the server on {} keys: kernel {}", keys.len(), kernel.name);
    }
}

/// Unequal shares, one of them in three pieces, down to a single slot.
const SHARES: [&[(u16, u16)]; 3] = [&[(0, 99), (8000, 8999), (16383, 16383)], &[(100, 7999)], &[(9000, 16382)]];

/// Three primaries with those shares, and a replica of the second.
struct Cluster {
    servers: Vec<Server>,
    ids: Vec<String>,
}

impl Cluster {
    fn start() -> Cluster {
        let servers: Vec<Server> =
            (1..=4).map(|i| Server::start(&["--cluster-announce-hostname", &format!("h{i}.example.com")])).collect();
        let ids: Vec<String> =
            servers.iter().map(|server| server.connect().call(&["CLUSTER", "MYID"]).text()).collect();
        for (i, server) in servers.iter().enumerate() {
            let mut client = server.connect();
            ok(&mut client, &["CLUSTER", "SET-CONFIG-EPOCH", &(i + 1).to_string()]);
            for (first, last) in SHARES.get(i).copied().unwrap_or_default() {
                ok(&mut client, &["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]);
            }
        }
        for server in &servers[1..] {
            ok(&mut servers[0].connect(), &["CLUSTER", "MEET", "127.0.0.1", &server.port.to_string()]);
        }
        let mut replica = servers[3].connect();
        wait_for(|| match replica.call(&["CLUSTER", "REPLICATE", &ids[1]]) {
            Reply::Simple(_) => Ok(()),
            not_met_yet => Err(format!("{not_met_yet:?}")),
        });
        let cluster = Cluster { servers, ids };
        for server in &cluster.servers {
            let mut client = server.connect();
            wait_for(|| {
                let info = client.call(&["CLUSTER", "INFO"]).text();
                let listing = client.call(&["CLUSTER", "NODES"]).text();
                let nodes = Topology::parse("CLUSTER NODES", listing.as_bytes()).map(|topology| topology.nodes);
                let agrees = nodes.is_ok_and(|nodes| nodes == cluster.expected());
                let replicas = listing.lines().filter(|line| line.contains("slave")).count();
                let ready = agrees && replicas == 1 && info.contains("cluster_state:ok");
                if ready { Ok(()) } else { Err(format!("the cluster does not settle: {info}{listing}")) }
            });
        }
        cluster
    }

    fn address(&self, i: usize) -> String {
        format!("127.0.0.1:{}", self.servers[i].port)
    }

    /// What every listing of this cluster must be read as.
    fn expected(&self) -> Vec<Node> {
        let node = |i: usize| Node {
            id: self.ids[i].clone(),
            address: Some(self.address(i)),
            ranges: SHARES[i].to_vec(),
            slots: SHARES[i].iter().map(|(first, last)| u32::from(last - first) + 1).sum(),
        };
        (0..3).map(node).collect()
    }
}

fn ok(client: &mut Client, arguments: &[&str]) {
    assert_eq!(client.call(arguments), Reply::Simple(String::from("OK")), "{arguments:?}");
}

/// One cluster for all of it: starting one takes seconds.
#[test]
fn a_real_cluster_is_read_as_it_is_and_holds_every_key_where_we_say() {
    let cluster = Cluster::start();
    every_form_of_the_listing_is_read_alike(&cluster);
    every_key_lies_on_the_node_that_we_name(&cluster);
    a_slot_on_its_way_is_in_flight_seen_from_both_ends(&cluster);
}

fn every_form_of_the_listing_is_read_alike(cluster: &Cluster) {
    for server in &cluster.servers {
        let read = |arguments: &[&str]| Topology::parse("x", &server.redis_cli(arguments)).unwrap().nodes;
        for endpoint in ["hostname", "unknown-endpoint", "ip"] {
            ok(&mut server.connect(), &["CONFIG", "SET", "cluster-preferred-endpoint-type", endpoint]);
            for form in ["NODES", "SHARDS", "SLOTS"] {
                assert_eq!(read(&["--json", "CLUSTER", form]), cluster.expected(), "{form} of {endpoint}");
            }
        }
        for form in ["SHARDS", "SLOTS"] {
            assert_eq!(read(&["-2", "--json", "CLUSTER", form]), cluster.expected(), "{form} in RESP2");
        }
        // The server rewrites the file in place when it likes, so one look may find half of it.
        wait_for(|| match Topology::read(&server.folder().join("nodes.conf")) {
            Ok(topology) if topology.nodes == cluster.expected() => Ok(()),
            other => Err(format!("nodes.conf: {other:?}")),
        });
    }
}

fn every_key_lies_on_the_node_that_we_name(cluster: &Cluster) {
    let listing = cluster.servers[3].connect().call(&["CLUSTER", "NODES"]).text();
    let topology = Topology::parse("CLUSTER NODES", listing.as_bytes()).unwrap();
    let keys: BTreeSet<Vec<u8>> = keys().into_iter().step_by(3).collect();
    let owner = |key: &[u8]| topology.owner(slot(key)).unwrap();
    let set = |i: usize, is_sent: &dyn Fn(usize) -> bool| {
        let sent: Vec<&[u8]> = keys.iter().map(Vec::as_slice).filter(|key| is_sent(owner(key))).collect();
        let commands: Vec<Vec<&[u8]>> = sent.iter().map(|key| vec![b"SET".as_slice(), key, b"1"]).collect();
        (sent.clone(), cluster.servers[i].connect().pipeline(&commands))
    };
    for i in 0..3 {
        assert_eq!(topology.nodes[i].address, Some(cluster.address(i)));
        let (named, replies) = set(i, &|node| node == i);
        for (key, reply) in named.iter().zip(replies) {
            assert_eq!(reply, Reply::Simple(String::from("OK")), "SET {} on node {i}", key.escape_ascii());
        }
        let mut client = cluster.servers[i].connect();
        let Reply::Array(held) = client.call(&["KEYS", "*"]) else { panic!("KEYS * gives an array") };
        let held: BTreeSet<Vec<u8>> =
            held.into_iter().map(|key| if let Reply::Bulk(key) = key { key } else { panic!("{key:?}") }).collect();
        assert_eq!(held, named.iter().map(|key| key.to_vec()).collect(), "what node {i} holds");
        assert_eq!(client.call(&["DBSIZE"]), Reply::Int(named.len() as i64));
        assert!(named.len() > 100, "only {} keys for node {i}", named.len());
    }
    // Everybody else, the replica too, sends the key where we say.
    for i in 0..4 {
        let (sent, replies) = set(i, &|node| node != i);
        for (key, reply) in sent.iter().zip(replies) {
            let expected = format!("MOVED {} {}", slot(key), topology.nodes[owner(key)].address.as_deref().unwrap());
            assert_eq!(reply, Reply::Error(expected), "SET {} on node {i}", key.escape_ascii());
        }
    }
}

fn a_slot_on_its_way_is_in_flight_seen_from_both_ends(cluster: &Cluster) {
    let [from, to] = [1, 0].map(|i| cluster.ids[i].as_str());
    let [mut source, mut target] = [1, 0].map(|i| cluster.servers[i].connect());
    ok(&mut target, &["CLUSTER", "SETSLOT", "100", "IMPORTING", from]);
    ok(&mut source, &["CLUSTER", "SETSLOT", "100", "MIGRATING", to]);
    let [seen_by_source, seen_by_target] = [source, target].map(|mut client| client.call(&["CLUSTER", "NODES"]).text());
    let bystander = cluster.servers[2].connect().call(&["CLUSTER", "NODES"]).text();
    let expected = InFlight { slot: 100, from: from.to_owned(), to: to.to_owned() };
    for (listing, expected) in [
        (seen_by_source.clone(), vec![expected.clone()]),
        (seen_by_target.clone(), vec![expected.clone()]),
        (seen_by_source + &seen_by_target, vec![expected.clone()]),
        (bystander, vec![]),
    ] {
        let topology = Topology::parse("CLUSTER NODES", listing.as_bytes()).unwrap();
        assert_eq!(topology.in_flight, expected, "{listing}");
        assert_eq!(topology.nodes, cluster.expected(), "the owner keeps the slot until the end: {listing}");
    }
    for i in [0, 1] {
        wait_for(|| match Topology::read(&cluster.servers[i].folder().join("nodes.conf")) {
            Ok(topology) if topology.in_flight == [expected.clone()] => Ok(()),
            other => Err(format!("nodes.conf: {other:?}")),
        });
    }
}

#[test]
fn found_tags_land_where_they_were_wanted() {
    let (used, even) = (Used::default(), Topology::even(6, String::from("even 6")).unwrap());
    let mut found = Vec::new();
    for template in ["{}", "fav:{}", "{}:cart:a tail that is longer than a word", "é-{}-\u{1f511}"] {
        let template = Template::parse(template.as_bytes()).unwrap();
        found.extend([0, 5474, 16383].map(|slot| in_slot(slot, &template, &used).take(20)).into_iter().flatten());
        found.extend(on_slots(&[1, 2, 700], &template, &used).take(9));
        found.extend(spread(300, &even, &template, &used).unwrap());
    }
    let server = Server::start(&[]);
    let mut client = server.connect();
    for tag in found {
        for key in [format!("prod:news:{{{}}}:{{x}}", tag.tag), format!("{{{}}}", tag.tag), tag.tag.to_string()] {
            assert_eq!(client.call(&["CLUSTER", "KEYSLOT", &key]), Reply::Int(i64::from(tag.slot)), "{key}");
        }
    }
}

/// Keys with and without tags, one tag of them heavy, some of hostile bytes.
fn dump() -> Vec<Vec<u8>> {
    let key = |i: u32| match i % 5 {
        0 => format!("favorites:{}:news{:03}", i / 50, i % 50).into_bytes(),
        1 => format!("cfg:{{common}}:{i}").into_bytes(),
        2 => format!("cart:{{user:{}}}:{i}", i / 40).into_bytes(),
        3 => [b"\xff\x00{", i.to_string().as_bytes(), b"}\x80{}"].concat(),
        _ => format!("plain-{i}").into_bytes(),
    };
    (0..20_000).map(key).collect()
}

fn rules() -> Rules {
    let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    Rules::parse(
        &texts(&[r"^favorites:(\d+):(.*)$ => favorites:{fav:$1}:$2"]),
        &texts(&["^cart:"]),
        &texts(&["common = 16", r"/\d*7/ = 3"]),
    )
    .unwrap()
}

fn count(plan: &Arc<Plan>, threads: usize, chunk: usize, keys: &[Vec<u8>]) -> WhatIf {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (format, only, policy) = (Some(&Lines as _), &Only::ALL, &Policy::Oss);
    let scan = Scan { pool: &pool, kernel: kernel::best(), format, only, policy, chunk, proceed: &|_| true };
    scan.run(&[Input::memory("dump", &keys.join(&b'\n'))], || WhatIf::new(plan.clone())).unwrap().tally
}

fn even(nodes: usize) -> Topology {
    Topology::even(nodes, format!("even {nodes}")).unwrap()
}

#[test]
fn slots_of_renamed_keys_are_those_that_a_real_server_gives() {
    let (rules, keys) = (rules(), dump());
    let mut renamed = Vec::new();
    for key in &keys {
        let mut name = Vec::new();
        rules.rename(key, &Policy::Oss, &mut rules.start(), &mut name);
        renamed.push(name);
    }
    assert!(renamed.contains(&b"favorites:{fav:0}:news000".to_vec()) && renamed.contains(&b"cart:user:0:2".to_vec()));
    let server = Server::start(&[]);
    let keyslot = |names: &[Vec<u8>]| -> Vec<usize> {
        let commands: Vec<Vec<&[u8]>> =
            names.iter().map(|name| vec![b"CLUSTER".as_slice(), b"KEYSLOT", name.as_slice()]).collect();
        let replies = server.connect().pipeline(&commands).into_iter();
        replies.map(|reply| if let Reply::Int(slot) = reply { slot as usize } else { panic!("{reply:?}") }).collect()
    };
    let (before, after) = (keyslot(&keys), keyslot(&renamed));
    let mut loads = vec![0u64; 16384];
    after.iter().for_each(|slot| loads[*slot] += 1);
    let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count() as u64;
    let topologies = [&even(3), &even(5)];
    let node = |side: usize, slot: usize| topologies[side].owner(slot as u16);
    let changed = before.iter().zip(&after).filter(|(before, after)| node(0, **before) != node(1, **after)).count();

    let plan = Arc::new(Plan::new(rules, [&Policy::Oss, &Policy::Oss], topologies));
    let truth = count(&plan, 1, 1 << 20, &keys);
    assert_eq!(truth.after().slots.loads.keys, loads);
    assert_eq!((truth.moved[Metric::Keys], truth.changed_node[Metric::Keys]), (moved, changed as u64));
    assert_eq!(truth.renamed, keys.iter().zip(&renamed).filter(|(old, new)| old != new).count() as u64);
    for (threads, chunk) in [(2, 1 << 13), (4, 1 << 15)] {
        let found = count(&plan, threads, chunk, &keys);
        assert!(found.before == truth.before && found.after() == truth.after(), "{threads} threads");
        assert_eq!(
            (found.moved, found.changed_node, found.fates),
            (truth.moved, truth.changed_node, truth.fates.clone())
        );
    }
}
