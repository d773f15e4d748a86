//! One plan for a request without limits on what moves. Solves for the aims; if they are missed, raises them role by
//! role, each from the result for the roles before it, in ever smaller steps. Keeps the best result overall, so that
//! one hopeless node does not excuse its neighbours.

use crate::aims::{Aims, LEAST_EXCESS, leftovers};
use crate::budget::Budget;
use crate::few::{SLACK, few};
use crate::greedy;
use crate::multipliers::Multipliers;
use crate::prices::Prices;
use crate::shares::NOBODY;
use crate::state::{Bounds, Cap, PlanState, Run};

/// Work of one solution in slots and pairs of slots, and the extra work per node.
const SOLUTION: (u64, u64) = (300_000, 1_200);
/// Bisection steps between a missed aim and the ratio reached without it.
const HALVINGS: usize = 4;
/// Aims this close are equal.
const CLOSE: f64 = 1.02;
/// A plan fewer of these steps above its aims is better at any price: first role by role, then over all roles.
const TIER: f64 = 0.02;
const STEP: f64 = 0.005;
/// Excess below this, over all aims, is ignored.
const MET: f64 = 1e-6;

/// The best placement found; nothing moves if nothing is better.
pub(crate) fn search<'a>(
    before: &PlanState<'a>,
    aims: &Aims,
    budget: &mut Budget,
) -> PlanState<'a> {
    let mut first = before.clone();
    first.set_bounds(&aims.bounds(&aims.aims));
    let prices = Prices::new(&first);
    let mut search = Search {
        cap: Cap::Aimed,
        before,
        aims,
        prices,
        best: rank(before, aims, 0.0),
        state: before.clone(),
        budget,
    };
    search.run();
    search.try_few();
    search.state
}

struct Search<'s, 'a> {
    /// The memory limits to keep.
    cap: Cap,
    before: &'s PlanState<'a>,
    aims: &'s Aims,
    prices: Prices,
    best: Rank,
    state: PlanState<'a>,
    budget: &'s mut Budget,
}

/// The quality of a placement, compared lexicographically: lower is better.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(crate) struct Rank {
    /// Slots on nodes that leave.
    leftovers: usize,
    /// Memory above node limits that was not there before, and in total.
    risen: u64,
    above_limits: u64,
    above_ceilings: u64,
    /// How far each role is from even, in coarse steps: a tiny gain in the first role does not outweigh a large loss in
    /// the second.
    uneven: Vec<u64>,
    /// The same for the band minus what growth may take.
    near_bands: Vec<u64>,
    /// Memory above fill targets.
    above_fill: u64,
    /// Loads above the aims, role by role, then over all roles in small steps.
    above_aims: Vec<u64>,
    over: u64,
    price: f64,
}

/// The rank of a placement at a price.
pub(crate) fn rank(state: &PlanState<'_>, aims: &Aims, price: f64) -> Rank {
    let roles = 0..aims.aims.len();
    let steps = |over: f64, step: f64| (over / step - 1e-3).ceil().max(0.0) as u64;
    let above = |role: usize, level: f64| {
        let height = aims.height(state, role, level);
        if level.is_finite() { height - 1.0 } else { 0.0 }
    };
    let over: Vec<f64> = roles
        .clone()
        .map(|role| (above(role, aims.aims[role]) - SLACK).max(0.0))
        .collect();
    let above_ceilings = roles.clone().map(|role| aims.above_ceiling(state, role));
    let above_level = |levels: &[f64]| {
        roles
            .clone()
            .map(|role| steps(above(role, levels[role]), TIER))
            .collect()
    };
    Rank {
        leftovers: leftovers(state),
        risen: steps(state.excess(Cap::HardOrToday), LEAST_EXCESS),
        above_limits: steps(state.excess(Cap::Hard), LEAST_EXCESS),
        above_ceilings: steps(above_ceilings.sum(), STEP),
        uneven: above_level(&aims.bands),
        near_bands: above_level(&aims.mids),
        above_fill: steps(state.excess(Cap::Aimed), LEAST_EXCESS),
        above_aims: over.iter().map(|over| steps(*over, TIER)).collect(),
        over: steps(over.iter().sum(), STEP),
        price,
    }
}

