//! Two readings of a cluster as rows: its shards, and its slots by their load in between.

use std::collections::HashMap;

use slotscope_collect::live::{Primary, Snapshot};
use slotscope_collect::probe::{Reading, SlotCounts};
use slotscope_collect::work;
use slotscope_engine::source::collection::load::NodeWork;

/// A part of maxmemory from which on a shard is nearly full.
const FULL: f64 = 0.9;
/// CPU time a second, and fair shares of it, from which on a shard is hot.
const HOT: (f64, f64) = (0.5, 1.5);

/// A cluster between two readings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cluster {
    /// Primaries that own slots, in the order of the cluster.
    pub shards: Vec<Shard>,
    /// Slots with keys or work, in their order.
    pub slots: Vec<Slot>,
    /// Why there is no CPU time by slot; absent where there is.
    pub without_cpu: Option<String>,
    /// The errors of primaries that do not answer.
    pub failures: Vec<String>,
}

/// A primary.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shard {
    /// Its address, as CLUSTER NODES prints it.
    pub name: String,
    /// How it is.
    pub state: Health,
    /// Keys of its slots.
    pub keys: u64,
    /// `used_memory`.
    pub memory: Option<u64>,
    /// The part of `maxmemory`.
    pub of_limit: Option<f64>,
    /// Its memory in fair shares.
    pub memory_share: Option<f64>,
    /// Its CPU time in fair shares.
    pub load_share: Option<f64>,
    /// Bytes that the slowest replica is after.
    pub lag: Option<u64>,
    /// Its work since the last reading.
    pub work: NodeWork,
}

/// How a shard is, the worst last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Health {
    /// It answers.
    #[default]
    Fine,
    /// It works much more than the others.
    Hot,
    /// It has little memory left.
    Full,
    /// It refuses keys, as slots of the cluster are not served.
    Down,
    /// It does not answer.
    Silent,
}

impl Health {
    /// A word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Health::Fine => "ok",
            Health::Hot => "hot",
            Health::Full => "near limit",
            Health::Down => "down",
            Health::Silent => "no answer",
        }
    }
}

/// A slot.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Slot {
    /// Its number.
    pub slot: u16,
    /// The primary that owns it.
    pub shard: String,
    /// Its keys.
    pub keys: u64,
    /// Their memory, where the server counts it.
    pub memory: Option<u64>,
    /// CPU time a second; 1 is one core.
    pub cpu: Option<f64>,
    /// The part of the CPU time of all slots.
    pub cpu_share: Option<f64>,
    /// Bytes a second that it received.
    pub net_in: Option<f64>,
    /// Bytes a second that it sent.
    pub net_out: Option<f64>,
}

impl Cluster {
    /// The rows of the last reading; the one before it gives the work in between.
    pub(crate) fn between(first: Option<&Snapshot>, last: &Snapshot) -> Cluster {
        let mut cluster = Cluster::default();
        for Primary { id, name, reading } in &last.primaries {
            match reading {
                Ok(reading) => cluster.add(first.and_then(|first| first.reading(id)), reading),
                Err(error) => {
                    cluster.failures.push(error.to_string());
                    cluster.shards.push(Shard {
                        name: name.clone(),
                        state: Health::Silent,
                        ..Shard::default()
                    });
                }
            }
        }
        cluster.slots.sort_by_key(|slot| slot.slot);
        cluster.add_shares();
        cluster.without_cpu = without_cpu(last);
        cluster
    }

