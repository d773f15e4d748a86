//! A collection from start to end: finds the nodes, reads them, writes the directory.

use std::collections::BTreeSet;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use slotscope_base::error::{Error, Result};
use slotscope_base::slot::SLOTS;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::manifest::{
    FILE, Level, Manifest, NODES_FILE, NodeEntry, SCHEMA, SLOT_STATS_FILE, SampleEntry, Settings,
};
use slotscope_read::source::collection::servers::Role;
use slotscope_report::output::{Guard, Mark, Replaces, WholeDirectory};

use crate::address::Address;
use crate::clock::now;
use crate::connection::Access;
use crate::counts_file::{self, write};
use crate::crew::AT_ONCE;
use crate::discovery::{self, Site};
use crate::heaviest;
use crate::key_facts::{EXACT_ELEMENTS, SAMPLES};
pub use crate::load::Measured;
use crate::load::{self, Load};
use crate::monitor::EXTENSION;
use crate::moves;
use crate::probe;
use crate::readers::Readers;
use crate::readings::{Asked, Readings};
pub(crate) use crate::rounds::OnNode;
use crate::rounds::Rounds;
use crate::scan;
use crate::series;
use crate::series::Series;
pub use crate::series::Times;
use crate::slot_stats;
pub use crate::task::Page;
use crate::task::{Plan, Task};
use crate::tls::TlsConfig;
use crate::watch::Watch;

/// Keys remembered over all nodes read at once, to detect repeats by SCAN; at most 36 bytes each.
const REMEMBERED: usize = 2 << 20;
/// Keys remembered per node: more do not help.
const REMEMBERED_OF_NODE: usize = 1 << 19;

/// The user's options.
#[derive(Debug, Clone)]
pub struct Options {
    /// Servers to ask for the cluster, in turn.
    pub seeds: Vec<Address>,
    /// How to connect to servers.
    pub access: Access,
    /// The directory to write.
    pub out: PathBuf,
    /// Whether to replace an existing collection.
    pub force: bool,
    /// How much to read of each key.
    pub level: Level,
    /// The role of nodes to read; by default replicas for keys, primaries for counts.
    pub from: Option<Role>,
    /// COUNT of SCAN.
    pub count: u64,
    /// Limit on a node's time, in percent.
    pub max_load: f64,
    /// Percentage of slots to read.
    pub sample_percent: f64,
    /// When to request SLOT-STATS.
    pub times: Option<Times>,
    /// How to measure the load of all primaries before reading keys.
    pub load: Option<Measured>,
}

/// Collects.
///
/// # Errors
/// No server answers, the directory cannot be written, or nothing could be read.
pub fn run(options: &Options, on_node: OnNode<'_>) -> Result<Manifest> {
    let replaces = replaces(options.force);
    let make = || WholeDirectory::create(&options.out, &replaces);
    let (directory, manifest) = fill(options, make, on_node)?;
    directory.publish(&replaces)?;
    Ok(manifest)
}

/// Collects into a temporary directory, removed when dropped or interrupted.
///
/// # Errors
/// As for `run`.
pub fn run_for_now(options: &Options, on_node: OnNode<'_>) -> Result<WholeDirectory> {
    Ok(fill(options, WholeDirectory::temporary, on_node)?.0)
}

/// Collects into the directory created by `make` once a server answers.
fn fill(
    options: &Options,
    make: impl FnOnce() -> Result<WholeDirectory>,
    on_node: OnNode<'_>,
) -> Result<(WholeDirectory, Manifest)> {
    let started = now();
    let site = discovery::find(&options.seeds, &options.access)?;
    if let Site::Cluster(watch) = &site
        && watch.view.owners().is_empty()
    {
        let seed = options
            .seeds
            .first()
            .map_or(String::new(), ToString::to_string);
        let reason = format!(
            "no node owns a slot: the cluster is not created yet, or was reset; redis-cli --cluster check {seed} shows it"
        );
        return Err(Error::bad(seed, reason));
    }
    let directory = make()?;
    let mut manifest = match site {
        Site::Lone(address) => lone(options, &address, &directory, on_node),
        Site::Cluster(watch) => cluster(options, *watch, &directory, on_node),
    }?;
    (manifest.started, manifest.finished) = (started, now());
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|error| Error::bad(FILE, error.to_string()))?;
    write(&directory, FILE, &(text + "\n"))?;
    Ok((directory, manifest))
}

