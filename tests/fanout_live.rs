//! fanout against a real three-node cluster: what it calls refused is refused, in the way it says, and the rest is not.

#[path = "support/redis.rs"]
mod redis;

use redis::{Client, Reply, Server, wait_for};
use slotscope::advice::fanout::answer::Answer;
use slotscope::advice::fanout::commands::{Command, Commands};
use slotscope::advice::fanout::words::words;
use slotscope::advice::fanout::{Fanout, Findings, Lines};
use slotscope::slot::policy::Policy;
use slotscope::slot::slot;
use slotscope::summary::Rejected;
use slotscope::topology::Topology;

/// Three primaries that share the slots evenly.
struct Cluster {
    servers: Vec<Server>,
    topology: Topology,
}

impl Cluster {
    fn start() -> Cluster {
        let servers: Vec<Server> = (0..3).map(|_| Server::start(&[])).collect();
        let topology = Topology::even(3, String::from("even 3")).unwrap();
        for (server, node) in servers.iter().zip(&topology.nodes) {
            let (first, last) = node.ranges[0];
            let range = ["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()];
            assert_eq!(server.connect().call(&range), Reply::Simple("OK".into()));
        }
        for server in &servers[1..] {
            let meet = ["CLUSTER", "MEET", "127.0.0.1", &server.port.to_string()];
            assert_eq!(servers[0].connect().call(&meet), Reply::Simple("OK".into()));
        }
        let listed = |server: &Server| String::from_utf8(server.redis_cli(&["CLUSTER", "INFO"])).unwrap();
        for server in &servers {
            wait_for(|| match listed(server) {
                info if info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3") => Ok(()),
                info => Err(info),
            });
        }
        // What the first node has written down is what users hand over.
        let topology = wait_for(|| match Topology::read(&servers[0].folder().join("nodes.conf")) {
            Ok(read)
                if read.nodes.iter().map(|node| &node.ranges).eq(topology.nodes.iter().map(|node| &node.ranges)) =>
            {
                Ok(read)
            }
            other => Err(format!("{other:?}").chars().take(300).collect()),
        });
        Cluster { servers, topology }
    }

    /// A connection to the owner of a key.
    fn owner_of(&self, key: &[u8]) -> Client {
        self.servers[self.topology.owner(slot(key)).unwrap()].connect()
    }

    /// What fanout says of one batch.
    fn judge(&self, lines: &[Vec<u8>]) -> Answer {
        let found = findings(&self.topology, lines);
        assert_eq!(found.batches, 1, "{lines:?}");
        found.answers.iter().find(|answered| answered.batches == 1).unwrap().answer
    }
}

fn findings(topology: &Topology, lines: &[Vec<u8>]) -> Findings {
    let policy = Policy::Oss;
    let mut fanout = Fanout::new(topology, &policy, Lines::Auto);
    lines.iter().for_each(|line| fanout.add(line).unwrap_or_else(|reason| panic!("{reason}: {line:?}")));
    fanout.end_input().unwrap();
    fanout.findings(0.01, Rejected::default(), Vec::new())
}

fn line(words: &[Vec<u8>]) -> Vec<u8> {
    let quoted = |word: &Vec<u8>| format!("\"{}\"", String::from_utf8_lossy(word)).into_bytes();
    words.iter().map(quoted).collect::<Vec<_>>().join(&b' ')
}

/// A call of `command` with at least two keys, its keys' places; none where it never has two.
fn sample(command: &Command) -> Option<(Vec<Vec<u8>>, Vec<usize>)> {
    let name: Vec<Vec<u8>> = command.name.split('|').map(|word| word.as_bytes().to_vec()).collect();
    let lengths = if command.arity > 0 { command.arity as usize..=command.arity as usize } else { 13..=14 };
    lengths.into_iter().find_map(|len| {
        // Two of anything: words, keys, numbers of keys.
        let mut words = name.clone();
        words.resize(len, b"2".to_vec());
        let mut put = |place: usize, word: &str| words[place] = word.into();
        match command.name {
            "xread" => put(1, "streams"),
            "xreadgroup" => ["GROUP", "g", "c", "STREAMS"].iter().enumerate().for_each(|(i, word)| put(i + 1, word)),
            "sort" => put(2, "STORE"),
            "georadius" => put(6, "STORE"),
            "georadiusbymember" => put(5, "STOREDIST"),
            "migrate" => [(3, ""), (6, "KEYS")].iter().for_each(|(place, word)| put(*place, word)),
            _ => {}
        }
        let places = command.keys(&words).ok()?;
        (places.len() > 1).then_some((words, places))
    })
}

/// The commands of the table that may have several keys, by what stands in it.
fn with_several_keys() -> Vec<&'static str> {
    let rows = include_str!("../src/advice/fanout/commands.txt").lines().filter(|line| !line.starts_with('#'));
    let several = |row: &&str| {
        let specs: Vec<&str> = row.split(' ').skip(2).collect();
        specs.len() > 1 || specs.iter().any(|spec| spec.contains("keynum") || !spec.contains("range:0:"))
    };
    rows.filter(|row| row.split(' ').count() > 2).filter(several).map(|row| row.split(' ').next().unwrap()).collect()
}

fn error(reply: &Reply) -> &str {
    if let Reply::Error(text) = reply { text } else { "" }
}

