//! A bounded set of counted names: buckets of 16, each with the names of the highest rank. Constant work per key,
//! whatever the names are.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::Load;
use slotscope_base::name::Name;

/// Names per bucket, and number of buckets: at most 16,384 names.
const WAYS: usize = 16;
const BUCKETS: usize = 1 << 10;
/// Longer names are dropped.
const MAX_NAME: usize = 512;

/// A name in a bucket. The derived order decides which names stay: by rank, then hash, then name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counted {
    /// Grows with the load it may have.
    pub rank: u64,
    /// The hash of its name.
    pub hash: u64,
    /// Its name.
    pub name: Name,
    /// Its counts.
    pub load: Load,
    /// An upper bound on its load.
    pub ceiling: Load,
    /// Its cells when a key of it was last counted.
    pub cells: Load,
}

/// The names with the highest rank, bucket by bucket.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "SerializedBuckets", try_from = "SerializedBuckets")]
pub struct Buckets {
    buckets: Vec<Vec<Counted>>,
    /// The highest ceilings of rejected or evicted names.
    pub left_out: Load,
}

/// The serialized form: all names by rank.
#[derive(PartialEq, Serialize, Deserialize)]
struct SerializedBuckets {
    names: Vec<Counted>,
    left_out: Load,
}

impl From<Buckets> for SerializedBuckets {
    fn from(buckets: Buckets) -> Self {
        let mut names: Vec<Counted> = buckets.buckets.into_iter().flatten().collect();
        names.sort_unstable();
        SerializedBuckets {
            names,
            left_out: buckets.left_out,
        }
    }
}

impl TryFrom<SerializedBuckets> for Buckets {
    type Error = &'static str;

    fn try_from(listed: SerializedBuckets) -> Result<Self, &'static str> {
        let mut buckets = Buckets {
            left_out: listed.left_out,
            ..Buckets::default()
        };
        for counted in listed.names {
            let bucket = &mut buckets.buckets[bucket_of(counted.hash)];
            if counted.name.0.len() > MAX_NAME || bucket.len() == WAYS {
                return Err("more counted names than there is room for");
            }
            bucket.push(counted);
        }
        Ok(buckets)
    }
}

/// Ignores the order within a bucket.
impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        SerializedBuckets::from(self.clone()) == SerializedBuckets::from(other.clone())
    }
}

impl Default for Buckets {
    fn default() -> Self {
        Buckets {
            buckets: vec![Vec::new(); BUCKETS],
            left_out: Load::default(),
        }
    }
}

impl Buckets {
    /// The name, if present.
    pub(crate) fn get(&self, hash: u64, name: &[u8]) -> Option<&Counted> {
        self.buckets[bucket_of(hash)]
            .iter()
            .find(|counted| counted.hash == hash && counted.name.0 == name)
    }

    /// The name, if present, for modification.
    #[inline]
    pub(crate) fn find(&mut self, hash: u64, name: &[u8]) -> Option<&mut Counted> {
        self.buckets[bucket_of(hash)]
            .iter_mut()
            .find(|counted| counted.hash == hash && counted.name.0 == name)
    }

    /// Inserts a new name, if it ranks above the lowest of a full bucket, which is then evicted.
    #[cold]
    pub fn enter(&mut self, name: &[u8], counted: Counted) {
        if name.len() > MAX_NAME {
            self.left_out = self.left_out.max(counted.ceiling);
            return;
        }
        let bucket = &mut self.buckets[bucket_of(counted.hash)];
        let entered = Counted {
            name: Name::from(name),
            ..counted
        };
        if bucket.len() < WAYS {
            bucket.push(entered);
            return;
        }
        let lowest = bucket.iter_mut().min().expect("a full bucket");
        let out = if *lowest < entered {
            std::mem::replace(lowest, entered)
        } else {
            entered
        };
        self.left_out = self.left_out.max(out.ceiling);
    }

    /// Merges the counts of other keys, with the same ranks.
    pub fn merge(&mut self, other: Buckets) {
        self.left_out = self.left_out.max(other.left_out);
        for theirs in other.into_names() {
            match self.find(theirs.hash, &theirs.name.0) {
                Some(mine) => mine.load += theirs.load,
                None => self.enter(&theirs.name.0.clone(), theirs),
            }
        }
    }

    /// All names present.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Counted> {
        self.buckets.iter().flatten()
    }

    /// All names present.
    pub(crate) fn into_names(self) -> impl Iterator<Item = Counted> {
        self.buckets.into_iter().flatten()
    }
}

/// Uses hash bits that neither row of counters uses.
fn bucket_of(hash: u64) -> usize {
    (hash >> 40) as usize & (BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bucket_keeps_the_highest_ranks_in_any_order() {
        let ceilings: Vec<u64> = (1..=40).map(|i| i * 37 % 41).collect();
        let fill = |order: &[u64]| {
            let mut buckets = Buckets::default();
            let counted = |rank| Counted {
                rank,
                hash: 7,
                ceiling: Load::new(rank, 0, 0),
                ..Counted::default()
            };
            order
                .iter()
                .for_each(|rank| buckets.enter(&rank.to_le_bytes(), counted(*rank)));
            let mut kept: Vec<_> = buckets.iter().map(|counted| counted.rank).collect();
            kept.sort();
            (kept, buckets.left_out)
        };
        let backward: Vec<_> = ceilings.iter().rev().copied().collect();
        assert_eq!(fill(&ceilings), fill(&backward));
        assert_eq!(fill(&ceilings), ((25..=40).collect(), Load::new(24, 0, 0)));
    }

    #[test]
    fn a_name_too_long_to_keep_is_left_out() {
        let mut buckets = Buckets::default();
        let ceiling = Load::new(99, 7, 0);
        buckets.enter(
            &[b'x'; MAX_NAME + 1],
            Counted {
                ceiling,
                ..Counted::default()
            },
        );
        assert_eq!((buckets.iter().count(), buckets.left_out), (0, ceiling));
    }
}
