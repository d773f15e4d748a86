//! The load of all primaries during the same seconds (`--load`): two readings of each before any key is read, with
//! HOTKEYS (if available) and command logs in between, followed by MONITOR if requested.

use std::thread;
use std::time::{Duration, Instant};

use slotscope_base::calendar::utc;
use slotscope_base::error::{Error, Result};
use slotscope_read::source::collection::load::{LoadEntry, NodeWork};
use slotscope_report::output::WholeDirectory;

use crate::command_logs::Logs;
use crate::connection::Access;
use crate::hot_keys::Tracking;
use crate::hot_slots;
use crate::monitor;
use crate::probe::{Probe, Reading};
use crate::readings::Asked;
use crate::slot_stats;
use crate::work;

/// How load is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Time between the two readings.
    pub during: Duration,
    /// Whether MONITOR runs for the same time afterwards.
    pub monitor: bool,
}

/// The measured load.
pub(crate) struct Load {
    /// Its entry in collect.json.
    pub entry: LoadEntry,
    /// Both readings of each primary that answered twice.
    pub readings: Vec<[Reading; 2]>,
    /// Parts that were not measured.
    pub skipped: Vec<String>,
}

/// Measures these servers, and lists keys of hot slots if `names`.
///
/// # Errors
/// No server answers, or the directory cannot be written.
pub(crate) fn measure(
    access: &Access,
    servers: &[Asked],
    measured: Measured,
    names: bool,
    directory: &WholeDirectory,
) -> Result<Load> {
    let mut probe = Probe::with_commands(access);
    probe.connect(servers)?;
    let start = Instant::now();
    let first = probe.read(servers)?;
    let started = names.then(|| Tracking::start(access, servers, measured.during));
    let tracking = started.transpose()?;
    let logs = names.then(|| Logs::start(access, servers)).transpose()?;
    thread::sleep(measured.during.saturating_sub(start.elapsed()));
    let logged = logs.map(Logs::finish).transpose()?;
    let hot_keys = tracking.map(Tracking::finish).transpose()?;
    let last = probe.read(servers)?;
    let mut load = Load::between(first, last)?;
    if let Some((logged, refusal)) = logged {
        load.entry.logged = logged;
        load.skipped.extend(refusal);
    }
    if let Some((keys, refusal)) = hot_keys {
        load.entry.hot_keys = keys;
        load.skipped.extend(refusal);
        let (slots, refusal) = hot_slots::list(access, servers, &load.readings);
        load.entry.hot_slots = slots;
        load.skipped.extend(refusal);
    }
    if measured.monitor {
        let (monitor, errors) = monitor::capture(access, servers, measured.during, directory)?;
        let errors = errors.iter().map(|error| format!("MONITOR: {error}"));
        load.skipped.extend(errors);
        load.skipped.extend(monitor::cut(&monitor));
        load.entry.monitor = Some(monitor);
    }
    Ok(load)
}

impl Load {
    fn between(first: Vec<Result<Reading>>, last: Vec<Result<Reading>>) -> Result<Load> {
        let (mut readings, mut failures) = (Vec::new(), Vec::new());
        for pair in first.into_iter().zip(last) {
            match pair {
                (Ok(first), Ok(last)) => readings.push([first, last]),
                (Err(error), _) | (_, Err(error)) => failures.push(error),
            }
        }
        if readings.is_empty() {
            let none = || Error::bad("collect", "no primary answers");
            return Err(failures.into_iter().next().unwrap_or_else(none));
        }
        let nodes: Vec<NodeWork> = readings
            .iter()
            .map(|[first, last]| work::between(first, last))
            .collect();
        let spread = |at: usize| {
            let times = readings.iter().map(|pair| pair[at].at_ms);
            let (least, most) = (times.clone().min(), times.max());
            most.unwrap_or(0).abs_diff(least.unwrap_or(0)) as f64 / 1000.0
        };
        let is_by_slot = |pair: &&[Reading; 2]| pair.iter().all(Reading::counts_cpu_by_slot);
        let mut skipped: Vec<String> = failures
            .iter()
            .map(|error| format!("load: {error}"))
            .collect();
        let mut refusals = readings
            .iter()
            .filter_map(|[_, last]| last.refusal.as_deref());
        skipped.extend(
            refusals
                .next()
                .map(|first| format!("load by slot: {first}")),
        );
        let foreign = readings.iter().flatten().map(|node| node.foreign).sum();
        let left_out = slot_stats::left_out(foreign);
        skipped.extend(left_out.map(|reason| format!("load by slot: {reason}")));
        Ok(Load {
            entry: LoadEntry {
                secs: nodes.iter().map(|node| node.secs).fold(0.0, f64::max),
                spread_secs: spread(0).max(spread(1)),
                nodes_by_slot: readings.iter().filter(is_by_slot).count() as u64,
                nodes,
                hot_slots: Vec::new(),
                hot_keys: None,
                logged: None,
                monitor: None,
            },
            readings,
            skipped,
        })
    }

