//! The load of every primary: slot loads summed by owner.

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_model::node_labels::SharedParts;
use slotscope_model::nodes::{Move, NodeFlag, NodeLoad, Nodes, Unowned};
use slotscope_topology::Topology;

use crate::summary::balance;

/// Node loads of `topology`, from slot loads.
pub(crate) fn of(topology: &Topology, slots: &PerMetric<Vec<u64>>) -> Nodes {
    let added = slots.map(|_, loads| add_up(topology, loads));
    let load = |(index, node): (usize, &slotscope_topology::Node)| NodeLoad {
        id: Name::from(node.id.as_str()),
        address: node.address.as_deref().map(Name::from),
        hostname: node.hostname.as_deref().map(Name::from),
        failed: node.failed,
        flags: flags(node),
        replicas: node.replicas,
        slots: node.slots,
        ranges: node.ranges.clone(),
        load: added.map(|_, (nodes, _)| nodes[index]),
        ..NodeLoad::default()
    };
    let mut list: Vec<_> = topology.nodes.iter().enumerate().map(load).collect();
    let names: Vec<Name> = list.iter().map(NodeLoad::name).collect();
    let shared = SharedParts::new(names.iter());
    list.iter_mut().for_each(|node| node.shared = shared);
    let owning = |metric: Metric| {
        list.iter()
            .filter(|node| node.slots > 0)
            .filter_map(move |node| node.load.get(metric))
    };
    let balance = added.map(|metric, _| balance::of(&owning(metric).copied().collect::<Vec<_>>()));
    let in_flight = topology.in_flight.iter().map(|moving| Move {
        slot: moving.slot,
        from: Name::from(moving.from.as_str()),
        to: Name::from(moving.to.as_str()),
    });
    let slots = (0..SLOTS)
        .filter(|slot| topology.owner(*slot as u16).is_none())
        .count() as u32;
    let unowned = Unowned {
        slots,
        load: added.map(|_, (_, unowned)| *unowned),
    };
    Nodes {
        source: Name::from(topology.source.as_str()),
        balance,
        in_flight: in_flight.collect(),
        open: Vec::new(),
        unowned,
        list,
    }
}

fn flags(node: &slotscope_topology::Node) -> Vec<NodeFlag> {
    let flags = [
        (NodeFlag::Fail, node.failed),
        (NodeFlag::Suspected, node.suspected),
    ];
    let set = flags.into_iter().filter(|(_, is_set)| *is_set);
    set.map(|(flag, _)| flag).collect()
}

/// The sums by owner, and the load of unassigned slots.
fn add_up(topology: &Topology, slots: &[u64]) -> (Vec<u64>, u64) {
    let mut nodes = vec![0u64; topology.nodes.len()];
    let mut unowned = 0u64;
    for (slot, load) in slots.iter().enumerate() {
        let sum = topology
            .owner(slot as u16)
            .map_or(&mut unowned, |node| &mut nodes[node]);
        *sum = sum.saturating_add(*load);
    }
    (nodes, unowned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_belongs_to_the_owner_of_its_slot_or_stands_apart() {
        let listing = b"aa 10.0.0.1:7000@17000 master - 0 0 1 connected 0-99\nbb 10.0.0.2:7000@17000 master - 0 0 2 connected 100\ncc :0@0 master,noaddr - 0 0 3 disconnected\n";
        let topology = Topology::parse("test", listing).unwrap();
        let mut keys = vec![0; 16384];
        (keys[0], keys[99], keys[100], keys[101]) = (1, 2, 40, 500);
        let nodes = of(&topology, &PerMetric::of_keys(keys));
        let loads: Vec<_> = nodes
            .list
            .iter()
            .map(|node| (node.id.to_string(), node.slots, node.load.keys))
            .collect();
        assert_eq!(
            loads,
            [
                ("aa".into(), 100, 3),
                ("bb".into(), 1, 40),
                ("cc".into(), 0, 0)
            ]
        );
        assert_eq!(
            nodes.unowned,
            Unowned {
                slots: 16384 - 101,
                load: PerMetric::of_keys(500)
            }
        );
        assert_eq!(
            nodes.balance.keys.max_over_mean,
            Some(1.86046512),
            "a primary without slots does not count"
        );
    }
}
