//! A tally file: the counts of some or all chunks of a plan's inputs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use slotscope_base::error::{Error, Result};
use slotscope_count::scan;
use slotscope_count::scan::{Incomplete, Scanned, SeenInput};
use slotscope_count::tally::rejects::{Rejects, SHOWN};
use slotscope_count::tally::{Tallies, Tally};

use crate::partial::TALLY_FILE;
use crate::partial::covered::Covered;
use crate::partial::evidence::Evidence;
use crate::partial::frame;
use crate::partial::plan::Plan;
use crate::partial::split::{Part, Split};
use crate::pipeline::inputs::Inputs;
use crate::pipeline::rejected;

/// The schema.
pub const SCHEMA: &str = "slotscope.tally/2";

/// The counts of some of the chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TallyFile {
    /// The plan shared by all parts.
    pub plan: Plan,
    /// The parts it contains, while others are missing.
    parts: BTreeSet<Part>,
    /// The counted chunks.
    covered: Covered,
    /// The evidence about each input.
    inputs: BTreeMap<u32, Evidence>,
    rejects: Rejects,
    /// Where inputs could not be read further.
    pub incomplete: BTreeSet<Incomplete>,
    /// The counts.
    pub tallies: Tallies,
}

impl TallyFile {
    /// The result of scanning `splits`, all of `part` if given.
    ///
    /// # Errors
    /// A split is given twice.
    pub(crate) fn of(
        plan: Plan,
        part: Option<Part>,
        splits: &[Split],
        scanned: Scanned<Tallies>,
    ) -> Result<Self> {
        let (mut covered, mut inputs) = (Covered::default(), BTreeMap::<u32, Evidence>::new());
        for (split, seen) in splits.iter().zip(&scanned.inputs) {
            covered.add(split, &plan.inputs)?;
            let input = inputs.entry(split.input).or_default();
            input.merge(Evidence::of(seen))?;
        }
        let number = |stop: Incomplete| Incomplete {
            input: splits[stop.input].input as usize,
            ..stop
        };
        let mut file = TallyFile {
            parts: part.into_iter().collect(),
            covered,
            inputs,
            rejects: scanned.rejects,
            incomplete: scanned.incomplete.into_iter().map(number).collect(),
            tallies: scanned.tally,
            plan,
        };
        file.forget_parts();
        Ok(file)
    }

    /// The file in `bytes`.
    ///
    /// # Errors
    /// They are not a tally file, have another version, or are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let file: TallyFile = frame::read(SCHEMA, bytes)?;
        file.plan.check()?;
        file.check()?;
        Ok(file)
    }

    /// Serializes the file; equal ones give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        frame::write(SCHEMA, self)
    }

    /// A digest that identifies equal files.
    pub fn digest(&self) -> String {
        let digest = Sha256::digest(frame::content(self));
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Fails if no scan could have this result.
    fn check(&self) -> Result<()> {
        let inputs = &self.plan.inputs;
        let is_input = |number: usize| number < inputs.len();
        let rejects = &self.rejects.first;
        let is_sound = self.covered.fits(inputs)
            && self.inputs.keys().all(|input| is_input(*input as usize))
            && self.inputs.values().all(Evidence::is_sound)
            && rejects.len() <= SHOWN
            && rejects.iter().all(|reject| is_input(reject.input as usize))
            && self.incomplete.iter().all(|stop| is_input(stop.input))
            && self.tallies.is_like(&self.plan.empty()?)
            && self.tallies.are_sound();
        if is_sound {
            Ok(())
        } else {
            Err(Error::bad(
                TALLY_FILE,
                "its counts are not those of its inputs and flags; make it again with slotscope tally",
            ))
        }
    }

    /// Merges another part.
    ///
    /// # Errors
    /// It is for another plan, or chunks are in both.
    pub(crate) fn merge(&mut self, other: TallyFile) -> Result<()> {
        self.plan.check_same(&other.plan)?;
        self.covered.merge(other.covered, &self.plan.inputs)?;
        for (input, evidence) in other.inputs {
            self.inputs.entry(input).or_default().merge(evidence)?;
        }
        self.rejects.merge(other.rejects);
        self.incomplete.extend(other.incomplete);
        self.tallies.merge(other.tallies);
        self.parts.extend(other.parts);
        self.forget_parts();
        Ok(())
    }

    /// Drops what only matters while parts are missing.
    fn forget_parts(&mut self) {
        if self.covered.gap(&self.plan.inputs).is_none() {
            self.parts.clear();
        }
    }

    /// Fails if parts are missing.
    ///
    /// # Errors
    /// Parts are missing.
    pub(crate) fn check_whole(&self) -> Result<()> {
        let (covered, parts) = (&self.covered, &self.parts);
        covered.check_whole(&self.plan, parts, "slotscope tally")
    }

    /// The result of a single scan of all inputs, and the facts about them.
    ///
    /// # Errors
    /// Parts are missing, or an input is not a dump.
    pub(crate) fn into_scanned(self) -> Result<(Inputs, Scanned<Tallies>)> {
        self.check_whole()?;
        let numbers = 0..self.plan.inputs.len() as u32;
        let evidence = |number| self.inputs.get(&number).map(Evidence::seen).transpose();
        let seen: Vec<SeenInput> = numbers
            .map(|number| Ok(evidence(number)?.unwrap_or_default()))
            .collect::<Result<_>>()?;
        let mut incomplete: Vec<Incomplete> = self.incomplete.into_iter().collect();
        incomplete.extend(scan::cut_off(&seen, &incomplete));
        incomplete.sort();
        let inputs = self.plan.describe_inputs()?;
        let scanned = Scanned {
            tally: self.tallies,
            inputs: seen,
            incomplete,
            rejects: self.rejects,
        };
        rejected::check_most(|input| &inputs.files[input].path, |_| None, &scanned)?;
        Ok((inputs, scanned))
    }
}
