//! A recount file: the second-pass counts of some or all chunks, for the names requested by one tally file.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};

use crate::partial::RECOUNT_FILE;
use crate::partial::covered::Covered;
use crate::partial::frame;
use crate::partial::plan::Plan;
use crate::partial::split::{Part, Split};
use crate::pipeline::two_pass::SecondPassCounts;

/// The schema.
pub const SCHEMA: &str = "slotscope.recount/2";

/// The counts of a second pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecountFile {
    /// The digest of the tally file it is for.
    of: String,
    parts: BTreeSet<Part>,
    covered: Covered,
    counted: SecondPassCounts,
}

/// Whether these bytes are a recount file of this version.
pub fn is_one(bytes: &[u8]) -> bool {
    frame::schema(bytes) == Some(SCHEMA)
}

impl RecountFile {
    /// The counts in `splits` for the tally file with this digest.
    ///
    /// # Errors
    /// A split is given twice.
    pub(crate) fn of(
        digest: String,
        plan: &Plan,
        part: Option<Part>,
        splits: &[Split],
        counted: SecondPassCounts,
    ) -> Result<Self> {
        let mut covered = Covered::default();
        for split in splits {
            covered.add(split, &plan.inputs)?;
        }
        Ok(RecountFile {
            of: digest,
            parts: part.into_iter().collect(),
            covered,
            counted,
        })
    }

    /// The file in `bytes`.
    ///
    /// # Errors
    /// They are not a recount file, have another version, or are damaged.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        frame::read(SCHEMA, bytes)
    }

    /// A file.
    pub fn to_bytes(&self) -> Vec<u8> {
        frame::write(SCHEMA, self)
    }

    /// Merges another part.
    ///
    /// # Errors
    /// It is for another tally file, or chunks are in both.
    pub(crate) fn merge(&mut self, other: RecountFile) -> Result<()> {
        self.check_of(&other.of)?;
        self.covered.merge(other.covered, &[])?;
        self.counted.merge(other.counted);
        self.parts.extend(other.parts);
        Ok(())
    }

    /// The counts of all inputs, for the tally file with this digest.
    ///
    /// # Errors
    /// It is for another tally file, or chunks are missing.
    pub(crate) fn into_counted(self, digest: &str, plan: &Plan) -> Result<SecondPassCounts> {
        self.check_of(digest)?;
        let fits = self.covered.fits(&plan.inputs);
        if !fits {
            return Err(Error::bad(
                RECOUNT_FILE,
                "it is of other inputs; make it again with slotscope recount",
            ));
        }
        self.covered
            .check_whole(plan, &self.parts, "slotscope recount")?;
        Ok(self.counted)
    }

    fn check_of(&self, digest: &str) -> Result<()> {
        if self.of == digest {
            Ok(())
        } else {
            Err(Error::bad(
                RECOUNT_FILE,
                "it was counted for another tally file; make it again with slotscope recount --for that file",
            ))
        }
    }
}
