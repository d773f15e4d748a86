//! fanout against a real three-node cluster: refusals are predicted with their errors, and nothing else is refused.

use slotscope::command::{Command, Commands};
use slotscope::fanout::outcome::BatchOutcome;
use slotscope::format::parse::words::words;
use slotscope::slot::slot;
use slotscope::topology::Topology;
use testkit::cluster::{Cluster, even};
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
        let even = Topology::even(3, String::from("even 3")).unwrap();
        let ranges = |topology: &Topology| -> Vec<_> {
            let nodes = topology.nodes.iter();
            nodes.map(|node| node.ranges.clone()).collect()
        };
        let file = cluster.servers[0].folder().join("nodes.conf");
        let topology = wait_for(|| match Topology::read(&file) {
            Ok(read) if ranges(&read) == ranges(&even) => Ok(read),
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
    let name: Vec<Vec<u8>> = command
        .name
        .split('|')
        .map(|word| word.as_bytes().to_vec())
        .collect();
    let lengths = if command.arity > 0 {
        command.arity as usize..=command.arity as usize
    } else {
        13..=14
    };
    lengths.into_iter().find_map(|len| {
        // Two of everything: words, keys, numbers of keys.
        let mut words = name.clone();
        // Only options may follow its values.
        let len = if command.name == "msetex" { 6 } else { len };
        words.resize(len, b"2".to_vec());
        let mut put = |place: usize, word: &str| words[place] = word.into();
        match command.name {
            "xread" => put(1, "streams"),
            "xreadgroup" => ["GROUP", "g", "c", "STREAMS"]
                .iter()
                .enumerate()
                .for_each(|(i, word)| put(i + 1, word)),
            "sort" => put(2, "STORE"),
            "georadius" => put(6, "STORE"),
            "georadiusbymember" => put(5, "STOREDIST"),
            "migrate" => [(3, ""), (6, "KEYS")]
                .iter()
                .for_each(|(place, word)| put(*place, word)),
            _ => {}
        }
        let places = command.keys(&words).ok()?;
        (places.len() > 1).then_some((words, places))
    })
}

/// The commands in the table that may have several keys.
fn with_several_keys() -> Vec<&'static str> {
    let rows = include_str!("../../crates/engine/src/command/table.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let several = |row: &&str| {
        let specs: Vec<&str> = row.split(' ').skip(3).collect();
        specs.len() > 1
            || specs
                .iter()
                .any(|spec| spec.contains("keynum") || !spec.contains("range:0:"))
    };
    rows.filter(|row| row.split(' ').count() > 3)
        .filter(several)
        .map(|row| row.split(' ').next().unwrap())
        .collect()
}

fn error(reply: &Reply) -> &str {
    if let Reply::Error(text) = reply {
        text
    } else {
        ""
    }
}

fn is_redirected(reply: &Reply) -> bool {
    ["CROSSSLOT", "MOVED", "EXECABORT"]
        .iter()
        .any(|kind| error(reply).starts_with(kind))
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
    let one_node = (1..).map(|i| format!("k{i}")).find(|key| {
        let slots = [slot(b"{a}1"), slot(key.as_bytes())];
        slots[0] != slots[1] && topology.owner(slots[0]) == topology.owner(slots[1])
    });
    let other_node = (1..)
        .map(|i| format!("k{i}"))
        .find(|key| topology.owner(slot(b"{a}1")) != topology.owner(slot(key.as_bytes())));
    let last_keys = [String::from("{a}2"), one_node.unwrap(), other_node.unwrap()];
    let (table, mut tried) = (Commands::table(), Vec::new());
    let mut asked = cluster.servers[0].connect();
    let mut is_known = |name: &str| {
        let name = name.split('|').next().unwrap_or_default();
        match asked.call(&["COMMAND", "INFO", name]) {
            Reply::Array(found) => matches!(found[..], [Reply::Array(_)]),
            other => panic!("{other:?}"),
        }
    };
    for command in table.iter().filter(|command| is_known(command.name)) {
        let Some((mut words, places)) = sample(command) else {
            continue;
        };
        // Valkey 9.1.2 looks only at the first key, and serves commands that it should refuse.
        let refused = if command.name == "msetex" {
            0
        } else {
            last_keys.len()
        };
        for (last, key) in last_keys.iter().take(refused).enumerate() {
            places
                .iter()
                .for_each(|place| words[*place] = b"{a}1".to_vec());
            words[*places.last().unwrap()] = key.as_bytes().to_vec();
            let said = judged.judge(&[line(&words)]);
            assert_eq!(
                said,
                if last == 0 {
                    BatchOutcome::Served
                } else {
                    BatchOutcome::Crossslot
                },
                "{}",
                command.name
            );
            let mut client = cluster.owner_of(b"{a}1");
            // Queued and discarded, an accepted command does not block and does no harm.
            let queue = last == 0 && !matches!(command.name, "watch" | "ssubscribe");
            if queue {
                client.call(&["MULTI"]);
            }
            let reply = client.call(&words);
            let crossslot = error(&reply).starts_with("CROSSSLOT");
            assert_eq!(
                crossslot,
                said == BatchOutcome::Crossslot,
                "{} {key}: {reply:?}",
                command.name
            );
            assert!(
                crossslot || !is_redirected(&reply),
                "{} {key}: {reply:?}",
                command.name
            );
            assert!(
                !queue || matches!(reply, Reply::Simple(_)),
                "{}: {reply:?}",
                command.name
            );
        }
        tried.push(command.name);
        every_key_is_where_the_server_finds_it(
            &mut cluster.servers[0].connect(),
            command,
            &words,
            &places,
        );
    }
    tried.sort_unstable();
    let several = with_several_keys().into_iter();
    assert_eq!(
        tried,
        several.filter(|name| is_known(name)).collect::<Vec<_>>()
    );
}

fn every_key_is_where_the_server_finds_it(
    client: &mut Client,
    command: &Command,
    words: &[Vec<u8>],
    places: &[usize],
) {
    let mut asked = vec![b"COMMAND".to_vec(), b"GETKEYS".to_vec()];
    asked.extend_from_slice(words);
    let keys: Vec<_> = places
        .iter()
        .map(|place| Reply::Bulk(words[*place].clone()))
        .collect();
    match client.call(&asked) {
        Reply::Array(found) => {
            let sorted = |keys: &[Reply]| {
                let mut keys: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
                keys.sort();
                keys
            };
            assert_eq!(sorted(&found), sorted(&keys), "{}", command.name);
        }
        // Shard channels have slots but are not keys.
        other => assert!(
            command.name.starts_with('s') && error(&other).contains("no key arguments"),
            "{other:?}"
        ),
    }
}

fn every_transaction_ends_as_we_say(judged: &Judged) {
    let pool: Vec<String> = (0..6)
        .map(|i| format!("{{t{}}}{i}", i / 2))
        .chain((0..6).map(|i| format!("w{i}")))
        .collect();
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
        let mut replies: Vec<Reply> = lines
            .iter()
            .map(|line| client.call(&words(line).unwrap()))
            .collect();
        let exec = replies.pop().unwrap();
        let queued = replies
            .iter()
            .map(error)
            .find(|error| !error.is_empty())
            .unwrap_or_default();
        let answered = match (error(&exec), queued) {
            ("", "") => BatchOutcome::Served,
            (error, queued)
                if [error, queued].iter().any(|of| of.starts_with("CROSSSLOT"))
                    || queued.starts_with("MOVED") =>
            {
                BatchOutcome::Crossslot
            }
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
