//! Attributes of keys other than their weights: type, expiry, database.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::format::batch::MISSING;
use crate::hash::hash;
use crate::metric::Load;
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::table::NameTable;

/// More databases than any server has: past this the column holds something else.
const MAX_DATABASES: usize = 65_536;

/// Keys by type, expiry and database, where rows have them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attributes {
    /// Load by type; `None` where there are too many for them to be types.
    pub types: Option<NameTable>,
    /// Rows that say whether their key expires.
    pub expiry_known: u64,
    /// Keys without expiry.
    pub no_expiry: u64,
    /// Keys by database; `None` where there are too many.
    pub databases: Option<BTreeMap<u64, u64>>,
}

impl Default for Attributes {
    fn default() -> Self {
        Attributes {
            types: Some(NameTable::default()),
            expiry_known: 0,
            no_expiry: 0,
            databases: Some(BTreeMap::new()),
        }
    }
}

impl Attributes {
    fn add_database(&mut self, database: u64, keys: u64) {
        let Some(databases) = &mut self.databases else {
            return;
        };
        *databases.entry(database).or_default() += keys;
        if databases.len() > MAX_DATABASES {
            self.databases = None;
        }
    }
}

impl Tally for Attributes {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        self.expiry_known += values.expiring.len() as u64;
        self.no_expiry += values.expiring.iter().filter(|expires| !**expires).count() as u64;
        let name = |i: usize| values.types.get(keys.batch.base, i);
        let mut next = 0;
        while next < values.types.len() {
            // Neighbours often are of one type: a run is one look-up.
            let (first, mut load) = (name(next), Load::default());
            while next < values.types.len() && name(next) == first {
                load += values.load(next);
                next += 1;
            }
            let Some(types) = self.types.as_mut().filter(|_| !first.is_empty()) else {
                continue;
            };
            if types.add(hash(first), first, load).is_err() {
                self.types = None;
            }
        }
        // Dumps go database by database: a run is one look-up.
        for run in values
            .databases
            .chunk_by(|a, b| a == b)
            .filter(|run| run[0] != MISSING)
        {
            self.add_database(run[0], run.len() as u64);
        }
    }

    fn merge(&mut self, other: Self) {
        self.expiry_known += other.expiry_known;
        self.no_expiry += other.no_expiry;
        self.types = self
            .types
            .take()
            .zip(other.types)
            .and_then(|(mut mine, theirs)| {
                let mut names = theirs.iter();
                names
                    .try_for_each(|(name, hash, load)| mine.add(hash, name, load))
                    .ok()
                    .map(|()| mine)
            });
        match other.databases {
            None => self.databases = None,
            Some(theirs) => theirs
                .into_iter()
                .for_each(|(database, keys)| self.add_database(database, keys)),
        }
    }
}
