//! How much of a stream its most frequent value is, in bounded memory.
//!
//! Source: Misra, Gries, "Finding repeated elements", Science of Computer Programming 2, 1982: with k counters a value is
//! counted at most n / (k + 1) times too seldom.

/// Counters: shares are too low by 1.5% at most.
const COUNTERS: usize = 64;

/// Values by their hashes.
#[derive(Debug, Default)]
pub(super) struct Frequent {
    counters: Vec<(u64, u64)>,
    total: u64,
}

impl Frequent {
    /// Adds a value.
    pub(super) fn add(&mut self, hash: u64) {
        self.total += 1;
        if let Some((_, count)) = self.counters.iter_mut().find(|(known, _)| *known == hash) {
            *count += 1;
        } else if self.counters.len() < COUNTERS {
            self.counters.push((hash, 1));
        } else {
            self.counters.iter_mut().for_each(|(_, count)| *count -= 1);
            self.counters.retain(|(_, count)| *count > 0);
        }
    }

    /// The largest share that a value may have.
    pub(super) fn largest_share(&self) -> f64 {
        let largest = self
            .counters
            .iter()
            .map(|(_, count)| *count)
            .max()
            .unwrap_or(0);
        let kept: u64 = self.counters.iter().map(|(_, count)| count).sum();
        let missed = (self.total - kept) / (COUNTERS as u64 + 1);
        (largest + missed) as f64 / self.total.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_too_low_and_little_too_high() {
        let mut frequent = Frequent::default();
        (0..10_000u64).for_each(|i| frequent.add(if i % 20 == 0 { 7 } else { 100 + i }));
        let share = frequent.largest_share();
        assert!((0.05..=0.05 + 0.016).contains(&share), "{share}");
        let mut few = Frequent::default();
        (0..100).for_each(|i| few.add(i % 10));
        assert_eq!(few.largest_share(), 0.1);
        assert_eq!(Frequent::default().largest_share(), 0.0);
    }
}
