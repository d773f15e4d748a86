//! Facts about a cluster besides the request: names of nodes, and loads that are not planned for.

use slotscope_engine::metric::{Metric, PerMetric};

use crate::summary::independent_units::Units;
use crate::topology::find::Called;

/// A node, as it is planned for.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedNode {
    /// Its id in the cluster, or the id that it is to get; to be escaped when shown.
    pub id: String,
    /// Where it listens, if that is known; to be escaped when shown.
    pub address: Option<String>,
    /// The hostname that it announces, without a port; to be escaped when shown.
    pub hostname: Option<String>,
    /// Its relative capacity; 0: it is to be emptied, or has failed.
    pub capacity: f64,
    /// Whether it has failed: it neither gives nor takes slots.
    pub failed: bool,
}

impl PlannedNode {
    /// The names that it may be called by.
    pub(crate) fn called(&self) -> Called<'_> {
        Called {
            id: &self.id,
            address: self.address.as_deref(),
            hostname: self.hostname.as_deref(),
        }
    }
}

/// Facts about the cluster in addition to the request.
pub(crate) struct PlanInputs<'a> {
    /// The nodes of the request.
    pub nodes: &'a [PlannedNode],
    /// The node that owns each slot today. In the request slots of failed nodes have no owner.
    pub owner: &'a [Option<usize>],
    /// The load of each slot.
    pub loads: &'a PerMetric<Vec<u64>>,
    /// Tags and keys that are known by name.
    pub units: &'a Units,
    /// Slots that move as a whole hold at most this many bytes, or are one; `None`: a pair of nodes is one move.
    pub job_bytes: Option<u64>,
}

impl PlanInputs<'_> {
    /// Whether the input says a load: captures alone do not say how many keys there are.
    pub(crate) fn knows(&self, metric: Metric) -> bool {
        metric != Metric::Keys || self.loads.keys.iter().any(|keys| *keys > 0)
    }
}
