//! The tallies to start a first pass with, in one process or in parts.

use slotscope_count::tally::keys_by_node::KeysByNode;
use slotscope_count::tally::slots_by_input::SlotsByInput;
use slotscope_count::tally::{Parts, Tallies};
use slotscope_topology::Topology;

use crate::options::counting::CountSpec;

/// The counts to take.
pub(crate) struct TallySpec<'a> {
    /// The user's settings; in one pass also if an input can be read only once.
    pub counting: &'a CountSpec,
    /// The nodes of a real cluster: only these can contradict the inputs.
    pub listing: Option<&'a Topology>,
    /// Whether the inputs may show the nodes.
    pub seeks_nodes: bool,
}

impl TallySpec<'_> {
    /// An empty tally for this many inputs.
    pub(crate) fn empty(&self, inputs: usize) -> Tallies {
        let origins = self.listing.map(|topology| {
            KeysByNode::new(inputs, topology.nodes.len(), |slot| topology.owner(slot))
        });
        let by_input = if self.seeks_nodes {
            SlotsByInput::new(inputs)
        } else {
            SlotsByInput::default()
        };
        let parts = match (self.counting.slots_only(), self.counting.one_pass) {
            (true, _) => Parts::Slots,
            (_, true) => Parts::InOnePass,
            (_, false) => Parts::All,
        };
        let tallies = Tallies {
            origins: origins.unwrap_or_default(),
            inputs: by_input,
            ..Tallies::new(parts)
        };
        if self.counting.has_patterns() {
            tallies.with_patterns(self.counting.separator.as_bytes())
        } else {
            tallies
        }
    }
}
