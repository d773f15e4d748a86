//! The verdict on a running cluster: judges two readings like a collection.

use slotscope_base::calendar::utc;
use slotscope_base::error::Result;
use slotscope_collect::live::{Primary, Snapshot};
use slotscope_collect::probe::Reading as Read;
use slotscope_collect::work;
use slotscope_model::Summary;
use slotscope_read::source::Found;
use slotscope_read::source::collection::Collection;
use slotscope_read::source::collection::load::LoadEntry;
use slotscope_read::source::collection::manifest::{Level, Manifest, SLOT_STATS_FILE};
use slotscope_read::source::collection::servers::Role;
use slotscope_read::source::collection::servers::ServerEntry;
use slotscope_read::source::memory::Memory;
use slotscope_topology::Topology;

use crate::pipeline::Analysis;
use crate::pipeline::reading::{Options, Reading};

/// Both readings of each primary that answered twice.
pub fn pairs<'s>(first: &'s Snapshot, last: &'s Snapshot) -> Vec<[&'s Read; 2]> {
    let pair =
        |primary: &'s Primary| Some([first.reading(&primary.id)?, primary.reading.as_ref().ok()?]);
    last.primaries.iter().filter_map(pair).collect()
}

/// The summary that `analyze` would give for the time between two readings.
///
/// # Errors
/// The node listing is unusable, or no primary answered twice.
pub fn summary(first: &Snapshot, last: &Snapshot) -> Result<Summary> {
    let pairs = pairs(first, last);
    let lines = |at: usize| pairs.iter().filter_map(move |pair| pair[at].line());
    let is_one_reading = std::ptr::eq(first, last);
    let before = lines(0).filter(|_| !is_one_reading);
    let text: String = before.chain(lines(1)).collect();
    let topology = Topology::parse("cluster.nodes", last.nodes.as_bytes())?;
    let inputs = Found {
        sources: vec![Box::new(Memory::new(SLOT_STATS_FILE, text.into_bytes()))],
        collections: vec![Collection {
            directory: "".into(),
            manifest: manifest(first, last, &pairs),
        }],
        ..Found::default()
    };
    let options = Options {
        threads: Some(1),
        ..Options::default()
    };
    let reading = Reading::new(inputs, options)?;
    Analysis::new()
        .on_nodes_of(Some(topology), true)?
        .reading_words(Vec::new())
        .run_on(reading)
}

/// The readings as a collection.
fn manifest(first: &Snapshot, last: &Snapshot, pairs: &[[&Read; 2]]) -> Manifest {
    let server = |Primary { id, name, reading }: &Primary| {
        let silent = reading.as_ref().err().filter(|error| error.is_silence());
        let statistics = |reading: &Read| reading.server.clone();
        ServerEntry {
            before: first.reading(id).map(statistics),
            after: reading.as_ref().ok().map(statistics),
            silent: silent.map(ToString::to_string),
            ..ServerEntry::of(Some(id.clone()), name.clone())
        }
    };
    let is_by_slot = |pair: &&[&Read; 2]| pair.iter().all(|reading| reading.counts_cpu_by_slot());
    let time = |at: usize| pairs.iter().map(move |pair| pair[at].at_ms);
    Manifest {
        started: utc(time(0).min().unwrap_or(0)),
        finished: utc(time(1).max().unwrap_or(0)),
        servers: last.primaries.iter().map(server).collect(),
        load: Some(LoadEntry {
            nodes_by_slot: pairs.iter().filter(is_by_slot).count() as u64,
            nodes: pairs
                .iter()
                .map(|[before, after]| work::between(before, after))
                .collect(),
            ..LoadEntry::default()
        }),
        ..Manifest::new(Level::Slots, Role::Primary)
    }
}
