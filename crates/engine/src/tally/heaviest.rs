//! The heaviest single keys by bytes and by operations: of all rows those with the largest weight, so that neither
//! the order nor the number of threads shows. A dump names a key once.

use serde::{Deserialize, Serialize};

use crate::format::batch::MISSING;
use crate::metric::{Load, Metric, PerMetric};
use crate::name::Name;
use crate::slot::{self, SlotBatch};
use crate::tally::Tally;
use crate::tally::operations::BusyKey;
use crate::tally::sketch::top::Top;

/// The number of keys kept, and the kept length of a long name.
pub(crate) const KEPT: usize = 1000;
const MAX_NAME: usize = 512;

/// The heaviest keys of each metric but the number of keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Heaviest(PerMetric<Top<HeavyKey, KEPT>>);

/// A key and its weight.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HeavyKey {
    /// Its load.
    pub load: Load,
    /// Its first 512 bytes.
    pub name: Name,
    /// How long it is, in bytes.
    pub length: u64,
    /// Its slot.
    #[serde(deserialize_with = "slot::checked")]
    pub slot: u16,
    /// Whether it has a hash tag.
    pub tagged: bool,
    /// Operations that only read it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
}

impl Heaviest {
    /// The heaviest keys in `metric`, heaviest first, and what no other key exceeds.
    pub fn keys(&self, metric: Metric) -> Option<(Vec<HeavyKey>, u64)> {
        self.0.get(metric).map(Top::heaviest)
    }
}

impl Heaviest {
    /// Adds keys with all operations on them.
    pub(crate) fn add_busy(&mut self, keys: &[BusyKey]) {
        let top = self.0.get_or_insert_with(Metric::Ops, Top::default);
        for key in keys {
            let is_before = |last: &HeavyKey| key.name <= last.name.0;
            top.offer(key.ops, is_before, || HeavyKey {
                load: Load::from_fn(|metric| if metric == Metric::Ops { key.ops } else { 0 }),
                name: Name::from(&key.name[..]),
                length: key.length,
                slot: key.slot,
                tagged: key.tagged,
                reads: key.reads,
            });
        }
    }
}

impl Tally for Heaviest {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        for metric in Metric::WEIGHTS {
            let Some(column) = values.column(metric) else {
                continue;
            };
            let top = self.0.get_or_insert_with(metric, Top::default);
            for (i, weight) in column.iter().enumerate() {
                if *weight == MISSING || *weight == 0 {
                    continue;
                }
                let name = || keys.batch.keys.get(keys.batch.base, i);
                let kept = || {
                    let name = name();
                    &name[..name.len().min(MAX_NAME)]
                };
                let is_before =
                    |last: &HeavyKey| (values.load(i), kept()) <= (last.load, &last.name.0[..]);
                top.offer(*weight, is_before, || HeavyKey {
                    load: values.load(i),
                    name: Name::from(kept()),
                    length: name().len() as u64,
                    slot: keys.slots[i],
                    tagged: keys.is_tagged(i),
                    reads: None,
                });
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for metric in Metric::WEIGHTS {
            if let Some(theirs) = other.0.get(metric) {
                let mine = self.0.get_or_insert_with(metric, Top::default);
                mine.merge(theirs.clone());
            }
        }
    }
}
