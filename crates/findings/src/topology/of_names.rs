//! Nodes known by name, with the slots each serves.

use slotscope_engine::slot::SLOTS;

use crate::topology::{NO_NODE, Node, Topology, ranges};

/// The nodes of these names, by slot order; `owner` gives the index of each slot's node.
pub fn of_names(source: String, names: &[String], owner: &[Option<usize>]) -> Topology {
    let node = |place: usize, name: &String| {
        let owned = (0..).zip(owner).filter(|(_, node)| **node == Some(place));
        let slots: Vec<u16> = owned.map(|(slot, _)| slot).collect();
        Node {
            id: name.clone(),
            address: Some(name.clone()),
            hostname: None,
            failed: false,
            suspected: false,
            replicas: None,
            ranges: ranges::of_slots(&slots),
            slots: slots.len() as u32,
        }
    };
    let named = names.iter().enumerate();
    let mut nodes: Vec<(usize, Node)> = named.map(|(at, name)| (at, node(at, name))).collect();
    let first = |node: &Node| node.ranges.first().map_or(SLOTS as u16, |range| range.0);
    nodes.sort_by(|a, b| (first(&a.1), &a.1.id).cmp(&(first(&b.1), &b.1.id)));
    let mut place = vec![NO_NODE; names.len()];
    for (at, (named, _)) in nodes.iter().enumerate() {
        place[*named] = at as u16;
    }
    let of_slot = |node: &Option<usize>| node.map_or(NO_NODE, |named| place[named]);
    Topology {
        source,
        in_flight: Vec::new(),
        owner: owner.iter().map(of_slot).collect(),
        nodes: nodes.into_iter().map(|(_, node)| node).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
