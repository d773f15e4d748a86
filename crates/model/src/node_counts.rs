//! The report of the key counts of nodes alone, without a dump.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::balance::Balance;
use crate::state::State;

/// The node part of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeCounts {
    /// That of report.json.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = crate::SCHEMA)))]
    pub schema: String,
    /// The nodes.
    pub nodes: CountedNodes,
    /// The verdict.
    pub verdict: CountedVerdict,
}

/// The nodes and their balance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CountedNodes {
    /// Where the counts are from.
    pub source: Name,
    /// The nodes in the order of the listing.
    pub list: Vec<CountedNode>,
    /// Balance of those that own slots.
    pub keys: Balance,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CountedNode {
    /// The start of its id.
    pub id: Name,
    /// Where it listens.
    pub address: Name,
    /// Its slots.
    pub slots: u32,
    /// Its keys.
    pub keys: u64,
    /// Its keys over those of the average node; absent where it owns no slots.
    pub over_fair: Option<f64>,
}

/// The verdict and its basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CountedVerdict {
    /// Keys.
    pub metric: Metric,
    /// The finding.
    pub state: State,
    /// The finding in a sentence.
    pub sentence: String,
    /// The independent units that would be as uneven by chance.
    pub n_eff: Option<f64>,
    /// The bound of max/mean in 9,999 of 10,000 perfect hashes, if every key were an independent unit.
    pub expected_max_over_mean: Option<f64>,
    /// With equal nodes, the part of the cluster that is full when its fullest node is.
    pub usable_capacity: Option<f64>,
}
