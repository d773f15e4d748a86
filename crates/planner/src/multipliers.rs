//! Slots at prices of room, by the method of multipliers: each node has a price for every role, which rises while the
//! node is above its limit and as it fills. A slot goes where price and cost of the move are least; the prices tend to
//! those at which all limits are kept. Whole lines of slots go first (`line`), where prices rise slowly so that those of
//! least cost go before others; single slots end it.

use crate::budget::Budget;
use crate::prices::Prices;
use crate::shares::{NOBODY, Shares};
use crate::state::{PlanState, Run};

/// The weight of the square of what is above a limit, its growth by round, the rounds, and passes over nodes in a round.
struct Pace {
    weight: f64,
    growth: f64,
    rounds: usize,
    passes: usize,
}

const LINES: Pace = Pace {
    weight: 2.0,
    growth: 1.4,
    rounds: 24,
    passes: 3,
};
const SINGLES: Pace = Pace {
    weight: 20.0,
    growth: 1.5,
    rounds: 16,
    passes: 2,
};
const MOST_WEIGHT: f64 = 1500.0;
/// A weight that outweighs the price of a range, and the passes with it where nodes are so near their limits.
const LAST_WEIGHT: f64 = 1e6;
const LAST_PASSES: usize = 6;
const NEARLY: f64 = 0.03;
/// The highest price of a share.
const MOST: f64 = 1e4;
/// Limits are lower by this, so that an excess that is as small keeps them.
const MET: f64 = 2e-4;
/// An excess that stays above this part of the least so far, in as many rounds, falls no more.
const SLOW: (f64, usize) = (0.93, 4);
/// A gain below this is rounding.
pub(crate) const LEAST: f64 = 1e-12;
/// As many nodes are all tried as receivers, else as many of those with least price and most room.
const RECEIVERS: usize = 14;
/// Trying a slot at a node by its bound costs this part of trying it exactly.
pub(crate) const BOUND: u64 = 4;

pub(crate) struct Multipliers<'s, 'a> {
    pub state: &'s mut PlanState<'a>,
    /// By node: the runs of its slots of today that may move.
    pub homes: Vec<Vec<Run>>,
    /// By node and role: the most that it is to hold.
    limit: Vec<f64>,
    price: Vec<f64>,
    weight: f64,
    pub costs: Prices,
    pub budget: &'s mut Budget,
}

/// A slot, a node that it may go to, and the gain for its price.
type Move = (f64, usize, usize);

impl<'s, 'a> Multipliers<'s, 'a> {
    pub(crate) fn new(
        state: &'s mut PlanState<'a>,
        mut limit: Vec<f64>,
        costs: Prices,
        budget: &'s mut Budget,
    ) -> Self {
        limit.iter_mut().for_each(|limit| *limit -= MET);
        Multipliers {
            price: vec![0.0; limit.len()],
            weight: SINGLES.weight,
            homes: homes(state),
            state,
            limit,
            costs,
            budget,
        }
    }

    /// Whole lines of slots, then single slots at a price that outweighs any range.
    pub(crate) fn solve_lines(&mut self) {
        self.rounds(&LINES, Self::line);
        if self.excess() < NEARLY {
            self.weight = LAST_WEIGHT;
            self.price.fill(0.0);
            self.pass(LAST_PASSES, Self::singles);
        }
    }

    /// Single slots.
    pub(crate) fn solve_singles(&mut self) {
        self.rounds(&SINGLES, Self::singles);
    }

    /// Moves slots until all nodes keep their limits or come no nearer.
    fn rounds(&mut self, pace: &Pace, step: fn(&mut Self, usize) -> bool) {
        self.weight = pace.weight;
        let (mut least, mut slow) = (f64::INFINITY, 0);
        for round in 0..pace.rounds {
            self.pass(pace.passes, step);
            let excess = self.excess();
            slow = if excess > SLOW.0 * least { slow + 1 } else { 0 };
            least = least.min(excess);
            if excess <= MET || slow >= SLOW.1 && round >= pace.rounds / 2 || self.budget.is_spent()
            {
                return;
            }
            self.raise_prices();
            self.weight = (self.weight * pace.growth).min(MOST_WEIGHT);
        }
    }

