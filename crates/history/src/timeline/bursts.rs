//! Bursts: periods in which a slot has far more operations, CPU time or network traffic than usual.
//!
//! The usual load of a slot is its median bucket, among those in which its node has any operations. For independent
//! operations the mean exceeds the median by at most ln 2 (Choi 1994, "On the medians of gamma distributions"), so
//! `median + ln 2` bounds it even if the median is 0; it is scaled up when all other slots are above usual too. A
//! bucket starts a burst if it has `FACTOR` times that bound, and if under a Poisson distribution with that mean, this
//! many occur with a probability below `CHANCE` over all buckets of all slots (Chernoff bound). The burst continues
//! while buckets have twice the usual.
//! Amounts that are not operation counts come in grains: they are treated as Poisson numbers of grains of the largest
//! usual size, which has more variance than mixed sizes.

use std::f64::consts::LN_2;

use slotscope_base::slot::SLOTS;

use crate::timeline::grid::Grid;

/// A burst has this multiple of the usual load.
const FACTOR: f64 = 4.0;
/// The probability of a false burst in a capture without any.
const CHANCE: f64 = 0.001;
/// Minimum share of a burst in its node's operations during the burst.
const LEAST_SHARE: f64 = 0.01;
/// A burst continues while buckets have this multiple of the usual load, with this probability.
const ON_FACTOR: f64 = 2.0;
const ON_CHANCE: f64 = 0.01;
/// Minimum buckets for a median.
const LEAST_BUCKETS: usize = 8;

/// A burst of a slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SlotBurst {
    /// The slot.
    pub slot: u16,
    /// The first bucket, and the end, exclusive.
    pub buckets: (usize, usize),
    /// Its operations.
    pub ops: u64,
    /// The node's operations during the burst.
    pub node_ops: u64,
    /// The median bucket.
    pub usual: u64,
    /// Upper bound on the mean of a usual bucket during the burst.
    pub usual_at_most: f64,
}

impl SlotBurst {
    /// Lower bound on its rate relative to usual.
    pub(super) fn times_usual(&self) -> f64 {
        let (from, to) = self.buckets;
        self.ops as f64 / (to - from) as f64 / self.usual_at_most
    }

    /// The operations in excess of usual.
    fn excess(&self) -> f64 {
        let (from, to) = self.buckets;
        self.ops as f64 - self.usual_at_most * (to - from) as f64
    }
}

/// The bursts of all slots, largest first. `node_ops` has each node's operations by bucket, `owner` each slot's node;
/// operations have this grain.
pub(super) fn find(
    grid: &Grid,
    grain: u64,
    node_ops: &[Vec<u64>],
    owner: impl Fn(u16) -> usize,
) -> Vec<SlotBurst> {
    let len = grid.axis().map_or(0, |axis| axis.len);
    let mut bursts = Vec::new();
    if len < LEAST_BUCKETS {
        return bursts;
    }
    for slot in 0..SLOTS as u16 {
        let mut series = vec![0; len];
        for (place, ops) in grid.columns() {
            series[place] = ops[usize::from(slot)];
        }
        if series.iter().sum::<u64>() < FACTOR as u64 * grain {
            continue;
        }
        let node = &node_ops[owner(slot)];
        let of_slot = OfSlot::new(grain, series, node);
        let burst = |buckets: (usize, usize)| {
            let sum = |ops: &[u64]| ops[buckets.0..buckets.1].iter().sum::<u64>();
            SlotBurst {
                slot,
                buckets,
                ops: sum(&of_slot.series),
                node_ops: sum(node),
                usual: of_slot.median,
                usual_at_most: of_slot.usual_of(buckets),
            }
        };
        let is_large = |burst: &SlotBurst| burst.ops as f64 >= LEAST_SHARE * burst.node_ops as f64;
        bursts.extend(of_slot.runs().into_iter().map(burst).filter(is_large));
    }
    bursts.sort_by(|a, b| {
        let by_excess = b.excess().total_cmp(&a.excess());
        by_excess.then((a.slot, a.buckets).cmp(&(b.slot, b.buckets)))
    });
    bursts
}

/// A slot over time.
struct OfSlot<'a> {
    grain: f64,
    series: Vec<u64>,
    node: &'a [u64],
    /// The slot's median.
    median: u64,
    /// The median of the rest of its node.
    median_of_rest: u64,
}

