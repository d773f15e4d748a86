//! Each shard of today over time: every report is added up by the slots that the shard owns now, so that moved slots do not count as growth.

use serde::Serialize;

use slotscope_base::metric::{Metric, PerMetric, PerWeight};
use slotscope_base::name::Name;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::{Sizes, Summary};
use slotscope_topology::ranges;

use crate::capacity::Options;
use crate::capacity::fit::Reached;
use crate::capacity::grow::Grown;
use crate::capacity::months::after;
use crate::capacity::outlook::Outlook;
use crate::capacity::parts::Part;
use crate::capacity::point::Condensed;

/// A shard, today and later.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Shard {
    /// The id of its primary.
    pub id: Name,
    /// Its display name.
    pub node: Name,
    /// How many slots it owns.
    pub slots: u32,
    /// Its load; `bytes` are its memory.
    #[serde(flatten)]
    pub load: PerMetric<Outlook>,
    /// The source of its memory over time; absent where no report has bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// Bytes that it may use; absent where no limit is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxmemory: Option<u64>,
    /// When it is full, in months after the newest report; absent without a limit, or where one report alone does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<Reached>,
    /// When by the estimate, in seconds since 1970 (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_on: Option<u64>,
}

/// The source of the memory of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The memory that its server used in each report.
    UsedMemory,
    /// The bytes of the keys in its slots, scaled to the memory that its server uses in the newest report.
    MeasuredOnce,
    /// The bytes of the keys in its slots.
    Keys,
}

/// How bytes of keys become memory of servers: by a factor, and a part that is not keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Memory {
    per_byte: f64,
    rest: f64,
}

impl Memory {
    /// Where servers measured `used` for `bytes` of keys.
    fn new(used: u64, bytes: f64, sizes: Option<Sizes>) -> Self {
        // A byte of an RDB file takes more in memory; an estimate of memory is right or too large.
        let ratio = used as f64 / bytes.max(1.0);
        let per_byte = match sizes {
            Some(Sizes::Serialized) => ratio,
            _ => ratio.min(1.0),
        };
        Memory {
            per_byte,
            rest: used as f64 - bytes * per_byte,
        }
    }

    /// That of a shard on average.
    pub(crate) fn of_cluster(newest: &Condensed, summary: &Summary) -> Self {
        let nodes: Vec<&NodeLoad> = summary.nodes.owning().collect();
        let used = nodes.iter().map(|node| newest.used.get(&node.id));
        let used: Option<u64> = used.map(|used| used.map(|used| used.bytes)).sum();
        let bytes = newest.total(Metric::Bytes).unwrap_or(0.0);
        let all = used.map_or(Memory::KEYS, |used| {
            Memory::new(used, bytes, newest.basis.sizes)
        });
        Memory {
            rest: all.rest / nodes.len().max(1) as f64,
            ..all
        }
    }

    /// The keys alone.
    const KEYS: Memory = Memory {
        per_byte: 1.0,
        rest: 0.0,
    };

    /// The memory of keys.
    pub(crate) fn of(self, bytes: f64) -> f64 {
        bytes * self.per_byte + self.rest
    }

    /// The bytes of keys that fit in memory.
    pub(crate) fn keys_in(self, memory: f64) -> f64 {
        (memory - self.rest) / self.per_byte
    }
}

/// The shards of the newest report.
pub(crate) fn of(
    reports: &[&Condensed],
    summary: &Summary,
    parts: &PerMetric<Vec<Part>>,
    grown: Option<&Grown>,
    options: &Options,
) -> Vec<Shard> {
    let (Some(newest), of_any) = (reports.last(), known_limit(reports)) else {
        return Vec::new();
    };
    let limit = |id: &Name| {
        let own = newest.used.get(id).map(|used| used.maxmemory);
        options.maxmemory.or(own).or(of_any)
    };
    let shard = |node: &NodeLoad| {
        let history = ShardHistory {
            reports,
            node,
            parts,
            grown,
            months: &options.months,
        };
        let memory = history.memory();
        let (basis, memory) = memory.unzip();
        let maxmemory = limit(&node.id);
        let full = maxmemory
            .zip(memory.as_ref())
            .and_then(|(limit, memory)| memory.reaches(options.full_at * limit as f64));
        let months = full.and_then(|full| full.estimate);
        Shard {
            id: node.id.clone(),
            node: node.name(),
            slots: node.slots,
            load: PerMetric {
                keys: history
                    .of(Metric::Keys, newest.total(Metric::Keys))
                    .unwrap_or_default(),
                weights: PerWeight::from_fn(|metric| match metric {
                    Metric::Bytes => memory.clone(),
                    metric => history.of(metric, newest.total(metric)),
                }),
            },
            basis,
            maxmemory,
            full,
            full_on: months.map(|months| after(newest.point.at, months)),
        }
    };
    summary.nodes.owning().map(shard).collect()
}

