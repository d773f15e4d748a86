//! For tests of walks: the whole output for an input, independent of batching.

use crate::format::batch::{BATCH_KEYS, KeyBatch, MISSING};
use crate::format::frame::row_batch::RowBatch;
use crate::format::frame::walk::{Damage, Walk};
use crate::format::lfu::LfuRule;
use crate::format::{Notice, ReadStats, Sink};

/// The output of a walk.
#[derive(Default)]
pub(super) struct Said {
    /// Each key with its attributes.
    keys: Vec<String>,
    rejects: Vec<(u64, String)>,
    seen: ReadStats,
    damage: Option<Damage>,
    /// The number of batches left to workers.
    pub runs: usize,
}

impl Said {
    /// Collects the output of a walk.
    pub(super) fn by(walk: &mut dyn Walk) -> Said {
        let (mut rows, mut said) = (RowBatch::default(), Said::default());
        loop {
            match walk.next(&mut rows) {
                Ok(Some(_)) => {
                    said.runs += usize::from(rows.is_left());
                    let seen = rows.read(LfuRule::default(), &mut said);
                    said.seen += seen;
                }
                Ok(None) => return said,
                Err(damage) => {
                    said.damage = Some(damage);
                    return said;
                }
            }
        }
    }

    /// Asserts that another walk has the same output.
    pub(super) fn assert_same_as(&self, other: &Said) {
        assert_eq!(self.facts(), other.facts());
        for (mine, others) in self.keys.iter().zip(&other.keys) {
            assert_eq!(mine, others);
        }
    }

    /// Everything except the keys.
    fn facts(&self) -> impl PartialEq + std::fmt::Debug {
        // Every batch of a cluster's file repeats this notice.
        let once = |(notice, count)| match notice {
            Notice::InCluster => (notice, 1),
            _ => (notice, count),
        };
        let notices: Vec<_> = self.seen.notices().map(once).collect();
        let ReadStats {
            keys,
            operations,
            written_ms,
            ..
        } = self.seen;
        let numbers = (self.keys.len(), keys, operations, written_ms);
        (numbers, notices, self.rejects.clone(), self.damage.clone())
    }
}

impl Sink for Said {
    fn keys(&mut self, KeyBatch { base, keys, values }: KeyBatch<'_>) {
        assert!((1..=BATCH_KEYS).contains(&keys.len()));
        for i in 0..keys.len() {
            let number = |column: &Vec<u64>| column.get(i).copied().unwrap_or(MISSING);
            let numbers: Vec<u64> = values.numbers.iter().map(number).collect();
            let weights: Vec<u64> = values.weights.iter().map(number).collect();
            let [kind, encoding] = values.words.each_ref();
            let words = [kind, encoding, &values.commands].map(|words| {
                let word = (i < words.len()).then(|| words.get(base, i));
                word.unwrap_or_default().escape_ascii().to_string()
            });
            let (key, offset) = (keys.get(base, i).escape_ascii(), values.offsets[i]);
            let (time, is_operation) = (number(&values.times), values.are_operations);
            self.keys.push(format!(
                "{key} {offset} {numbers:?} {weights:?} {words:?} {time} {is_operation}"
            ));
        }
    }

    fn reject_at(&mut self, byte: u64, reason: &str) {
        self.rejects.push((byte, reason.into()));
    }

    fn reject(&mut self, at: usize, reason: &str) {
        self.reject_at(at as u64, reason);
    }
}
