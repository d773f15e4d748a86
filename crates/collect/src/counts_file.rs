//! `slot-stats.json`: counts by slot of each node, next to the keys or instead of them.

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Map, Value, json};

use slotscope_base::error::Result;
use slotscope_read::source::collection::manifest::SLOT_STATS_FILE;
use slotscope_read::source::collection::servers::Role;
use slotscope_report::output::WholeDirectory;

use crate::clock::now;
use crate::load::Load;
use crate::probe::Reading;
use crate::readers::Reader;
use crate::rounds::Rounds;
use crate::series;

/// The server counts next to the keys: for the seconds of a measured load, or without one, up to before (`before_keys`)
/// and after reading keys.
pub(crate) fn beside_keys(
    directory: &WholeDirectory,
    rounds: &Rounds<'_, '_>,
    load: Option<&Load>,
    before_keys: Option<String>,
) -> Result<()> {
    let text = match load {
        Some(load) => {
            Some(lines(load.first().chain(load.last()))).filter(|lines| !lines.is_empty())
        }
        None => series::once(rounds.plan.access, &rounds.watch).map(|after| {
            let is_replica = |reader: &Reader<'_>| reader.entry.role == Role::Replica;
            let are_replicas = rounds.readers.list.iter().all(is_replica);
            // Primaries whose keys were read did extra work meanwhile, which is not client load.
            before_keys.filter(|_| are_replicas).unwrap_or_default() + &lines(&after)
        }),
    };
    text.map_or(Ok(()), |text| write(directory, SLOT_STATS_FILE, &text))
}

/// One line per reading.
pub(crate) fn lines<'r>(readings: impl IntoIterator<Item = &'r Reading>) -> String {
    readings.into_iter().filter_map(Reading::line).collect()
}

/// The counts of each node as a line: keys, and memory, CPU time and traffic if servers count them by slot. A statistic
/// missing for any slot (one that has just moved) is omitted entirely, as it would read as 0.
pub(crate) fn of_slots(
    directory: &WholeDirectory,
    rounds: &mut Rounds<'_, '_>,
    load: Option<&Load>,
) -> Result<()> {
    let mut stats = match load {
        Some(load) => by_slot(load.last()),
        None => by_slot(&series::once(rounds.plan.access, &rounds.watch).unwrap_or_default()),
    };
    let mut counted = (0u64..)
        .zip(&rounds.done)
        .filter(|(_, done)| done.is_some());
    if !stats.is_empty() && counted.any(|(slot, _)| !stats.contains_key(&slot)) {
        stats.clear();
        rounds
            .skipped
            .push("memory by slot: slots moved meanwhile; collect again");
    }
    let has_stats = !stats.is_empty();
    let readers = &rounds.readers.list;
    let mut slots = vec![Vec::new(); readers.len()];
    for (slot, done) in rounds.done.iter().enumerate() {
        if let Some(done) = done {
            let mut of_slot = stats.remove(&(slot as u64)).unwrap_or_default();
            of_slot.insert("key-count".into(), done.count.into());
            slots[done.reader].push(json!([slot, of_slot]));
        }
    }
    let line = |(reader, slots): (&Reader<'_>, Vec<_>)| {
        let name = &reader.entry.name;
        let time = load.and_then(|load| load.ended(name)).unwrap_or_else(now);
        let line = json!({"time": time, "node": name, "slots": slots});
        format!("{line}\n")
    };
    let first = load.filter(|_| has_stats).map(|load| lines(load.first()));
    let last = readers.iter().zip(slots).map(line);
    let text: String = first.into_iter().chain(last).collect();
    write(directory, SLOT_STATS_FILE, &text)
}

/// The statistics of each slot.
fn by_slot<'r>(
    readings: impl IntoIterator<Item = &'r Reading>,
) -> HashMap<u64, Map<String, Value>> {
    let slots = readings.into_iter().flat_map(|node| &node.slots).flatten();
    let stats = slots.map(|slot| (u64::from(slot.slot), slot.stats()));
    stats.collect()
}

/// Writes a whole file.
pub(crate) fn write(directory: &WholeDirectory, name: &str, text: &str) -> Result<()> {
    let mut file = directory.file(name)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    written.map_err(|error| directory.failed(name, error))
}
