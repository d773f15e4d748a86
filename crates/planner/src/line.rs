//! The slots of one home at once: at the prices of now, the owners along the line of slots that cost least, where each
//! range costs something. Exact at these prices; moves change them, so each run that changes its owner is judged
//! again at its turn, and cut where it gains no more.

use crate::multipliers::{BOUND, LEAST, Multipliers};
use crate::state::Run;

/// A run of one owner that is cheaper at another, and its gain for its price.
struct Change {
    score: f64,
    run: Run,
    to: usize,
}

/// The nodes that slots of a home may be on, the home first, and what a share costs on them, by role.
struct Choice {
    nodes: Vec<usize>,
    slopes: Vec<f64>,
}

impl Multipliers<'_, '_> {
    /// Gives slots of a home to the owners that cost least.
    pub(crate) fn line(&mut self, home: usize) -> bool {
        let parts = self.parts(home);
        if parts.is_empty() {
            return false;
        }
        let choice = self.choice(home, &parts);
        let mut changes = Vec::new();
        for run in parts {
            self.budget.spent += (run.len() * choice.nodes.len()) as u64 / (2 * BOUND);
            let best = self.cheapest(run, &choice);
            self.add_changes(run, &best, &choice, &mut changes);
        }
        changes.sort_by(|a, b| {
            let order = b.score.total_cmp(&a.score);
            order.then(a.run.first.cmp(&b.run.first))
        });
        let mut any = false;
        for Change { run, to, .. } in changes {
            any |= self.give_best(run, to);
        }
        any
    }

    /// The runs of slots of a home whose owners may change: all if it pays for room, else those that are away.
    fn parts(&self, home: usize) -> Vec<Run> {
        if self.slope_of(home) > 0.0 {
            return self.homes[home].clone();
        }
        let mut parts: Vec<Run> = Vec::new();
        for slot in self.homes[home].iter().flat_map(|run| run.first..run.end) {
            if usize::from(self.state.owner[slot]) == home {
                continue;
            }
            match parts.last_mut() {
                Some(last) if last.end == slot => last.end += 1,
                _ => parts.push(Run::single(slot)),
            }
        }
        parts
    }

    fn choice(&mut self, home: usize, parts: &[Run]) -> Choice {
        let mut nodes = vec![home];
        nodes.extend(self.receivers(home));
        for slot in parts.iter().flat_map(|run| run.first..run.end) {
            let owner = usize::from(self.state.owner[slot]);
            if !nodes.contains(&owner) {
                nodes.push(owner);
            }
        }
        let slopes = nodes.iter().flat_map(|node| self.slopes(*node)).collect();
        Choice { nodes, slopes }
    }

    /// The price of the room of a slot at one of the nodes.
    #[inline]
    fn room(&self, slot: usize, at: usize, choice: &Choice) -> f64 {
        let roles = self.roles();
        let slopes = &choice.slopes[at * roles..(at + 1) * roles];
        let costs = slopes.iter().enumerate();
        costs
            .map(|(role, slope)| self.shares().load(slot, role) * slope)
            .sum()
    }

    /// By slot of a run: the place of its owner among the nodes.
    fn cheapest(&self, run: Run, choice: &Choice) -> Vec<u8> {
        let (nodes, leaves) = (choice.nodes.len(), self.shares().leaves(choice.nodes[0]));
        let mut least = vec![0.0; nodes];
        // By slot and place: the place of the slot before it.
        let mut from = vec![0_u8; run.len() * nodes];
        for (slot, from) in (run.first..run.end).zip(from.chunks_exact_mut(nodes)) {
            let first = place_of_least(&least);
            let open = least[first];
            let price = self.costs.of_run(self.shares(), Run::single(slot));
            for at in 0..nodes {
                let another = open + if at == 0 { 0.0 } else { self.costs.range };
                let is_same = slot > run.first && least[at] <= another;
                from[at] = if is_same { at } else { first } as u8;
                let before = if is_same { least[at] } else { another };
                let moved = match at {
                    0 if leaves => f64::INFINITY,
                    0 => 0.0,
                    _ => price,
                };
                least[at] = before + moved + self.room(slot, at, choice);
            }
        }
        let mut at = place_of_least(&least) as u8;
        let mut best = vec![0; run.len()];
        for (best, from) in best.iter_mut().zip(from.chunks_exact(nodes)).rev() {
            *best = at;
            at = from[usize::from(at)];
        }
        best
    }

    /// Adds the runs whose owners change.
    fn add_changes(&self, run: Run, best: &[u8], choice: &Choice, changes: &mut Vec<Change>) {
        let place = |slot: usize| {
            let owner = usize::from(self.state.owner[slot]);
            let at = choice.nodes.iter().position(|node| *node == owner);
            (at.unwrap_or(0), usize::from(best[slot - run.first]))
        };
        let mut first = run.first;
        while first < run.end {
            let (now, then) = place(first);
            let is_same = |slot: &usize| place(*slot) == (now, then);
            let end = first + (first..run.end).take_while(is_same).count();
            if now != then {
                let (run, to) = (Run { first, end }, choice.nodes[then]);
                let rooms = (first..end)
                    .map(|slot| self.room(slot, now, choice) - self.room(slot, then, choice));
                let (gain, paid) = (rooms.sum::<f64>(), self.costs.of_step(self.state, run, to));
                // A change that costs nothing comes first.
                let score = if paid > 0.0 { gain / paid } else { f64::MAX };
                changes.push(Change { score, run, to });
            }
            first = end;
        }
    }

