//! A node as plans name it.

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
