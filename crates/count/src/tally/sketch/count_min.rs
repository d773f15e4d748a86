//! Two rows of counters per metric for any number of names, from which heavy ones can be recovered.
//!
//! A row adds each name to one of its 2^16 cells, chosen by hash, so a cell is an upper bound for each of its names
//! (Cormode & Muthukrishnan, "Count-Min sketch", 2005). Merging adds rows: the order of keys, the chunking and the
//! number of threads do not matter.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use slotscope_base::metric::{Load, Metric, PerMetric};
use slotscope_base::simd::prefetch;

use crate::tally::sketch::hyper_log_log::HyperLogLog;
use crate::tally::slots::add_all;

/// Cells per row.
pub(crate) const CELLS: usize = 1 << 16;

/// The number of largest cells per row that may hold heavy names.
pub(crate) const FOLLOWED_CELLS: usize = 512;
/// Prefetch distance in names.
const AHEAD: usize = 16;

/// The rows of every metric, and the registers that estimate the number of names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountMin {
    cells: PerMetric<Cells>,
    /// The number of distinct names.
    pub distinct: HyperLogLog,
}

/// The two rows of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Cells([Vec<u64>; 2]);

impl Cells {
    fn new() -> Self {
        Cells([vec![0; CELLS], vec![0; CELLS]])
    }

    #[inline]
    fn add(&mut self, hash: u64, load: u64) {
        let [first, second] = cells_of(hash);
        self.0[0][first] = self.0[0][first].saturating_add(load);
        self.0[1][second] = self.0[1][second].saturating_add(load);
    }

    #[inline]
    fn at_most(&self, hash: u64) -> u64 {
        let [first, second] = cells_of(hash);
        self.0[0][first].min(self.0[1][second])
    }
}

impl Default for CountMin {
    fn default() -> Self {
        CountMin {
            cells: PerMetric::of_keys(Cells::new()),
            distinct: HyperLogLog::default(),
        }
    }
}

impl CountMin {
    /// Whether these may be counts of names.
    pub(in crate::tally) fn is_sound(&self) -> bool {
        let mut rows = self.cells.iter().flat_map(|(_, cells)| &cells.0);
        rows.all(|row| row.len() == CELLS) && self.distinct.is_sound()
    }

    /// Adds a name with its load.
    pub(crate) fn add(&mut self, hash: u64, load: Load) {
        self.distinct.add(hash);
        for metric in Metric::ALL.into_iter().filter(|metric| load[*metric] > 0) {
            let cells = self.cells.get_or_insert_with(metric, Cells::new);
            cells.add(hash, load[metric]);
        }
    }

    /// Adds to the number of distinct names.
    pub(crate) fn see(&mut self, hashes: &[u64]) {
        hashes.iter().for_each(|hash| self.distinct.add(*hash));
    }

    /// Adds an amount of a metric to each name, prefetching rows that exceed the caches.
    #[inline]
    pub(crate) fn add_amounts(
        &mut self,
        hashes: &[u64],
        metric: Metric,
        amount: impl Fn(usize) -> u64,
    ) {
        // All-zero rows carry no information.
        if (0..hashes.len()).all(|i| amount(i) == 0) {
            return;
        }
        let Cells([one, two]) = self.cells.get_or_insert_with(metric, Cells::new);
        let (one, two) = (&mut one[..CELLS], &mut two[..CELLS]);
        for (i, hash) in hashes.iter().enumerate() {
            if let Some(next) = hashes.get(i + AHEAD) {
                let [first, second] = cells_of(*next);
                prefetch(&one[first]);
                prefetch(&two[second]);
            }
            let [first, second] = cells_of(*hash);
            one[first] = one[first].saturating_add(amount(i));
            two[second] = two[second].saturating_add(amount(i));
        }
    }

    /// Merges another sketch into this one.
    pub fn merge(&mut self, other: CountMin) {
        self.cells.merge(other.cells, |mine, theirs| {
            mine.0
                .iter_mut()
                .zip(&theirs.0)
                .for_each(|(cells, added)| add_all(cells, added));
        });
        self.distinct.merge(&other.distinct);
    }

