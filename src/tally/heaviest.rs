//! The heaviest single keys by bytes and by operations: of all rows those with the largest weight, so that neither
//! the order nor the number of threads shows. A dump names a key once.

use serde::{Deserialize, Serialize};

use crate::format::batch::MISSING;
use crate::metric::{Load, Metric, PerMetric};
use crate::name::Name;
use crate::slot::SlotBatch;
use crate::tally::Tally;

/// Keys that are kept, and what is kept of a long name.
pub const KEPT: usize = 1000;
const MAX_NAME: usize = 512;

/// The heaviest keys of each metric but the number of keys.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Heaviest(PerMetric<Top>);

/// Up to twice as many keys as are kept: sorted and cut when it is full.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Top {
    keys: Vec<HeavyKey>,
    /// Lighter keys are not among the heaviest.
    floor: u64,
}

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
    pub slot: u16,
    /// Whether it has a hash tag.
    pub tagged: bool,
}

impl Heaviest {
    /// The heaviest keys in `metric`, heaviest first, and what no other key exceeds.
    pub fn keys(&self, metric: Metric) -> Option<(Vec<HeavyKey>, u64)> {
        let mut top = self.0.get(metric)?.clone();
        let full = top.keys.len() > KEPT || top.floor > 0;
        top.cut(metric);
        let lightest = top.keys.last().map_or(0, |key| key.load[metric]);
        Some((top.keys, if full { lightest } else { 0 }))
    }
}

impl Top {
    fn push(&mut self, metric: Metric, key: HeavyKey) {
        self.keys.push(key);
        if self.keys.len() >= 2 * KEPT {
            self.cut(metric);
        }
    }

    /// Keeps the heaviest, ties by name.
    fn cut(&mut self, metric: Metric) {
        self.keys
            .sort_by(|a, b| b.load[metric].cmp(&a.load[metric]).then_with(|| a.cmp(b)));
        self.keys.truncate(KEPT);
        if self.keys.len() == KEPT {
            self.floor = self.keys[KEPT - 1].load[metric];
        }
    }
}

/// How far the lists were cut is not part of the value.
impl PartialEq for Heaviest {
    fn eq(&self, other: &Self) -> bool {
        Metric::WEIGHTS
            .into_iter()
            .all(|metric| self.keys(metric) == other.keys(metric))
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
                if *weight < top.floor || *weight == MISSING || *weight == 0 {
                    continue;
                }
                let name = keys.batch.keys.get(keys.batch.base, i);
                let key = HeavyKey {
                    load: values.load(i),
                    name: Name::from(&name[..name.len().min(MAX_NAME)]),
                    length: name.len() as u64,
                    slot: keys.slots[i],
                    tagged: keys.is_tagged(i),
                };
                top.push(metric, key);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for metric in Metric::WEIGHTS {
            let Some(theirs) = other.0.get(metric) else {
                continue;
            };
            let mine = self.0.get_or_insert_with(metric, Top::default);
            // As many keys as are kept are no lighter than either floor.
            mine.floor = mine.floor.max(theirs.floor);
            theirs
                .keys
                .iter()
                .for_each(|key| mine.push(metric, key.clone()));
        }
    }
}
