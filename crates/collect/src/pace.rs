//! Throttles requests to a server: limits the fraction of time it works for the scan. A server that becomes slower thus
//! gets longer pauses.

use std::time::Duration;

/// The pauses between pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The fraction of time, at most 1.
    max_load: f64,
}

impl Pace {
    /// Limits use to this percentage of a server's time.
    pub(crate) fn new(percent: f64) -> Self {
        Pace {
            max_load: (percent / 100.0).clamp(0.001, 1.0),
        }
    }

    /// The pause after a page that took the server `busy`.
    pub(crate) fn pause(self, busy: Duration) -> Duration {
        busy.mul_f64((1.0 - self.max_load) / self.max_load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_server_works_for_the_scan_during_its_part_of_the_time() {
        assert_eq!(Pace::new(25.0).pause(10 * MS), 30 * MS);
        assert_eq!(Pace::new(100.0).pause(10 * MS), Duration::ZERO);
        let pause = Pace::new(0.0).pause(MS);
        assert!(pause <= Duration::from_secs(1), "{pause:?}");
    }
}