impl<'a> Search<'_, 'a> {
    /// Finds the best placement.
    fn run(&mut self) {
        let (aims, bands) = (self.aims.aims.clone(), self.aims.mids.clone());
        if self.solve(None, &self.bounds(&aims)).is_some() {
            return;
        }
        // Evening out a role is worth more than filling nodes less than allowed.
        if self.before.shares.request.caps.is_some() {
            self.cap = Cap::Hard;
            self.solve(None, &self.bounds(&aims));
        }
        let even = self.solve(None, &self.bounds(&bands));
        let is_goal = |role: &usize| self.aims.is_goal[*role];
        let goals: Vec<usize> = (0..self.aims.aims.len()).filter(is_goal).collect();
        if even.is_some() {
            self.one_by_one(&goals, &bands, even);
        } else {
            for leader in &goals {
                let others = goals.iter().filter(|role| *role != leader);
                let order: Vec<usize> = [leader].into_iter().chain(others).copied().collect();
                self.one_by_one(&order, &self.open(), None);
            }
        }
        if !self.keep_limits() {
            self.finish(&goals);
        }
    }

    /// Prices of room where runs of slots have left a role above its aim: for all roles, else for one beside the least of
    /// another that is found.
    fn finish(&mut self, goals: &[usize]) {
        let is_over = |steps: &[u64]| steps.iter().any(|over| *over > 0);
        let rank = &self.best;
        let [is_uneven, is_near, is_above] =
            [&rank.uneven, &rank.near_bands, &rank.above_aims].map(|steps| is_over(steps));
        if rank.leftovers > 0 || !is_uneven && !is_above {
            return;
        }
        let mids = self.aims.mids.clone();
        // The rest of the other budget differs from one search to the next.
        let mut budget = Budget::new(self.budget.most / 2);
        if !is_uneven && !is_near || self.finish_at(&mids, &mut budget) {
            // Growth takes less of what is lower.
            let mut levels = mids.clone();
            for role in goals {
                let (aim, mid) = (self.aims.aims[*role], mids[*role]);
                let between = (mid > CLOSE * aim).then(|| (aim * mid).sqrt());
                let mut lower = [aim].into_iter().chain(between);
                let met = lower.find(|level| {
                    levels[*role] = *level;
                    self.finish_at(&levels, &mut budget)
                });
                levels[*role] = met.unwrap_or(mid);
            }
            return;
        }
        let bands = self.aims.bands.clone();
        if self.finish_at(&bands, &mut budget) {
            return;
        }
        for role in goals {
            let height =
                |state: &PlanState<'_>| mids[*role] * self.aims.height(state, *role, mids[*role]);
            let (mut low, mut high) = (mids[*role], height(&self.state));
            for _ in 0..HALVINGS {
                if high / low <= CLOSE || budget.is_spent() {
                    break;
                }
                let mut levels = mids.clone();
                levels[*role] = (low * high).sqrt();
                if self.finish_at(&levels, &mut budget) {
                    high = levels[*role]
                } else {
                    low = levels[*role]
                }
            }
        }
    }

    /// Whether all nodes are brought within these levels: from today by lines of slots, else from the best by single slots.
    fn finish_at(&mut self, levels: &[f64], budget: &mut Budget) -> bool {
        let shares = self.before.shares;
        let mut today = self.before.clone();
        // Prices are not for slots that fill a node, nor for nodes that leave.
        for slot in 0..shares.slots {
            let home = today.owner[slot];
            if home != NOBODY && (shares.is_giant[slot] || shares.leaves(usize::from(home))) {
                today.give(Run::single(slot), usize::from(self.state.owner[slot]));
            }
        }
        self.price_at(levels, today, |prices| prices.solve_lines(), budget)
            || self.price_at(
                levels,
                self.state.clone(),
                |prices| prices.solve_singles(),
                budget,
            )
    }

    /// Whether prices bring all nodes within these levels from `state`.
    fn price_at(
        &mut self,
        levels: &[f64],
        mut state: PlanState<'a>,
        solve: fn(&mut Multipliers<'_, 'a>),
        budget: &mut Budget,
    ) -> bool {
        let (within, roles) = (self.aims.within(self.before, levels), levels.len());
        let places =
            (0..state.shares.nodes).flat_map(|node| (0..roles).map(move |role| (node, role)));
        let limit = places
            .map(|(node, role)| within.most(node, role, state.heaviest_giant(node, role, None)));
        let limit: Vec<f64> = limit.collect();
        solve(&mut Multipliers::new(
            &mut state,
            limit,
            self.prices,
            budget,
        ));
        let owner = state.owners();
        self.offer(&owner, &self.bounds(levels)).is_some()
    }

    /// Changes the best, and today, slot by slot where few slots have a load.
    fn try_few(&mut self) {
        let today = rank(self.before, self.aims, 0.0).above_ceilings;
        for from in [self.before.clone(), self.state.clone()] {
            if let Some(owner) = few(&from, self.before, self.aims, self.prices) {
                let mut found = self.before.clone();
                found.carry_out(&owner);
                let rank = rank(&found, self.aims, self.prices.of_plan(&found));
                // A role rises above its ceiling for a limit of memory alone.
                if rank < self.best && rank.above_ceilings <= today {
                    (self.best, self.state) = (rank, found);
                }
            }
        }
    }

    fn bounds(&self, aims: &[f64]) -> Bounds {
        Bounds {
            cap: self.cap,
            ..self.aims.bounds(aims)
        }
    }

    /// Bounds without an aim, except for roles that do not move slots.
    fn open(&self) -> Vec<f64> {
        let roles = 0..self.aims.aims.len();
        let open = |role: usize| {
            if self.aims.is_goal[role] {
                f64::INFINITY
            } else {
                self.aims.mids[role]
            }
        };
        roles.map(open).collect()
    }

    /// Brings one role after another to its aim, or as near as possible, keeping the bounds of the others.
    fn one_by_one(&mut self, order: &[usize], held: &[f64], mut met: Option<PlanState<'a>>) {
        let mut settled = held.to_vec();
        for role in order {
            let kept = settled[*role];
            settled[*role] = self.aims.aims[*role];
            met = match self.solve(met.as_ref(), &self.bounds(&settled)) {
                Some(state) => Some(state),
                None => self.raise(&mut settled, *role, met),
            };
            settled[*role] = settled[*role].min(kept);
        }
    }

    /// Tightens the aim of a role to the lowest that can be met, given the roles before it.
    fn raise(
        &mut self,
        settled: &mut [f64],
        role: usize,
        mut met: Option<PlanState<'a>>,
    ) -> Option<PlanState<'a>> {
        let aim = settled[role];
        let height = |state: &PlanState<'_>| aim * self.aims.height(state, role, aim);
        let mut low = aim;
        let mut high = height(met.as_ref().unwrap_or(self.before)).max(aim);
        for _ in 0..HALVINGS {
            if high / low <= CLOSE || self.budget.is_spent() {
                break;
            }
            settled[role] = (low * high).sqrt();
            let bounds = self.bounds(settled);
            match self.solve(met.as_ref(), &bounds) {
                Some(state) => {
                    high = (aim * self.aims.height(&state, role, aim)).clamp(aim, settled[role]);
                    met = Some(state);
                }
                None => low = settled[role],
            }
        }
        settled[role] = high;
        met
    }

    /// If a node exceeds its memory limit, lifts ceilings: memory's first, then all. Whether that gave the best.
    fn keep_limits(&mut self) -> bool {
        let Some(caps) = &self.before.shares.request.caps else {
            return false;
        };
        let roles = self.aims.aims.len();
        let mut is_lifted = false;
        for lift in [vec![], vec![caps.role], (0..roles).collect::<Vec<usize>>()] {
            if self.state.excess(Cap::Hard) <= LEAST_EXCESS {
                break;
            }
            let before = self.best.clone();
            for cap in [Cap::Aimed, Cap::Hard, Cap::HardOrToday] {
                for aims in [&self.aims.aims, &self.aims.mids, &self.open()] {
                    let mut bounds = self.aims.bounds(aims);
                    bounds.cap = cap;
                    for role in &lift {
                        bounds.ceilings[*role] = f64::INFINITY;
                        bounds.tops[*role] = f64::INFINITY;
                        bounds.aims[*role] = f64::INFINITY;
                    }
                    self.solve(None, &bounds);
                }
            }
            if self.best != before {
                is_lifted = !lift.is_empty();
            }
        }
        is_lifted
    }

    /// Solves within these bounds from a given state at the least price, and keeps the best solution.
    fn solve(&mut self, from: Option<&PlanState<'a>>, bounds: &Bounds) -> Option<PlanState<'a>> {
        if self.budget.is_spent() {
            return None;
        }
        let mut state = from.unwrap_or(self.before).settled();
        state.set_bounds(bounds);
        let (least, of_node) = SOLUTION;
        let work = least + of_node * self.before.shares.nodes as u64;
        let mut budget = self.budget.part(work);
        let level = self.aims.level.as_deref();
        greedy::solve(&mut state, self.prices, level, &mut budget);
        self.budget.spent += budget.spent;
        let owner = state.owners();
        self.offer(&owner, bounds)
    }

    /// Gives back moves these bounds do not need, then keeps the placement if it is the best so far. Returns it if it
    /// meets the bounds.
    fn offer(&mut self, owner: &[Option<usize>], bounds: &Bounds) -> Option<PlanState<'a>> {
        let mut whole = self.before.clone();
        whole.set_bounds(bounds);
        whole.carry_out(owner);
        greedy::give_back(&mut whole, self.prices);
        let rank = rank(&whole, self.aims, self.prices.of_plan(&whole));
        if rank < self.best {
            (self.best, self.state) = (rank, whole.clone());
        }
        (whole.total_over() < MET).then_some(whole)
    }
}
