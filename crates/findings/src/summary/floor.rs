//! A lower bound for moves of whole slots, however many units share a slot.

use slotscope_model::balance::tidy;
use slotscope_planner::lower_bound::LowerBound;

/// The lowest ratio, in fair shares, that moves of slots with these loads can reach for the fullest of nodes with these
/// capacities (in any unit); `None` without load or nodes.
pub(crate) fn slot_floor_of(loads: &[u64], capacities: &[f64]) -> Option<f64> {
    let share = total(loads) / capacities.iter().sum::<f64>();
    if !share.is_finite() || share <= 0.0 {
        return None;
    }
    let fair: Vec<f64> = capacities.iter().map(|capacity| capacity * share).collect();
    let owner = vec![Some(0); loads.len()];
    Some(tidy(LowerBound::new(loads, &owner, &fair).over_fair))
}

/// With more nodes than this, the heaviest slot alone exceeds a fair share; `None` without load.
pub fn largest_useful_nodes(loads: &[u64]) -> Option<u64> {
    let heaviest = loads.iter().copied().max().filter(|load| *load > 0)?;
    Some((total(loads) / heaviest as f64) as u64)
}

fn total(loads: &[u64]) -> f64 {
    loads.iter().map(|load| *load as f64).sum()
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
        assert_eq!(slot_floor(&[10; 16_384], 4), Some(1.0));
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
}
