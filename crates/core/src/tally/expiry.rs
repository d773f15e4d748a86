//! When keys expire: by the minute, or by as many minutes as it takes to stay within bounded memory.

use serde::{Deserialize, Serialize};

use crate::format::batch::{NEVER, Number, SOMETIME};
use crate::metric::{Load, Metric};
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::sketch::spans::TimeSpans;

/// Milliseconds of a minute.
const MINUTE: u64 = 60_000;

/// When keys expire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Expiry {
    /// Keys that never expire.
    pub never: Load,
    /// Keys that expire, at a time that the input does not say.
    pub sometime: Load,
    /// Keys that expire, by minutes.
    pub times: TimeSpans<MINUTE>,
}

impl Expiry {
    /// Whether the input says of keys whether they expire.
    pub fn is_known(&self) -> bool {
        self.never[Metric::Keys] > 0 || self.sometime[Metric::Keys] > 0 || !self.times.is_empty()
    }
}

impl Tally for Expiry {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        for (i, at) in values.number(Number::Expiry).iter().enumerate() {
            let load = values.load(i);
            match *at {
                NEVER => self.never += load,
                SOMETIME => self.sometime += load,
                at => self.times.add(at, load),
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.never += other.never;
        self.sometime += other.sometime;
        self.times.merge(other.times);
    }
}
