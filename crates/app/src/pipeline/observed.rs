//! Facts about nodes besides their keys: server readings in a collection, and what RDB headers tell about the servers
//! that wrote them.

use std::cmp::Reverse;

use slotscope_count::scan::{Scanned, SeenInput};
use slotscope_count::tally::Tallies;
use slotscope_findings::summary::observed::{Observed, Outage, ServerFacts};
use slotscope_read::format::parse::time::timestamp;
use slotscope_read::source::collection::Collection;
use slotscope_read::source::collection::load::{HotKeys, LoadEntry, LoggedCommands, RefusedWork};
use slotscope_read::source::collection::servers::{Role, ServerEntry, ServerReading};
use slotscope_topology::{Node, Topology};

use crate::pipeline::inputs::Inputs;

/// Minimum seconds between two readings for computing rates: with less, they would reflect the readings themselves.
const LEAST_SPAN: f64 = 1.0;

/// The facts besides counts; `files` has the inputs of each node if the inputs are nodes.
pub(crate) fn of(
    inputs: &Inputs,
    scanned: &Scanned<Tallies>,
    topology: &Topology,
    files: &[Vec<usize>],
) -> Observed {
    let loads = || loads(&inputs.collections);
    Observed {
        hot_slots: loads().flat_map(|load| load.hot_slots.clone()).collect(),
        hot_keys: hot_keys(loads()),
        logged: logged(loads()),
        servers: servers(&inputs.collections, scanned, topology, files),
        cluster_state: cluster_state(&inputs.collections),
        open_slots: open_slots(&inputs.collections),
        is_load_measured: loads().next().is_some(),
        is_whole_collection: is_whole(&inputs.collections),
        ..Observed::default()
    }
}

/// The load measured by collections.
fn loads(collections: &[Collection]) -> impl Iterator<Item = &LoadEntry> {
    let collections = collections.iter();
    collections.flat_map(|collection| &collection.manifest.load)
}

/// Whether a replica took over while keys were collected.
fn has_failover(collections: &[Collection]) -> bool {
    collections
        .iter()
        .any(|collection| !collection.manifest.failovers.is_empty())
}

/// The slots that collections found open.
fn open_slots(collections: &[Collection]) -> Vec<u16> {
    let ranges = collections
        .iter()
        .flat_map(|collection| &collection.manifest.slots_open);
    ranges.flat_map(|(first, last)| *first..=*last).collect()
}

/// Whether collections have all keys of a cluster.
fn is_whole(collections: &[Collection]) -> bool {
    let is_whole =
        |collection: &Collection| collection.manifest.cluster && !collection.manifest.incomplete;
    !collections.is_empty() && collections.iter().all(is_whole)
}

/// The hot keys of all collections.
fn hot_keys<'l>(loads: impl Iterator<Item = &'l LoadEntry>) -> HotKeys {
    let mut sum = HotKeys::default();
    let hot_keys = loads.filter_map(|load| load.hot_keys.as_ref());
    hot_keys.for_each(|hot_keys| sum.add(hot_keys));
    sum.keys.sort_by_key(|key| Reverse(key.cpu_usec));
    sum
}

/// The logged commands of all collections.
fn logged<'l>(loads: impl Iterator<Item = &'l LoadEntry>) -> LoggedCommands {
    let mut sum = LoggedCommands::default();
    let logged = loads.filter_map(|load| load.logged.as_ref());
    logged.for_each(|logged| sum.add(logged));
    sum.commands
        .sort_by_key(|command| (command.log, Reverse(command.amount)));
    sum
}

/// Statistics of each node of the topology, if a server or RDB file has them.
pub(crate) fn servers(
    collections: &[Collection],
    scanned: &Scanned<Tallies>,
    topology: &Topology,
    files: &[Vec<usize>],
) -> Vec<Option<ServerFacts>> {
    let mut known = of_files(scanned, topology, files);
    let works = || loads(collections).flat_map(|load| &load.nodes);
    for (place, node) in topology.nodes.iter().enumerate() {
        if let Some(entry) = entry_of(collections, node, topology.nodes.len()) {
            known[place] = facts(entry).or(known[place].take());
            if has_failover(collections) {
                // A new primary synchronises its replicas: that is not the work of clients.
                known[place].iter_mut().for_each(|facts| facts.cpu = None);
            }
            if let Some(outage) = outage(entry) {
                known[place].get_or_insert_default().outage = Some(outage);
            }
            let work = works().find(|work| work.id == entry.id && work.name == entry.name);
            if let (Some(facts), Some(work)) = (&mut known[place], work) {
                facts.ops_per_sec = work.ops_per_sec.or(facts.ops_per_sec);
                facts.cpu = work.cpu.or(facts.cpu);
                let busiest = work.commands.first();
                facts.busiest = busiest.map(|command| (command.name.clone(), command.share));
                facts.refused = work.refused.clone();
            }
        }
    }
    known
}