fn is_redirected(reply: &Reply) -> bool {
    ["CROSSSLOT", "MOVED", "EXECABORT"].iter().any(|kind| error(reply).starts_with(kind))
}

#[test]
fn every_command_with_several_keys_is_refused_by_a_real_cluster_where_we_say_so() {
    let cluster = Cluster::start();
    // One slot; two slots of one node; two nodes.
    let one_node = (1..).map(|i| format!("k{i}")).find(|key| {
        let slots = [slot(b"{a}1"), slot(key.as_bytes())];
        slots[0] != slots[1] && cluster.topology.owner(slots[0]) == cluster.topology.owner(slots[1])
    });
    let other_node = (1..)
        .map(|i| format!("k{i}"))
        .find(|key| cluster.topology.owner(slot(b"{a}1")) != cluster.topology.owner(slot(key.as_bytes())));
    let last_keys = [String::from("{a}2"), one_node.unwrap(), other_node.unwrap()];
    let (table, mut tried) = (Commands::table(), Vec::new());
    for command in table.iter() {
        let Some((mut words, places)) = sample(command) else { continue };
        for (last, key) in last_keys.iter().enumerate() {
            places.iter().for_each(|place| words[*place] = b"{a}1".to_vec());
            words[*places.last().unwrap()] = key.as_bytes().to_vec();
            let said = cluster.judge(&[line(&words)]);
            assert_eq!(said, if last == 0 { Answer::Served } else { Answer::Crossslot }, "{}", command.name);
            let mut client = cluster.owner_of(b"{a}1");
            // Queued and thrown away, what is served does not block and does no harm.
            let queue = last == 0 && !matches!(command.name, "watch" | "ssubscribe");
            if queue {
                client.call(&["MULTI"]);
            }
            let reply = client.call(&words);
            let crossslot = error(&reply).starts_with("CROSSSLOT");
            assert_eq!(crossslot, said == Answer::Crossslot, "{} {key}: {reply:?}", command.name);
            assert!(crossslot || !is_redirected(&reply), "{} {key}: {reply:?}", command.name);
            assert!(!queue || matches!(reply, Reply::Simple(_)), "{}: {reply:?}", command.name);
        }
        tried.push(command.name);
        every_key_is_where_the_server_finds_it(&mut cluster.servers[0].connect(), command, &words, &places);
    }
    tried.sort_unstable();
    assert_eq!(tried, with_several_keys());
    every_transaction_ends_as_we_say(&cluster);
}

fn every_key_is_where_the_server_finds_it(client: &mut Client, command: &Command, words: &[Vec<u8>], places: &[usize]) {
    let mut asked = vec![b"COMMAND".to_vec(), b"GETKEYS".to_vec()];
    asked.extend_from_slice(words);
    let keys: Vec<_> = places.iter().map(|place| Reply::Bulk(words[*place].clone())).collect();
    match client.call(&asked) {
        Reply::Array(found) => {
            let sorted = |keys: &[Reply]| {
                let mut keys: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
                keys.sort();
                keys
            };
            assert_eq!(sorted(&found), sorted(&keys), "{}", command.name);
        }
        // Shard channels have slots and are no keys.
        other => assert!(command.name.starts_with('s') && error(&other).contains("no key arguments"), "{other:?}"),
    }
}

fn every_transaction_ends_as_we_say(cluster: &Cluster) {
    let pool: Vec<String> =
        (0..6).map(|i| format!("{{t{}}}{i}", i / 2)).chain((0..6).map(|i| format!("w{i}"))).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as usize % end
    };
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..400 {
        let span = 1 + below(pool.len());
        let command = |below: &mut dyn FnMut(usize) -> usize| match below(4) {
            0 => format!("MGET {} {}", pool[below(span)], pool[below(span)]),
            _ => format!("GET {}", pool[below(span)]),
        };
        let mut lines = vec![String::from("multi")];
        lines.extend((0..1 + below(3)).map(|_| command(&mut below)));
        lines.push(String::from("exec"));
        let lines: Vec<Vec<u8>> = lines.into_iter().map(String::into_bytes).collect();
        let said = cluster.judge(&lines);
        let first_key = &words(&lines[1]).unwrap()[1];
        let mut client = cluster.owner_of(first_key);
        let mut replies: Vec<Reply> = lines.iter().map(|line| client.call(&words(line).unwrap())).collect();
        let exec = replies.pop().unwrap();
        let queued = replies.iter().map(error).find(|error| !error.is_empty()).unwrap_or_default();
        let answered = match (error(&exec), queued) {
            ("", "") => Answer::Served,
            (error, _) if error.starts_with("CROSSSLOT") => Answer::CrossslotAtExec,
            (_, queued) if queued.starts_with("CROSSSLOT") => Answer::AbortedByCrossslot,
            (_, queued) if queued.starts_with("MOVED") => Answer::AbortedByMoved,
            other => panic!("{other:?}"),
        };
        assert_eq!(said, answered, "{lines:?}: {replies:?} {exec:?}");
        *seen.entry(format!("{said:?}")).or_insert(0) += 1;
    }
    assert!(seen.len() == 5 - 1 && seen.values().all(|count| *count >= 10), "{seen:?}");
}
