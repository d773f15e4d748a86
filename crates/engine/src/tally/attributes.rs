//! Attributes of keys other than their weights: type, encoding, elements, expiry, use, database.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::format::batch::{MISSING, Number};
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::expiry::Expiry;
use crate::tally::kinds::Kinds;
use crate::tally::recency::Recency;

/// More databases than any server has: past this the column holds something else.
const MAX_DATABASES: usize = 65_536;

/// Attributes of keys, as far as rows carry them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attributes {
    /// By type and encoding.
    pub kinds: Kinds,
    /// By time of expiry.
    pub expiry: Expiry,
    /// By idle time and LFU counter.
    pub recency: Recency,
    /// Keys by database; `None` where there are too many.
    pub databases: Option<BTreeMap<u64, u64>>,
}

impl Default for Attributes {
    fn default() -> Self {
        Attributes {
            kinds: Kinds::default(),
            expiry: Expiry::default(),
            recency: Recency::default(),
            databases: Some(BTreeMap::new()),
        }
    }
}

impl Attributes {
    fn add_database(&mut self, database: u64, keys: u64) {
        let Some(databases) = &mut self.databases else {
            return;
        };
        let known = databases.entry(database).or_default();
        *known = known.saturating_add(keys);
        if databases.len() > MAX_DATABASES {
            self.databases = None;
        }
    }
}

impl Tally for Attributes {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.kinds.add(keys);
        self.expiry.add(keys);
        self.recency.add(keys);
        // Dumps go database by database: a run is one look-up.
        let databases = keys.batch.values.number(Number::Database);
        for run in databases
            .chunk_by(|a, b| a == b)
            .filter(|run| run[0] != MISSING)
        {
            self.add_database(run[0], run.len() as u64);
        }
    }

    fn merge(&mut self, other: Self) {
        self.kinds.merge(other.kinds);
        self.expiry.merge(other.expiry);
        self.recency.merge(other.recency);
        match other.databases {
            None => self.databases = None,
            Some(theirs) => theirs
                .into_iter()
                .for_each(|(database, keys)| self.add_database(database, keys)),
        }
    }
}
