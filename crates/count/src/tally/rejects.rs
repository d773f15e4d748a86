//! Rejected lines: their number, and the first few, so that nothing is dropped silently.

use serde::{Deserialize, Serialize};

/// Rejected lines kept for display.
pub const SHOWN: usize = 5;

/// A rejected line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reject {
    /// Index of the input.
    pub input: u32,
    /// Offset of the line in bytes.
    pub byte: u64,
    /// The reason, without any content of the line.
    pub reason: String,
}

/// All rejected lines; the smallest by input and byte are kept, so that merging is order-independent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rejects {
    /// Their total number.
    pub count: u64,
    /// The first of them, in order.
    pub first: Vec<Reject>,
}

impl Rejects {
    /// Counts one.
    pub fn push(&mut self, reject: Reject) {
        self.merge(Rejects {
            count: 1,
            first: vec![reject],
        });
    }

    /// Merges the rejects of another worker.
    pub fn merge(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.first.extend(other.first);
        self.first.sort();
        self.first.truncate(SHOWN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reject(input: u32, byte: u64) -> Reject {
        Reject {
            input,
            byte,
            reason: "no key".into(),
        }
    }

    #[test]
    fn the_first_five_are_kept_in_any_order_of_arrival() {
        let all: Vec<_> = (0..4)
            .flat_map(|input| [70, 10, 40].map(|byte| reject(input, byte)))
            .collect();
        let mut forward = Rejects::default();
        all.iter().for_each(|one| forward.push(one.clone()));
        let mut backward = Rejects::default();
        all.iter().rev().for_each(|one| backward.push(one.clone()));
        assert_eq!(forward, backward);
        assert_eq!(forward.count, 12);
        let places: Vec<_> = forward
            .first
            .iter()
            .map(|one| (one.input, one.byte))
            .collect();
        assert_eq!(places, [(0, 10), (0, 40), (0, 70), (1, 10), (1, 40)]);
    }
}
