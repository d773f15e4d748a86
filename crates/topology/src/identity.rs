//! Matches the nodes of two topologies. Nodes of listings are matched by name. Ids of even splits and files are made
//! up, so there the nodes sharing most slots match, which keeps moves to a minimum.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slotscope_base::slot::SLOTS;

use crate::Topology;

/// For each node of `after`, the matching node of `before`.
pub fn identities(before: &Topology, after: &Topology) -> Vec<Option<usize>> {
    if before.has_made_up_ids() || after.has_made_up_ids() {
        by_slots(before, after)
    } else {
        by_id(before, after)
    }
}

fn by_id(before: &Topology, after: &Topology) -> Vec<Option<usize>> {
    let places = (0..)
        .zip(&before.nodes)
        .map(|(at, node)| (node.id.as_str(), at));
    let ids: BTreeMap<&str, usize> = places.collect();
    after
        .nodes
        .iter()
        .map(|node| ids.get(node.id.as_str()).copied())
        .collect()
}

fn by_slots(before: &Topology, after: &Topology) -> Vec<Option<usize>> {
    let nodes = [before.nodes.len(), after.nodes.len()];
    of_slots(nodes, |slot| {
        Some((before.owner(slot)?, after.owner(slot)?))
    })
}

/// For each node after, the node before that it shares most slots with, pairing the largest overlaps first; each node
/// is used once. `nodes` is the number of nodes, `owners` gives a slot's owner before and after.
pub fn of_slots(
    nodes: [usize; 2],
    owners: impl Fn(u16) -> Option<(usize, usize)>,
) -> Vec<Option<usize>> {
    let mut shared: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for pair in (0..SLOTS as u16).filter_map(owners) {
        *shared.entry(pair).or_default() += 1;
    }
    let mut pairs: Vec<((usize, usize), usize)> = shared.into_iter().collect();
    pairs.sort_by_key(|(pair, slots)| (Reverse(*slots), *pair));
    let mut is_taken = vec![false; nodes[0]];
    let mut identities = vec![None; nodes[1]];
    for ((old, new), _) in pairs {
        if !is_taken[old] && identities[new].is_none() {
            (is_taken[old], identities[new]) = (true, Some(old));
        }
    }
    identities
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(nodes: usize) -> Topology {
        Topology::even(nodes, String::new()).unwrap()
    }

    fn listing(nodes: &[(&str, &str)]) -> Topology {
        let line = |(at, (id, slots)): (usize, &(&str, &str))| {
            format!("{id} 10.0.0.{at}:1@2 master - 0 0 1 connected {slots}\n")
        };
        let text: String = nodes.iter().enumerate().map(line).collect();
        Topology::parse("nodes", text.as_bytes()).unwrap()
    }

    #[test]
    fn of_an_even_split_the_nodes_that_share_most_slots_are_the_same() {
        let three = listing(&[("a", "0-5460"), ("b", "5461-10922"), ("c", "10923-16383")]);
        assert_eq!(identities(&three, &even(3)), [Some(0), Some(1), Some(2)]);
        assert_eq!(identities(&even(3), &three), [Some(0), Some(1), Some(2)]);
        let six = identities(&three, &even(6));
        assert_eq!(six.iter().flatten().count(), 3);
        let moved = |six: &[Option<usize>]| {
            let stays =
                |slot: &u16| three.owner(*slot) == even(6).owner(*slot).and_then(|node| six[node]);
            (0..16384).filter(|slot| !stays(slot)).count()
        };
        assert_eq!(moved(&six), 8191, "half of the slots");
    }

    #[test]
    fn nodes_of_two_listings_are_known_by_their_ids() {
        let before = listing(&[("a", "0-5460"), ("b", "5461-16383")]);
        let after = listing(&[("b", "0-5460"), ("c", "5461-9999"), ("a", "10000-16383")]);
        assert_eq!(identities(&before, &after), [Some(1), None, Some(0)]);
    }
}
