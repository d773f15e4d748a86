//! How recently and how often keys are used: by idle time and LFU counter.

use serde::{Deserialize, Serialize};

use slotscope_base::batch::{MISSING, Number};
use slotscope_base::metric::Load;
use slotscope_base::slot::SlotBatch;

use crate::tally::Tally;

/// Upper bounds of the idle classes in seconds; the last class is unbounded.
pub const IDLE: [u64; 5] = [60, 3600, 86_400, 7 * 86_400, 30 * 86_400];
/// The largest LFU counter.
const MAX_LFU: usize = 255;

/// Loads by idle time and by LFU counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recency {
    /// By idle time, in the classes of `IDLE`.
    pub idle: [Load; IDLE.len() + 1],
    /// By LFU counter; empty until one occurs.
    pub lfu: Vec<Load>,
}

impl Recency {
    /// Whether these may be counts of keys.
    pub(super) fn is_sound(&self) -> bool {
        [0, MAX_LFU + 1].contains(&self.lfu.len())
    }
}

impl Default for Recency {
    fn default() -> Self {
        Recency {
            idle: [Load::default(); IDLE.len() + 1],
            lfu: Vec::new(),
        }
    }
}

impl Tally for Recency {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        let known = |number| {
            let column = values.number(number).iter().enumerate();
            column.filter(|(_, value)| **value != MISSING)
        };
        for (i, idle) in known(Number::Idle) {
            let class = IDLE.iter().take_while(|bound| idle >= *bound).count();
            self.idle[class] += values.load(i);
        }
        for (i, counter) in known(Number::Lfu) {
            self.lfu.resize(MAX_LFU + 1, Load::default());
            self.lfu[(*counter).min(MAX_LFU as u64) as usize] += values.load(i);
        }
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.idle.iter_mut().zip(other.idle) {
            *mine += theirs;
        }
        if self.lfu.len() < other.lfu.len() {
            self.lfu.resize(other.lfu.len(), Load::default());
        }
        for (mine, theirs) in self.lfu.iter_mut().zip(other.lfu) {
            *mine += theirs;
        }
    }
}