/// Reads a server outside of clusters.
fn lone(
    options: &Options,
    address: &Address,
    directory: &WholeDirectory,
    on_node: OnNode<'_>,
) -> Result<Manifest> {
    if options.level == Level::Slots || options.times.is_some() {
        let reason = "is not part of a cluster, so it does not count by slot; leave out --slots-only and --every";
        return Err(Error::bad(address.to_string(), reason));
    }
    let mut readers = Readers::new(directory);
    readers.add(None, address.to_string(), Role::Primary);
    let task = Task {
        address: address.clone(),
        role: Role::Primary,
        primary: None,
        slots: SlotSet::sample(options.sample_percent),
        owned: SlotSet::all(),
    };
    let server = Asked {
        id: None,
        name: address.to_string(),
        role: Role::Primary,
        address: address.clone(),
        owned: SlotSet::none(),
    };
    let load = measure(options, vec![server.clone()], directory)?;
    let mut readings = Readings::new(&options.access);
    readings.before(vec![server.clone()]);
    let outage = AtomicBool::new(false);
    let (plan, reader) = (plan(options, 1, false, &outage), &mut readers.list[0]);
    let name = reader.entry.name.clone();
    let outcome = scan::keys(&plan, &task, &mut reader.file, &|page| on_node(&name, page))?;
    reader.done(&outcome, &SlotSet::none());
    reader.entry.complete = true;
    readings.after(vec![server]);
    let skipped = outcome.skipped.iter().map(|reason| (*reason).to_owned());
    let of_load = load.iter().flat_map(|load| load.skipped.clone());
    Ok(Manifest {
        skipped: skipped.chain(readings.skipped()).chain(of_load).collect(),
        load: load.map(|load| load.entry),
        without_sizes: outcome.without_sizes,
        servers: readings.entries(|_| true),
        ..described(options, false, &mut readers, Role::Primary)
    })
}

/// Reads a cluster.
fn cluster(
    options: &Options,
    watch: Watch<'_>,
    directory: &WholeDirectory,
    on_node: OnNode<'_>,
) -> Result<Manifest> {
    let before = watch.view.clone();
    let usual = if options.level == Level::Slots {
        Role::Primary
    } else {
        Role::Replica
    };
    let from = options.from.unwrap_or(usual);
    let outage = AtomicBool::new(watch.view.is_beyond_waiting());
    let plan = plan(options, before.owners().len(), true, &outage);
    let heaviest = (options.sample_percent < 100.0).then(|| heaviest::ask(&plan, &watch));
    let sampled = SlotSet::sample(options.sample_percent);
    let mut wanted = sampled.clone();
    if let Some(heaviest) = &heaviest {
        wanted.add(&heaviest.slots);
    }
    let series = options
        .times
        .map(|times| start_series(options, times, directory))
        .transpose()?;
    let load = measure(options, probe::primaries(&watch), directory)?;
    let mut rounds = Rounds {
        plan: &plan,
        from,
        wanted,
        watch,
        readers: Readers::new(directory),
        done: vec![None; SLOTS],
        skipped: Vec::new(),
        sizes: (0, 0),
        names_only: false,
        said: BTreeSet::new(),
        series,
    };
    let mut readings = Readings::new(&options.access);
    readings.before(rounds.servers());
    rounds.begin_series()?;
    let counts_only = options.level == Level::Slots;
    let is_beside = !counts_only && options.times.is_none() && load.is_none();
    let before_keys = is_beside.then(|| {
        let readings = series::once(&options.access, &rounds.watch);
        counts_file::lines(&readings.unwrap_or_default())
    });
    if !(counts_only && options.times.is_some()) {
        rounds.run(on_node)?;
    }
    rounds.end_series()?;
    match (counts_only, options.times) {
        (_, Some(_)) => {}
        (true, None) => counts_file::of_slots(directory, &mut rounds, load.as_ref())?,
        (false, None) => {
            counts_file::beside_keys(directory, &rounds, load.as_ref(), before_keys)?;
        }
    }
    write(directory, NODES_FILE, &rounds.watch.view.text)?;
    let missing = if rounds.series.is_some() && counts_only {
        SlotSet::none()
    } else {
        rounds.missing()
    };
    rounds.conclude(&missing)?;
    if let Some(error) = rounds.nothing_read() {
        return Err(error);
    }
    readings.after(rounds.servers());
    let after = &rounds.watch.view;
    let (slots_moved, failovers) = moves::between(&before, after);
    let open = SlotSet::of(|slot| missing.contains(slot) && after.is_in_flight(slot));
    let of_load = load.iter().flat_map(|load| load.skipped.clone());
    let of_rounds = skipped(&rounds).into_iter();
    let skipped = of_rounds.chain(readings.skipped()).chain(of_load);
    let sample = heaviest.map(|heaviest| SampleEntry {
        heaviest_by: heaviest.by,
        heavy: SlotSet::of(|slot| heaviest.slots.contains(slot) && !sampled.contains(slot))
            .ranges(),
        keys_of_all: heaviest.keys,
    });
    let mut manifest = Manifest {
        slots_moved,
        failovers,
        incomplete: !missing.is_empty() || rounds.names_only,
        slots_missing: missing.ranges(),
        slots_open: open.ranges(),
        skipped: skipped.collect(),
        without_sizes: rounds.sizes.0 == 0 && rounds.sizes.1 > 0,
        sample,
        series: rounds.series.as_ref().map(Series::entry),
        load: load.map(|load| load.entry),
        ..described(options, true, &mut rounds.readers, from)
    };
    if rounds.names_only {
        manifest.level = Level::Keys;
    }
    let nodes = &manifest.nodes;
    let is_read = |node: &NodeEntry| node.file.is_some() || node.counted.is_some();
    manifest.servers = readings.entries(|entry| {
        let is_entry = |node: &&NodeEntry| node.id == entry.id;
        nodes.iter().filter(is_entry).any(is_read)
    });
    Ok(manifest)
}

