//! Attributes of keys besides weights: type, encoding, elements, expiry, use, database.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::format::batch::{MISSING, Number};
use crate::metric::Load;
use crate::slot::SlotBatch;
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
    #[serde(deserialize_with = "by_database")]
    pub databases: Option<BTreeMap<u64, Load>>,
}

/// Older tally files only have key counts.
fn by_database<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<u64, Load>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Counted {
        Keys(u64),
        Load(Load),
    }
    let load = |counted: Counted| match counted {
        Counted::Keys(keys) => Load::new(keys, 0, 0),
        Counted::Load(load) => load,
    };
    let databases = Option::<BTreeMap<u64, Counted>>::deserialize(deserializer)?;
    Ok(databases.map(|databases| {
        databases
            .into_iter()
            .map(|(database, counted)| (database, load(counted)))
            .collect()
    }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tally_files_with_keys_alone_by_database_are_read() {
        let mut older = serde_json::to_value(Attributes::default()).unwrap();
        older["databases"] = serde_json::json!({"0": 7, "3": {"keys": 2, "bytes": 50}});
        let read: Attributes = serde_json::from_value(older).unwrap();
        let loads: Vec<_> = read.databases.unwrap().into_iter().collect();
        assert_eq!(loads, [(0, Load::new(7, 0, 0)), (3, Load::new(2, 50, 0))]);
    }
}
