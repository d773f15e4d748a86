//! The verdict on a running cluster: two readings of it are judged as a collection of them would be.

use slotscope_collect::live::Snapshot;
use slotscope_collect::probe::Reading as Read;
use slotscope_collect::work;
use slotscope_engine::calendar::utc;
use slotscope_engine::error::Result;
use slotscope_engine::source::Found;
use slotscope_engine::source::collection::Collection;
use slotscope_engine::source::collection::load::LoadEntry;
use slotscope_engine::source::collection::manifest::{Level, Manifest, SLOT_STATS_FILE};
use slotscope_engine::source::collection::servers::Role;
use slotscope_engine::source::collection::servers::ServerEntry;
use slotscope_engine::source::memory::Memory;
use slotscope_findings::summary::Summary;
use slotscope_findings::topology::Topology;

use crate::pipeline::Analysis;
use crate::pipeline::reading::{Options, Reading};

/// Two readings of each primary that answered twice.
pub(crate) fn pairs<'s>(first: &'s Snapshot, last: &'s Snapshot) -> Vec<[&'s Read; 2]> {
    let pair = |(name, reading): &'s (String, Result<Read>)| {
        let mut before = first.primaries.iter().filter(|(of, _)| of == name);
        Some([before.next()?.1.as_ref().ok()?, reading.as_ref().ok()?])
    };
    last.primaries.iter().filter_map(pair).collect()
}

/// The summary that `analyze` would make of the time between two readings.
///
/// # Errors
/// The list of nodes cannot be used, or no primary answered twice.
pub(crate) fn summary(first: &Snapshot, last: &Snapshot) -> Result<Summary> {
    let pairs = pairs(first, last);
    let lines = |at: usize| pairs.iter().filter_map(move |pair| pair[at].line());
    let lines: String = lines(0).chain(lines(1)).collect();
    let topology = Topology::parse("cluster.nodes", last.nodes.as_bytes())?;
    let found = Found {
        sources: vec![Box::new(Memory::new(SLOT_STATS_FILE, lines.into_bytes()))],
        collections: vec![Collection {
            directory: "".into(),
            manifest: manifest(&pairs),
        }],
        ..Found::default()
    };
    let options = Options {
        threads: Some(1),
        ..Options::default()
    };
    let reading = Reading::new(found, options)?;
    Analysis::new().topology(topology).run_on(reading)
}

/// The collection that the readings are.
fn manifest(pairs: &[[&Read; 2]]) -> Manifest {
    let server = |[before, after]: &[&Read; 2]| ServerEntry {
        id: after.id.clone(),
        name: after.name.clone(),
        role: Role::Primary,
        is_read: false,
        before: Some(before.server.clone()),
        after: Some(after.server.clone()),
    };
    let time = |at: usize| pairs.iter().map(move |pair| pair[at].at_ms);
    Manifest {
        started: utc(time(0).min().unwrap_or(0)),
        finished: utc(time(1).max().unwrap_or(0)),
        servers: pairs.iter().map(server).collect(),
        load: Some(LoadEntry {
            nodes: pairs
                .iter()
                .map(|[before, after]| work::between(before, after))
                .collect(),
            ..LoadEntry::default()
        }),
        ..Manifest::new(Level::Slots, Role::Primary)
    }
}