fn plan<'a>(
    options: &'a Options,
    nodes: usize,
    is_cluster: bool,
    outage: &'a AtomicBool,
) -> Plan<'a> {
    Plan {
        access: &options.access,
        level: options.level,
        count: options.count,
        max_load: options.max_load,
        remembered: (REMEMBERED / nodes.clamp(1, AT_ONCE)).min(REMEMBERED_OF_NODE),
        is_cluster,
        outage,
    }
}

fn start_series<'a>(
    options: &'a Options,
    times: Times,
    directory: &WholeDirectory,
) -> Result<Series<'a>> {
    let out = BufWriter::new(directory.file(SLOT_STATS_FILE)?);
    Ok(Series::new(
        &options.access,
        times,
        Box::new(out),
        directory.path().join(SLOT_STATS_FILE),
    ))
}

/// The load of all primaries, if requested.
fn measure(
    options: &Options,
    servers: Vec<Asked>,
    directory: &WholeDirectory,
) -> Result<Option<Load>> {
    // A collection of counts names no keys.
    let names = options.level != Level::Slots;
    let measure = |measured| load::measure(&options.access, &servers, measured, names, directory);
    options.load.map(measure).transpose()
}

/// Parts that were not collected, each reason once.
fn skipped(rounds: &Rounds<'_, '_>) -> Vec<String> {
    let mut skipped: Vec<String> = rounds
        .skipped
        .iter()
        .map(|reason| (*reason).to_owned())
        .collect();
    skipped.sort();
    skipped.dedup();
    let view = &rounds.watch.view;
    let unowned = SlotSet::of(|slot| view.owner(slot).is_none()).len();
    if unowned > 0 {
        skipped.push(format!("{unowned} slots have no owner"));
    }
    if let Some(series) = &rounds.series {
        if series.gaps > 0 {
            skipped.push(format!(
                "{} answers to CLUSTER SLOT-STATS did not come",
                series.gaps
            ));
        }
        skipped.extend(slot_stats::left_out(series.foreign));
        if !series.has_operations {
            skipped.push("operations by slot are not counted; set cluster-slot-stats-enabled to yes on the servers".into());
        }
    }
    skipped
}

/// The parts of the manifest common to all servers.
fn described(options: &Options, cluster: bool, readers: &mut Readers<'_>, from: Role) -> Manifest {
    for reader in &mut readers.list {
        reader.entry.keys = reader.file.keys();
        reader.entry.file = reader.file.is_made().then(|| reader.file.name.clone());
    }
    let nodes: Vec<_> = readers
        .list
        .iter()
        .map(|reader| reader.entry.clone())
        .collect();
    Manifest {
        cluster,
        settings: Settings {
            max_load: options.max_load,
            count: options.count,
            sample_percent: options.sample_percent,
            exact_elements: EXACT_ELEMENTS,
            samples: SAMPLES,
            tls: options.access.tls.as_ref().map(TlsConfig::entry),
        },
        keys: nodes.iter().map(|node| node.keys).sum(),
        nodes,
        ..Manifest::new(options.level, from)
    }
}

/// Directories that a collection may replace: earlier collections.
pub fn replaces(force: bool) -> Replaces {
    let is_ours = |name: &str| {
        let is_of_node = [".csv.zst", EXTENSION]
            .iter()
            .any(|end| name.ends_with(end));
        [FILE, NODES_FILE, SLOT_STATS_FILE].contains(&name) || is_of_node
    };
    Replaces {
        mark: Mark {
            file: Some(FILE),
            text: SCHEMA,
        },
        is_ours,
        guard: Guard::new("name another directory with -o").forced(force, ""),
    }
}
