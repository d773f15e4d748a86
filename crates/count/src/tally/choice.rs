//! A summary of the keys available to a filter, shown if it selects none of them.

use std::collections::{BTreeMap, BTreeSet};

use slotscope_base::batch::{MISSING, NEVER, Number, Word};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::slot::SlotBatch;

use crate::tally::Tally;

/// Maximum number of types, name prefixes and databases remembered.
const REMEMBERED: usize = 1000;

/// A summary of the keys available to a filter.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// All keys.
    pub keys: u64,
    /// Their types.
    pub types: BTreeSet<Name>,
    /// Parts of names up to the first colon, with their key counts.
    pub starts: BTreeMap<Name, u64>,
    /// The smallest and the largest size.
    pub sizes: Option<(u64, u64)>,
    /// Keys with a TTL.
    pub expiring: u64,
    /// The databases that they are in.
    pub databases: BTreeSet<u64>,
}

impl Tally for Choice {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let (batch, values) = (keys.batch, keys.batch.values);
        let types = values.word(Word::Type);
        for i in 0..keys.len() {
            if !types.is_empty() && self.types.len() < REMEMBERED {
                self.types.insert(Name::from(types.get(batch.base, i)));
            }
            let name = batch.keys.get(batch.base, i);
            let colon = memchr::memchr(b':', name).map_or(name.len(), |at| at + 1);
            let start = Name::from(&name[..colon]);
            if self.starts.len() < REMEMBERED || self.starts.contains_key(&start) {
                *self.starts.entry(start).or_default() += 1;
            }
        }
        self.keys += keys.len() as u64;
        let sizes = values.column(Metric::Bytes).into_iter().flatten();
        let known = sizes.filter(|size| **size != MISSING);
        let known = known.map(|size| (*size, *size));
        self.sizes = self.sizes.into_iter().chain(known).reduce(wider);
        let expires = |at: &&u64| ![NEVER, MISSING].contains(*at);
        let expiry = values.number(Number::Expiry);
        self.expiring += expiry.iter().filter(expires).count() as u64;
        let databases = values.number(Number::Database).iter();
        let known = databases.filter(|number| **number != MISSING);
        self.databases.extend(known.take(REMEMBERED));
    }

    fn merge(&mut self, other: Self) {
        self.keys += other.keys;
        self.types.extend(other.types);
        for (start, keys) in other.starts {
            *self.starts.entry(start).or_default() += keys;
        }
        self.sizes = self.sizes.into_iter().chain(other.sizes).reduce(wider);
        self.expiring += other.expiring;
        self.databases.extend(other.databases);
    }
}

/// The range that covers both.
fn wider(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0.min(b.0), a.1.max(b.1))
}