    /// Gives the part of a run, from its start or up to its end, that gains most.
    fn give_best(&mut self, run: Run, to: usize) -> bool {
        let Run { first, end } = run;
        self.budget.spent += run.len() as u64 / BOUND;
        let starts = (first + 1..=end).map(|end| Run { first, end });
        let ends = (first..end).rev().map(|first| Run { first, end });
        let mut best = (LEAST, None);
        for part in [self.most(starts, to), self.most(ends, to)]
            .into_iter()
            .flatten()
        {
            let ranges = self.costs.range * f64::from(self.state.more_runs(part, to));
            let gain = self.gain_of(part, to) - ranges;
            if gain > best.0 {
                best = (gain, Some(part));
            }
        }
        if let Some(part) = best.1 {
            self.state.give(part, to);
        }
        best.1.is_some()
    }

    /// The first of the parts that gain most.
    fn most(&self, parts: impl Iterator<Item = Run>, to: usize) -> Option<Run> {
        let gains = parts.map(|part| (self.gain_of(part, to), part));
        let most = gains.reduce(|most, next| if next.0 > most.0 { next } else { most });
        most.map(|(_, part)| part)
    }

    /// The gain of a move without its ranges.
    fn gain_of(&self, run: Run, to: usize) -> f64 {
        let [from, home] = [self.state.owner[run.first], self.state.home(run.first)];
        let price = self.costs.of_run(self.shares(), run);
        let back = match (from == home, usize::from(home) == to) {
            (true, _) => -price,
            (_, true) => price,
            _ => 0.0,
        };
        back + self.saved(run, to)
    }
}

/// The first of the least.
fn place_of_least(costs: &[f64]) -> usize {
    let pairs = costs.iter().enumerate();
    let least = pairs.reduce(|least, next| if next.1 < least.1 { next } else { least });
    least.map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use slotscope_base::metric::Metric;

    use super::*;
    use crate::budget::Budget;
    use crate::move_request::{MoveRequest, Role};
    use crate::prices::Prices;
    use crate::shares::Shares;
    use crate::state::PlanState;

    const NODES: usize = 3;
    const SLOTS: usize = 7;

    /// The cost of the owners of a run: room, moves, and each range.
    fn cost(priced: &Multipliers<'_, '_>, choice: &Choice, owner: &[u8]) -> f64 {
        let mut cost = 0.0;
        for (slot, at) in owner.iter().enumerate() {
            let is_first = slot == 0 || owner[slot - 1] != *at;
            cost += priced.room(slot, usize::from(*at), choice);
            if *at > 0 {
                let price = priced.costs.of_run(priced.shares(), Run::single(slot));
                cost += price + f64::from(u8::from(is_first)) * priced.costs.range;
            }
        }
        cost
    }

    #[test]
    fn no_owners_along_a_line_cost_less() {
        for case in 0..40_u64 {
            let load = |slot: u64| 1 + (slot * 7 + case * 13) * (slot + case) % 11;
            let loads: Vec<u64> = (0..SLOTS as u64).map(load).collect();
            let role = Role::even(Metric::Bytes, &loads, NODES, 0.03);
            let request = MoveRequest::new(vec![role], vec![Some(0); SLOTS]);
            let shares = Shares::new(&request);
            let (state, budget) = (&mut PlanState::new(&shares), &mut Budget::new(u64::MAX));
            let costs = Prices {
                range: 0.02 * (case % 5) as f64,
                slot: 0.0,
                least: 1.0,
            };
            let priced = Multipliers::new(state, vec![1.0; NODES], costs, budget);
            let choice = Choice {
                nodes: vec![0, 1, 2],
                slopes: vec![1.0 + 0.1 * (case % 3) as f64, 0.1 * (case % 4) as f64, 0.15],
            };
            let run = Run {
                first: 0,
                end: SLOTS,
            };
            let best = cost(&priced, &choice, &priced.cheapest(run, &choice));
            let every = (0..NODES.pow(SLOTS as u32)).map(|number| {
                let digit = |slot: usize| number / NODES.pow(slot as u32) % NODES;
                let owner: Vec<u8> = (0..SLOTS).map(|slot| digit(slot) as u8).collect();
                cost(&priced, &choice, &owner)
            });
            let least = every.fold(f64::INFINITY, f64::min);
            assert!(
                (best - least).abs() < 1e-9,
                "case {case}: {best}, not {least}"
            );
        }
    }

    #[test]
    fn a_run_goes_as_far_as_it_gains() {
        let loads = [10; 30];
        let owner = (0..30).map(|slot| Some(slot / 20)).collect();
        let role = Role::even(Metric::Bytes, &loads, 2, 0.0);
        let request = MoveRequest::new(vec![role], owner);
        let shares = Shares::new(&request);
        let (mut state, budget) = (PlanState::new(&shares), &mut Budget::new(u64::MAX));
        let costs = Prices {
            range: 0.01,
            slot: 0.0,
            least: 1.0,
        };
        let limit = vec![1.0; 2];
        Multipliers::new(&mut state, limit, costs, budget).solve_lines();
        assert_eq!((state.moved().0, state.moved_runs().len()), (5, 1));
    }
}
