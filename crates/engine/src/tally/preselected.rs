//! Names that are probably heavy and therefore counted by name from the first key: what remains for the rows of
//! counters is light.

use serde::{Deserialize, Serialize};

use crate::metric::{Load, Metric};
use crate::name::Name;
use crate::tally::table::NameTable;

/// Maximum number of such names; their entries stay in the L2 cache.
pub const MAX_KNOWN: usize = 1 << 12;
/// Bits of the filter: at most one in 16 other names passes it.
const FILTER_BITS: u32 = 16;

/// Exact counts of names given in advance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "NameTable", into = "NameTable")]
pub struct Preselected {
    table: NameTable,
    filter: Vec<u64>,
}

impl From<NameTable> for Preselected {
    fn from(table: NameTable) -> Self {
        let mut filter = vec![0; 1 << (FILTER_BITS - 6)];
        for (_, hash, _) in table.iter() {
            let (word, bit) = place(hash);
            filter[word] |= bit;
        }
        Preselected { table, filter }
    }
}

impl From<Preselected> for NameTable {
    fn from(known: Preselected) -> Self {
        known.table
    }
}

impl Preselected {
    /// The first of `names` that fit.
    pub fn of<'n>(names: impl IntoIterator<Item = (u64, &'n Name)>) -> Self {
        let mut table = NameTable::default();
        for (hash, name) in names.into_iter().take(MAX_KNOWN) {
            // A table for this few names only overflows if they are too long for it.
            if table.add(hash, &name.0, Load::default()).is_err() {
                break;
            }
        }
        Preselected::from(table)
    }

    /// False for most names that are not in the table.
    #[inline]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = place(hash);
        self.filter[word] & bit != 0
    }

    /// Adds to a name; false if it is not in the table.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64, name: &[u8], load: Load) -> bool {
        match self.table.find(hash, name) {
            Some(known) => {
                *known += load;
                true
            }
            None => false,
        }
    }

    pub(crate) fn has_the_names_of(&self, other: &Preselected) -> bool {
        let names = |known: &Preselected| known.table.len();
        let mut theirs = other.table.iter();
        names(self) == names(other)
            && self
                .table
                .iter()
                .all(|(name, ..)| theirs.next().is_some_and(|(other, ..)| other == name))
    }

    /// Their total load.
    pub(crate) fn total(&self) -> Load {
        let mut total = Load::default();
        self.table.iter().for_each(|(_, _, load)| total += load);
        total
    }

    /// How many of them hold at least `bound` of a metric.
    pub(crate) fn holding(&self, metric: Metric, bound: u64) -> usize {
        let heavy = |(_, _, load): &(&[u8], u64, Load)| load[metric] >= bound;
        self.table.iter().filter(heavy).count()
    }

    /// The names with any count, with their hashes and loads.
    pub fn counted(&self) -> impl Iterator<Item = (&[u8], u64, Load)> {
        let counted = |(_, _, load): &(&[u8], u64, Load)| *load != Load::default();
        self.table.iter().filter(counted)
    }
}

/// The filter bit of a hash, independent of the bits that choose a cell of a row or a place in the table.
#[inline]
fn place(hash: u64) -> (usize, u64) {
    let bit = (hash >> 32) as usize % (1 << FILTER_BITS);
    (bit / 64, 1 << (bit % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;

    #[test]
    fn only_given_names_are_counted_and_few_others_pass_the_filter() {
        let names: Vec<Name> = (0..MAX_KNOWN + 9)
            .map(|i| Name::from(format!("tag:{i}").as_bytes()))
            .collect();
        let mut known = Preselected::of(names.iter().map(|name| (hash(&name.0), name)));
        for (i, name) in names.iter().enumerate() {
            let hash = hash(&name.0);
            assert_eq!(known.add(hash, &name.0, Load::KEY), i < MAX_KNOWN);
            assert!(i >= MAX_KNOWN || known.may_have(hash));
        }
        assert_eq!(known.counted().count(), MAX_KNOWN);
        assert!(known.counted().all(|(_, _, load)| load == Load::KEY));
        // An equal hash does not suffice.
        assert!(!known.add(hash(b"tag:1"), b"other", Load::KEY));
        let others = (0..100_000).map(|i: u32| hash(format!("other:{i}").as_bytes()));
        let passed = others.filter(|hash| known.may_have(*hash)).count();
        assert!(passed < 100_000 / 16 + 500, "{passed}");
    }
}