    fn add(&mut self, before: Option<&Reading>, now: &Reading) {
        let (server, slots) = (&now.server, now.slots.as_deref().unwrap_or_default());
        let limit = server.maxmemory.filter(|limit| *limit > 0);
        let of_limit = server.used_memory.zip(limit);
        let of_limit = of_limit.map(|(used, limit)| used as f64 / limit as f64);
        let is_down = server.cluster_state.as_deref() == Some("fail");
        let is_full = of_limit.is_some_and(|part| part >= FULL);
        self.shards.push(Shard {
            name: now.name.clone(),
            state: match () {
                () if is_down => Health::Down,
                () if is_full => Health::Full,
                () => Health::Fine,
            },
            keys: slots
                .iter()
                .map(|slot| slot.keys)
                .fold(0, u64::saturating_add),
            memory: server.used_memory,
            of_limit,
            lag: now.lag_bytes,
            work: before
                .map(|before| work::between(before, now))
                .unwrap_or_default(),
            ..Shard::default()
        });
        let old = before.and_then(|before| before.slots.as_deref());
        let old = old.unwrap_or_default().iter();
        let old: HashMap<u16, &SlotCounts> = old.map(|slot| (slot.slot, slot)).collect();
        let secs = before.map_or(0.0, |before| (now.at_ms - before.at_ms) as f64 / 1000.0);
        let rows = slots.iter().map(|slot| {
            let old = old.get(&slot.slot).copied();
            self::slot(&now.name, old, slot, secs)
        });
        let is_used = |slot: &Slot| slot.keys > 0 || slot.cpu.is_some_and(|cpu| cpu > 0.0);
        self.slots.extend(rows.filter(is_used));
    }

    fn add_shares(&mut self) {
        let cpu = fair_share(self.shards.iter().map(|shard| shard.work.cpu));
        let memory = fair_share(
            self.shards
                .iter()
                .map(|shard| shard.memory.map(|of| of as f64)),
        );
        for shard in &mut self.shards {
            let part = |of: Option<f64>, fair: Option<f64>| Some(of? / fair?);
            shard.memory_share = part(shard.memory.map(|of| of as f64), memory);
            shard.load_share = part(shard.work.cpu, cpu);
            let is_hot = shard.work.cpu >= Some(HOT.0) && shard.load_share >= Some(HOT.1);
            shard.state = shard
                .state
                .max(if is_hot { Health::Hot } else { Health::Fine });
        }
        let all: f64 = self.slots.iter().filter_map(|slot| slot.cpu).sum();
        for slot in self.slots.iter_mut().filter(|_| all > 0.0) {
            slot.cpu_share = slot.cpu.map(|cpu| cpu / all);
        }
    }
}

fn slot(shard: &str, old: Option<&SlotCounts>, new: &SlotCounts, secs: f64) -> Slot {
    // A server that was started anew counts from 0.
    let rate = |of: fn(&SlotCounts) -> Option<u64>| {
        let more = of(new)?.checked_sub(of(old?)?)?;
        (secs > 0.0).then_some(more as f64 / secs)
    };
    Slot {
        slot: new.slot,
        shard: shard.to_owned(),
        keys: new.keys,
        memory: new.memory,
        cpu: rate(|of| of.cpu).map(|usec| usec / 1e6),
        cpu_share: None,
        net_in: rate(|of| of.net_in),
        net_out: rate(|of| of.net_out),
    }
}

/// The mean of the known values, if it is not 0.
fn fair_share(of: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = of.flatten().collect();
    let sum: f64 = known.iter().sum();
    (sum > 0.0).then(|| sum / known.len() as f64)
}

/// Why no server counts CPU time by slot.
fn without_cpu(snapshot: &Snapshot) -> Option<String> {
    let mut answers = snapshot
        .primaries
        .iter()
        .filter_map(|of| of.reading.as_ref().ok());
    let counts = |of: &Reading| {
        let mut slots = of.slots.iter().flatten();
        slots.any(|slot| slot.cpu.is_some())
    };
    let first = answers.next()?;
    if counts(first) || answers.any(counts) {
        return None;
    }
    let is_off =
        "CPU time by slot is not counted; CONFIG SET cluster-slot-stats-enabled yes turns it on";
    Some(first.refusal.clone().unwrap_or_else(|| is_off.to_owned()))
}
