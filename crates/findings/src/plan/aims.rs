//! The aims of a plan: T of each goal, and whether a state is near enough to it.
//!
//! A node may hold T of its fair share, or the tolerance above its heaviest slot where that is more than its share. T is
//! the tolerance above 1, or above the sum of slots that must share a node. Where a proof says that loads exclude each
//! other, T of the later one is a little above what is proven: the last percents of a ratio that stays bad cost many times
//! the ranges.

use crate::plan::lower_bound::LowerBound;
use crate::plan::problem::{Goal, Problem};
use crate::plan::proof::{Proof, ProofInputs, exclusion};
use crate::plan::shares::Shares;
use crate::plan::state::{NEAR, PlanState};

/// Where loads exclude each other, this much above the proven least is aimed at.
const ABOVE_PROOF: f64 = 1.10;
/// Loads exclude each other where the least of one is this much above its floor.
const EXCLUDED: f64 = 1.03;
/// A node is above its target from here on: below, a plan is not worth its moves.
pub(super) const GATE: f64 = 1.02;
/// The least gain of a plan, in fair shares.
const GAIN: f64 = 0.02;
/// Giants that leave the other nodes more than this of their shares change nothing for those.
const HARDLY_LESS: f64 = 0.98;

/// The aims in a problem, whoever owns the slots.
pub(super) struct Aims {
    /// T by goal.
    pub own: Vec<f64>,
    /// The same where proofs raise it.
    pub raised: Vec<f64>,
    pub floors: Vec<LowerBound>,
    /// By goal: why it cannot be met with the first one, or with a guard.
    pub proofs: Vec<Option<Proof>>,
    /// By goal, where slots fill whole nodes: what the others are filled to at first, so that they share the rest.
    pub level: Option<Vec<f64>>,
}

impl Aims {
    pub(super) fn new(shares: &Shares<'_>) -> Self {
        let problem = shares.problem;
        let floors: Vec<LowerBound> = problem
            .goals
            .iter()
            .map(|goal| floor(problem, goal))
            .collect();
        let own: Vec<f64> = problem
            .goals
            .iter()
            .zip(&floors)
            .map(|(goal, floor)| (1.0 + goal.tolerance) * floor.together.max(1.0))
            .collect();
        let inputs = ProofInputs::new(shares, &own);
        let guards = shares.goals..shares.goals + problem.guards.len();
        let proof = |goal: usize| {
            let kept = (goal > 0).then_some(0).into_iter().chain(guards.clone());
            let proofs = kept.filter_map(|kept| exclusion(&inputs, kept, goal));
            let strongest = proofs.max_by(|a, b| a.least.total_cmp(&b.least));
            strongest.filter(|proof| proof.least > EXCLUDED * floors[goal].over_fair)
        };
        let proofs: Vec<Option<Proof>> = (0..shares.goals).map(proof).collect();
        let raise = |(own, proof): (&f64, &Option<Proof>)| {
            let least = proof.as_ref().map_or(0.0, |proof| proof.least);
            own.max(ABOVE_PROOF * least)
        };
        let raised = own.iter().zip(&proofs).map(raise).collect();
        let level: Vec<f64> = (0..shares.goals).map(|goal| level(shares, goal)).collect();
        Aims {
            raised,
            floors,
            proofs,
            level: level.iter().any(|level| level.is_finite()).then_some(level),
            own,
        }
    }

    /// Whether a proof raises some aim and yet forbids none of the unraised ones.
    pub(super) fn may_meet_their_own(&self) -> bool {
        let forbids = |(own, proof): (&f64, &Option<Proof>)| {
            proof.as_ref().is_some_and(|proof| proof.least > *own)
        };
        self.raised != self.own && !self.own.iter().zip(&self.proofs).any(forbids)
    }

    /// Whether something is far enough from its aim that a plan is looked for.
    pub(super) fn asks_for_a_plan(&self, state: &PlanState<'_>) -> bool {
        let goals = 0..state.shares.goals;
        holds_leftovers(state)
            || !within_ceilings(state)
            || goals
                .into_iter()
                .any(|goal| self.height(state, goal) > GATE * self.raised[goal])
    }