/// The number of primaries that reported the cluster state, and of those reporting it down; absent if none did.
pub(crate) fn cluster_state(collections: &[Collection]) -> Option<(u64, u64)> {
    let state = |collection: &Collection| collection.manifest.cluster_state();
    let states = collections.iter().map(state);
    let (asked, down) = states.fold((0, 0), |sum, state| (sum.0 + state.0, sum.1 + state.1));
    (asked > 0).then_some((asked, down))
}

/// The entry of a node in collections: by id, else by address; or for a single node, the one server of a collection
/// outside of clusters.
fn entry_of<'c>(
    collections: &'c [Collection],
    node: &Node,
    nodes: usize,
) -> Option<&'c ServerEntry> {
    let servers = || {
        let collections = collections.iter();
        collections.flat_map(|collection| &collection.manifest.servers)
    };
    let by_id = servers().find(|server| server.id.as_deref() == Some(&node.id));
    let is_there = |server: &&ServerEntry| {
        let address = Some(server.name.as_str());
        address == node.address.as_deref() || Some(&server.name) == Some(&node.id)
    };
    let by_address = || servers().find(is_there);
    let alone = || match collections {
        [only] if nodes == 1 && !only.manifest.cluster => only.manifest.servers.first(),
        _ => None,
    };
    by_id.or_else(by_address).or_else(alone)
}

/// Why a primary serves none of its slots.
fn outage(entry: &ServerEntry) -> Option<Outage> {
    let last = entry.last();
    let state = last.and_then(|reading| reading.cluster_state.as_deref());
    match () {
        () if entry.role == Role::Replica => None,
        () if entry.silent.is_some() => Some(Outage::Silent),
        () => (state == Some("fail")).then_some(Outage::Refusing),
    }
}

/// The facts from both readings, if any.
fn facts(entry: &ServerEntry) -> Option<ServerFacts> {
    let last = entry.last()?;
    let before = entry.before.as_ref().filter(|_| entry.after.is_some());
    // A restarted server counts from 0 again.
    let since = before.filter(|before| !last.has_restarted(before));
    let rate = |counter: fn(&ServerReading) -> Option<f64>| {
        let before = since.filter(|_| !entry.is_read)?;
        let span = (seconds(last)? - seconds(before)?) as f64 / 1000.0;
        last.rate(before, span, counter)
            .filter(|_| span >= LEAST_SPAN)
    };
    // If the collection itself is part of the load, use the load before it.
    let reading = entry.before.as_ref().unwrap_or(last);
    let usual = reading.instantaneous_ops_per_sec.map(|ops| ops as f64);
    Some(ServerFacts {
        used_memory: last.used_memory,
        dataset: last.dataset().or_else(|| entry.before.as_ref()?.dataset()),
        not_counted: last.mem_not_counted_for_evict.unwrap_or(0),
        maxmemory: last.maxmemory,
        policy: last.maxmemory_policy.clone(),
        fragmentation: last.mem_fragmentation_ratio,
        buffers: last.buffers,
        evicting: since.is_some_and(|before| last.evicted_keys > before.evicted_keys),
        evicted_keys: last.evicted_keys,
        replicas: last.connected_slaves,
        ops_per_sec: rate(|reading| Some(reading.total_commands_processed? as f64)).or(usual),
        cpu: rate(|reading| reading.used_cpu),
        version: last.server.clone(),
        at: seconds(last).and_then(|at| u64::try_from(at / 1000).ok()),
        busiest: None,
        refused: RefusedWork::default(),
        outage: None,
    })
}

/// The time of a reading, in milliseconds since 1970.
fn seconds(reading: &ServerReading) -> Option<i64> {
    timestamp(reading.at.as_bytes()).and_then(|at| i64::try_from(at).ok())
}

