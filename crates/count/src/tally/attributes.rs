//! Attributes of keys besides weights: type, encoding, elements, expiry, use, database.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use slotscope_base::batch::{MISSING, Number};
use slotscope_base::metric::{Load, Metric, are_counts};
use slotscope_base::slot::SlotBatch;

use crate::tally::Tally;
use crate::tally::expiry::Expiry;
use crate::tally::kinds::Kinds;
use crate::tally::recency::Recency;

/// More databases than any server has: beyond this the column holds something else.
const MAX_DATABASES: usize = 65_536;

/// Attributes of keys whose rows have them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attributes {
    /// By type and encoding.
    pub kinds: Kinds,
    /// By expiry time.
    pub expiry: Expiry,
    /// By idle time and LFU counter.
    pub recency: Recency,
    /// By database; `None` if there are too many.
    pub databases: Option<BTreeMap<u64, Load>>,
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
    /// Whether these may be counts of keys.
    pub(super) fn is_sound(&self) -> bool {
        let databases = self.databases.iter().flat_map(BTreeMap::values);
        self.kinds.is_sound()
            && self.expiry.is_sound()
            && self.recency.is_sound()
            && are_counts(databases.map(|load| &load[Metric::Keys]))
    }

    fn add_database(&mut self, database: u64, load: Load) {
        let Some(databases) = &mut self.databases else {
            return;
        };
        *databases.entry(database).or_default() += load;
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
        // Dumps are ordered by database: look up once per run.
        let values = keys.batch.values;
        let mut start = 0;
        for run in values.number(Number::Database).chunk_by(|a, b| a == b) {
            let end = start + run.len();
            if run[0] != MISSING {
                self.add_database(run[0], values.load_of(start..end));
            }
            start = end;
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
                .for_each(|(database, load)| self.add_database(database, load)),
        }
    }
}
