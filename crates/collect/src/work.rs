//! The work of a server between two readings.

use std::collections::BTreeMap;

use slotscope_engine::source::collection::load::{CommandWork, NodeWork};
use slotscope_engine::source::collection::servers::ServerReading;

use crate::probe::Reading;

/// The commands that a reading itself runs.
const OWN: [&str; 3] = ["cluster|slot-stats", "cluster|info", "info"];
/// Commands of a node that are named.
const COMMANDS: usize = 5;

/// The work of a server between two readings.
pub fn between(first: &Reading, last: &Reading) -> NodeWork {
    let secs = (last.at_ms - first.at_ms).max(0) as f64 / 1000.0;
    let has_restarted = last.server.uptime_in_seconds < first.server.uptime_in_seconds;
    let rate = |of: fn(&ServerReading) -> Option<f64>| {
        let more = of(&last.server)? - of(&first.server)?;
        (secs > 0.0 && more >= 0.0 && !has_restarted).then_some(more / secs)
    };
    let commands = if secs > 0.0 && !has_restarted {
        commands(&first.commands, &last.commands, secs)
    } else {
        Vec::new()
    };
    NodeWork {
        id: last.id.clone(),
        name: last.name.clone(),
        secs,
        ops_per_sec: rate(|of| of.total_commands_processed.map(|all| all as f64)),
        cpu: rate(|of| of.used_cpu),
        net_in_per_sec: rate(|of| of.total_net_input_bytes.map(|all| all as f64)),
        net_out_per_sec: rate(|of| of.total_net_output_bytes.map(|all| all as f64)),
        commands,
    }
}

/// The commands that took most of the time.
fn commands(
    first: &BTreeMap<String, (u64, u64)>,
    last: &BTreeMap<String, (u64, u64)>,
    secs: f64,
) -> Vec<CommandWork> {
    let is_own = |name: &str| OWN.contains(&name);
    let grown = last.iter().filter(|(name, _)| !is_own(name));
    let grown = grown.filter_map(|(name, (calls, usec))| {
        let (old_calls, old_usec) = first.get(name).copied().unwrap_or((0, 0));
        let calls = calls.checked_sub(old_calls).filter(|calls| *calls > 0)?;
        Some((name, calls, usec.checked_sub(old_usec)?))
    });
    let mut grown: Vec<(&String, u64, u64)> = grown.collect();
    grown.sort_by_key(|(_, _, usec)| std::cmp::Reverse(*usec));
    let total: u64 = grown
        .iter()
        .map(|(_, _, usec)| usec)
        .fold(0, |sum, of| sum.saturating_add(*of));
    let work = |(name, calls, usec): &(&String, u64, u64)| CommandWork {
        name: (*name).clone(),
        calls_per_sec: *calls as f64 / secs,
        usec_per_call: *usec as f64 / *calls as f64,
        share: *usec as f64 / total.max(1) as f64,
    };
    grown.iter().take(COMMANDS).map(work).collect()
}
