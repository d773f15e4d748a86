//! fanout against a real three-node cluster: refusals are predicted with their errors, and nothing else is refused.

use slotscope::command::{Command, Commands};
use slotscope::format::parse::words::words;
use slotscope::slot::slot;
use slotscope::topology::Topology;
use slotscope_names::fanout::outcome::BatchOutcome;
use testkit::cluster::{Cluster, bulks, even};
use testkit::fanout::answer;
use testkit::kinds::Kind;
use testkit::redis::{Client, Reply, wait_for};
use testkit::rng::Rng;

/// A real cluster and its topology as users provide it: the file that the first node saved.
struct Judged {
    cluster: Cluster,
    topology: Topology,
}

impl Judged {
    fn start(kind: Kind) -> Judged {
        let cluster = Cluster::of(kind, &even(3));
        let file = cluster.servers[0].folder().join("nodes.conf");
        let topology = wait_for(|| match Topology::read(&file) {
            Ok(read) if read.nodes.iter().map(|node| &node.ranges).eq(&even(3)) => Ok(read),
            other => Err(format!("{other:?}").chars().take(300).collect()),
        });
        Judged { cluster, topology }
    }

    /// The prediction of fanout for one batch.
    fn judge(&self, lines: &[Vec<u8>]) -> BatchOutcome {
        answer(&self.topology, lines)
    }
}

fn line(words: &[Vec<u8>]) -> Vec<u8> {
    let quoted = |word: &Vec<u8>| format!("\"{}\"", String::from_utf8_lossy(word)).into_bytes();
    words.iter().map(quoted).collect::<Vec<_>>().join(&b' ')
}

/// A call of `command` with at least two keys, and the positions of its keys; `None` if it never has two.
fn sample(command: &Command) -> Option<(Vec<Vec<u8>>, Vec<usize>)> {
    let name = command.name.split('|').map(|word| word.as_bytes().to_vec());
    let lengths = match command.arity {
        arity @ 1.. => arity as usize..=arity as usize,
        _ => 13..=14,
    };
    lengths.into_iter().find_map(|len| {
        // Two of everything: words, keys, numbers of keys.
        let mut words: Vec<Vec<u8>> = name.clone().collect();
        // Only options may follow its values.
        let len = if command.name == "msetex" { 6 } else { len };
        words.resize(len, b"2".to_vec());
        let at: &[(usize, &str)] = match command.name {
            "xread" => &[(1, "streams")],
            "xreadgroup" => &[(1, "GROUP"), (2, "g"), (3, "c"), (4, "STREAMS")],
            "sort" => &[(2, "STORE")],
            "georadius" => &[(6, "STORE")],
            "georadiusbymember" => &[(5, "STOREDIST")],
            "migrate" => &[(3, ""), (6, "KEYS")],
            _ => &[],
        };
        at.iter()
            .for_each(|(place, word)| words[*place] = (*word).into());
        let places = command.keys(&words).ok()?;
        (places.len() > 1).then_some((words, places))
    })
}

/// The commands in the table that may have several keys.
fn with_several_keys() -> Vec<&'static str> {
    let table = include_str!("../../crates/base/src/command/table.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let is_open = |spec: &&str| spec.contains("keynum") || !spec.contains("range:0:");
    let several = |row: &&str| {
        let specs: Vec<&str> = row.split(' ').skip(3).collect();
        specs.len() > 1 || specs.iter().any(is_open)
    };
    let names = rows.filter(several).map(|row| row.split(' ').next());
    names.map(Option::unwrap).collect()
}

fn error(reply: &Reply) -> &str {
    match reply {
        Reply::Error(text) => text,
        _ => "",
    }
}

#[test]
fn every_command_with_several_keys_is_refused_by_a_real_cluster_where_we_say_so() {
    for kind in [Kind::Installed, Kind::Redis82, Kind::Valkey91] {
        let judged = Judged::start(kind);
        every_command_ends_as_we_say(&judged);
        if kind == Kind::Installed {
            every_transaction_ends_as_we_say(&judged);
        }
    }
}

