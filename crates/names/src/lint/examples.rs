//! A few examples of keys that violate a rule, independent of key order.

use std::collections::BTreeSet;
use std::fmt;

use slotscope_base::name::Name;

/// Bytes kept of an example.
const KEPT: usize = 200;

/// A key, truncated if long.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Example {
    /// Length of the full key; shorter keys come first, as they are easier to read.
    len: usize,
    start: Vec<u8>,
}

impl Example {
    pub(crate) fn of(key: &[u8]) -> Self {
        Example {
            len: key.len(),
            start: key[..key.len().min(KEPT)].to_vec(),
        }
    }
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Name::from(self.start.as_slice()))?;
        match self.len - self.start.len() {
            0 => Ok(()),
            hidden => write!(f, "... and {hidden} more bytes"),
        }
    }
}

/// The number of keys that violate a rule, and the first few by length, then by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Violations {
    /// How many.
    pub count: u64,
    /// Some of them.
    pub examples: BTreeSet<Example>,
}

impl Violations {
    /// Counts a key, keeping at most `most`.
    pub(crate) fn add(&mut self, key: &[u8], most: usize) {
        self.count += 1;
        let comes_before = |last: &Example| {
            (key.len(), &key[..key.len().min(KEPT)]) < (last.len, last.start.as_slice())
        };
        // In a large dump, nearly every key sorts after those kept, and costs no memory.
        if self.examples.len() < most || self.examples.last().is_some_and(comes_before) {
            self.examples.insert(Example::of(key));
            self.keep(most);
        }
    }

    /// Merges the counts of another worker.
    pub(crate) fn merge(&mut self, other: Violations, most: usize) {
        self.count += other.count;
        self.examples.extend(other.examples);
        self.keep(most);
    }

    fn keep(&mut self, most: usize) {
        while self.examples.len() > most {
            self.examples.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_keys_are_kept_in_any_order() {
        let keys: Vec<Vec<u8>> = (0..50u8)
            .map(|i| vec![b'a' + i % 7; 1 + usize::from(i % 11)])
            .collect();
        let of = |keys: &mut dyn Iterator<Item = &Vec<u8>>| {
            let mut broken = Violations::default();
            keys.for_each(|key| broken.add(key, 3));
            broken
        };
        let whole = of(&mut keys.iter());
        assert_eq!(whole, of(&mut keys.iter().rev()));
        let mut parts = of(&mut keys[..20].iter());
        parts.merge(of(&mut keys[20..].iter()), 3);
        assert_eq!((whole.count, whole.examples.len()), (50, 3));
        assert_eq!(whole, parts);
    }

    #[test]
    fn a_long_key_is_cut_and_says_so() {
        assert_eq!(
            Example::of(&[b'k'; 201]).to_string(),
            format!("{}... and 1 more bytes", "k".repeat(200))
        );
        assert_eq!(Example::of(b"a\n\x1b").to_string(), r"a\n\x1b");
    }
}