    /// An upper bound for any name with this hash.
    pub(crate) fn at_most(&self, hash: u64) -> Load {
        Load::from_fn(|metric| self.at_most_of(hash, metric))
    }

    /// An upper bound for any name with this hash, in a metric.
    #[inline]
    pub fn at_most_of(&self, hash: u64, metric: Metric) -> u64 {
        self.cells
            .get(metric)
            .map_or(0, |cells| cells.at_most(hash))
    }

    /// The cells of row `row` in a metric, if any name has weight in it.
    pub(crate) fn row(&self, row: usize, metric: Metric) -> Option<&[u64]> {
        self.cells.get(metric).map(|cells| cells.0[row].as_slice())
    }

    /// The total load of all names.
    pub fn total(&self) -> Load {
        let sum = |cells: &[u64]| {
            cells
                .iter()
                .fold(0u64, |sum, cell| sum.saturating_add(*cell))
        };
        Load::from_fn(|metric| self.row(0, metric).map_or(0, sum))
    }

    /// An upper bound for every name.
    pub fn heaviest_at_most(&self) -> Load {
        let highest = |row, metric| {
            let cells = self.row(row, metric).unwrap_or(&[]);
            cells.iter().copied().max().unwrap_or(0)
        };
        Load::from_fn(|metric| highest(0, metric).min(highest(1, metric)))
    }

    /// An unbiased estimate of the sum of squared loads, with a standard error of at most sqrt(2 / 2^16) = 0.55%: for a
    /// load of W in m cells, the expected sum of squared cells is F2 + (W^2 - F2) / m.
    pub fn second_moment(&self, metric: Metric) -> f64 {
        let Some(cells) = self.row(0, metric) else {
            return 0.0;
        };
        let m = CELLS as f64;
        let total: f64 = cells.iter().map(|cell| *cell as f64).sum();
        let squares: f64 = cells.iter().map(|cell| (*cell as f64).powi(2)).sum();
        ((m * squares - total * total) / (m - 1.0)).max(total)
    }
}

/// The value exceeded by at most `n` values of `row`.
pub(crate) fn nth_largest(row: &[u64], n: usize) -> u64 {
    let mut values = row.to_vec();
    if values.len() <= n {
        return 0;
    }
    let (_, value, _) = values.select_nth_unstable_by_key(n, |value| Reverse(*value));
    *value
}

/// The cells of a hash, one per row, from independent bits.
#[inline]
pub(crate) fn cells_of(hash: u64) -> [usize; 2] {
    [hash as usize % CELLS, (hash >> 16) as usize % CELLS]
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::hash::hash;

    fn rows(tags: impl Iterator<Item = (String, u64)>) -> CountMin {
        let mut rows = CountMin::default();
        tags.for_each(|(tag, count)| {
            rows.add(hash(tag.as_bytes()), Load::new(count, 10 * count, 0))
        });
        rows
    }

    #[test]
    fn a_cell_never_holds_less_than_a_name_in_it() {
        let tags = || (0..200_000u64).map(|i| (format!("cart:{i}"), 1 + 1_000_000 / (i + 1)));
        let rows = rows(tags());
        for (tag, count) in tags() {
            let at_most = rows.at_most(hash(tag.as_bytes()));
            assert!(
                at_most[Metric::Keys] >= count && at_most[Metric::Bytes] >= 10 * count,
                "{tag}"
            );
        }
        assert_eq!(rows.row(0, Metric::Ops), None);
    }

    #[test]
    fn the_second_moment_is_estimated_within_its_error() {
        let tags = || (0..100_000u64).map(|i| (format!("cart:{i}"), 1 + 100_000 / (i + 1)));
        let truth: f64 = tags().map(|(_, count)| (count * count) as f64).sum();
        let rows = rows(tags());
        for (metric, scale) in [(Metric::Keys, 1.0), (Metric::Bytes, 100.0)] {
            let error = rows.second_moment(metric) / (scale * truth) - 1.0;
            assert!(error.abs() < 4.0 * 0.0055, "{error}");
        }
    }
}