/// The facts in RDB headers, by node; of several files, the newest.
fn of_files(
    scanned: &Scanned<Tallies>,
    topology: &Topology,
    files: &[Vec<usize>],
) -> Vec<Option<ServerFacts>> {
    let mut newest: Vec<Option<&SeenInput>> = vec![None; topology.nodes.len()];
    for (input, seen) in scanned.inputs.iter().enumerate() {
        let node = node_of(input, scanned, topology, files);
        let place = node.and_then(|node| newest.get_mut(node));
        let Some(held) = place.filter(|_| seen.seen.used_memory.is_some()) else {
            continue;
        };
        if held.is_none_or(|held| held.seen.written_ms < seen.seen.written_ms) {
            *held = Some(seen);
        }
    }
    let facts = |seen: &SeenInput| ServerFacts {
        used_memory: seen.seen.used_memory,
        at: seen.seen.written_ms.map(|at| at / 1000),
        ..ServerFacts::default()
    };
    newest.into_iter().map(|seen| seen.map(facts)).collect()
}

/// The index of the node that an input is a dump of: the one made from it, the owner of most of its keys, or the only
/// one.
fn node_of(
    input: usize,
    scanned: &Scanned<Tallies>,
    topology: &Topology,
    files: &[Vec<usize>],
) -> Option<usize> {
    if let Some(node) = files.iter().position(|files| files.contains(&input)) {
        return Some(node);
    }
    if topology.nodes.len() == 1 && scanned.inputs.len() == 1 {
        return Some(0);
    }
    let keys = scanned.tally.origins.inputs().nth(input)?;
    let total: u64 = keys.iter().sum();
    let most = keys[..keys.len().saturating_sub(1)]
        .iter()
        .position(|held| *held > total / 2);
    most.filter(|_| total > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::counting::CountSpec;
    use crate::pipeline::reading::{Options, Reading};
    use crate::pipeline::tally_spec::TallySpec;
    use slotscope_count::tally::Parts;
    use slotscope_count::tally::rejects::Rejects;
    use slotscope_read::source::collection::manifest::example;
    use slotscope_read::source::collection::servers::Role;

    fn reading(second: u32, used: u64) -> ServerReading {
        ServerReading {
            at: format!("2026-11-23T10:00:{second:02}Z"),
            used_memory: Some(used),
            uptime_in_seconds: Some(100 + u64::from(second)),
            evicted_keys: Some(u64::from(second)),
            instantaneous_ops_per_sec: Some(70),
            total_commands_processed: Some(1000 * u64::from(second)),
            used_cpu: Some(0.5 * f64::from(second)),
            ..ServerReading::default()
        }
    }

    fn entry(id: &str, role: Role, used: u64) -> ServerEntry {
        ServerEntry {
            role,
            before: Some(reading(0, used / 2)),
            after: Some(reading(10, used)),
            ..ServerEntry::of(Some(id.into()), format!("{id}:1"))
        }
    }

    fn collection(servers: Vec<ServerEntry>) -> Vec<Collection> {
        let mut manifest = example(&["a.csv.zst"]);
        manifest.servers = servers;
        vec![Collection {
            directory: "dir".into(),
            manifest,
        }]
    }

    fn topology() -> Topology {
        let listing = "a 10.0.0.1:1@2 master - 0 0 1 connected 0-99\nb 10.0.0.2:1@2 master - 0 0 2 connected 100-199\n";
        Topology::parse("x", listing.as_bytes()).unwrap()
    }

    fn known(entry: ServerEntry) -> ServerFacts {
        facts(&entry).unwrap()
    }

    #[test]
    fn rates_are_those_between_two_readings() {
        let facts = known(entry("a", Role::Primary, 500));
        assert_eq!(
            (facts.ops_per_sec, facts.cpu, facts.evicting),
            (Some(1000.0), Some(0.5), true)
        );
        assert_eq!(
            (facts.used_memory, facts.at),
            (Some(500), Some(1_795_428_010))
        );
    }

    #[test]
    fn a_dataset_that_wrapped_around_is_that_of_the_reading_before() {
        let mut wrapped = entry("a", Role::Primary, 500);
        let of = |of: &mut Option<ServerReading>, dataset| {
            of.as_mut().unwrap().used_memory_dataset = Some(dataset);
        };
        of(&mut wrapped.before, 200);
        of(&mut wrapped.after, 300);
        assert_eq!(known(wrapped.clone()).dataset, Some(300));
        of(&mut wrapped.after, u64::MAX - 141_335);
        assert_eq!(known(wrapped.clone()).dataset, Some(200));
        of(&mut wrapped.before, u64::MAX);
        assert_eq!(known(wrapped).dataset, None);
    }

    #[test]
    fn a_node_that_was_read_or_started_anew_has_no_rates() {
        let read = ServerEntry {
            is_read: true,
            ..entry("a", Role::Primary, 500)
        };
        let facts = known(read);
        assert_eq!((facts.ops_per_sec, facts.cpu), (Some(70.0), None));
        assert!(facts.evicting, "a collection evicts nothing");

        let mut anew = entry("a", Role::Primary, 500);
        anew.after.as_mut().unwrap().uptime_in_seconds = Some(3);
        let facts = known(anew);
        assert_eq!((facts.ops_per_sec, facts.cpu), (Some(70.0), None));
        assert!(!facts.evicting);
    }

    #[test]
    fn a_node_has_the_figures_of_its_primary_and_none_of_a_replica() {
        let nothing = Scanned {
            tally: Tallies::new(Parts::Slots),
            inputs: Vec::new(),
            incomplete: Vec::new(),
            rejects: Rejects::default(),
        };
        let used = |listed: Vec<ServerEntry>| {
            let found = servers(&collection(listed), &nothing, &topology(), &[]);
            found
                .into_iter()
                .map(|facts| facts.and_then(|facts| facts.used_memory))
                .collect::<Vec<_>>()
        };
        let replica = entry("r", Role::Replica, 9);
        let listed = vec![replica, entry("b", Role::Primary, 20)];
        assert_eq!(used(listed), [None, Some(20)]);
    }

    /// An RDB file with one key.
    fn rdb(key: &str, second: &str, used: &str) -> Vec<u8> {
        let mut file = b"REDIS0011".to_vec();
        let mut text = |mark: &[u8], texts: [&str; 2]| {
            file.extend_from_slice(mark);
            for text in texts {
                file.push(text.len() as u8);
                file.extend_from_slice(text.as_bytes());
            }
        };
        text(b"\xFA", ["ctime", second]);
        text(b"\xFA", ["used-mem", used]);
        text(b"\xFE\x00\x00", [key, "value"]);
        file.extend_from_slice(b"\xFF\0\0\0\0\0\0\0\0");
        file
    }

    #[test]
    fn each_rdb_file_says_when_it_was_written_and_what_its_server_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        // The slots of foo and bar: 12182 and 5061.
        std::fs::write(path("1.rdb"), rdb("foo", "1700000000", "2000000")).unwrap();
        std::fs::write(path("2.rdb"), rdb("bar", "1700086400", "1000000")).unwrap();
        let listing = "a 10.0.0.1:1@2 master - 0 0 1 connected 0-8191\nb 10.0.0.2:1@2 master - 0 0 2 connected 8192-16383\n";
        let topology = Topology::parse("x", listing.as_bytes()).unwrap();
        let found = slotscope_read::source::find(&[folder.path()]).unwrap();
        let reading = Reading::new(found, Options::default()).unwrap();
        let spec = TallySpec {
            counting: &CountSpec::default(),
            listing: Some(&topology),
            seeks_nodes: false,
        };
        let scanned = reading.scan("counting", || spec.empty(2)).unwrap();
        let said = |files: &[Vec<usize>]| {
            let found = servers(&[], &scanned, &topology, files).into_iter();
            let found = found.map(|facts| facts.map(|facts| (facts.used_memory, facts.at)));
            found.collect::<Vec<_>>()
        };
        let foo = Some((Some(2_000_000), Some(1_700_000_000)));
        let bar = Some((Some(1_000_000), Some(1_700_086_400)));
        assert_eq!(said(&[]), [bar, foo], "by the slots of the keys");
        assert_eq!(
            said(&[vec![0], vec![1]]),
            [foo, bar],
            "by the files of the nodes"
        );
        assert_eq!(said(&[vec![0, 1], vec![]])[0], bar, "the newest");

        let summary = crate::Analysis::new().run(&[folder.path()]).unwrap();
        let files = summary.input.files.iter();
        let written: Vec<_> = files.map(|file| file.written).collect();
        assert_eq!(written, [Some(1_700_000_000), Some(1_700_086_400)]);
    }

    #[test]
    fn a_cluster_is_down_by_the_word_of_its_primaries() {
        let state = |id: &str, role, state: &str| {
            let mut entry = entry(id, role, 1);
            entry.after.as_mut().unwrap().cluster_state = Some(state.into());
            entry
        };
        let servers = vec![
            state("a", Role::Primary, "fail"),
            state("b", Role::Primary, "ok"),
            state("r", Role::Replica, "fail"),
        ];
        assert_eq!(cluster_state(&collection(servers)), Some((2, 1)));
        assert_eq!(cluster_state(&collection(Vec::new())), None);
    }
}
