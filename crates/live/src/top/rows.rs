//! Two readings of a cluster as rows: its shards, and its slots by load in between.

use slotscope_collect::live::{Primary, Snapshot};
use slotscope_collect::probe::Reading;
use slotscope_collect::work::{self, SlotWork};
use slotscope_model::state::{Role, State};
use slotscope_read::source::collection::load::NodeWork;

/// A cluster between two readings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cluster {
    /// Primaries with slots, in cluster order.
    pub shards: Vec<Shard>,
    /// Slots with keys or load, in slot order.
    pub slots: Vec<Slot>,
    /// Why there is no CPU time by slot, if so.
    pub without_cpu: Option<String>,
    /// Errors of primaries that do not answer.
    pub failures: Vec<String>,
}

/// A primary.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shard {
    /// Its id in the cluster.
    pub id: String,
    /// Its address, as CLUSTER NODES prints it.
    pub name: String,
    pub health: Health,
    /// Number of keys in its slots.
    pub keys: u64,
    /// `used_memory`.
    pub memory: Option<u64>,
    /// Memory as a fraction of `maxmemory`.
    pub of_limit: Option<f64>,
    /// Its memory in fair shares, by the verdict.
    pub memory_share: Option<f64>,
    /// Its load in fair shares, by the verdict.
    pub load_share: Option<f64>,
    /// Bytes by which the slowest replica lags.
    pub lag: Option<u64>,
    /// Its activity since the last reading.
    pub work: NodeWork,
}

/// The health of a shard, by the verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Health {
    /// The state of its first problem, if any.
    pub state: Option<State>,
    /// The role concerned.
    pub role: Option<Role>,
    /// Whether it is unreachable.
    pub is_silent: bool,
    /// Sort key: problems earlier in the verdict are larger, and among equal ones, more fair shares. 0 without a
    /// problem.
    pub urgency: f64,
}

impl Health {
    /// An unreachable primary.
    pub(crate) const SILENT: Health = Health {
        state: Some(State::Down),
        role: None,
        is_silent: true,
        urgency: f64::MAX,
    };

    /// Its word in the verdict.
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
    /// Number of keys.
    pub keys: u64,
    /// Their memory, if the server counts it.
    pub memory: Option<u64>,
    /// CPU time per second; 1 is one core.
    pub cpu: Option<f64>,
    /// Fraction of the CPU time of all slots.
    pub cpu_share: Option<f64>,
    /// Bytes received per second.
    pub net_in: Option<f64>,
    /// Bytes sent per second.
    pub net_out: Option<f64>,
}

impl Cluster {
    /// The rows of the last reading; the previous one gives the activity in between.
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
        let rows = work::by_slot(before, now).map(|work| slot(&now.name, &work));
        let is_used = |slot: &Slot| slot.keys > 0 || slot.cpu.is_some_and(|cpu| cpu > 0.0);
        self.slots.extend(rows.filter(is_used));
    }

    fn add_shares_of_slots(&mut self) {
        let total: f64 = self.slots.iter().filter_map(|slot| slot.cpu).sum();
        for slot in self.slots.iter_mut().filter(|_| total > 0.0) {
            slot.cpu_share = slot.cpu.map(|cpu| cpu / total);
        }
    }
}

fn slot(shard: &str, work: &SlotWork<'_>) -> Slot {
    Slot {
        slot: work.now.slot,
        shard: shard.to_owned(),
        keys: work.now.keys,
        memory: work.now.memory,
        cpu: work.cpu(),
        cpu_share: None,
        net_in: work.rate(|stats| stats.net_in),
        net_out: work.rate(|stats| stats.net_out),
    }
}

/// Why no server counts CPU time by slot.
fn without_cpu(snapshot: &Snapshot) -> Option<String> {
    let mut answers = snapshot
        .primaries
        .iter()
        .filter_map(|primary| primary.reading.as_ref().ok());
    let first = answers.next()?;
    if first.counts_cpu_by_slot() || answers.any(Reading::counts_cpu_by_slot) {
        return None;
    }
    let why = match &first.refusal {
        Some(refusal) => {
            format!("hot keys: slotscope analyze HOST:PORT --load 10s --monitor; {refusal}")
        }
        None => {
            "CPU time by slot: CONFIG SET cluster-slot-stats-enabled yes turns it on".to_owned()
        }
    };
    Some(why)
}
