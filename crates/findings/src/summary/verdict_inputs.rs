//! The inputs of a verdict.

use slotscope_engine::metric::PerMetric;

use crate::summary::capacity::Capacity;
use crate::summary::expiry::Expiry;
use crate::summary::gaps::Gaps;
use crate::summary::headroom::Headroom;
use crate::summary::independent_units::Units;
use crate::summary::input_facts::InputFacts;
use crate::summary::integrity::Integrity;
use crate::summary::keys::Keys;
use crate::summary::kinds::LargeKey;
use crate::summary::nodes::Nodes;
use crate::summary::observed::Observed;
use crate::summary::role_load::Asked;

/// The inputs of a verdict.
pub(crate) struct VerdictInputs<'a> {
    pub nodes: &'a Nodes,
    pub loads: &'a PerMetric<Vec<u64>>,
    pub units: &'a Units,
    pub observed: &'a Observed,
    pub asked: &'a Asked,
    pub input: &'a InputFacts,
    /// Signs of a damaged dump.
    pub signs: &'a [Integrity],
    /// Whether key listings are the only input.
    pub has_only_extremes: bool,
    /// Whether all LFU counters stand for a number of accesses.
    pub are_accesses_known: bool,
    pub gaps: &'a Gaps,
    pub capacity: Option<&'a Capacity>,
    pub headroom: &'a Headroom,
    pub keys: Option<&'a Keys>,
    /// The keys with the most elements.
    pub largest: Option<&'a [LargeKey]>,
    pub expiry: Option<&'a Expiry>,
}
