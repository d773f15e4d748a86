//! The chunks of inputs counted so far: none twice, and in the end all.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;

use crate::partial::input::Input;
use crate::partial::plan::Plan;
use crate::partial::split::{Part, Split};

/// Runs of chunks, by input and first chunk, with their ends, exclusive; runs are not adjacent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Covered(BTreeMap<u32, BTreeMap<u64, u64>>);

impl Covered {
    /// Adds a split that was just counted.
    ///
    /// # Errors
    /// One of its chunks is already present.
    pub(crate) fn add(&mut self, split: &Split, inputs: &[Input]) -> Result<()> {
        self.insert(split.input, (split.from, split.to), inputs)
    }

    /// Merges the chunks of another part.
    ///
    /// # Errors
    /// A chunk is in both.
    pub(crate) fn merge(&mut self, other: Covered, inputs: &[Input]) -> Result<()> {
        for (input, runs) in other.0 {
            for run in runs {
                self.insert(input, run, inputs)?;
            }
        }
        Ok(())
    }

    fn insert(
        &mut self,
        input: u32,
        (mut from, mut to): (u64, u64),
        inputs: &[Input],
    ) -> Result<()> {
        let runs = self.0.entry(input).or_default();
        let before = runs.range(..=from).next_back();
        let behind = runs.range(from..).next();
        let overlaps =
            before.is_some_and(|(_, end)| *end > from) || behind.is_some_and(|(at, _)| *at < to);
        if overlaps {
            let name = inputs.get(input as usize).map(|input| &input.name);
            return Err(Error::bad(
                name.map_or_else(String::new, Name::to_string),
                format!(
                    "chunks {from} to {to} were counted twice: a part was given twice, or parts overlap; give each part of one \
                     plan once"
                ),
            ));
        }
        if let Some((at, _)) = before.filter(|(_, end)| **end == from) {
            from = *at;
        }
        if let Some(end) = runs.remove(&to) {
            to = end;
        }
        runs.insert(from, to);
        Ok(())
    }

    /// The first chunks not counted.
    pub(crate) fn gap(&self, inputs: &[Input]) -> Option<Split> {
        let gap = |(number, input): (usize, &Input)| {
            let runs = self.0.get(&(number as u32));
            let first = runs.and_then(|runs| runs.first_key_value());
            let (from, to) = match first {
                None => (0, input.chunks),
                Some((at, _)) if *at > 0 => (0, *at),
                Some((_, end)) if *end < input.chunks => {
                    let next = runs.and_then(|runs| runs.range(end..).next());
                    (*end, next.map_or(input.chunks, |(at, _)| *at))
                }
                Some(_) => return None,
            };
            Some(Split {
                input: number as u32,
                from,
                to,
                bytes: 0,
            })
        };
        inputs.iter().enumerate().find_map(gap)
    }

    /// Whether only existing chunks are covered.
    pub(crate) fn fits(&self, inputs: &[Input]) -> bool {
        self.0.iter().all(|(input, runs)| {
            let input = inputs.get(*input as usize);
            let is_run = |(from, to): (&u64, &u64)| {
                from < to && input.is_some_and(|input| *to <= input.chunks)
            };
            let mut ends = runs.values().zip(runs.keys().skip(1));
            runs.iter().all(is_run) && ends.all(|(end, next)| end < next)
        })
    }

    /// Fails unless all inputs of `plan` are covered; they were counted as these parts.
    ///
    /// # Errors
    /// Some chunks are missing.
    pub(crate) fn check_whole(
        &self,
        plan: &Plan,
        parts: &BTreeSet<Part>,
        command: &str,
    ) -> Result<()> {
        let Some(gap) = self.gap(&plan.inputs) else {
            return Ok(());
        };
        let name = &plan.inputs[gap.input as usize].name;
        let missing = missing(parts);
        let reason = match missing.as_slice() {
            [] => format!(
                "bytes {} to {} are in no part; count them with {command} and name that file too",
                gap.from.saturating_mul(plan.chunk),
                gap.to.saturating_mul(plan.chunk),
            ),
            [first, ..] => {
                let names: Vec<String> = missing.iter().map(Part::to_string).collect();
                format!(
                    "not all parts are here, missing: {}; make them with {command} --part {first} and name them too",
                    names.join(", ")
                )
            }
        };
        Err(Error::bad(name.to_string(), reason))
    }
}

/// The missing parts, if all parts have the same total number.
fn missing(parts: &BTreeSet<Part>) -> Vec<Part> {
    /// Maximum number listed.
    const LISTED: usize = 20;
    let Some(first) = parts.first() else {
        return Vec::new();
    };
    if parts.iter().any(|part| part.count() != first.count()) {
        return Vec::new();
    }
    let missing = first.all().filter(|part| !parts.contains(part));
    missing.take(LISTED).collect()
}
