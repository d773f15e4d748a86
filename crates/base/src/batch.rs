//! A batch of keys as offsets into one block. Formats fill it, every later stage reads it; no key is copied.

use std::ops::Range;

use crate::block::Padded;
use crate::command::times::CommandTimes;
use crate::hash::hash_span;
use crate::lfu::LfuRule;
use crate::metric::extreme::Extreme;
use crate::metric::{Load, Metric, WEIGHTS};

/// Keys per batch: few enough that the batch, its slots and the bytes stay in the L2 cache.
pub const BATCH_KEYS: usize = 4096;

/// Two columns of offsets into a block; span i is `start[i]..end[i]`.
#[derive(Default, Clone, Debug, PartialEq)]
pub struct Spans {
    /// Where each span starts.
    pub start: Vec<u32>,
    /// Where each span ends; never before its start, never past the block.
    pub end: Vec<u32>,
}

impl Spans {
    /// The number of spans.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there are no spans.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Drops all spans, keeps the memory.
    #[doc(hidden)]
    pub fn clear(&mut self) {
        self.start.clear();
        self.end.clear();
    }

    /// Appends one span.
    pub fn push(&mut self, start: u32, end: u32) {
        self.start.push(start);
        self.end.push(end);
    }

    /// Resizes to exactly `len` spans; new ones are empty.
    pub fn resize(&mut self, len: usize) {
        self.start.resize(len, 0);
        self.end.resize(len, 0);
    }

    /// The spans as a view of `base` for the kernels.
    pub fn in_block<'a>(&'a self, base: Padded<'a>) -> hashslot::Batch<'a> {
        hashslot::Batch::new(base, &self.start, &self.end)
    }

    /// The index of the next span after `i` that differs; the number of spans if there is none.
    #[inline]
    pub fn end_of_run(&self, i: usize) -> usize {
        const TOGETHER: usize = 32;
        // Text formats never repeat a span.
        if self.start.get(i + 1) != Some(&self.start[i]) {
            return i + 1;
        }
        let run = |column: &[u32]| {
            let (first, rest) = (column[i], &column[i + 1..]);
            let is_same = |same: bool, at: &u32| same & (*at == first);
            let is_of_run = |chunk: &&[u32]| chunk.iter().fold(true, is_same);
            let whole = rest.chunks_exact(TOGETHER).take_while(is_of_run).count() * TOGETHER;
            let tail = rest[whole..].iter().take_while(|at| **at == first);
            i + 1 + whole + tail.count()
        };
        run(&self.start).min(run(&self.end))
    }

    /// The hash of the bytes of span `i`.
    #[inline]
    pub fn hash(&self, base: Padded<'_>, i: usize) -> u64 {
        hash_span(base, self.start[i], self.end[i])
    }

    /// The bytes of span `i`.
    pub fn get<'a>(&self, base: Padded<'a>, i: usize) -> &'a [u8] {
        &base.bytes()[self.start[i] as usize..self.end[i] as usize]
    }
}

/// In a column of numbers: no value in this row.
pub const MISSING: u64 = u64::MAX;

/// In the `Number::Expiry` column: no TTL; also used for rows without a time.
pub const NEVER: u64 = MISSING;

/// In the `Number::Expiry` column: the key has a TTL of unknown length.
pub const SOMETIME: u64 = MISSING - 1;

/// In the `Number::Expiry` column, until the reference time is known: this many milliseconds of TTL are left.
pub const LEFT: u64 = 1 << 62;

/// A numeric attribute of a key besides its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// The number of its database.
    Database,
    /// Expiry time in milliseconds since 1970; `NEVER`, `SOMETIME`.
    Expiry,
    /// Number of elements.
    Elements,
    /// Idle time in seconds.
    Idle,
    /// LFU counter: a logarithmic rank, not additive.
    Lfu,
}

impl Number {
    pub const ALL: [Number; 5] = [
        Number::Database,
        Number::Expiry,
        Number::Elements,
        Number::Idle,
        Number::Lfu,
    ];
}

/// A textual attribute of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The name of its type.
    Type,
    /// The name of its encoding.
    Encoding,
}

impl Word {
    pub const ALL: [Word; 2] = [Word::Type, Word::Encoding];
}

/// The attributes of each key besides its name. A column is empty if the input lacks it, else as long as the keys.
#[derive(Default, Clone, Debug, PartialEq)]
pub struct Values {
    /// The weight of each key, or `MISSING`: a column per metric of `Metric::WEIGHTS`.
    pub weights: [Vec<u64>; WEIGHTS],
    /// Other numbers, or `MISSING`: a column per `Number::ALL`.
    pub numbers: [Vec<u64>; Number::ALL.len()],
    /// Words as spans of the block, empty if the row has none: a column per `Word::ALL`.
    pub words: [Spans; Word::ALL.len()],
    /// Whether the rows are operations on keys, not keys.
    pub are_operations: bool,
    /// The time of each operation, in milliseconds since 1970.
    pub times: Vec<u64>,
    /// The command of each operation, in lower case, as a span of the block.
    pub commands: Spans,
    /// The offset of each row in the input, if the block does not tell.
    pub offsets: Vec<u64>,
    /// The amount of each key in a key listing such as `--bigkeys`; these rows are operations without a weight.
    pub extremes: Vec<(Extreme, u64)>,
}

impl Values {
    /// The column of a metric carried by the batch; the metric `keys` has none.
    #[inline]
    pub fn column(&self, metric: Metric) -> Option<&[u64]> {
        let column = &self.weights[metric.weight()?];
        (!column.is_empty()).then_some(column)
    }

    #[inline]
    #[doc(hidden)]
    pub fn number(&self, number: Number) -> &[u64] {
        &self.numbers[number as usize]
    }

