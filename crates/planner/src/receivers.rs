//! Candidate receivers for what a node sheds: all nodes of a small cluster, the most promising of a large one.

use crate::state::PlanState;

/// Slots of a node searched for neighbours.
const LOOKED_AT: usize = 4000;

/// Up to `most` nodes with most room where `node` has too much, `most` with most room in their tightest role, and
/// `most` that own a slot beside one of its own; ascending.
pub(crate) fn receivers(state: &PlanState<'_>, node: usize, most: usize) -> Vec<usize> {
    let shares = state.shares;
    let candidates: Vec<usize> = (0..shares.nodes)
        .filter(|receiver| *receiver != node && !shares.leaves(*receiver))
        .collect();
    if candidates.len() <= 2 * most {
        return candidates;
    }
    let is_over = |role: usize| state.loads(node)[role] > state.targets(node)[role];
    let room =
        |receiver: usize, role: usize| state.targets(receiver)[role] - state.loads(receiver)[role];
    let over: Vec<usize> = (0..shares.roles).filter(|role| is_over(*role)).collect();
    let where_over = |receiver: &usize| {
        let rooms = over.iter().map(|role| room(*receiver, *role));
        rooms.fold(f64::MAX, f64::min)
    };
    let tightest = |receiver: &usize| {
        let rooms = (0..shares.weighed()).map(|role| room(*receiver, role));
        rooms.fold(f64::MAX, f64::min)
    };
    let mut chosen = largest(&candidates, most, where_over);
    chosen.extend(largest(&candidates, most, tightest));
    chosen.extend(neighbours(state, node, most));
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

fn largest(nodes: &[usize], most: usize, key: impl Fn(&usize) -> f64) -> Vec<usize> {
    let mut keyed: Vec<(f64, usize)> = nodes.iter().map(|node| (key(node), *node)).collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    keyed.select_nth_unstable_by(most, order);
    keyed[..most].iter().map(|(_, node)| *node).collect()
}

fn neighbours(state: &PlanState<'_>, node: usize, most: usize) -> Vec<usize> {
    let mut neighbours = Vec::new();
    for slot in state.held(node).iter().take(LOOKED_AT) {
        let slot = usize::from(*slot);
        for beside in [slot.checked_sub(1), Some(slot + 1)].into_iter().flatten() {
            if let Some(owner) = state.owner.get(beside) {
                let owner = usize::from(*owner);
                let takes =
                    owner < state.shares.nodes && owner != node && !state.shares.leaves(owner);
                if takes && !neighbours.contains(&owner) {
                    neighbours.push(owner);
                }
            }
        }
    }
    neighbours.sort_unstable();
    neighbours.truncate(most);
    neighbours
}
