//! Access rates from LFU counters.
//!
//! An access increments a counter c above 5 with probability 1 / (f (c - 5) + 1), where f is the log factor; every
//! decay time decrements it. It is thus in equilibrium at 1 + f (c - 5) accesses per decay time. A new key starts at 5
//! without any access, and an unused key drops below 5: neither indicates accesses. From 250 on the counter saturates,
//! and the true rate may be arbitrarily higher.

use serde::{Deserialize, Serialize};

/// The initial counter of a new key.
const NEW: u64 = 5;
/// The largest counter.
const LARGEST: u64 = 255;
/// For counters at or above this, an estimate is only a lower bound.
pub const SATURATED: u64 = 250;

/// A server's LFU configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LfuRule {
    /// lfu-log-factor.
    pub log_factor: u64,
    /// lfu-decay-time, in minutes; above 0.
    pub decay_minutes: u64,
}

impl Default for LfuRule {
    fn default() -> Self {
        LfuRule {
            log_factor: 10,
            decay_minutes: 1,
        }
    }
}

impl LfuRule {
    /// Accesses per minute that keep a counter in equilibrium; `None` for an invalid counter.
    pub fn accesses(self, counter: u64) -> Option<u64> {
        let in_decay_time = match counter.saturating_sub(NEW) {
            0 => 0,
            above => self.log_factor.saturating_mul(above).saturating_add(1),
        };
        (counter <= LARGEST).then(|| in_decay_time.div_ceil(self.decay_minutes.max(1)))
    }

    /// The highest estimate in accesses per minute; above it, estimates are lower bounds.
    pub fn most(self) -> u64 {
        self.accesses(SATURATED).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_stands_for_the_accesses_that_keep_it() {
        let rule = LfuRule::default();
        for (counter, accesses) in [
            (0, 0),
            (4, 0),
            (5, 0),
            (6, 11),
            (35, 301),
            (105, 1001),
            (255, 2501),
        ] {
            assert_eq!(rule.accesses(counter), Some(accesses), "{counter}");
        }
        assert_eq!(rule.accesses(256), None);
        assert_eq!(rule.most(), 2451);
        let slow = LfuRule {
            log_factor: 1,
            decay_minutes: 10,
        };
        assert_eq!(
            [5, 25, 255].map(|counter| slow.accesses(counter)),
            [Some(0), Some(3), Some(26)]
        );
    }
}