impl<'a> OfSlot<'a> {
    fn new(grain: u64, series: Vec<u64>, node: &'a [u64]) -> Self {
        let active = || series.iter().zip(node).filter(|(_, node)| **node > 0);
        let of_slot = median(active().map(|(ops, _)| *ops).collect());
        let of_rest = median(active().map(|(ops, node)| node - ops).collect());
        OfSlot {
            grain: grain as f64,
            series,
            node,
            median: of_slot,
            median_of_rest: of_rest,
        }
    }

    /// An upper bound on the mean of a bucket, if the slot is as busy as usual.
    fn usual(&self, at: usize) -> f64 {
        let rest = (self.node[at] - self.series[at]) as f64;
        let growth = (rest / self.median_of_rest.max(1) as f64).max(1.0);
        match self.median_of_rest {
            0 => self.median as f64 + LN_2 * self.grain,
            _ => self.median as f64 * growth + LN_2 * self.grain,
        }
    }

    /// The mean of `usual` over some buckets.
    fn usual_of(&self, (from, to): (usize, usize)) -> f64 {
        (from..to).map(|at| self.usual(at)).sum::<f64>() / (to - from) as f64
    }

    /// Whether a bucket has `factor` times the usual load, with a probability below `chance` of that happening by
    /// chance.
    fn is_above(&self, at: usize, factor: f64, chance: f64) -> bool {
        let [ops, usual] = [self.series[at] as f64, self.usual(at)].map(|ops| ops / self.grain);
        ops >= factor * usual && ops * (ops / usual).ln() - ops + usual > -chance.ln()
    }

    /// Runs of buckets that include a burst: first bucket and end, exclusive.
    fn runs(&self) -> Vec<(usize, usize)> {
        let len = self.series.len();
        let chance = CHANCE / (SLOTS * len) as f64;
        let mut runs: Vec<(usize, usize, bool)> = Vec::new();
        for at in (0..len).filter(|at| self.is_above(*at, ON_FACTOR, ON_CHANCE)) {
            let starts = self.is_above(at, FACTOR, chance);
            match runs.last_mut() {
                // A single quiet bucket does not end it.
                Some((_, to, is_burst)) if *to + 1 >= at => {
                    *to = at + 1;
                    *is_burst |= starts;
                }
                _ => runs.push((at, at + 1, starts)),
            }
        }
        let bursts = runs.into_iter().filter(|(.., is_burst)| *is_burst);
        bursts.map(|(from, to, _)| (from, to)).collect()
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    if values.is_empty() {
        return 0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable(middle).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(series: &[(u16, Vec<u64>)]) -> Vec<SlotBurst> {
        found_in(1, series)
    }

    fn found_in(grain: u64, series: &[(u16, Vec<u64>)]) -> Vec<SlotBurst> {
        let len = series[0].1.len();
        let mut grid = Grid::default();
        let mut node = vec![0; len];
        for (slot, ops) in series {
            for (at, ops) in ops.iter().enumerate() {
                grid.add(at as u64 * 1000, *slot, *ops);
                node[at] += ops;
            }
        }
        find(&grid, grain, &[node], |_| 0)
    }

    fn with(mut series: Vec<u64>, buckets: std::ops::Range<usize>, ops: u64) -> Vec<u64> {
        series[buckets].fill(ops);
        series
    }

    #[test]
    fn what_comes_in_grains_needs_many_of_them() {
        // A single command of 2 ms on an idle slot is not a burst; 50 of them are.
        let slow = |buckets| (3, with(vec![0; 300], buckets, 2000));
        let rest = (9, vec![300_000; 300]);
        assert_eq!(found_in(1000, &[slow(120..121), rest.clone()]), []);
        let bursts = found_in(1000, &[(3, with(vec![0; 300], 120..130, 100_000)), rest]);
        assert_eq!((bursts.len(), bursts[0].buckets), (1, (120, 130)));
    }

    #[test]
    fn more_of_everything_is_no_burst_of_a_slot() {
        let surge = |ops| with(vec![ops; 300], 100..110, ops * 20);
        assert_eq!(
            found(&[(3, surge(50)), (9, surge(70)), (11, surge(90))]),
            []
        );
    }

    #[test]
    fn a_time_without_any_operations_makes_no_burst_of_the_rest() {
        let gap = |ops| with(vec![ops; 300], 20..280, 0);
        assert_eq!(found(&[(3, gap(50)), (9, gap(70))]), []);
    }
}
