//! A lower bound on the fullest node of any plan: slots cannot be split.
//!
//! u_1 >= u_2 >= ... the loads of the slots, n the nodes that stay, t_1 >= t_2 >= ... their fair shares. No plan beats
//!
//! ```text
//! 1                                                  some node has at least the mean
//! (u_(kn-k+1) + ... + u_(kn+1)) / t_1, k = 0, 1...   of the kn + 1 heaviest slots k + 1 are on one node
//! (u_1 + ... + u_k) / (t_1 + ... + t_k), k <= n      k slots are on at most k nodes
//! ```

/// A lower bound and its cause.
#[derive(Debug, Clone, PartialEq)]
pub struct LowerBound {
    /// In fair shares, at least 1.
    pub over_fair: f64,
    /// The cause; `None` if the bound is 1.
    pub set_by: Option<SetBy>,
    /// The bound from slots that must share a node, ignoring slots too heavy on their own, which concern single nodes
    /// only.
    pub together: f64,
}

/// The reason for a floor above 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetBy {
    /// The heaviest slot.
    Slot(u16),
    /// In any plan, one node holds `together` of the `heaviest` slots.
    Slots {
        /// Slots that share a node.
        together: usize,
        /// Out of this many.
        heaviest: usize,
    },
}

/// A bound this close to 1 is rounding.
const NEAR: f64 = 1e-9;

impl LowerBound {
    /// The lower bound over all plans for owned slots of these loads on nodes with these fair shares.
    pub fn new(loads: &[u64], owner: &[Option<usize>], fair: &[f64]) -> Self {
        let owned = owner
            .iter()
            .enumerate()
            .filter(|(_, owner)| owner.is_some());
        let mut slots: Vec<u16> = owned.map(|(slot, _)| slot as u16).collect();
        slots.sort_by_key(|slot| (std::cmp::Reverse(loads[usize::from(*slot)]), *slot));
        let sums = sums(slots.iter().map(|slot| loads[usize::from(*slot)] as f64));
        let mut fair: Vec<f64> = fair.iter().copied().filter(|fair| *fair > 0.0).collect();
        fair.sort_by(|a, b| b.total_cmp(a));
        let (n, shares) = (fair.len(), sums_of(&fair));
        let mut floor = LowerBound {
            over_fair: 1.0,
            set_by: None,
            together: 1.0,
        };
        let Some(largest) = fair.first() else {
            return floor;
        };
        let mut raise = |over_fair: f64, set_by: SetBy| {
            if over_fair > floor.over_fair + NEAR {
                (floor.over_fair, floor.set_by) = (over_fair, Some(set_by));
            }
        };
        let mut together: f64 = 1.0;
        for k in (0..).take_while(|k| k * n < slots.len()) {
            let load = sums[k * n + 1] - sums[k * n - k];
            let set_by = match k {
                0 => SetBy::Slot(slots[0]),
                _ => SetBy::Slots {
                    together: k + 1,
                    heaviest: k * n + 1,
                },
            };
            raise(load / largest, set_by);
            if k > 0 {
                together = together.max(load / largest);
            }
        }
        for k in 2..=n.min(slots.len()) {
            raise(
                sums[k] / shares[k],
                SetBy::Slots {
                    together: k,
                    heaviest: k,
                },
            );
        }
        floor.together = together;
        floor
    }
}

/// Prefix sums, starting with 0.
fn sums(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums.push(sums[sums.len() - 1] + value);
    }
    sums
}

fn sums_of(values: &[f64]) -> Vec<f64> {
    sums(values.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor(loads: &[u64], capacity: &[f64]) -> (f64, Option<SetBy>) {
        let sum = |of: &[f64]| of.iter().sum::<f64>();
        let loads_sum: f64 = loads.iter().map(|load| *load as f64).sum();
        let fair = capacity.iter().map(|of| of * loads_sum / sum(capacity));
        let floor = LowerBound::new(
            loads,
            &vec![Some(0); loads.len()],
            &fair.collect::<Vec<_>>(),
        );
        (floor.over_fair, floor.set_by)
    }

    #[test]
    fn slots_that_share_a_node_are_told_from_a_slot_alone() {
        let together = |loads: &[u64]| {
            let fair = vec![loads.iter().sum::<u64>() as f64 / 3.0; 3];
            LowerBound::new(loads, &vec![Some(0); loads.len()], &fair).together
        };
        assert_eq!(together(&[500, 250, 250]), 1.0);
        assert_eq!(together(&[300, 300, 300, 300]), 1.5);
    }

    #[test]
    fn worked_by_hand() {
        assert_eq!(floor(&[1; 8], &[1.0; 2]), (1.0, None));
        assert_eq!(
            floor(&[500, 250, 250], &[1.0; 3]),
            (1.5, Some(SetBy::Slot(0)))
        );
        let pair = SetBy::Slots {
            together: 2,
            heaviest: 4,
        };
        assert_eq!(floor(&[300, 300, 300, 300], &[1.0; 3]), (1.5, Some(pair)));
        let three = SetBy::Slots {
            together: 3,
            heaviest: 5,
        };
        assert_eq!(floor(&[1; 5], &[1.0; 2]), (1.2, Some(three)));
        assert_eq!(
            floor(&[1; 5], &[1.0, 1.0, 0.0]),
            (1.2, Some(three)),
            "a node that leaves bears nothing"
        );
    }

    #[test]
    fn a_heavy_slot_goes_to_a_large_node_and_two_to_the_two_largest() {
        assert_eq!(floor(&[60, 20, 20], &[3.0, 1.0, 1.0]), (1.0, None));
        let two = SetBy::Slots {
            together: 2,
            heaviest: 2,
        };
        assert_eq!(floor(&[60, 40, 0], &[3.0, 1.0, 1.0]), (1.25, Some(two)));
    }
}
