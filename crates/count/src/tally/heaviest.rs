//! The heaviest single keys by bytes and by operations: the rows with the largest weight overall, independent of order
//! and number of threads. A dump names a key once. Ties are broken by slot: comparing the names of millions of equally
//! heavy keys would cost more.

use serde::{Deserialize, Serialize};

use slotscope_base::batch::MISSING;
use slotscope_base::metric::{Load, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::{self, SlotBatch};

use crate::tally::Tally;
use crate::tally::operations::BusyKey;
use crate::tally::sketch::top::Top;

/// Number of keys kept, and bytes kept of a long name.
pub(crate) const KEPT: usize = 1000;
const MAX_NAME: usize = 512;

/// The heaviest keys by each metric except the number of keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Heaviest(PerMetric<Top<HeavyKey, KEPT>>);

/// A key and its weight. Keys of equal weight are ordered by these fields, the slot first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HeavyKey {
    /// Its slot.
    #[serde(deserialize_with = "slot::checked")]
    pub slot: u16,
    /// Its load.
    pub load: Load,
    /// Its first 512 bytes.
    pub name: Name,
    /// Its length in bytes.
    pub length: u64,
    /// Whether it has a hash tag.
    pub tagged: bool,
    /// Whether it is a channel of sharded Pub/Sub.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub channel: bool,
    /// Number of reads among its operations, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
}

impl Heaviest {
    /// The heaviest keys in `metric`, heaviest first and then by name, and an upper bound for all other keys.
    pub fn keys(&self, metric: Metric) -> Option<(Vec<HeavyKey>, u64)> {
        let (mut keys, exceeded) = self.0.get(metric).map(Top::heaviest)?;
        keys.sort_by(|a, b| {
            b.load[metric]
                .cmp(&a.load[metric])
                .then_with(|| a.name.cmp(&b.name))
        });
        Some((keys, exceeded))
    }
}

impl Heaviest {
    /// Adds keys with their total operations.
    pub(crate) fn add_busy(&mut self, keys: &[BusyKey]) {
        for metric in [Metric::Ops, Metric::Cpu] {
            if metric == Metric::Cpu && keys.iter().all(|key| key.cpu.is_none()) {
                continue;
            }
            let top = self.0.get_or_insert_with(metric, Top::default);
            for key in keys.iter().filter(|key| key.weight(metric) > 0) {
                let is_before =
                    |last: &HeavyKey| (key.slot, &key.name[..]) <= (last.slot, &last.name.0[..]);
                top.offer(key.weight(metric), is_before, || HeavyKey {
                    slot: key.slot,
                    load: Load::from_fn(|metric| key.weight(metric)),
                    name: Name::from(&key.name[..]),
                    length: key.length,
                    tagged: key.tagged,
                    channel: key.channel,
                    reads: key.reads,
                });
            }
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
                let slot = keys.slots[i];
                let is_before = |last: &HeavyKey| {
                    slot < last.slot
                        || slot == last.slot
                            && (values.load(i), kept()) <= (last.load, &last.name.0[..])
                };
                top.offer(*weight, is_before, || HeavyKey {
                    slot,
                    load: values.load(i),
                    name: Name::from(kept()),
                    length: name().len() as u64,
                    tagged: keys.is_tagged(i),
                    channel: false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scan;
    use crate::tally::{Parts, Tallies};
    use slotscope_read::source::memory::memory;

    #[test]
    fn of_keys_that_are_equally_heavy_those_of_the_first_slots_are_kept_and_listed_by_name() {
        let names: Vec<String> = (0..4000).map(|i| format!("k{i}")).collect();
        let mut kept: Vec<_> = names.iter().collect();
        kept.sort_by_key(|name| (hashslot::slot(name.as_bytes()), *name));
        kept.truncate(KEPT - 1);
        kept.sort();
        let rows: String = names.iter().map(|name| format!("{name},7\n")).collect();
        let dump = format!("key,size\nheavy,8\n{rows}");
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let (pool, inputs) = (pool.unwrap(), [memory("dump", dump.as_bytes())]);
            let scan = Scan::new(&pool).chunk(5000);
            let scanned = scan.run(&inputs, || Tallies::new(Parts::All));
            let heaviest = scanned.unwrap().tally.names.unwrap().heaviest;
            let (keys, exceeded) = heaviest.keys(Metric::Bytes).unwrap();
            assert_eq!(exceeded, 7);
            let listed: Vec<_> = keys.iter().map(|key| key.name.to_string()).collect();
            assert_eq!(listed[0], "heavy");
            assert_eq!(listed[1..].iter().collect::<Vec<_>>(), kept);
        }
    }
}