    #[doc(hidden)]
    pub fn number_mut(&mut self, number: Number) -> &mut Vec<u64> {
        &mut self.numbers[number as usize]
    }

    #[doc(hidden)]
    pub fn word(&self, word: Word) -> &Spans {
        &self.words[word as usize]
    }

    #[doc(hidden)]
    pub fn word_mut(&mut self, word: Word) -> &mut Spans {
        &mut self.words[word as usize]
    }

    /// The sizes of the keys in bytes.
    pub fn sizes_mut(&mut self) -> &mut Vec<u64> {
        &mut self.weights[Metric::SIZE]
    }

    /// Fills the accesses column from LFU counters, if any key has one.
    #[doc(hidden)]
    pub fn estimate_accesses(&mut self, rule: LfuRule) {
        let counters = &self.numbers[Number::Lfu as usize];
        let accesses = &mut self.weights[Metric::USE];
        accesses.clear();
        if counters.iter().any(|counter| *counter != MISSING) {
            let estimated = |counter: &u64| rule.accesses(*counter).unwrap_or(MISSING);
            accesses.extend(counters.iter().map(estimated));
        }
    }

    /// Makes CPU time of its column, which has the number of keys of each operation's command: they share what it takes.
    #[doc(hidden)]
    pub fn estimate_cpu(&mut self, base: Padded<'_>, keys: &Spans, times: &CommandTimes) {
        for (i, usec) in self.weights[Metric::CPU].iter_mut().enumerate() {
            let (command, key) = (self.commands.get(base, i), keys.get(base, i));
            *usec = times.usec(command, *usec, key, self.times[i]);
        }
    }

    /// Makes times of expiry of the times to live among them, which count from `written_ms`; returns how many these are.
    #[doc(hidden)]
    pub fn date_expiry(&mut self, written_ms: u64) -> u64 {
        let mut dated = 0;
        for expiry in &mut self.numbers[Number::Expiry as usize] {
            let is_left = (LEFT..SOMETIME).contains(expiry);
            dated += u64::from(is_left);
            *expiry = if is_left {
                written_ms.saturating_add(*expiry - LEFT)
            } else {
                *expiry
            };
        }
        dated
    }

    /// Whether keys may have different weights.
    #[inline]
    #[doc(hidden)]
    pub fn are_weighed(&self) -> bool {
        self.weights.iter().any(|column| !column.is_empty())
    }

    /// The load of key `i`; unknown numbers count as 0.
    #[inline]
    pub fn load(&self, i: usize) -> Load {
        let mut load = if self.are_operations {
            Load::default()
        } else {
            Load::KEY
        };
        for (metric, column) in Metric::WEIGHTS.into_iter().zip(&self.weights) {
            let weight = column.get(i).copied().filter(|weight| *weight != MISSING);
            load[metric] = weight.unwrap_or(0);
        }
        load
    }

    /// The total load of several keys; unknown numbers count as 0.
    #[inline]
    #[doc(hidden)]
    pub fn load_of(&self, keys: Range<usize>) -> Load {
        if keys.len() == 1 {
            return self.load(keys.start);
        }
        let mut load = Load::default();
        if !self.are_operations {
            load[Metric::Keys] = keys.len() as u64;
        }
        for (metric, column) in Metric::WEIGHTS.into_iter().zip(&self.weights) {
            let weights = column.get(keys.clone()).unwrap_or_default().iter();
            let known = weights.filter(|weight| **weight != MISSING);
            load[metric] = known.fold(0, |sum: u64, weight| sum.saturating_add(*weight));
        }
        load
    }

    /// The operations of key `i`; unknown numbers count as 0.
    #[inline]
    pub fn ops(&self, i: usize) -> u64 {
        let ops = self.weights[Metric::OPS].get(i).copied();
        ops.filter(|ops| *ops != MISSING).unwrap_or(0)
    }

    /// Drops all values, keeps the memory.
    #[doc(hidden)]
    pub fn clear(&mut self) {
        self.weights.iter_mut().for_each(Vec::clear);
        self.numbers.iter_mut().for_each(Vec::clear);
        self.words.iter_mut().for_each(Spans::clear);
        self.are_operations = false;
        self.times.clear();
        self.commands.clear();
        self.offsets.clear();
        self.extremes.clear();
    }
}

/// A batch of keys: a block, with the columns that locate its keys.
#[derive(Clone, Copy)]
pub struct KeyBatch<'a> {
    /// The block.
    pub base: Padded<'a>,
    /// The span of each key.
    pub keys: &'a Spans,
    /// Their attributes.
    pub values: &'a Values,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_spans_end_where_another_span_is() {
        for len in [1, 2, 31, 32, 33, 34, 64, 65, 100] {
            for other in 1..=len {
                for (start, end) in [(7, 9), (7, 8), (6, 9)] {
                    let mut spans = Spans::default();
                    (0..len).for_each(|i| {
                        let (start, end) = if i == other { (start, end) } else { (7, 9) };
                        spans.push(start, end);
                    });
                    let expected = if (start, end) == (7, 9) { len } else { other };
                    assert_eq!(spans.end_of_run(0), expected, "{len}, {other}");
                    assert_eq!(spans.end_of_run(len - 1), len);
                }
            }
        }
    }

    #[test]
    fn keys_together_have_the_sum_of_their_loads() {
        for are_operations in [false, true] {
            let mut values = Values {
                are_operations,
                ..Values::default()
            };
            values.sizes_mut().extend([5, MISSING, 7, 11]);
            for from in 0..4 {
                for to in from..=4 {
                    let mut sum = Load::default();
                    (from..to).for_each(|i| sum += values.load(i));
                    assert_eq!(values.load_of(from..to), sum, "{from}..{to}");
                }
            }
        }
    }
}
