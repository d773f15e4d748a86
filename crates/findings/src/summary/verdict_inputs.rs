//! The inputs of a verdict.

use slotscope_engine::metric::PerMetric;

use crate::summary::gaps::Gaps;
use crate::summary::observed::Observed;
use slotscope_model::capacity::Capacity;
use slotscope_model::expiry::Expiry;
use slotscope_model::headroom::Headroom;
use slotscope_model::independent_units::Units;
use slotscope_model::input_facts::InputFacts;
use slotscope_model::integrity::Integrity;
use slotscope_model::keys::Keys;
use slotscope_model::kinds::LargeKey;
use slotscope_model::nodes::Nodes;
use slotscope_model::role_load::Asked;

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
