//! The load of each slot by several metrics at once.

use crate::metric::{Metric, PerMetric};
use crate::summary::balance::sum;

/// What a mix of metrics adds up to over all slots: each slot is right to 10^-12 of the whole.
const WHOLE: f64 = 1e12;
/// The largest total that is used as it is: sums of it never overflow.
const LARGEST: u128 = 1 << 62;

/// The load of each slot by the metrics of `by` with their weights: sum of weight * L / W, W the metric's total over
/// the slots that are `owned`. One metric alone is left in its own unit. `None` where nothing has a load.
pub fn blend(
    loads: &PerMetric<Vec<u64>>,
    by: &[(Metric, f64)],
    owned: impl Fn(usize) -> bool,
) -> Option<Vec<u64>> {
    let only_owned = |of: &Vec<u64>| -> Vec<u64> {
        of.iter()
            .enumerate()
            .map(|(slot, load)| if owned(slot) { *load } else { 0 })
            .collect()
    };
    let parts: Vec<(Vec<u64>, f64)> = by
        .iter()
        .filter_map(|(metric, weight)| Some((only_owned(loads.get(*metric)?), *weight)))
        .collect();
    let parts: Vec<_> = parts
        .into_iter()
        .map(|(loads, weight)| (sum(&loads), loads, weight))
        .collect();
    let mut parts: Vec<_> = parts
        .into_iter()
        .filter(|(total, _, weight)| *total > 0 && *weight > 0.0)
        .collect();
    match parts.as_slice() {
        [] => return None,
        [(total, ..)] if *total < LARGEST => return parts.pop().map(|(_, loads, _)| loads),
        _ => {}
    }
    let weights: f64 = parts.iter().map(|(.., weight)| weight).sum();
    let load = |slot: usize| {
        let part = |(total, loads, weight): &(u128, Vec<u64>, f64)| {
            loads[slot] as f64 / *total as f64 * weight
        };
        (parts.iter().map(part).sum::<f64>() / weights * WHOLE).round() as u64
    };
    Some((0..loads.keys.len()).map(load).collect())
}

/// The load of each slot by every metric that `by` does not name: what a plan evens out too.
pub fn others(
    loads: &PerMetric<Vec<u64>>,
    by: &[(Metric, f64)],
    owned: impl Fn(usize) -> bool,
) -> Vec<(Metric, Vec<u64>)> {
    let metrics = loads.iter().map(|(metric, _)| metric);
    let others = metrics.filter(|metric| by.iter().all(|(planned, _)| planned != metric));
    others
        .filter_map(|metric| Some((metric, blend(loads, &[(metric, 1.0)], &owned)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads() -> PerMetric<Vec<u64>> {
        PerMetric::of_keys(vec![1, 1, 2])
            .with(Metric::Bytes, vec![0, 30, 70])
            .with(Metric::Ops, vec![0, 0, 0])
    }

    #[test]
    fn one_metric_keeps_its_unit_and_unassigned_slots_weigh_nothing() {
        assert_eq!(
            blend(&loads(), &[(Metric::Bytes, 3.0)], |slot| slot != 1),
            Some(vec![0, 0, 70])
        );
        assert_eq!(blend(&loads(), &[(Metric::Ops, 1.0)], |_| true), None);
    }

    #[test]
    fn a_mix_measures_each_metric_by_its_own_total() {
        let by = [
            (Metric::Keys, 1.0),
            (Metric::Bytes, 3.0),
            (Metric::Ops, 9.0),
        ];
        let parts = [
            0.25 / 4.0,
            (0.25 + 3.0 * 0.3) / 4.0,
            (0.5 + 3.0 * 0.7) / 4.0,
        ]
        .map(|part| (part * WHOLE).round() as u64);
        assert_eq!(blend(&loads(), &by, |_| true), Some(parts.to_vec()));
    }

    #[test]
    fn loads_that_add_up_to_more_than_there_are_numbers_are_measured_by_their_total() {
        let huge = PerMetric::of_keys(vec![u64::MAX, u64::MAX]);
        assert_eq!(
            blend(&huge, &[(Metric::Keys, 1.0)], |_| true),
            Some(vec![WHOLE as u64 / 2; 2])
        );
    }
}