    /// Whether a plan is worth carrying out.
    pub(super) fn is_step(&self, before: &PlanState<'_>, after: &PlanState<'_>) -> bool {
        if holds_leftovers(before) && leftovers(after) < leftovers(before)
            || !within_ceilings(before) && excess(after) < excess(before) - NEAR
        {
            return true;
        }
        let gains = |goal: usize| {
            let now = self.height(before, goal);
            now > GATE * self.raised[goal] && now - self.height(after, goal) >= GAIN
        };
        // An earlier goal that gets worse would be repaired by the next plan, which undoes this one.
        let worsens = |goal: usize| {
            let limit = self.height(before, goal).max(GATE * self.raised[goal]);
            self.height(after, goal) > limit + NEAR
        };
        let first = (0..before.shares.goals).find(|goal| gains(*goal) || worsens(*goal));
        first.is_some_and(|goal| !worsens(goal))
    }

    /// The fullest node in fair shares, one with a slot that is heavier than its share measured by that slot.
    pub(super) fn height(&self, state: &PlanState<'_>, goal: usize) -> f64 {
        let over = state.shares.problem.staying().map(|node| {
            let allowed = self.reachable(state, node, goal);
            state.loads(node)[goal] / allowed * self.own[goal]
        });
        over.fold(0.0, f64::max)
    }

    /// The same, and what may not leave the node.
    pub(super) fn reachable(&self, state: &PlanState<'_>, node: usize, goal: usize) -> f64 {
        let heaviest = state.heaviest_giant(node, goal, None);
        self.own_target(state, node, goal)
            .max(state.shares.least(node, goal, heaviest))
    }

    /// The most that a node may hold of a goal, before any proof and any hard limit.
    pub(super) fn own_target(&self, state: &PlanState<'_>, node: usize, goal: usize) -> f64 {
        let capacity = state.shares.capacity(node, goal);
        let heaviest = state.heaviest_giant(node, goal, None);
        let target = self.own[goal] * capacity;
        if heaviest > capacity {
            target.max((1.0 + state.shares.problem.goals[goal].tolerance) * heaviest)
        } else {
            target
        }
    }
}

/// The least that the fullest node can reach in a goal.
fn floor(problem: &Problem<'_>, goal: &Goal<'_>) -> LowerBound {
    let fair = problem.fair(goal.loads, &goal.capacity);
    LowerBound::new(goal.loads, &problem.owner, &fair)
}

/// Slots that nodes own which are to be emptied.
pub(super) fn leftovers(state: &PlanState<'_>) -> usize {
    let nodes = (0..state.shares.nodes).filter(|node| state.shares.leaves(*node));
    nodes.map(|node| state.held(node).len()).sum()
}

fn holds_leftovers(state: &PlanState<'_>) -> bool {
    leftovers(state) > 0
}

/// The load of nodes above their hard limits.
pub(super) fn excess(state: &PlanState<'_>) -> f64 {
    let node = |node: usize| {
        let both = state.loads(node).iter().zip(state.shares.ceilings(node));
        both.take(state.shares.goals)
            .map(|(load, ceiling)| (load - ceiling).max(0.0))
            .sum::<f64>()
    };
    state.shares.problem.staying().map(node).sum()
}

fn within_ceilings(state: &PlanState<'_>) -> bool {
    excess(state) <= NEAR
}

/// The level up to which the nodes that no slot fills share a goal, with its tolerance; infinite if that is nearly all.
fn level(shares: &Shares<'_>, goal: usize) -> f64 {
    let mut giants: Vec<f64> = shares
        .giants
        .iter()
        .map(|slot| shares.load(usize::from(*slot), goal))
        .collect();
    giants.sort_by(|a, b| b.total_cmp(a));
    let mut nodes = shares.staying as f64;
    let mut load: f64 = (0..shares.slots).map(|slot| shares.load(slot, goal)).sum();
    for giant in giants {
        if nodes <= 1.0 || giant <= load / nodes {
            break;
        }
        (nodes, load) = (nodes - 1.0, load - giant);
    }
    if load / nodes < HARDLY_LESS {
        (1.0 + shares.problem.goals[goal].tolerance) * load / nodes
    } else {
        f64::INFINITY
    }
}