fn every_command_ends_as_we_say(judged: &Judged) {
    let (cluster, topology) = (&judged.cluster, &judged.topology);
    // One slot; two slots on one node; two nodes.
    let first = slot(b"{a}1");
    let key_in = |is_it: &dyn Fn(u16) -> bool| {
        let mut keys = (1..).map(|i| format!("k{i}"));
        keys.find(|key| is_it(slot(key.as_bytes()))).unwrap()
    };
    let is_its = |slot: u16| topology.owner(slot) == topology.owner(first);
    let one_node = key_in(&|slot| slot != first && is_its(slot));
    let last_keys = ["{a}2".into(), one_node, key_in(&|slot| !is_its(slot))];
    let mut asked = cluster.servers[0].connect();
    let mut is_known = |name: &str| {
        let name = name.split('|').next().unwrap_or_default();
        let found = asked.call(&["COMMAND", "INFO", name]).items();
        matches!(found[..], [Reply::Array(_)])
    };
    let mut tried = Vec::new();
    for command in Commands::table()
        .iter()
        .filter(|command| is_known(command.name))
    {
        let Some((mut words, places)) = sample(command) else {
            continue;
        };
        // Valkey 9.1.2 looks only at the first key, and serves commands that it should refuse.
        let refused = last_keys.iter().filter(|_| command.name != "msetex");
        for (last, key) in refused.enumerate() {
            for place in &places {
                words[*place] = b"{a}1".to_vec();
            }
            words[*places.last().unwrap()] = key.as_bytes().to_vec();
            let outcomes = [BatchOutcome::Served, BatchOutcome::Crossslot];
            let said = judged.judge(&[line(&words)]);
            assert_eq!(said, outcomes[usize::from(last > 0)], "{}", command.name);
            let mut client = cluster.owner_of(b"{a}1");
            // Queued and discarded, an accepted command does not block and does no harm.
            let is_queued = last == 0 && !matches!(command.name, "watch" | "ssubscribe");
            if is_queued {
                client.call(&["MULTI"]);
            }
            let reply = client.call(&words);
            println!("{} {key}: {reply:?}", command.name);
            let kind = error(&reply).split(' ').next().unwrap();
            assert_eq!(kind == "CROSSSLOT", said == BatchOutcome::Crossslot);
            assert!(!["MOVED", "EXECABORT"].contains(&kind));
            assert!(!is_queued || matches!(reply, Reply::Simple(_)));
        }
        tried.push(command.name);
        let mut client = cluster.servers[0].connect();
        every_key_is_where_the_server_finds_it(&mut client, command, &words, &places);
    }
    tried.sort_unstable();
    let several = with_several_keys()
        .into_iter()
        .filter(|name| is_known(name));
    assert_eq!(tried, several.collect::<Vec<_>>());
}
fn every_key_is_where_the_server_finds_it(
    client: &mut Client,
    command: &Command,
    words: &[Vec<u8>],
    places: &[usize],
) {
    let mut asked = vec![b"COMMAND".to_vec(), b"GETKEYS".to_vec()];
    asked.extend_from_slice(words);
    match client.call(&asked) {
        // Shard channels have slots but are not keys.
        Reply::Error(said) if command.name.starts_with('s') => {
            assert!(said.contains("no key arguments"), "{said}");
        }
        found => {
            let mut keys: Vec<_> = places.iter().map(|place| words[*place].clone()).collect();
            let mut found = bulks(found);
            keys.sort();
            found.sort();
            assert_eq!(found, keys, "{}", command.name);
        }
    }
}
fn every_transaction_ends_as_we_say(judged: &Judged) {
    let tagged = (0..6).map(|i| format!("{{t{}}}{i}", i / 2));
    let pool: Vec<String> = tagged.chain((0..6).map(|i| format!("w{i}"))).collect();
    let mut rng = Rng::new(1);
    let mut seen = [0; BatchOutcome::ALL.len()];
    for _ in 0..400 {
        let span = 1 + rng.below(pool.len());
        let command = |rng: &mut Rng| match rng.below(4) {
            0 => format!("MGET {} {}", pool[rng.below(span)], pool[rng.below(span)]),
            _ => format!("GET {}", pool[rng.below(span)]),
        };
        let mut lines = vec![String::from("multi")];
        lines.extend((0..1 + rng.below(3)).map(|_| command(&mut rng)));
        lines.push(String::from("exec"));
        let lines: Vec<Vec<u8>> = lines.into_iter().map(String::into_bytes).collect();
        let said = judged.judge(&lines);
        let first_key = &words(&lines[1]).unwrap()[1];
        let mut client = judged.cluster.owner_of(first_key);
        let replies = lines.iter().map(|line| client.call(&words(line).unwrap()));
        let mut replies: Vec<Reply> = replies.collect();
        let exec = replies.pop().unwrap();
        let mut queued = replies.iter().map(error);
        let queued = queued.find(|error| !error.is_empty()).unwrap_or_default();
        let is_refused = queued.starts_with("MOVED")
            || [error(&exec), queued]
                .iter()
                .any(|of| of.starts_with("CROSSSLOT"));
        let answered = match (error(&exec), queued) {
            ("", "") => BatchOutcome::Served,
            _ if is_refused => BatchOutcome::Crossslot,
            other => panic!("{other:?}"),
        };
        assert_eq!(said, answered, "{lines:?}: {replies:?} {exec:?}");
        seen[said as usize] += 1;
    }
    // Every slot of this cluster has an owner.
    let never = [BatchOutcome::Unserved];
    for answer in BatchOutcome::ALL {
        let times = seen[answer as usize];
        assert_eq!(times == 0, never.contains(&answer), "{answer:?}: {times}");
    }
}
