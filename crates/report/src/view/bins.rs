//! Histogram bins: adjacent ranges of values, and how many values each holds.

/// Values counted by range, including those outside of all ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// Ascending: bin `i` holds the values from `edges[i]` up to `edges[i + 1]`, exclusive.
    edges: Vec<u64>,
    /// The number of values in each bin.
    pub counts: Vec<u64>,
    /// The sum of the values in each bin.
    pub sums: Vec<f64>,
    /// Values below the first bin.
    pub below: u64,
    /// Values above the last bin.
    pub beyond: u64,
}

impl Bins {
    /// At most `most` + 1 bins of equal width that hold `first` to `last`; the edges are multiples of the width.
    pub fn uniform(first: u64, last: u64, most: u64) -> Self {
        let width = (last - first) / most + 1;
        let from = first / width * width;
        let bins = (last - from) / width + 1;
        Bins::between((0..=bins).map(|i| from.saturating_add(i.saturating_mul(width))))
    }

    fn between(edges: impl Iterator<Item = u64>) -> Self {
        let edges: Vec<u64> = edges.collect();
        let bins = edges.len() - 1;
        Bins {
            edges,
            counts: vec![0; bins],
            sums: vec![0.0; bins],
            below: 0,
            beyond: 0,
        }
    }

    /// Counts (value, frequency) pairs.
    pub fn count(mut self, values: impl Iterator<Item = (u64, u64)>) -> Self {
        let last = self.counts.len();
        for (value, times) in values {
            match self.edges.partition_point(|edge| *edge <= value) {
                0 => self.below += times,
                // `u64::MAX` has no edge above it.
                place if place <= last || value == u64::MAX => {
                    let bin = place.min(last) - 1;
                    self.counts[bin] += times;
                    self.sums[bin] += value as f64 * times as f64;
                }
                _ => self.beyond += times,
            }
        }
        self
    }

    /// The number of bins.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are no bins.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The first value of bin `i`; for the bin after the last, the first value beyond.
    pub fn edge(&self, i: usize) -> u64 {
        self.edges[i]
    }

    /// The first value beyond the last bin.
    pub fn end(&self) -> u64 {
        self.edges[self.len()]
    }

    /// The width of the first bin.
    pub fn width(&self) -> u64 {
        self.edges[1] - self.edges[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once() {
        let bins = Bins::uniform(10, 29, 4).count((0..40).map(|value| (value, 2)));
        assert_eq!((bins.edge(0), bins.width(), bins.end()), (10, 5, 30));
        assert_eq!(bins.counts, [10; 4]);
        assert_eq!(bins.sums[0], 2.0 * (10 + 11 + 12 + 13 + 14) as f64);
        assert_eq!((bins.below, bins.beyond), (20, 20));
    }

    #[test]
    fn uniform_bins_hold_both_ends_of_any_range() {
        for (first, last) in [
            (0, 0),
            (5, 5),
            (7, 100),
            (99, 1000),
            (0, u64::MAX - 1),
            (u64::MAX, u64::MAX),
        ] {
            let bins =
                Bins::uniform(first, last, 64).count([first, last].map(|v| (v, 1)).into_iter());
            assert_eq!(bins.counts.iter().sum::<u64>(), 2, "{first} {last}");
            assert!(bins.len() <= 66, "{first} {last}: {}", bins.len());
        }
    }
}
