//! Finds bare ids that several services use as a tag, in bounded memory.
//!
//! Keeps the tags with the smallest hashes, each with all its keys: whether a tag is kept depends on the set of tags
//! alone, so the sample is independent of order and threads.

use std::collections::BTreeSet;

use slotscope_engine::hash::hash;
use slotscope_engine::tally::sketch::bottom_k::BottomK;

/// Sample size: all tags of a small dump, and enough to detect a fraction of one percent in a large one.
pub(crate) const SAMPLED: usize = 8192;
/// Services kept per tag.
const SERVICES: usize = 4;
/// Longer names are neither ids nor services.
const LONGEST: usize = 64;

/// A sample of tags with the services that use them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sharing(BottomK<SharedTag, SAMPLED, { 2 * SAMPLED - 1 }>);

/// The keys of a tag, and the first few services by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SharedTag {
    /// The tag.
    pub tag: Vec<u8>,
    /// Its keys.
    pub keys: u64,
    /// Its services.
    pub services: BTreeSet<Vec<u8>>,
}

impl Sharing {
    /// Counts a key whose tag is a bare id.
    pub(crate) fn add(&mut self, tag: &[u8], service: &[u8]) {
        if tag.len() > LONGEST || service.len() > LONGEST || service.is_empty() {
            return;
        }
        let first = || SharedTag {
            tag: tag.to_vec(),
            ..SharedTag::default()
        };
        self.0.update(hash(tag), first, |users| {
            users.keys += 1;
            if !users.services.contains(service) {
                users.services.insert(service.to_vec());
                users.keep_first();
            }
        });
    }

    /// Merges the counts of another worker.
    pub(crate) fn merge(&mut self, other: Sharing) {
        self.0.merge_with(other.0, |mine, theirs| {
            mine.keys += theirs.keys;
            mine.services.extend(theirs.services);
            mine.keep_first();
        });
    }

    /// The tags used by several services, and whether every tag was examined.
    pub(crate) fn shared(&self) -> (Vec<SharedTag>, bool) {
        let (tags, is_whole) = self.0.clone().into_sample();
        let several = tags.into_values().filter(|users| users.services.len() > 1);
        (several.collect(), is_whole)
    }
}

impl SharedTag {
    fn keep_first(&mut self) {
        while self.services.len() > SERVICES {
            self.services.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_the_same_in_any_order_and_its_tags_have_all_their_keys() {
        let keys: Vec<(String, &[u8])> = (0..40_000)
            .map(|i| {
                (
                    format!("{}", i % 20_000),
                    if i < 20_000 { &b"news"[..] } else { b"cart" },
                )
            })
            .collect();
        let of = |keys: &mut dyn Iterator<Item = &(String, &[u8])>| {
            let mut sharing = Sharing::default();
            keys.for_each(|(tag, service)| sharing.add(tag.as_bytes(), service));
            sharing
        };
        let whole = of(&mut keys.iter());
        assert_eq!(whole, of(&mut keys.iter().rev()));
        let mut parts = of(&mut keys[..9_000].iter());
        parts.merge(of(&mut keys[9_000..].iter()));
        assert_eq!(whole, parts);
        let (shared, is_whole) = whole.shared();
        assert!(!is_whole && shared.len() == SAMPLED);
        assert!(shared.iter().all(|users| users.keys == 2));
    }
}
