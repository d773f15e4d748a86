//! First aid: the few slots that bring nodes above their limits below them. Evening out may need most of the slots, and a
//! full node has no time for that.

use crate::aims::{LEAST_EXCESS, max_over_mean};
use crate::state::PlanState;

/// As many slots are few.
const FEW: usize = 16;
/// Plans of fewer slots are carried out as a whole.
const MANY: u64 = 128;

/// The owners after as few slots as bring every node below its limit have left; `None` where no node is above it, where
/// it takes more than a few slots or no node has room, where a role would get worse, or where the `whole` plan moves
/// hardly more slots.
pub(crate) fn relief(before: &PlanState<'_>, whole: u64) -> Option<Vec<Option<usize>>> {
    let request = before.shares.request;
    let caps = request.caps.as_ref()?;
    if !request.relieves_first || whole < MANY {
        return None;
    }
    let loads = &request.roles[caps.role].loads;
    let mut held: Vec<f64> = request
        .loads_under(loads, &request.owner)
        .into_iter()
        .map(|held| held as f64)
        .collect();
    let most = |node: usize| caps.aimed[node].unwrap_or(f64::INFINITY);
    let mean = before.shares.mean(caps.role);
    let (mut owner, mut moved) = (request.owner.clone(), 0);
    for node in request.staying() {
        let mut slots: Vec<usize> = (0..owner.len())
            .filter(|slot| owner[*slot] == Some(node) && !request.fixed[*slot] && loads[*slot] > 0)
            .collect();
        slots.sort_by_key(|slot| std::cmp::Reverse(loads[*slot]));
        while held[node] - most(node) > LEAST_EXCESS * mean {
            // The emptiest node with most room.
            let receivers = request.staying().filter(|receiver| *receiver != node);
            let room = |receiver: &usize| most(*receiver) - held[*receiver];
            let to = receivers.reduce(|best, receiver| {
                let order = room(&receiver).total_cmp(&room(&best));
                match order.then(held[best].total_cmp(&held[receiver])) {
                    std::cmp::Ordering::Greater => receiver,
                    _ => best,
                }
            })?;
            let fits = |slot: &usize| loads[*slot] as f64 <= room(&to);
            let excess = held[node] - most(node);
            // The lightest slot that is enough, else the heaviest.
            let enough = |slot: &usize| fits(slot) && loads[*slot] as f64 >= excess;
            let at = slots
                .iter()
                .rposition(enough)
                .or_else(|| slots.iter().position(fits))?;
            let slot = slots.remove(at);
            moved += 1;
            if moved > FEW {
                return None;
            }
            owner[slot] = Some(to);
            held[node] -= loads[slot] as f64;
            held[to] += loads[slot] as f64;
        }
    }
    let mut after = before.clone();
    after.carry_out(&owner);
    let is_kept = |role: usize| {
        let today = max_over_mean(before, role).max(request.roles[role].band);
        max_over_mean(&after, role) <= today + LEAST_EXCESS
    };
    (moved > 0 && (0..request.roles.len()).all(is_kept)).then_some(owner)
}

#[cfg(test)]
mod tests {
    use slotscope_base::metric::Metric;

    use crate::move_request::{Caps, MoveRequest, Role};
    use crate::solve::plan;

    /// Node 0 has 400 slots of 1, one of 300 and one of 500; the two others have 400 slots of 1 each.
    fn full(loads: &[u64], caps: [f64; 3]) -> MoveRequest<'_> {
        let owner = (0..1202).map(|slot| Some(if slot < 402 { 0 } else { 1 + slot % 2 }));
        let caps: Vec<Option<f64>> = caps.map(Some).to_vec();
        MoveRequest {
            caps: Some(Caps {
                role: 0,
                aimed: caps.clone(),
                hard: caps,
            }),
            relieves_first: true,
            ..MoveRequest::new(
                vec![Role::even(Metric::Bytes, loads, 3, 0.03)],
                owner.collect(),
            )
        }
    }

    fn loads() -> Vec<u64> {
        let mut loads = vec![1; 1202];
        (loads[100], loads[200]) = (300, 500);
        loads
    }

    #[test]
    fn the_lightest_slot_that_is_enough_leaves_a_full_node_first() {
        let loads = loads();
        let request = full(&loads, [1000.0, 950.0, 950.0]);
        let first = plan(&request);
        assert!(first.is_relief && first.slots == 1, "{first:?}");
        assert_ne!(first.owner[100], Some(0));
        let then = plan(&request.with_owner(first.owner));
        assert!(!then.is_relief, "evening out is the next plan");
    }

    #[test]
    fn without_a_node_above_its_limit_or_room_elsewhere_there_is_none() {
        let loads = loads();
        for caps in [[1300.0, 950.0, 950.0], [1000.0, 410.0, 410.0]] {
            let request = full(&loads, caps);
            assert!(!plan(&request).is_relief, "{caps:?}");
        }
        let whole = MoveRequest {
            relieves_first: false,
            ..full(&loads, [1000.0, 950.0, 950.0])
        };
        assert!(!plan(&whole).is_relief);
    }
}
