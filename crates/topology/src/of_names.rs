//! Nodes known by name, with the slots each serves.

use crate::{Node, Topology};

/// The nodes of these names, by slot order; `owner` gives the index of each slot's node.
pub fn of_names(source: String, names: &[String], owner: &[Option<usize>]) -> Topology {
    let node = |name: &String| Node {
        id: name.clone(),
        address: Some(name.clone()),
        ..Node::default()
    };
    Topology::of_owners(source, names.iter().map(node).collect(), owner).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::slot::SLOTS;

    #[test]
    fn nodes_are_in_the_order_of_their_slots_and_own_them() {
        let names = ["idle", "b", "a"].map(String::from);
        let owner = |slot: usize| match slot {
            0..8000 => Some(2),
            8000..16000 => Some(1),
            _ => None,
        };
        let owner: Vec<_> = (0..SLOTS).map(owner).collect();
        let found = of_names("a series".into(), &names, &owner);
        let nodes: Vec<_> = found.nodes.iter().map(|node| node.id.as_str()).collect();
        assert_eq!(nodes, ["a", "b", "idle"]);
        assert_eq!(found.nodes[1].ranges, [(8000, 15999)]);
        let owners = [0, 8000, 16000].map(|slot| found.owner(slot));
        assert_eq!(owners, [Some(0), Some(1), None]);
    }
}
