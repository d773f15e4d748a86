//! The owners after `redis-cli --cluster rebalance`: it looks at the number of slots and at nothing else.

use crate::topology::Topology;

/// `rebalance` leaves a node alone whose number of slots is off by this part or less.
const THRESHOLD: f64 = 0.02;

/// The owner of every slot after a rebalance; `None` where it would say that none is needed. Primaries without slots
/// get none, and of a node that gives slots the lowest go first. `None` too where a primary with slots has failed: then
/// it refuses.
pub(super) fn owners(topology: &Topology) -> Option<Vec<Option<usize>>> {
    if topology
        .nodes
        .iter()
        .any(|node| !node.is_up() && node.slots > 0)
    {
        return None;
    }
    let mut owner: Vec<Option<usize>> = (0..slotscope_engine::slot::SLOTS as u16)
        .map(|slot| topology.owner(slot))
        .collect();
    let slots = |node: usize| topology.nodes[node].slots as i64;
    let owning: Vec<usize> = (0..topology.nodes.len())
        .filter(|node| slots(*node) > 0)
        .collect();
    let expected = (owner.len() / owning.len().max(1)) as i64;
    let is_off = |node: &usize| (1.0 - expected as f64 / slots(*node) as f64).abs() > THRESHOLD;
    if !owning.iter().any(is_off) {
        return None;
    }
    let mut balance: Vec<(i64, usize)> = owning
        .iter()
        .map(|node| (slots(*node) - expected, *node))
        .collect();
    // The slots left by rounding go to nodes that get slots.
    let mut left: i64 = balance.iter().map(|(over, _)| over).sum();
    while left > 0 {
        let before = left;
        for (over, _) in balance.iter_mut().filter(|(over, _)| *over <= 0) {
            if left > 0 {
                (*over, left) = (*over - 1, left - 1);
            }
        }
        if left == before {
            break;
        }
    }
    balance.sort_by_key(|(over, _)| *over);
    let (mut to, mut from) = (0, balance.len() - 1);
    while to < from {
        let count = (-balance[to].0).min(balance[from].0).max(0);
        let (getter, giver) = (balance[to].1, balance[from].1);
        let given = owner.iter_mut().filter(|owner| **owner == Some(giver));
        given
            .take(count as usize)
            .for_each(|owner| *owner = Some(getter));
        balance[to].0 += count;
        balance[from].0 -= count;
        let is_stuck = balance[to].0 > 0 || balance[from].0 < 0;
        to += usize::from(balance[to].0 == 0 || is_stuck);
        from -= usize::from(balance[from].0 == 0 || is_stuck);
    }
    Some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_slots_of_the_fullest_go_to_the_emptiest() {
        let listing = b"a 1.1.1.1:1 master - 0 0 1 connected 0-7060\nb 1.1.1.1:2 master - 0 0 1 connected 7061-12522\nc 1.1.1.1:3 master - 0 0 1 connected 12523-16383\nd 1.1.1.1:4 master - 0 0 1 connected\n";
        let topology = Topology::parse("test", listing).unwrap();
        let after = owners(&topology).unwrap();
        let count = |node| after.iter().filter(|owner| **owner == Some(node)).count();
        assert_eq!(
            [count(0), count(1), count(2), count(3)],
            [5461, 5461, 5462, 0]
        );
        assert_eq!(
            after[0],
            Some(2),
            "the lowest slot of the fullest goes to the emptiest"
        );
        assert_eq!(after[7060], Some(0));
    }

    #[test]
    fn with_a_failed_primary_nothing_is_rebalanced() {
        let uneven = "a 1.1.1.1:1 master - 0 0 1 connected 0-9000\nb 1.1.1.1:2 master - 0 0 1 connected 9001-16383\n";
        let of = |listing: &str| owners(&Topology::parse("test", listing.as_bytes()).unwrap());
        assert!(of(uneven).is_some());
        assert_eq!(of(&uneven.replacen("master", "master,fail", 1)), None);
    }

    #[test]
    fn nodes_within_two_percent_are_left_alone() {
        let even = Topology::even(7, "even 7".into()).unwrap();
        assert_eq!(owners(&even), None);
    }
}
