//! The price of moves: bytes, plus a little for every range and slot. Relative to the fewest bytes any plan for these
//! targets must move, so that the weights hold for clusters of any size.

use crate::shares::Shares;
use crate::state::{NEAR, PlanState, Run};

/// Price of the ranges of a shedding node, relative to the least bytes.
const RANGES: f64 = 0.03;
/// Price of the average number of slots that hold the least bytes, relative to those bytes.
const SLOTS: f64 = 0.02;
/// Lower limit of the least bytes, in shares.
const LEAST: f64 = 1e-4;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prices {
    pub range: f64,
    pub slot: f64,
    /// Price of a plan with the least bytes and one range per shedding node.
    pub least: f64,
}

impl Prices {
    /// The prices for a state in which nothing has moved.
    pub(crate) fn new(state: &PlanState<'_>) -> Self {
        let shares = state.shares;
        let least = least_bytes(state).max(LEAST);
        let senders = (0..shares.nodes).filter(|node| state.over(*node) > NEAR);
        let slots = (least * shares.slots as f64 / shares.staying as f64).max(1.0);
        Prices {
            range: RANGES * least / senders.count().max(1) as f64,
            slot: SLOTS * least / slots,
            least: least * (1.0 + RANGES + SLOTS),
        }
    }

    /// The price of moving a run, apart from the range.
    pub(crate) fn of_run(self, shares: &Shares<'_>, run: Run) -> f64 {
        shares.price(run.first, run.end) + self.slot * run.len() as f64
    }

    /// The price of giving a run to `to`, minus the price of bringing it where it is.
    pub(crate) fn of_step(self, state: &PlanState<'_>, run: Run, to: usize) -> f64 {
        let home = state.home(run.first);
        let price = self.of_run(state.shares, run);
        let spent = if state.owner[run.first] == home {
            0.0
        } else {
            price
        };
        let due = if to == usize::from(home) { 0.0 } else { price };
        due - spent + self.range * f64::from(state.more_runs(run, to))
    }

    /// The price of a plan.
    pub(crate) fn of_plan(self, state: &PlanState<'_>) -> f64 {
        let runs = state.moved_runs();
        let moved: f64 = runs.iter().map(|run| self.of_run(state.shares, *run)).sum();
        moved + self.range * runs.len() as f64
    }
}

/// A bound on the bytes of any plan that leaves giants where they are, in shares: each node sheds what overflows it, in
/// parts of slots. Nodes that leave shed all.
pub(crate) fn least_bytes(state: &PlanState<'_>) -> f64 {
    (0..state.shares.nodes)
        .map(|node| least_bytes_of(state, node))
        .sum()
}

fn least_bytes_of(state: &PlanState<'_>, node: usize) -> f64 {
    let shares = state.shares;
    let price = |slot: usize| shares.price(slot, slot + 1);
    let slots = state.held(node).iter().map(|slot| usize::from(*slot));
    if shares.leaves(node) {
        return slots.map(price).sum();
    }
    let mut least: f64 = 0.0;
    for role in 0..shares.weighed() {
        let mut over = state.loads(node)[role] - state.targets(node)[role];
        if over <= NEAR {
            continue;
        }
        let mut movable: Vec<usize> = slots
            .clone()
            .filter(|slot| !shares.is_fixed(*slot) && shares.load(*slot, role) > 0.0)
            .collect();
        let density = |slot: usize| price(slot) / shares.load(slot, role);
        movable.sort_by(|a, b| density(*a).total_cmp(&density(*b)).then(a.cmp(b)));
        let mut bytes = 0.0;
        for slot in movable {
            let load = shares.load(slot, role);
            if load >= over {
                bytes += price(slot) * over / load;
                break;
            }
            over -= load;
            bytes += price(slot);
        }
        least = least.max(bytes);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::move_request::{MoveRequest, Role};
    use crate::state::{Bounds, Cap};
    use slotscope_base::metric::Metric;

    /// A state of one role that aims at `aim` fair shares.
    fn aiming<'a>(shares: &'a Shares<'a>, aim: f64) -> PlanState<'a> {
        let mut state = PlanState::new(shares);
        state.set_bounds(&Bounds {
            aims: vec![aim],
            beside: vec![0.03],
            ceilings: vec![f64::INFINITY],
            most_beside: vec![f64::INFINITY],
            tops: vec![f64::INFINITY],
            cap: Cap::Hard,
        });
        state
    }

    #[test]
    fn the_least_bytes_are_those_of_the_densest_slots_that_cover_the_excess() {
        let load = [30, 30, 20, 20, 10, 10];
        let bytes = [60, 10, 10, 10, 5, 5];
        let owner = [0, 0, 0, 0, 1, 2].map(Some).to_vec();
        let mut request = MoveRequest::new(vec![Role::even(Metric::Ops, &load, 3, 0.0)], owner);
        request.price = Some(&bytes);
        let shares = Shares::new(&request);
        let state = aiming(&shares, 1.0);
        // 60 of 100 must go: 30 for 10 bytes, 20 for 10, and half of the other 20.
        let least = least_bytes(&state) * shares.mean_price();
        assert!((least - 25.0).abs() < 1e-6, "{least}");
    }

    #[test]
    fn a_node_that_leaves_sheds_all_it_has() {
        let load = [30, 30, 20];
        let mut request = MoveRequest::new(
            vec![Role::even(Metric::Ops, &load, 3, 0.5)],
            [0, 1, 2].map(Some).to_vec(),
        );
        request.leaves[2] = true;
        let shares = Shares::new(&request);
        let state = aiming(&shares, 1.5);
        assert!((least_bytes(&state) * shares.mean_price() - 20.0).abs() < 1e-6);
    }
}
