//! How often a key is used, by its LFU counter.
//!
//! An access raises a counter c above 5 with probability 1 / (f (c - 5) + 1), f the log factor; every decay time lowers it
//! by one. So it stays where it is at 1 + f (c - 5) accesses in a decay time. A new key has 5 without any access, and one
//! that is not used falls below it: neither shows an access. At 250 and above, a key may be used any number of times more.

use serde::{Deserialize, Serialize};

/// The counter of a key that is new.
const NEW: u64 = 5;
/// The largest counter.
const LARGEST: u64 = 255;
/// From this counter on an estimate is a lower bound.
pub const SATURATED: u64 = 250;

/// How a server counts.
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
    /// Accesses a minute that keep a counter where it is; `None` where that is not a counter.
    pub fn accesses(self, counter: u64) -> Option<u64> {
        let in_decay_time = match counter.saturating_sub(NEW) {
            0 => 0,
            above => self.log_factor.saturating_mul(above).saturating_add(1),
        };
        (counter <= LARGEST).then(|| in_decay_time.div_ceil(self.decay_minutes.max(1)))
    }

    /// The most accesses a minute that an estimate is right for; of more it is a lower bound.
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
