//! Throttles requests to a server: limits the fraction of time it works for the scan, and backs off while it is slow.

use std::time::Duration;

/// Pages until the usual call time is known.
const KNOWN: u32 = 8;
/// A call is slow at or above this multiple of its usual time.
const SLOW: f64 = 4.0;
/// Faster calls are never slow.
const NOISE: Duration = Duration::from_millis(2);
/// The initial backoff, doubled while the server stays slow.
const FIRST: Duration = Duration::from_millis(20);
/// The maximum backoff.
const LONGEST: Duration = Duration::from_secs(2);

/// The pauses between pages.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The fraction of time, at most 1.
    max_load: f64,
    pages: u32,
    /// The usual call time: decreases immediately and increases slowly.
    base: f64,
    /// The current backoff.
    backoff: Duration,
}

impl Pace {
    /// Limits use to this percentage of a server's time.
    pub(crate) fn new(percent: f64) -> Self {
        Pace {
            max_load: (percent / 100.0).clamp(0.001, 1.0),
            pages: 0,
            base: f64::INFINITY,
            backoff: Duration::ZERO,
        }
    }

    /// The pause after a page that took the server `busy`. A call with the same amount of work on each page took `call`
    /// of that; the rest depends on the values.
    pub(crate) fn pause(&mut self, busy: Duration, call: Option<Duration>) -> Duration {
        let backoff = call.map_or(Duration::ZERO, |call| self.backoff(call));
        busy.mul_f64((1.0 - self.max_load) / self.max_load) + backoff
    }

    fn backoff(&mut self, call: Duration) -> Duration {
        let seconds = call.as_secs_f64();
        let is_slow = self.pages >= KNOWN && seconds > SLOW * self.base && call > NOISE;
        self.pages = self.pages.saturating_add(1);
        self.base = if seconds < self.base {
            seconds
        } else {
            self.base * 0.98 + seconds * 0.02
        };
        self.backoff = match (is_slow && self.max_load < 1.0, self.backoff) {
            (false, _) => Duration::ZERO,
            (true, Duration::ZERO) => FIRST,
            (true, last) => (last * 2).min(LONGEST),
        };
        self.backoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_server_works_for_the_scan_during_its_part_of_the_time() {
        assert_eq!(Pace::new(25.0).pause(10 * MS, None), 30 * MS);
        assert_eq!(Pace::new(100.0).pause(10 * MS, Some(MS)), Duration::ZERO);
        let pause = Pace::new(0.0).pause(MS, Some(MS));
        assert!(pause <= Duration::from_secs(1), "{pause:?}");
    }

    #[test]
    fn a_server_that_becomes_slow_is_left_alone_for_longer_and_longer() {
        let mut pace = Pace::new(50.0);
        (0..10).for_each(|_| assert_eq!(pace.pause(10 * MS, Some(MS)), 10 * MS));
        let slow = (0..3).map(|_| pace.pause(10 * MS, Some(100 * MS)) - 10 * MS);
        assert_eq!(slow.collect::<Vec<_>>(), [FIRST, 2 * FIRST, 4 * FIRST]);
        assert_eq!(pace.pause(10 * MS, Some(MS)), 10 * MS, "it is fast again");
    }

    #[test]
    fn larger_values_are_no_slower_server() {
        let mut pace = Pace::new(50.0);
        (0..10).for_each(|_| assert_eq!(pace.pause(10 * MS, Some(MS)), 10 * MS));
        assert_eq!(pace.pause(100 * MS, Some(MS)), 100 * MS);
    }
}
