//! Finds bare ids that several business domains use as a tag, in bounded memory.
//!
//! The tags with the smallest hashes are kept, each with all of its keys: whether a tag is kept depends on the set of tags
//! alone, so the sample is independent of order and threads.

use std::collections::BTreeSet;

use slotscope_base::hash::hash;
use slotscope_count::tally::sketch::bottom_k::BottomK;

/// Sample size: all tags of a small dump, and enough to detect a fraction of one percent in a large one.
const SAMPLED: usize = 8192;
/// Domains kept per tag.
const DOMAINS: usize = 4;
/// Longer names are neither ids nor domains.
const LONGEST: usize = 64;

/// A sample of tags with the domains that use them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sharing(BottomK<SharedTag, SAMPLED>);

/// The keys of a tag, and the first few domains by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SharedTag {
    /// The tag.
    pub tag: Vec<u8>,
    /// Its keys.
    pub keys: u64,
    /// Its domains.
    pub domains: BTreeSet<Vec<u8>>,
}

impl Sharing {
    /// Counts a key whose tag is a bare id; `domain` names its business domain, if it has one.
    pub(crate) fn add<'k>(&mut self, tag: &[u8], domain: impl FnOnce() -> &'k [u8]) {
        if tag.len() > LONGEST {
            return;
        }
        let first = || SharedTag {
            tag: tag.to_vec(),
            ..SharedTag::default()
        };
        self.0.update(hash(tag), first, |users| {
            let domain = domain();
            users.keys += 1;
            if !(domain.is_empty() || domain.len() > LONGEST || users.domains.contains(domain)) {
                users.domains.insert(domain.to_vec());
                users.keep_first();
            }
        });
    }

    /// Merges the counts of another worker.
    pub(crate) fn merge(&mut self, other: Sharing) {
        self.0.merge_with(other.0, |mine, theirs| {
            mine.keys += theirs.keys;
            mine.domains.extend(theirs.domains);
            mine.keep_first();
        });
    }

    /// The tags that several domains use.
    pub(crate) fn shared(&self) -> impl Iterator<Item = &SharedTag> {
        self.0.values().filter(|users| users.domains.len() > 1)
    }

    /// Whether every tag is in the sample.
    pub(crate) fn is_whole(&self) -> bool {
        self.0.is_whole()
    }
}

impl SharedTag {
    fn keep_first(&mut self) {
        while self.domains.len() > DOMAINS {
            self.domains.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_the_same_in_any_order_and_its_tags_have_all_their_keys() {
        let domains: [&[u8]; 2] = [b"news", b"cart"];
        let keys: Vec<(String, &[u8])> = (0..40_000)
            .map(|i| (format!("{}", i % 20_000), domains[i / 20_000]))
            .collect();
        let of = |keys: &mut dyn Iterator<Item = &(String, &'static [u8])>| {
            let mut sharing = Sharing::default();
            keys.for_each(|(tag, domain)| sharing.add(tag.as_bytes(), || domain));
            sharing
        };
        let whole = of(&mut keys.iter());
        assert_eq!(whole, of(&mut keys.iter().rev()));
        let mut parts = of(&mut keys[..9_000].iter());
        parts.merge(of(&mut keys[9_000..].iter()));
        assert_eq!(whole, parts);
        assert!(!whole.is_whole() && whole.shared().count() == SAMPLED);
        assert!(whole.shared().all(|users| users.keys == 2));
    }
}
