//! How gently a server is asked: it works for the scan during a part of the time, and less while it is slow.

use std::time::Duration;

/// Pages after which it is known how long one takes.
const KNOWN: u32 = 8;
/// A page that takes so many times its usual time is slow.
const SLOW: f64 = 4.0;
/// Below this, a page is not slow.
const NOISE: Duration = Duration::from_millis(2);
/// The first pause for a slow server, doubled while it stays slow.
const FIRST: Duration = Duration::from_millis(20);
/// The longest such pause.
const LONGEST: Duration = Duration::from_secs(2);

/// The pauses between pages.
#[derive(Debug)]
pub struct Pace {
    /// The part of the time, up to 1.
    max_load: f64,
    pages: u32,
    /// The usual time of a key: it falls at once and rises slowly.
    base: f64,
    /// The last pause for a slow server.
    backoff: Duration,
}

impl Pace {
    /// At most this percentage of a server's time.
    pub fn new(percent: f64) -> Self {
        Pace {
            max_load: (percent / 100.0).clamp(0.001, 1.0),
            pages: 0,
            base: f64::INFINITY,
            backoff: Duration::ZERO,
        }
    }

    /// How long to pause after a page of so many keys that took the server `busy`.
    pub fn pause(&mut self, busy: Duration, keys: usize) -> Duration {
        busy.mul_f64((1.0 - self.max_load) / self.max_load) + self.backoff(busy, keys)
    }

    fn backoff(&mut self, busy: Duration, keys: usize) -> Duration {
        let a_key = busy.as_secs_f64() / keys.max(1) as f64;
        let is_slow = self.pages >= KNOWN && a_key > SLOW * self.base && busy > NOISE;
        self.pages = self.pages.saturating_add(1);
        self.base = match a_key < self.base {
            true => a_key,
            // What is slow for good, for instance larger values, becomes the usual.
            false => self.base * 0.98 + a_key * 0.02,
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
        assert_eq!(Pace::new(25.0).pause(10 * MS, 500), 30 * MS);
        assert_eq!(Pace::new(100.0).pause(10 * MS, 500), Duration::ZERO);
        let pause = Pace::new(0.0).pause(MS, 500);
        assert!(pause <= Duration::from_secs(1), "{pause:?}");
    }

    #[test]
    fn a_server_that_becomes_slow_is_left_alone_for_longer_and_longer() {
        let mut pace = Pace::new(50.0);
        (0..10).for_each(|_| assert_eq!(pace.pause(10 * MS, 500), 10 * MS));
        let slow: Vec<Duration> = (0..3)
            .map(|_| pace.pause(100 * MS, 500) - 100 * MS)
            .collect();
        assert_eq!(slow, [FIRST, 2 * FIRST, 4 * FIRST]);
        assert_eq!(pace.pause(10 * MS, 500), 10 * MS, "it is fast again");
    }

    #[test]
    fn larger_pages_are_not_slower_ones() {
        let mut pace = Pace::new(50.0);
        (0..10).for_each(|_| assert_eq!(pace.pause(10 * MS, 500), 10 * MS));
        assert_eq!(pace.pause(100 * MS, 5000), 100 * MS);
    }
}
