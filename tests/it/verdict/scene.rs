//! A small cluster in files, as operators have them: the listing of its nodes, a table of keys, the server readings of
//! `collect`, MONITOR captures, SLOT-STATS readings. Nodes are `node0` at 10.0.0.1:6379 and so on.

use std::fs;
use std::path::PathBuf;

use slotscope::Analysis;
use slotscope::slot::slot;
use slotscope::source::collection::manifest::{FILE, Manifest, example};
use slotscope::source::collection::servers::{ServerEntry, ServerReading};
use slotscope::summary::Summary;
use slotscope::topology::Topology;
pub(super) use testkit::planted::{address, even_ends, lines_of};
use testkit::prelude::{Scratch, Value, json};

/// 2026-11-22 10:00:00 UTC: the start of a scene's captures and readings.
pub(super) const NOON: u64 = 1_795_341_600;

/// A second, a node, and the accumulated CPU time of each slot.
pub(super) type Readings<'a> = (u64, usize, &'a dyn Fn(u16) -> u64);

/// The inputs of an analysis.
pub(super) struct Scene {
    listing: Option<String>,
    table: String,
    files: Vec<(String, String)>,
    servers: Vec<ServerEntry>,
    manifest: Manifest,
    analysis: Analysis,
}

impl Scene {
    /// A cluster with nodes that end at these slots.
    pub(super) fn on(ends: &[u64]) -> Self {
        Scene::listed(lines_of(ends))
    }

    /// A cluster of `nodes` nodes with equal numbers of slots.
    pub(super) fn even(nodes: u64) -> Self {
        Scene::on(&even_ends(nodes))
    }

    /// The cluster in a listing.
    pub(super) fn listed(listing: String) -> Self {
        Scene {
            listing: Some(listing),
            ..Scene::unlisted()
        }
    }

    /// A scene without a listing.
    pub(super) fn unlisted() -> Self {
        let mut manifest = example(&["keys.csv"]);
        manifest.cluster = false;
        Scene {
            listing: None,
            table: String::new(),
            files: Vec::new(),
            servers: Vec::new(),
            manifest,
            analysis: Analysis::new(),
        }
    }

    /// Adds keys with the columns of `header`.
    pub(super) fn keys(mut self, header: &str, rows: impl Iterator<Item = String>) -> Self {
        let rows = std::iter::once(header.to_owned()).chain(rows);
        self.table = rows.map(|row| row + "\n").collect();
        self
    }

    /// Adds rows to the keys.
    pub(super) fn and(mut self, rows: impl IntoIterator<Item = String>) -> Self {
        rows.into_iter().for_each(|row| self.table += &(row + "\n"));
        self
    }

    /// Adds the readings of each node's server.
    pub(super) fn servers(mut self, readings: impl IntoIterator<Item = ServerReading>) -> Self {
        let entry = |(at, after): (usize, ServerReading)| ServerEntry {
            after: Some(after),
            ..ServerEntry::of(Some(format!("node{at}")), address(at))
        };
        self.servers = readings.into_iter().enumerate().map(entry).collect();
        self
    }

    /// Makes the server of a node unreachable.
    pub(super) fn silent(mut self, node: usize) -> Self {
        let why = "10.0.0.2:6379: nothing listens there".to_owned();
        self.servers[node].silent = Some(why);
        self
    }

    /// Adds a reading of a node one minute earlier: it has evicted keys and used CPU time since.
    pub(super) fn since(mut self, node: usize, evicted: u64, cpu: f64) -> Self {
        let entry = &mut self.servers[node];
        let mut last = entry.after.clone().unwrap();
        (last.uptime_in_seconds, last.evicted_keys) = (Some(1060), Some(evicted));
        (last.used_cpu, last.at) = (Some(cpu * 60.0), "2026-11-22T10:01:00Z".into());
        entry.before = Some(ServerReading {
            at: "2026-11-22T10:00:00Z".into(),
            uptime_in_seconds: Some(1000),
            evicted_keys: Some(0),
            used_cpu: Some(0.0),
            ..last.clone()
        });
        entry.after = Some(last);
        self
    }

    /// Changes the manifest of `collect`.
    pub(super) fn collected(mut self, change: impl FnOnce(&mut Manifest)) -> Self {
        change(&mut self.manifest);
        self
    }

    /// Adds a MONITOR capture of a node for this many seconds, with commands and keys evenly spread.
    pub(super) fn monitor(self, node: usize, secs: u64, commands: &[(&str, String)]) -> Self {
        let name = format!("{}.monitor", address(node).replace(':', "-"));
        self.capture(&name, (0, secs), commands)
    }

    /// The same in a file of any name, starting this many seconds after `NOON`.
    pub(super) fn capture(
        mut self,
        name: &str,
        (from, secs): (u64, u64),
        commands: &[(&str, String)],
    ) -> Self {
        let mut text = String::new();
        let last = (commands.len() as u64).saturating_sub(1).max(1);
        for ((command, key), at) in commands.iter().zip(0..) {
            let micros = secs * 1_000_000 * at / last;
            let (second, micros) = (NOON + from + micros / 1_000_000, micros % 1_000_000);
            text += &format!("{second}.{micros:06} [0 127.0.0.1:5] \"{command}\" \"{key}\"\n");
        }
        self.files.push((name.into(), text));
        self
    }

    /// Adds a file next to the keys.
    pub(super) fn file(mut self, name: &str, text: String) -> Self {
        self.files.push((name.into(), text));
        self
    }

