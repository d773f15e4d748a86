//! Expiry of keys: by minute, or by as many minutes as needed to bound memory.

use serde::{Deserialize, Serialize};
use slotscope_keyname::ids;

use slotscope_base::batch::{NEVER, Number, SOMETIME};
use slotscope_base::hash::hash_span;
use slotscope_base::metric::{Load, Metric};
use slotscope_base::name::Name;
use slotscope_base::slot::{self, SlotBatch};

use crate::tally::Tally;
use crate::tally::sketch::bottom_k::BottomK;
use crate::tally::sketch::spans::TimeSpans;

/// Milliseconds per minute.
const MINUTE: u64 = 60_000;

/// Expiry of keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Expiry {
    /// Keys without TTL.
    pub never: Load,
    /// Keys with a TTL of unknown length.
    pub sometime: Load,
    /// Keys with a known expiry, by minutes.
    pub times: TimeSpans<MINUTE>,
    /// A sample of the latter with their attributes.
    sample: SampledExpiry,
}

/// Size of the sample.
pub const SAMPLED: usize = 4096;
/// Bytes of a key from which its pattern is derived.
const LOOKED_AT: usize = 1024;

/// A sample of keys with a known expiry.
type SampledExpiry = BottomK<Expiring, SAMPLED>;

/// A key with a TTL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expiring {
    /// Its expiry, in milliseconds since 1970.
    pub at: u64,
    /// Its slot.
    #[serde(deserialize_with = "slot::checked")]
    pub slot: u16,
    /// Its pattern.
    pub pattern: Name,
}

impl Expiry {
    /// Whether the input has the expiry of keys.
    pub fn is_known(&self) -> bool {
        self.never[Metric::Keys] > 0 || self.sometime[Metric::Keys] > 0 || !self.times.is_empty()
    }

    /// Whether a scan can have written these counts.
    pub(super) fn is_sound(&self) -> bool {
        self.times.is_sound() && self.sample.is_sound()
    }

    /// A sample of keys with a known expiry.
    pub fn sample(&self) -> Vec<Expiring> {
        self.sample.values().cloned().collect()
    }

    fn add_to_sample(&mut self, keys: &SlotBatch<'_>, i: usize, at: u64) {
        let (base, spans) = (keys.batch.base, keys.batch.keys);
        let hash = hash_span(base, spans.start[i], spans.end[i]);
        let first = || {
            let key = spans.get(base, i);
            Expiring {
                at,
                slot: keys.slots[i],
                pattern: Name(ids::pattern_of(&key[..key.len().min(LOOKED_AT)])),
            }
        };
        // A repeated key counts with its earlier expiry, in any order.
        self.sample
            .update(hash, first, |known| known.at = known.at.min(at));
    }
}

impl Tally for Expiry {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        let mut next = 0;
        for run in values.number(Number::Expiry).chunk_by(|a, b| a == b) {
            let rows = next..next + run.len();
            next = rows.end;
            let load = values.load_of(rows.clone());
            match run[0] {
                NEVER => self.never += load,
                SOMETIME => self.sometime += load,
                at => {
                    self.times.add(at, load);
                    rows.for_each(|i| self.add_to_sample(keys, i, at));
                }
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.never += other.never;
        self.sometime += other.sometime;
        self.times.merge(other.times);
        self.sample.merge_with(other.sample, |mine, theirs| {
            mine.at = mine.at.min(theirs.at)
        });
    }
}