    /// Steps out of each node, the dearest first, until none gains.
    fn pass(&mut self, passes: usize, step: fn(&mut Self, usize) -> bool) {
        for _ in 0..passes {
            let mut any = false;
            for node in self.dearest() {
                any |= step(self, node);
            }
            if !any || self.budget.is_spent() {
                return;
            }
        }
    }

    fn raise_prices(&mut self) {
        for node in self.shares().request.staying().collect::<Vec<_>>() {
            for role in 0..self.roles() {
                let place = self.place(node, role);
                let over = self.state.loads(node)[role] - self.limit[place];
                self.price[place] = (self.price[place] + self.weight * over).clamp(0.0, MOST);
            }
        }
    }

    pub(crate) fn shares(&self) -> &'a Shares<'a> {
        self.state.shares
    }

    pub(crate) fn roles(&self) -> usize {
        self.state.shares.weighed()
    }

    #[inline]
    pub(crate) fn place(&self, node: usize, role: usize) -> usize {
        node * self.state.shares.weighed() + role
    }

    /// The most that a node is above a limit.
    fn excess(&self) -> f64 {
        let nodes = self.shares().request.staying();
        let over = nodes.flat_map(|node| {
            let roles = 0..self.roles();
            roles.map(move |role| self.state.loads(node)[role] - self.limit[self.place(node, role)])
        });
        over.fold(0.0, f64::max)
    }

    /// The price of a load on a node in a role.
    #[inline]
    pub(crate) fn cost(&self, place: usize, load: f64) -> f64 {
        let slope = self.slope(place, load);
        slope * slope / (2.0 * self.weight)
    }

    /// The price of a little more.
    #[inline]
    pub(crate) fn slope(&self, place: usize, load: f64) -> f64 {
        (self.price[place] + self.weight * (load - self.limit[place])).max(0.0)
    }

    /// The same of a node, by role.
    pub(crate) fn slopes(&self, node: usize) -> Vec<f64> {
        let loads = self.state.loads(node);
        let roles = 0..self.roles();
        roles
            .map(|role| self.slope(self.place(node, role), loads[role]))
            .collect()
    }

    pub(crate) fn slope_of(&self, node: usize) -> f64 {
        let loads = self.state.loads(node);
        let slopes = (0..self.roles()).map(|role| self.slope(self.place(node, role), loads[role]));
        slopes.sum()
    }

    /// All nodes, those that pay most first.
    fn dearest(&self) -> Vec<usize> {
        let nodes = 0..self.shares().nodes;
        let mut keyed: Vec<(f64, usize)> = nodes.map(|node| (self.slope_of(node), node)).collect();
        keyed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        keyed.into_iter().map(|(_, node)| node).collect()
    }

    /// Where slots of a node may go, the best first. With many nodes this is most of the work.
    pub(crate) fn receivers(&mut self, from: usize) -> Vec<usize> {
        let nodes = self.shares().request.staying().filter(|node| *node != from);
        let mut keyed: Vec<(f64, f64, usize)> = nodes
            .map(|node| {
                let loads = self.state.loads(node);
                let room =
                    (0..self.roles()).map(|role| self.limit[self.place(node, role)] - loads[role]);
                (
                    self.slope_of(node),
                    -room.fold(f64::INFINITY, f64::min),
                    node,
                )
            })
            .collect();
        self.budget.spent += keyed.len() as u64;
        if keyed.len() > RECEIVERS {
            let order = |a: &(f64, f64, usize), b: &(f64, f64, usize)| {
                a.0.total_cmp(&b.0)
                    .then(a.1.total_cmp(&b.1))
                    .then(a.2.cmp(&b.2))
            };
            keyed.select_nth_unstable_by(RECEIVERS - 1, order);
            keyed.truncate(RECEIVERS);
            keyed.sort_by(order);
        }
        keyed.into_iter().map(|(.., node)| node).collect()
    }