    /// Adds SLOT-STATS readings of these nodes: a second, and the accumulated CPU time of each slot.
    pub(super) fn slot_stats(self, readings: &[Readings<'_>]) -> Self {
        let topology = self.topology();
        self.slot_stats_of(readings, |slot, _| topology.owner(slot))
    }

    /// The same while slots change hands: `owner` of a slot at a second.
    pub(super) fn slot_stats_of(
        self,
        readings: &[Readings<'_>],
        owner: impl Fn(u16, u64) -> Option<usize>,
    ) -> Self {
        let mut text = String::new();
        for (second, node, cpu) in readings {
            let slots = (0..16_384).filter(|slot| owner(*slot, *second) == Some(*node));
            let row = |slot| json!([slot, {"key-count": 1, "cpu-usec": cpu(slot)}]);
            let slots: Vec<Value> = slots.map(row).collect();
            let time = format!("2026-11-22T10:{:02}:{:02}Z", second / 60, second % 60);
            let line = json!({"time": time, "node": address(*node), "slots": slots});
            text += &format!("{line}\n");
        }
        self.file("slot-stats.json", text)
    }

    /// Changes the user's settings.
    pub(super) fn asked(mut self, asked: impl FnOnce(Analysis) -> Analysis) -> Self {
        self.analysis = asked(self.analysis);
        self
    }

    /// The nodes.
    pub(super) fn topology(&self) -> Topology {
        let listing = self.listing.as_deref().expect("a listing");
        Topology::parse("cluster.nodes", listing.as_bytes()).unwrap()
    }

    /// The listing of the nodes.
    pub(super) fn listed_as(&self) -> String {
        self.listing.clone().expect("a listing")
    }

    /// The rows of the keys.
    pub(super) fn table(&self) -> &str {
        &self.table
    }

    /// The files of `collect` beside the keys.
    pub(super) fn described(&self) -> String {
        let mut manifest = Manifest {
            servers: self.servers.clone(),
            ..self.manifest.clone()
        };
        // A header of one word would be a key.
        let head = self.table.lines().next().unwrap_or_default();
        let heads = usize::from(head.contains(','));
        manifest.nodes[0].keys = (self.table.lines().count() - heads) as u64;
        serde_json::to_string(&manifest).unwrap()
    }

    /// A directory with the collection `shop`: its keys, the listing and the files beside them.
    pub(super) fn written(&self) -> Scratch {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path("shop")).unwrap();
        scratch.file("shop/keys.csv", &self.table);
        scratch.file(&format!("shop/{FILE}"), self.described());
        scratch.file("shop/cluster.nodes", self.listed_as());
        for (name, text) in &self.files {
            scratch.file(&format!("shop/{name}"), text);
        }
        scratch
    }

    /// Writes the files and analyzes them.
    pub(super) fn summary(&self) -> Summary {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| -> PathBuf {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let mut inputs = Vec::new();
        if !self.table.is_empty() {
            let mut keys = write("all/keys.csv", &self.table);
            if self.listing.is_some() || !self.servers.is_empty() {
                keys = write(&format!("all/{FILE}"), &self.described());
            }
            inputs.push(keys);
        }
        for (name, text) in &self.files {
            inputs.push(write(name, text));
        }
        let analysis = match &self.listing {
            Some(_) => self.analysis.clone().topology(self.topology()),
            None => self.analysis.clone(),
        };
        analysis.threads(2).run(&inputs).unwrap()
    }
}

/// Two readings of three nodes, this many seconds apart.
pub(super) fn readings<'a>(
    secs: u64,
    before: &'a dyn Fn(u16) -> u64,
    after: &'a dyn Fn(u16) -> u64,
) -> Vec<Readings<'a>> {
    let each = [(0, before), (secs, after)].into_iter();
    let each = each.flat_map(|(second, cpu)| (0..3).map(move |node| (second, node, cpu)));
    each.collect()
}

/// A server that uses a fraction of its limit of 1,000,000,000 bytes.
pub(super) fn info(used: f64, policy: &str) -> ServerReading {
    ServerReading {
        at: "2026-11-22T10:01:00Z".into(),
        used_memory: Some((used * 1e9) as u64),
        maxmemory: Some(1_000_000_000),
        maxmemory_policy: Some(policy.into()),
        ..ServerReading::default()
    }
}

/// Servers that use these fractions of their memory, and refuse writes at the limit.
pub(super) fn noeviction(used: &[f64]) -> Vec<ServerReading> {
    used.iter().map(|used| info(*used, "noeviction")).collect()
}

/// Keys without tags, each with `columns`.
pub(super) fn light(count: usize, columns: &str) -> impl Iterator<Item = String> {
    let columns = columns.to_owned();
    (0..count).map(move |at| format!("session:{at}{columns}"))
}

/// The slot of the key in a row.
pub(super) fn slot_of(row: &str) -> u16 {
    slot(row.split(',').next().unwrap_or(row).as_bytes())
}

/// A name whose slot is below `end`, that is, on the first node of a listing.
pub(super) fn named(prefix: &str, end: u16) -> String {
    let names = (0..).map(|at| format!("{prefix}{at}"));
    let mut names = names.filter(|name| slot(name.as_bytes()) < end);
    names.next().unwrap()
}

/// The operations of a node: a command on each of its keys among `session:0` to `session:<keys>`.
pub(super) fn of_node(
    topology: &Topology,
    node: usize,
    keys: usize,
    command: &'static str,
) -> Vec<(&'static str, String)> {
    let keys = (0..keys).map(|at| format!("session:{at}"));
    let own = keys.filter(|key| topology.owner(slot(key.as_bytes())) == Some(node));
    own.map(|key| (command, key)).collect()
}
