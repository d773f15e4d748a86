//! What is counted: the tallies that a first pass starts from.

use crate::tally::keys_by_node::KeysByNode;
use crate::tally::known::Known;
use crate::tally::slots_by_input::SlotsByInput;
use crate::tally::{Parts, Tallies};
use crate::topology::Topology;

/// What is counted.
pub struct Wanted<'a> {
    /// Slots alone, or names too.
    pub parts: Parts,
    /// How many inputs there are.
    pub inputs: usize,
    /// The nodes of a real cluster: only these can contradict the inputs.
    pub listing: Option<&'a Topology>,
    /// Whether the inputs may show the nodes.
    pub seeks_nodes: bool,
    /// What separates the segments of a key, where patterns are counted.
    pub separator: Option<&'a [u8]>,
    /// Hash tags that are counted by name, however many others there are.
    pub known: Option<&'a Known>,
}

impl Wanted<'_> {
    /// Nothing counted yet.
    pub fn empty(&self) -> Tallies {
        let origins = self.listing.map(|topology| {
            let nodes = topology.nodes.iter();
            let addresses: Vec<_> = nodes.map(|node| node.address.as_deref()).collect();
            KeysByNode::new(self.inputs, &addresses, |slot| topology.owner(slot))
        });
        let inputs = match self.seeks_nodes {
            true => SlotsByInput::new(self.inputs),
            false => SlotsByInput::default(),
        };
        let tallies = Tallies {
            origins: origins.unwrap_or_default(),
            inputs,
            ..Tallies::new(self.parts)
        };
        let tallies = tallies.knowing(self.known.cloned());
        match self.separator {
            Some(separator) => tallies.with_patterns(separator),
            None => tallies,
        }
    }
}
