//! Two readings of a cluster as rows: its shards, and its slots by their load in between.

use slotscope_collect::live::{Primary, Snapshot};
use slotscope_collect::probe::Reading;
use slotscope_collect::work::{self, SlotWork};
use slotscope_engine::source::collection::load::NodeWork;
use slotscope_findings::summary::state::{Role, State};

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
    /// Its id in the cluster.
    pub id: String,
    /// Its address, as CLUSTER NODES prints it.
    pub name: String,
    /// How it is.
    pub health: Health,
    /// Keys of its slots.
    pub keys: u64,
    /// `used_memory`.
    pub memory: Option<u64>,
    /// The part of `maxmemory`.
    pub of_limit: Option<f64>,
    /// Its memory in fair shares, by the verdict.
    pub memory_share: Option<f64>,
    /// Its load in fair shares, by the verdict.
    pub load_share: Option<f64>,
    /// Bytes that the slowest replica is after.
    pub lag: Option<u64>,
    /// Its work since the last reading.
    pub work: NodeWork,
}

/// How a shard is, by the verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Health {
    /// The state of its first problem; absent if it has no problem.
    pub state: Option<State>,
    /// The role that is concerned.
    pub role: Option<Role>,
    /// Whether it does not answer.
    pub is_silent: bool,
    /// Larger where its problem comes earlier in the verdict; of one problem, where it has more fair shares. 0 without one.
    pub urgency: f64,
}

impl Health {
    /// A primary that does not answer.
    pub(crate) const SILENT: Health = Health {
        state: Some(State::Down),
        role: None,
        is_silent: true,
        urgency: f64::MAX,
    };

    /// The word of the verdict.
    pub(crate) fn word(self) -> String {
        match self.state {
            _ if self.is_silent => "no answer".to_owned(),
            Some(state) => state.word(self.role).to_lowercase(),
            None => "ok".to_owned(),
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
                Ok(reading) => cluster.add(id, first.and_then(|first| first.reading(id)), reading),
                Err(error) => {
                    cluster.failures.push(error.to_string());
                    cluster.shards.push(Shard {
                        id: id.clone(),
                        name: name.clone(),
                        health: Health::SILENT,
                        ..Shard::default()
                    });
                }
            }
        }
        cluster.slots.sort_by_key(|slot| slot.slot);
        cluster.add_shares_of_slots();
        cluster.without_cpu = without_cpu(last);
        cluster
    }

    fn add(&mut self, id: &str, before: Option<&Reading>, now: &Reading) {
        let server = &now.server;
        let limit = server.maxmemory.filter(|limit| *limit > 0);
        let of_limit = server.used_memory.zip(limit);
        let slots = now.slots.iter().flatten();
        self.shards.push(Shard {
            id: id.to_owned(),
            name: now.name.clone(),
            keys: slots.map(|slot| slot.keys).fold(0, u64::saturating_add),
            memory: server.used_memory,
            of_limit: of_limit.map(|(used, limit)| used as f64 / limit as f64),
            lag: now.lag_bytes,
            work: before
                .map(|before| work::between(before, now))
                .unwrap_or_default(),
            ..Shard::default()
        });
        let rows = work::by_slot(before, now).map(|of| slot(&now.name, &of));
        let is_used = |slot: &Slot| slot.keys > 0 || slot.cpu.is_some_and(|cpu| cpu > 0.0);
        self.slots.extend(rows.filter(is_used));
    }

    fn add_shares_of_slots(&mut self) {
        let all: f64 = self.slots.iter().filter_map(|slot| slot.cpu).sum();
        for slot in self.slots.iter_mut().filter(|_| all > 0.0) {
            slot.cpu_share = slot.cpu.map(|cpu| cpu / all);
        }
    }
}

fn slot(shard: &str, of: &SlotWork<'_>) -> Slot {
    Slot {
        slot: of.now.slot,
        shard: shard.to_owned(),
        keys: of.now.keys,
        memory: of.now.memory,
        cpu: of.cpu(),
        cpu_share: None,
        net_in: of.rate(|of| of.net_in),
        net_out: of.rate(|of| of.net_out),
    }
}

/// Why no server counts CPU time by slot.
fn without_cpu(snapshot: &Snapshot) -> Option<String> {
    let mut answers = snapshot
        .primaries
        .iter()
        .filter_map(|of| of.reading.as_ref().ok());
    let first = answers.next()?;
    if first.counts_cpu_by_slot() || answers.any(Reading::counts_cpu_by_slot) {
        return None;
    }
    let is_off =
        "CPU time by slot is not counted; CONFIG SET cluster-slot-stats-enabled yes turns it on";
    Some(first.refusal.clone().unwrap_or_else(|| is_off.to_owned()))
}