    /// Slots of a node, the best for their price first; each is judged again when it is its turn.
    fn singles(&mut self, node: usize) -> bool {
        let is_pressed = self.slope_of(node) > 0.0;
        let is_home = |slot: &u16| usize::from(self.state.home(usize::from(*slot))) == node;
        if !is_pressed && self.state.held(node).iter().all(is_home) {
            return false;
        }
        let receivers = self.receivers(node);
        let roles = self.roles();
        let own = self.slopes(node);
        let others: Vec<Vec<f64>> = receivers.iter().map(|to| self.slopes(*to)).collect();
        let mut moves: Vec<Move> = Vec::new();
        let mut work = 0;
        for slot in self.state.held(node).iter().map(|slot| usize::from(*slot)) {
            let is_home = usize::from(self.state.home(slot)) == node;
            if self.shares().is_fixed(slot) || is_home && !is_pressed || fills(self.shares(), slot)
            {
                continue;
            }
            let price = self.costs.of_run(self.shares(), Run::single(slot));
            let mut best: Option<Move> = None;
            let mut most = LEAST;
            for (to, slopes) in receivers.iter().zip(&others) {
                let to_home = usize::from(self.state.home(slot)) == *to;
                // Never below the gain, as costs are convex.
                let mut bound = match (is_home, to_home) {
                    (true, _) => -price,
                    (false, true) => price + 2.0 * self.costs.range,
                    (false, false) => 2.0 * self.costs.range,
                };
                for role in 0..roles {
                    bound += self.shares().load(slot, role) * (own[role] - slopes[role]);
                }
                if bound <= most {
                    continue;
                }
                work += 1;
                let (gain, paid) = self.gain(slot, *to);
                if gain > most {
                    most = gain;
                    let score = if paid > 0.0 {
                        gain / paid
                    } else {
                        MOST * MOST + gain
                    };
                    best = Some((score, slot, *to));
                }
            }
            moves.extend(best);
        }
        let held = self.state.held(node).len() * receivers.len();
        self.budget.spent += work + held as u64 / BOUND;
        moves.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut any = false;
        for (_, slot, to) in moves {
            let mut best = (self.gain(slot, to).0, to);
            for other in receivers.iter().filter(|other| **other != to) {
                let gain = self.gain(slot, *other).0;
                if gain > best.0 + LEAST {
                    best = (gain, *other);
                }
            }
            if best.0 > LEAST {
                self.state.give(Run::single(slot), best.1);
                any = true;
            }
        }
        any
    }

    /// The gain of a move, and its price.
    fn gain(&self, slot: usize, to: usize) -> (f64, f64) {
        let run = Run::single(slot);
        let price = self.costs.of_step(self.state, run, to);
        (self.saved(run, to) - price, price)
    }

    /// By how much both nodes pay less for room if `to` gets a run.
    pub(crate) fn saved(&self, run: Run, to: usize) -> f64 {
        let (shares, from) = (self.shares(), usize::from(self.state.owner[run.first]));
        let of_role = |role: usize| {
            let load = shares.before(run.end)[role] - shares.before(run.first)[role];
            let (left, there) = (self.place(from, role), self.place(to, role));
            let [held, holds] = [from, to].map(|node| self.state.loads(node)[role]);
            let lower = self.cost(left, held) - self.cost(left, held - load);
            lower + (self.cost(there, holds) - self.cost(there, holds + load))
        };
        (0..self.roles()).map(of_role).sum()
    }
}

/// Whether a slot is heavier than any share: it stays.
fn fills(shares: &Shares<'_>, slot: usize) -> bool {
    let mut roles = 0..shares.weighed();
    shares.is_giant[slot] && roles.any(|role| shares.load(slot, role) > shares.largest(role))
}

/// By node: the runs of its slots of today that may move.
fn homes(state: &PlanState<'_>) -> Vec<Vec<Run>> {
    let shares = state.shares;
    let mut homes: Vec<Vec<Run>> = vec![Vec::new(); shares.nodes];
    for slot in 0..shares.slots {
        let home = state.home(slot);
        if home == NOBODY || shares.is_fixed(slot) || fills(shares, slot) {
            continue;
        }
        let runs = &mut homes[usize::from(home)];
        match runs.last_mut() {
            Some(run) if run.end == slot => run.end += 1,
            _ => runs.push(Run::single(slot)),
        }
    }
    homes
}
