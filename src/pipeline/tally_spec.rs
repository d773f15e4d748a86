//! The tallies to start a first pass with, in one process or in parts.

use slotscope_engine::tally::keys_by_node::KeysByNode;
use slotscope_engine::tally::slots_by_input::SlotsByInput;
use slotscope_engine::tally::{Parts, Tallies};
use slotscope_topology::Topology;

/// The counts to take.
pub(crate) struct TallySpec<'a> {
    /// Only slots, without names.
    pub slots_only: bool,
    /// No input is read to its end twice: names that exceed the first pass get bounds.
    pub one_pass: bool,
    /// The separator of key segments, if patterns are counted.
    pub separator: Option<&'a [u8]>,
    /// The nodes of a real cluster: only these can contradict the inputs.
    pub listing: Option<&'a Topology>,
    /// Whether the inputs may show the nodes.
    pub seeks_nodes: bool,
}

impl TallySpec<'_> {
    fn parts(&self) -> Parts {
        match (self.slots_only, self.one_pass) {
            (true, _) => Parts::Slots,
            (_, true) => Parts::InOnePass,
            (_, false) => Parts::All,
        }
    }

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
        let tallies = Tallies {
            origins: origins.unwrap_or_default(),
            inputs: by_input,
            ..Tallies::new(self.parts())
        };
        match self.separator {
            Some(separator) => tallies.with_patterns(separator),
            None => tallies,
        }
    }
}
