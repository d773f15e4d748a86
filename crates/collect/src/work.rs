//! The activity of a server and its slots between two readings.

use std::collections::{BTreeMap, HashMap};

use slotscope_read::source::collection::load::{CommandWork, NodeWork, Refused, RefusedWork};

use crate::probe::{Reading, SlotCounts};

/// Commands of a node that are named.
const COMMANDS: usize = 20;

/// A slot in the later of two readings, with its counters in the earlier one.
pub struct SlotWork<'r> {
    /// The later counters.
    pub now: &'r SlotCounts,
    /// Absent if the server was restarted, or got the slot meanwhile: counters then start from 0.
    before: Option<&'r SlotCounts>,
    secs: f64,
}

impl SlotWork<'_> {
    /// The increase of a counter.
    pub fn grown(&self, metric: fn(&SlotCounts) -> Option<u64>) -> Option<u64> {
        metric(self.now)?.checked_sub(metric(self.before?)?)
    }

    /// The increase per second.
    pub fn rate(&self, metric: fn(&SlotCounts) -> Option<u64>) -> Option<f64> {
        let grown = self.grown(metric)?;
        (self.secs > 0.0).then_some(grown as f64 / self.secs)
    }

    /// CPU time per second; 1 is one core.
    pub fn cpu(&self) -> Option<f64> {
        self.rate(|counts| counts.cpu).map(|usec| usec / 1e6)
    }
}

/// A server's slots in the later of two readings, paired with the earlier one.
pub fn by_slot<'r>(
    first: Option<&'r Reading>,
    last: &'r Reading,
) -> impl Iterator<Item = SlotWork<'r>> {
    let first = first.filter(|first| !last.server.has_restarted(&first.server));
    let slots = first.and_then(|first| first.slots.as_deref());
    let old_slots = slots.unwrap_or_default().iter();
    let before: HashMap<u16, &SlotCounts> = old_slots.map(|counts| (counts.slot, counts)).collect();
    let secs = first.map_or(0.0, |first| secs(first, last));
    let slots = last.slots.iter().flatten();
    slots.map(move |now| SlotWork {
        now,
        before: before.get(&now.slot).copied(),
        secs,
    })
}

fn secs(first: &Reading, last: &Reading) -> f64 {
    (last.at_ms - first.at_ms).max(0) as f64 / 1000.0
}

/// A server's activity between two readings.
pub fn between(first: &Reading, last: &Reading) -> NodeWork {
    let secs = secs(first, last);
    let unknown = NodeWork {
        id: last.id.clone(),
        name: last.name.clone(),
        secs,
        ..NodeWork::default()
    };
    if secs == 0.0 || last.server.has_restarted(&first.server) {
        return unknown;
    }
    let rate = |figure| last.server.rate(&first.server, secs, figure);
    let [refused_commands, errors] =
        [0, 1].map(|kind| refused([first, last].map(|reading| &reading.refused[kind]), secs));
    NodeWork {
        ops_per_sec: rate(|reading| reading.total_commands_processed.map(|count| count as f64)),
        cpu: rate(|reading| reading.used_cpu),
        net_in_per_sec: rate(|reading| reading.total_net_input_bytes.map(|count| count as f64)),
        net_out_per_sec: rate(|reading| reading.total_net_output_bytes.map(|count| count as f64)),
        commands: commands(&first.commands, &last.commands, secs),
        refused: RefusedWork {
            errors,
            commands: refused_commands,
        },
        ..unknown
    }
}

/// The refusals between two readings, the most first.
fn refused([first, last]: [&BTreeMap<String, u64>; 2], secs: f64) -> Vec<Refused> {
    let grown = last.iter().filter_map(|(name, count)| {
        let before = first.get(name).copied().unwrap_or(0);
        let growth = count.checked_sub(before).filter(|growth| *growth > 0)?;
        Some(Refused {
            name: name.clone(),
            per_sec: growth as f64 / secs,
        })
    });
    let mut grown: Vec<Refused> = grown.collect();
    grown.sort_by(|a, b| {
        b.per_sec
            .total_cmp(&a.per_sec)
            .then_with(|| a.name.cmp(&b.name))
    });
    grown.truncate(COMMANDS);
    grown
}

/// The commands that took most of the time.
fn commands(
    first: &BTreeMap<String, (u64, u64)>,
    last: &BTreeMap<String, (u64, u64)>,
    secs: f64,
) -> Vec<CommandWork> {
    let grown = last.iter().filter_map(|(name, (calls, usec))| {
        let (old_calls, old_usec) = first.get(name).copied().unwrap_or((0, 0));
        let calls = calls.checked_sub(old_calls).filter(|calls| *calls > 0)?;
        Some((name, calls, usec.checked_sub(old_usec)?))
    });
    let mut grown: Vec<(&String, u64, u64)> = grown.collect();
    grown.sort_by_key(|(_, _, usec)| std::cmp::Reverse(*usec));
    let total: u64 = grown
        .iter()
        .map(|(_, _, usec)| usec)
        .fold(0, |sum, usec| sum.saturating_add(*usec));
    let work = |(name, calls, usec): &(&String, u64, u64)| CommandWork {
        name: (*name).clone(),
        calls_per_sec: *calls as f64 / secs,
        usec_per_call: *usec as f64 / *calls as f64,
        share: *usec as f64 / total.max(1) as f64,
    };
    grown.iter().take(COMMANDS).map(work).collect()
}
