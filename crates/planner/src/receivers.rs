//! Candidate receivers for what a node sheds: all nodes of a small cluster, the most promising of a large one.

use crate::state::PlanState;

/// The nodes with most room where `node` has too much, up to `most`, or all of a small cluster; ascending.
pub(crate) fn receivers(state: &PlanState<'_>, node: usize, most: usize) -> Vec<usize> {
    let shares = state.shares;
    let mut candidates: Vec<usize> = (0..shares.nodes)
        .filter(|receiver| *receiver != node && !shares.leaves(*receiver))
        .collect();
    // Of equally good nodes one without slots is filled first.
    candidates.sort_by_key(|receiver| !state.held(*receiver).is_empty());
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
    let mut chosen = largest(&candidates, most, where_over);
    chosen.sort_unstable();
    chosen
}

fn largest(nodes: &[usize], most: usize, key: impl Fn(&usize) -> f64) -> Vec<usize> {
    let mut keyed: Vec<(f64, usize)> = nodes.iter().map(|node| (key(node), *node)).collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    keyed.select_nth_unstable_by(most, order);
    keyed[..most].iter().map(|(_, node)| *node).collect()
}
