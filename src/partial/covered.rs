//! The chunks of inputs counted so far: none twice, and in the end all.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;

use crate::partial::input::Input;
use crate::partial::plan::Plan;
use crate::partial::split::{Part, Split};

/// Runs of chunks, by input and first chunk; runs are not adjacent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Covered(BTreeMap<u32, BTreeMap<u64, Run>>);

/// Consecutive chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// The end, exclusive.
    to: u64,
    /// Number of line ends in it, unless it is the entire input.
    line_ends: u64,
    /// The first rejected rows by byte offset, with the number of line ends between the start of the run and each.
    rejects: BTreeMap<u64, u64>,
}

impl Covered {
    /// Adds a split that was just counted, with its number of line ends.
    ///
    /// # Errors
    /// One of its chunks is already present.
    pub(crate) fn add(&mut self, split: &Split, line_ends: u64, inputs: &[Input]) -> Result<()> {
        let run = Run {
            to: split.to,
            line_ends,
            rejects: BTreeMap::new(),
        };
        self.insert(split.input, split.from, run, inputs)
    }

    /// Merges the chunks of another part.
    ///
    /// # Errors
    /// A chunk is in both.
    pub(crate) fn merge(&mut self, other: Covered, inputs: &[Input]) -> Result<()> {
        for (input, runs) in other.0 {
            for (from, run) in runs {
                self.insert(input, from, run, inputs)?;
            }
        }
        Ok(())
    }

    fn insert(&mut self, input: u32, mut from: u64, mut run: Run, inputs: &[Input]) -> Result<()> {
        let runs = self.0.entry(input).or_default();
        let before = runs.range(..=from).next_back();
        let behind = runs.range(from..).next();
        let overlaps = before.is_some_and(|(_, before)| before.to > from)
            || behind.is_some_and(|(at, _)| *at < run.to);
        if overlaps {
            let name = inputs.get(input as usize).map(|input| &input.name);
            return Err(Error::bad(
                name.map_or_else(String::new, Name::to_string),
                format!(
                    "chunks {from} to {} were counted twice: a part was given twice, or parts overlap; give each part of one \
                     plan once",
                    run.to
                ),
            ));
        }
        if let Some((at, _)) = before.filter(|(_, before)| before.to == from) {
            let at = *at;
            let left = runs.remove(&at).unwrap_or_default();
            (from, run) = (at, left.then(run));
        }
        if let Some(right) = runs.remove(&run.to) {
            run = run.then(right);
        }
        runs.insert(from, run);
        Ok(())
    }

    /// The first chunk of the run containing the row at a byte of an input.
    pub(crate) fn run_of(&self, input: u32, byte: u64, chunk: u64) -> Option<u64> {
        let runs = self.0.get(&input)?;
        let starts_before = |from: &u64| *from == 0 || from.saturating_mul(chunk) < byte;
        runs.keys().copied().rfind(starts_before)
    }

    /// Records the number of line ends between the start of a run and a rejected row.
    pub(crate) fn note_reject(&mut self, input: u32, from: u64, byte: u64, line_ends: u64) {
        let run = self.0.get_mut(&input).and_then(|runs| runs.get_mut(&from));
        run.map(|run| run.rejects.insert(byte, line_ends));
    }

    /// Drops what no other part needs: line counts for rejected rows that are not kept, given as input and byte, and
    /// line ends of completely counted inputs.
    pub(crate) fn tidy(&mut self, inputs: &[Input], is_kept: impl Fn(u32, u64) -> bool) {
        for (input, runs) in &mut self.0 {
            let chunks = inputs.get(*input as usize).map_or(0, |input| input.chunks);
            for (from, run) in runs {
                run.rejects.retain(|byte, _| is_kept(*input, *byte));
                if (*from, run.to) == (0, chunks) {
                    run.line_ends = 0;
                }
            }
        }
    }

    /// The line number, from 1, of a rejected row, once everything before it is counted.
    pub(crate) fn line_of(&self, input: u32, byte: u64) -> Option<u64> {
        let first = self.0.get(&input)?.get(&0)?;
        first
            .rejects
            .get(&byte)
            .map(|line_ends| line_ends.saturating_add(1))
    }

    /// The first chunks not counted.
    pub(crate) fn gap(&self, inputs: &[Input]) -> Option<Split> {
        let gap = |(number, input): (usize, &Input)| {
            let runs = self.0.get(&(number as u32));
            let first = runs.and_then(|runs| runs.first_key_value());
            let (from, to) = match first {
                None => (0, input.chunks),
                Some((at, _)) if *at > 0 => (0, *at),
                Some((_, run)) if run.to < input.chunks => {
                    let next = runs.and_then(|runs| runs.range(run.to..).next());
                    (run.to, next.map_or(input.chunks, |(at, _)| *at))
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
            let is_run = |(from, run): (&u64, &Run)| {
                *from < run.to && input.is_some_and(|input| run.to <= input.chunks)
            };
            let mut ends = runs.values().map(|run| run.to).zip(runs.keys().skip(1));
            runs.iter().all(is_run) && ends.all(|(end, next)| end < *next)
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

impl Run {
    /// This run with the one after it.
    fn then(mut self, next: Run) -> Run {
        let before = self.line_ends;
        let rejects = next.rejects.into_iter();
        let moved = rejects.map(|(byte, line_ends)| (byte, line_ends.saturating_add(before)));
        self.rejects.extend(moved);
        Run {
            to: next.to,
            line_ends: before.saturating_add(next.line_ends),
            rejects: self.rejects,
        }
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
