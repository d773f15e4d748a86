//! A lower bound for moves of whole slots, however many units share a slot.
//!
//! W the load of all nodes, u the loads of slots, largest first, f the share of each node (1/n where they are equal):
//! ```text
//! M >= 1                                  some node has its fair share or more
//! M >= u_1 / (W max f)                    the heaviest slot is on some node
//! M >= (u_n + u_(n+1)) / (W max f)        two of the n + 1 heaviest are on one node
//! ```

use slotscope_model::balance::tidy;

/// The lowest ratio, in fair shares, that moves of slots with these loads can reach for the fullest of nodes with these
/// capacities (in any unit); `None` without load or nodes. With different capacities this is a weaker bound: it assumes
/// that the heaviest slots are on the largest node.
pub(crate) fn slot_floor_of(loads: &[u64], capacities: &[f64]) -> Option<f64> {
    let total = total(loads);
    let capacity: f64 = capacities.iter().sum();
    let largest = capacities.iter().copied().fold(0.0, f64::max);
    if total <= 0.0 || largest <= 0.0 || !capacity.is_finite() {
        return None;
    }
    let n = capacities.len();
    let heaviest = heaviest(loads, n + 1);
    let load = |place: usize| heaviest.get(place).copied().unwrap_or(0) as f64;
    let fair = total * largest / capacity;
    let alone = load(0) / fair;
    let together = (load(n - 1) + load(n)) / fair;
    Some(tidy(alone.max(together).max(1.0)))
}

/// With more nodes than this, the heaviest slot alone exceeds a fair share; `None` without load.
pub(crate) fn largest_useful_nodes(loads: &[u64]) -> Option<u64> {
    let heaviest = loads.iter().copied().max().filter(|load| *load > 0)?;
    Some((total(loads) / heaviest as f64) as u64)
}

fn total(loads: &[u64]) -> f64 {
    loads.iter().map(|load| *load as f64).sum()
}

/// The `count` largest loads, largest first.
fn heaviest(loads: &[u64], count: usize) -> Vec<u64> {
    let mut loads = loads.to_vec();
    loads.sort_unstable_by(|a, b| b.cmp(a));
    loads.truncate(count);
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot_floor(loads: &[u64], nodes: usize) -> Option<f64> {
        slot_floor_of(loads, &vec![1.0; nodes])
    }

    #[test]
    fn the_floor_is_that_of_the_fullest_slot_or_of_two_that_share_a_node() {
        assert_eq!(slot_floor(&[500, 100, 100, 300], 3), Some(1.5));
        assert_eq!(slot_floor(&[300; 4], 3), Some(1.5));
        assert_eq!(slot_floor(&[10; 16_384], 3), Some(1.0));
        assert_eq!(slot_floor(&[1], 50), Some(50.0));
        assert_eq!(slot_floor(&[0; 16_384], 3), None);
        assert_eq!(slot_floor(&[7], 0), None);
    }

    #[test]
    fn units_that_share_a_slot_count_together() {
        // 20 tags of 1,000 keys in one slot, 200,000 keys in the others: each tag is far below a fair share of 20
        // nodes.
        let mut loads = vec![200_000 / 16_384; 16_384];
        loads[3387] += 20_000;
        let floor = slot_floor(&loads, 20).unwrap();
        assert!((1.8..1.9).contains(&floor), "{floor}");
        assert_eq!(largest_useful_nodes(&loads), Some(10));
        assert_eq!(largest_useful_nodes(&[0; 16_384]), None);
    }

    #[test]
    fn no_assignment_of_slots_to_nodes_beats_the_floor() {
        // Every assignment of six slots to nodes of capacities 2, 1 and 1.
        let loads = [9, 7, 4, 3, 1, 1];
        let capacities = [2.0, 1.0, 1.0];
        let fair = |node: usize| 25.0 * capacities[node] / 4.0;
        let best = (0..3usize.pow(6)).map(|mut code| {
            let mut held = [0.0; 3];
            for load in loads {
                held[code % 3] += load as f64;
                code /= 3;
            }
            (0..3)
                .map(|node| held[node] / fair(node))
                .fold(0.0, f64::max)
        });
        let best = best.fold(f64::INFINITY, f64::min);
        let floor = slot_floor_of(&loads, &capacities).unwrap();
        assert!(floor <= best && floor >= 1.0, "{floor} {best}");
    }
}
