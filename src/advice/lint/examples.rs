//! Advice, lint: a few examples of the keys that break a rule, the same ones in whatever order the keys come.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::name::Name;

/// Bytes of an example that are kept.
const KEPT: usize = 200;

/// A key, cut where it is long.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Example {
    /// Bytes of the whole key; shorter keys come first, as they are easier to read.
    len: usize,
    start: Vec<u8>,
}

impl Example {
    /// Of a key.
    pub fn of(key: &[u8]) -> Self {
        Example { len: key.len(), start: key[..key.len().min(KEPT)].to_vec() }
    }
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Name::from(self.start.as_slice()))?;
        match self.len - self.start.len() {
            0 => Ok(()),
            more => write!(f, "... and {more} more bytes"),
        }
    }
}

impl Serialize for Example {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How many keys break a rule, and the first few by length, then by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Broken {
    /// How many.
    pub count: u64,
    /// Some of them.
    pub examples: BTreeSet<Example>,
}

impl Broken {
    /// Counts a key, of which it keeps at most `most`.
    pub fn add(&mut self, key: &[u8], most: usize) {
        self.count += 1;
        let is_full = self.examples.len() >= most;
        if !is_full || self.examples.last().is_some_and(|longest| key.len() <= longest.len) {
            self.examples.insert(Example::of(key));
            self.keep(most);
        }
    }

    /// Takes over what another one counted.
    pub fn merge(&mut self, other: Broken, most: usize) {
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