    /// The initial readings of all nodes.
    pub(crate) fn first(&self) -> impl Iterator<Item = &Reading> {
        self.readings.iter().map(|[first, _]| first)
    }

    /// The final readings of all nodes.
    pub(crate) fn last(&self) -> impl Iterator<Item = &Reading> {
        self.readings.iter().map(|[_, last]| last)
    }

    /// The time of a node's final reading, in UTC.
    pub(crate) fn ended(&self, name: &str) -> Option<String> {
        let last = self.last().find(|last| last.name == name)?;
        Some(utc(last.at_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_read::source::collection::load::Refused;
    use slotscope_read::source::collection::servers::ServerReading;

    fn reading(name: &str, at_ms: i64, calls: u64) -> Reading {
        Reading {
            name: name.into(),
            at_ms,
            server: ServerReading {
                uptime_in_seconds: Some(at_ms as u64 / 1000),
                total_commands_processed: Some(calls),
                used_cpu: Some(calls as f64 / 1e5),
                ..ServerReading::default()
            },
            commands: [
                ("get".to_owned(), (calls, 2 * calls)),
                ("set".to_owned(), (calls / 2, 9 * calls)),
            ]
            .into(),
            refused: [
                [("mget".to_owned(), calls / 2)].into(),
                [("CROSSSLOT".to_owned(), calls / 2), ("OOM".to_owned(), 7)].into(),
            ],
            ..Reading::default()
        }
    }

    #[test]
    fn load_is_what_grew_between_two_readings_of_each_node() {
        let first = vec![Ok(reading("a", 1000, 100)), Ok(reading("b", 1040, 100))];
        let last = vec![
            Ok(reading("a", 11_000, 10_100)),
            Ok(reading("b", 11_090, 600)),
        ];
        let load = Load::between(first, last).unwrap();
        let of = &load.entry;
        assert_eq!(
            (of.secs, of.spread_secs, of.nodes_by_slot),
            (10.05, 0.09, 0)
        );
        assert_eq!(
            (of.nodes[0].ops_per_sec, of.nodes[0].cpu),
            (Some(1000.0), Some(0.01))
        );
        let names: Vec<&str> = of.nodes[0].commands.iter().map(|of| &*of.name).collect();
        assert_eq!(names, ["set", "get"]);
        let refused = &of.nodes[0].refused;
        let of = |refused: &[Refused]| {
            let one = |of: &Refused| format!("{} {}", of.name, of.per_sec);
            refused.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(of(&refused.errors), ["CROSSSLOT 500"]);
        assert_eq!(of(&refused.commands), ["mget 500"]);
        let of = &load.entry;
        assert!((of.nodes[0].commands[0].share - 9.0 / 11.0).abs() < 1e-9);
    }

    #[test]
    fn a_server_that_started_anew_or_does_not_answer_has_no_load() {
        let error = || Err(Error::bad("c", "no answer"));
        let first = vec![
            Ok(reading("a", 9000, 100)),
            Ok(reading("b", 9000, 1)),
            error(),
        ];
        let last = vec![Ok(reading("a", 1000, 200)), error(), error()];
        let load = Load::between(first, last).unwrap();
        assert_eq!(load.entry.nodes.len(), 1);
        assert_eq!(load.entry.nodes[0].ops_per_sec, None);
        assert_eq!(load.skipped, ["load: c: no answer"; 2]);
        assert!(Load::between(vec![error()], vec![error()]).is_err());
    }
}
