//! How recently and how often keys are used, if the dump tells.

use crate::summary::kinds::in_metrics;
use slotscope_base::lfu::SATURATED;
use slotscope_base::metric::{Metric, PerMetric};
use slotscope_count::tally;
use slotscope_count::tally::recency::IDLE;
use slotscope_model::recency::{IdleLoad, LfuLoad};

/// By idle time; `None` if no row has one.
pub(crate) fn idle(
    counted: &tally::recency::Recency,
    carried: &PerMetric<u128>,
) -> Option<Vec<IdleLoad>> {
    let bounds = IDLE.into_iter().map(Some).chain([None]);
    let rows = bounds
        .zip(&counted.idle)
        .map(|(under_secs, load)| IdleLoad {
            under_secs,
            load: in_metrics(*load, carried),
        });
    let is_known = counted.idle.iter().any(|load| load[Metric::Keys] > 0);
    is_known.then(|| rows.collect())
}

/// By LFU counter, over keys that have one; `None` if no row has one.
pub(crate) fn lfu(
    counted: &tally::recency::Recency,
    carried: &PerMetric<u128>,
) -> Option<Vec<LfuLoad>> {
    let rows: Vec<_> = (0..=u8::MAX)
        .zip(&counted.lfu)
        .filter(|(_, load)| load[Metric::Keys] > 0)
        .map(|(counter, load)| LfuLoad {
            counter,
            load: in_metrics(*load, carried),
        })
        .collect();
    (!rows.is_empty()).then_some(rows)
}

/// Whether the counters stand for accesses; the highest may stand for any number of them.
pub(crate) fn are_accesses_known(counters: Option<&[LfuLoad]>) -> bool {
    let is_known = |load: &LfuLoad| u64::from(load.counter) < SATURATED;
    counters.is_some_and(|counters| counters.iter().all(is_known))
}
