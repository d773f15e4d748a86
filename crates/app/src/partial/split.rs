//! Splits: ranges of chunks of one input that any process may count.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use slotscope_count::scan::shares::Share;

use crate::partial::input::Input;

/// The share of an input that one process reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The number of the input.
    pub input: u32,
    /// The first chunk.
    pub from: u64,
    /// The end, exclusive.
    pub to: u64,
    /// Their approximate size in bytes; 0 if unknown.
    pub bytes: u64,
}

impl Split {
    fn of(number: usize, input: &Input, chunk: u64, from: u64, to: u64) -> Self {
        let bytes = match input.chunks {
            1 => input.weight(),
            _ => (to * chunk).min(input.weight()) - (from * chunk).min(input.weight()),
        };
        Split {
            input: number as u32,
            from,
            to,
            bytes,
        }
    }

    /// The share of `input` for a scan.
    pub(crate) fn share(&self, input: &Input) -> Share {
        let is_all = (self.from, self.to) == (0, input.chunks);
        Share {
            number: self.input,
            chunks: (!is_all).then_some(self.from..self.to),
        }
    }
}

/// All `inputs` in splits of about `bytes` bytes.
pub(crate) fn splits_of(inputs: &[Input], chunk: u64, bytes: u64) -> Vec<Split> {
    let of_input = |(number, input): (usize, &Input)| {
        let wanted = input.weight().div_ceil(bytes.max(1));
        let count = wanted.clamp(1, input.chunks);
        // Splits differ by at most one chunk.
        let end =
            move |i: u64| (u128::from(i) * u128::from(input.chunks) / u128::from(count)) as u64;
        let split = |i| Split::of(number, input, chunk, end(i), end(i + 1));
        (0..count).map(split).collect::<Vec<_>>()
    };
    inputs.iter().enumerate().flat_map(of_input).collect()
}

/// More parts than any cluster of machines needs.
const MAX_PARTS: u32 = 1 << 20;

/// One of several parts of about equal size: `3/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct Part {
    /// The number of the part, from 1.
    number: u32,
    /// How many there are.
    of: u32,
}

impl Part {
    /// Part `number` of `count`, from 1; `None` if it does not exist.
    pub(crate) fn new(number: u32, count: u32) -> Option<Part> {
        let is_one = (1..=count).contains(&number) && count <= MAX_PARTS;
        is_one.then_some(Part { number, of: count })
    }

    /// All parts of the same total number.
    pub(crate) fn all(self) -> impl Iterator<Item = Part> {
        (1..=self.of).map(move |number| Part { number, ..self })
    }

    /// The total number of parts.
    pub(crate) fn count(self) -> u32 {
        self.of
    }

    /// The chunks that start in this part of the total bytes.
    pub(crate) fn splits_of(self, inputs: &[Input], chunk: u64) -> Vec<Split> {
        let total: u128 = inputs.iter().map(|input| u128::from(input.weight())).sum();
        let start = |part: u32| (total * u128::from(part)).div_ceil(u128::from(self.of));
        let (from, to) = (start(self.number - 1), start(self.number));
        let is_last = self.number == self.of;
        let mut before = 0u128;
        let mut splits = Vec::new();
        for (number, input) in inputs.iter().enumerate() {
            // The first chunk that starts at or after a position.
            let at = |place: u128| {
                let chunks = place.saturating_sub(before).div_ceil(u128::from(chunk));
                chunks.min(u128::from(input.chunks)) as u64
            };
            let end = if is_last { input.chunks } else { at(to) };
            if at(from) < end {
                splits.push(Split::of(number, input, chunk, at(from), end));
            }
            before += u128::from(input.weight());
        }
        splits
    }
}

impl From<Part> for (u32, u32) {
    fn from(part: Part) -> Self {
        (part.number, part.of)
    }
}

impl TryFrom<(u32, u32)> for Part {
    type Error = &'static str;

    fn try_from((number, count): (u32, u32)) -> Result<Self, &'static str> {
        Part::new(number, count).ok_or("a part that there is not")
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Part {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let part = text
            .split_once('/')
            .and_then(|(number, count)| Part::new(number.parse().ok()?, count.parse().ok()?));
        part.ok_or("a part is written as 3/16: the third of sixteen, and of 1048576 at most")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slotscope_base::name::Name;

    fn inputs(bytes: &[(u64, bool)], chunk: u64) -> Vec<Input> {
        let input = |(bytes, is_cut): &(u64, bool)| Input {
            name: Name::default(),
            bytes: is_cut.then_some(*bytes),
            stored_bytes: Some(*bytes),
            version: None,
            object: None,
            chunks: if *is_cut {
                bytes.div_ceil(chunk).max(1)
            } else {
                1
            },
        };
        bytes.iter().map(input).collect()
    }

    /// Every chunk of every input, in order.
    fn chunks(splits: &[Split]) -> Vec<(u32, u64)> {
        let each = splits
            .iter()
            .flat_map(|split| (split.from..split.to).map(|at| (split.input, at)));
        each.collect()
    }

    proptest! {
        #[test]
        fn every_chunk_is_in_one_split_and_in_one_part(
            bytes in prop::collection::vec((0u64..5000, any::<bool>()), 0..12),
            chunk in 1u64..300,
            split in 1u64..3000,
            of in 1u32..20,
        ) {
            let inputs = inputs(&bytes, chunk);
            let all: Vec<_> = (0..).zip(&inputs).flat_map(|(i, input)| (0..input.chunks).map(move |at| (i, at))).collect();
            prop_assert_eq!(chunks(&splits_of(&inputs, chunk, split)), all.clone());
            let first = Part::new(1, of).unwrap();
            let parts: Vec<_> = first.all().flat_map(|part| chunks(&part.splits_of(&inputs, chunk))).collect();
            let mut sorted = parts.clone();
            sorted.sort();
            prop_assert_eq!(sorted, all);
        }
    }

    #[test]
    fn parts_are_about_the_same_size() {
        let inputs = inputs(&[(1000, true), (50, false), (9000, true)], 10);
        for part in Part::new(1, 7).unwrap().all() {
            let bytes: u64 = part
                .splits_of(&inputs, 10)
                .iter()
                .map(|split| split.bytes)
                .sum();
            assert!((1380..=1500).contains(&bytes), "{part}: {bytes}");
        }
    }

    #[test]
    fn a_part_is_written_as_a_fraction() {
        assert_eq!("3/16".parse(), Ok(Part { number: 3, of: 16 }));
        for wrong in ["", "3", "0/2", "3/2", "-1/2", "1/x", "1/0", "1/1048577"] {
            assert!(wrong.parse::<Part>().is_err(), "{wrong}");
        }
    }
}
