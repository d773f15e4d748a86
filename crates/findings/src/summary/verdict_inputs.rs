//! The inputs of a verdict.

use slotscope_model::Summary;
use slotscope_model::integrity::Integrity;

use crate::summary::gaps::Gaps;
use crate::summary::observed::Observed;

/// The inputs of a verdict.
pub(crate) struct VerdictInputs<'a> {
    /// All of the report but the verdict.
    pub summary: &'a Summary,
    pub observed: &'a Observed,
    /// Signs of a damaged dump.
    pub signs: &'a [Integrity],
    pub gaps: &'a Gaps,
}
