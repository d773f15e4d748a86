//! Advice, lint: bare ids that are the tag of several services, found in bounded memory.
//!
//! Of all such tags those with the smallest hashes are kept, each with all its keys: whether a tag is among them depends
//! on the tags alone, so the sample is the same in any order and for any number of threads.

use std::collections::{BTreeMap, BTreeSet};

use crate::hash::hash;

/// Tags in the sample: all of them in a small dump, and enough to tell a part of one percent in a large one.
pub const SAMPLED: usize = 8192;
/// Services that are kept of a tag.
const SERVICES: usize = 4;
/// A longer name is no id, and no service.
const LONGEST: usize = 64;

/// A sample of tags and whose they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sharing {
    tags: BTreeMap<(u64, Vec<u8>), Users>,
    /// There were more tags than the sample has room for.
    pub is_part: bool,
}

/// The keys of a tag and the services that they are of, the first few by name.
#[derive(Debug, Clone, Default, PartialEq)]
struct Users {
    keys: u64,
    services: BTreeSet<Vec<u8>>,
}

impl Sharing {
    /// Counts a key with a tag that is a bare id.
    pub fn add(&mut self, tag: &[u8], service: &[u8]) {
        if tag.len() > LONGEST || service.len() > LONGEST || service.is_empty() {
            return;
        }
        let hash = hash(tag);
        // Nearly every tag of a large dump is left out, and costs no memory.
        let is_full = self.tags.len() >= SAMPLED;
        if is_full && self.tags.last_key_value().is_some_and(|((last, _), _)| *last < hash) {
            self.is_part = true;
            return;
        }
        let users = self.tags.entry((hash, tag.to_vec())).or_default();
        users.keys += 1;
        if !users.services.contains(service) {
            users.services.insert(service.to_vec());
        }
        users.keep_first();
        self.keep_sample();
    }

    /// Takes over what another one counted.
    pub fn merge(&mut self, other: Sharing) {
        self.is_part |= other.is_part;
        for (place, theirs) in other.tags {
            let users = self.tags.entry(place).or_default();
            users.keys += theirs.keys;
            users.services.extend(theirs.services);
            users.keep_first();
        }
        self.keep_sample();
    }

    /// The tags of several services: the tag, its keys, the services.
    pub fn shared(&self) -> impl Iterator<Item = (&[u8], u64, &BTreeSet<Vec<u8>>)> {
        let several = self.tags.iter().filter(|(_, users)| users.services.len() > 1);
        several.map(|((_, tag), users)| (tag.as_slice(), users.keys, &users.services))
    }

    fn keep_sample(&mut self) {
        while self.tags.len() > SAMPLED {
            self.tags.pop_last();
            self.is_part = true;
        }
    }
}

impl Users {
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
        let keys: Vec<(String, &[u8])> =
            (0..40_000).map(|i| (format!("{}", i % 20_000), if i < 20_000 { &b"news"[..] } else { b"cart" })).collect();
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
        assert!(whole.is_part && whole.shared().count() == SAMPLED && whole.shared().all(|(_, keys, _)| keys == 2));
    }
}