/// The limit of the newest report that has one.
fn known_limit(reports: &[&Condensed]) -> Option<u64> {
    reports.iter().rev().find_map(|report| report.maxmemory)
}

/// The smallest limit of a shard, which is that of any new one.
pub(crate) fn least_limit(shards: &[Shard]) -> Option<u64> {
    shards.iter().filter_map(|shard| shard.maxmemory).min()
}

/// The reports of a shard.
struct ShardHistory<'a> {
    reports: &'a [&'a Condensed],
    node: &'a NodeLoad,
    parts: &'a PerMetric<Vec<Part>>,
    grown: Option<&'a Grown>,
    months: &'a [u32],
}

impl ShardHistory<'_> {
    /// The load of its slots.
    fn load<L: Copy + Into<f64>>(&self, slots: &[L]) -> f64 {
        let own = ranges::slots(&self.node.ranges);
        own.filter_map(|slot| slots.get(usize::from(slot)))
            .map(|load| (*load).into())
            .sum()
    }

    /// Its load in each report that has the metric.
    fn points(&self, metric: Metric) -> Vec<(u64, f64)> {
        let point = |report: &&Condensed| {
            let slots = report.slots.get(metric)?;
            Some((report.point.at, self.load(slots)))
        };
        self.reports.iter().filter_map(point).collect()
    }

    /// The names in its slots that hold much of a shard.
    fn parts(&self, metric: Metric) -> impl Iterator<Item = &Part> {
        let parts = self.parts.get(metric).into_iter().flatten();
        parts.filter(|part| ranges::slots(&self.node.ranges).any(|slot| slot == part.slot))
    }

    fn grown_load(&self, metric: Metric) -> Option<f64> {
        Some(self.load(self.grown?.slots.get(metric)?))
    }

    /// Its load in a metric that the newest report has a total of.
    fn of(&self, metric: Metric, total: Option<f64>) -> Option<Outlook> {
        total?;
        let points = self.points(metric);
        let now = self.node.load_by(metric);
        let outlook = Outlook::new(now, points, self.parts(metric), self.months);
        Some(outlook.grown(self.grown_load(metric)))
    }

    /// Its memory, with the source of it.
    fn memory(&self) -> Option<(Basis, Outlook)> {
        let newest = self.reports.last()?;
        let used = newest.used.get(&self.node.id);
        let points = self.points(Metric::Bytes);
        let bytes = self.node.load.bytes().copied();
        let memory = match (used, bytes) {
            (Some(used), Some(bytes)) => Memory::new(used.bytes, bytes as f64, newest.basis.sizes),
            _ => Memory::KEYS,
        };
        let grown = self.grown_load(Metric::Bytes).map(|grown| memory.of(grown));
        let parts = self.parts(Metric::Bytes);
        let parts: Vec<Part> = parts.map(|part| part.scaled(memory.per_byte)).collect();
        let outlook = |now, points| Outlook::new(now, points, &parts, self.months).grown(grown);
        let measured = used.map(|used| outlook(used.bytes, self.measured(used.layout)));
        let of_keys = points
            .into_iter()
            .map(|(at, bytes)| (at, memory.of(bytes)))
            .collect();
        match (measured, used, bytes) {
            (Some(measured), ..) if measured.trend.is_some() => Some((Basis::UsedMemory, measured)),
            (_, Some(used), Some(_)) => Some((Basis::MeasuredOnce, outlook(used.bytes, of_keys))),
            (_, None, Some(bytes)) => Some((Basis::Keys, outlook(bytes, of_keys))),
            (measured, ..) => Some((Basis::UsedMemory, measured?)),
        }
    }

    /// The memory that its server measured while it had the slots that it has now.
    fn measured(&self, layout: u64) -> Vec<(u64, f64)> {
        let point = |report: &&Condensed| {
            let used = report.used.get(&self.node.id)?;
            (used.layout == layout).then_some((report.point.at, used.bytes as f64))
        };
        self.reports.iter().filter_map(point).collect()
    }
}
