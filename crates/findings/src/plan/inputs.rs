//! Facts about a cluster outside the request: node names, and loads that are not planned for.

use slotscope_engine::metric::{Metric, PerMetric};

use slotscope_model::headroom::Headroom;
use slotscope_model::independent_units::Units;
use slotscope_topology::find::Called;

/// A node as the planner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedNode {
    /// Its cluster id, or the id assigned to a new node; escape before display.
    pub id: String,
    /// Its address, if known; escape before display.
    pub address: Option<String>,
    /// Its announced hostname, without a port; escape before display.
    pub hostname: Option<String>,
    /// Its relative capacity; 0 if it is to be emptied or has failed.
    pub capacity: f64,
    /// Whether it has failed; such a node neither gives nor receives slots.
    pub failed: bool,
}

impl PlannedNode {
    /// The names that users may refer to it by.
    pub(crate) fn called(&self) -> Called<'_> {
        Called {
            id: &self.id,
            address: self.address.as_deref(),
            hostname: self.hostname.as_deref(),
        }
    }
}

/// Facts about the cluster outside the request.
pub(crate) struct PlanInputs<'a> {
    pub nodes: &'a [PlannedNode],
    /// Today's owner of each slot. The request has no owner for slots of failed nodes.
    pub owner: &'a [Option<usize>],
    pub loads: &'a PerMetric<Vec<u64>>,
    /// Tags and keys known by name.
    pub units: &'a Units,
    /// The limits of the nodes.
    pub headroom: &'a Headroom,
    /// Slots that move as a whole hold at most this many bytes, or are one; `None`: a pair of nodes is one move.
    pub job_bytes: Option<u64>,
}

impl PlanInputs<'_> {
    /// Whether the input has this metric: captures alone do not tell the number of keys.
    pub(crate) fn knows(&self, metric: Metric) -> bool {
        metric != Metric::Keys || self.loads.keys.iter().any(|keys| *keys > 0)
    }
}
