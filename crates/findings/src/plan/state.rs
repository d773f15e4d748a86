//! A plan in the making: the owners of slots so far, the most that each node may hold, and a log by which steps are taken back.

use crate::plan::problem::MoveLimits;
use crate::plan::shares::{NOBODY, Shares};

/// Less than this is rounding.
pub(super) const NEAR: f64 = 1e-9;

/// A run of slots with one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub first: usize,
    pub end: usize,
}

impl Run {
    /// A slot alone.
    pub(super) fn single(slot: usize) -> Self {
        Run {
            first: slot,
            end: slot + 1,
        }
    }

    pub(super) fn len(self) -> usize {
        self.end - self.first
    }
}

/// Owners and loads, as far as the plan has come.
#[derive(Clone)]
pub(super) struct PlanState<'a> {
    pub shares: &'a Shares<'a>,
    /// T by goal: what a node may hold, in its fair shares.
    aims: Vec<f64>,
    /// By goal: how much more than its tolerance above its heaviest slot a node may hold that is filled by that.
    slack: Vec<f64>,
    /// By goal: up to how many shares a node is filled for now, and by node and role what each held when that began.
    level: Option<(Vec<f64>, Vec<f64>)>,
    /// The owners of slots before any move.
    home: Vec<u16>,
    pub owner: Vec<u16>,
    load: Vec<f64>,
    target: Vec<f64>,
    /// The slots of each node, ascending.
    held: Vec<Vec<u16>>,
    log: Vec<(Run, u16)>,
    /// The loads before anything moved.
    before: Vec<f64>,
    /// Whether the limits of the problem are kept to, and what has moved.
    pub limits: MoveLimits,
    pub(super) moved: (u64, u128),
}

impl<'a> PlanState<'a> {
    /// Nothing has moved.
    pub(super) fn new(shares: &'a Shares<'a>, aims: &[f64]) -> Self {
        let mut state = PlanState {
            shares,
            aims: aims.to_vec(),
            slack: vec![1.0; aims.len()],
            level: None,
            home: (0..shares.slots).map(|slot| shares.home(slot)).collect(),
            owner: (0..shares.slots).map(|slot| shares.home(slot)).collect(),
            load: vec![0.0; shares.nodes * shares.roles],
            target: vec![0.0; shares.nodes * shares.roles],
            held: vec![Vec::new(); shares.nodes],
            log: Vec::new(),
            before: Vec::new(),
            limits: MoveLimits::default(),
            moved: (0, 0),
        };
        for slot in 0..shares.slots {
            if state.owner[slot] != NOBODY {
                let node = usize::from(state.owner[slot]);
                state.held[node].push(slot as u16);
                for role in 0..shares.roles {
                    state.load[node * shares.roles + role] += shares.load(slot, role);
                }
            }
        }
        state.before.clone_from(&state.load);
        state.set_targets();
        state
    }

    /// The same as where another plan begins: nothing has moved.
    pub(super) fn settled(&self) -> Self {
        PlanState {
            home: self.owner.clone(),
            log: Vec::new(),
            moved: (0, 0),
            ..self.clone()
        }
    }

    /// The node that owns a slot when nothing has moved.
    #[inline]
    pub(super) fn home(&self, slot: usize) -> u16 {
        self.home[slot]
    }

    /// Aims at other loads. What is above `least` lets nodes that a slot fills off as much as the others.
    pub(super) fn set_aims(&mut self, aims: &[f64], least: &[f64]) {
        self.aims = aims.to_vec();
        let both = aims.iter().zip(least);
        self.slack = both
            .map(|(aim, least)| f64::max(aim / least, 1.0))
            .collect();
        self.level = None;
        self.set_targets();
    }

    /// Until `set_aims` no node is filled above these shares by goal; one that is fuller already stays as it is.
    pub(super) fn set_level(&mut self, level: &[f64]) {
        self.level = Some((level.to_vec(), self.load.clone()));
        self.set_targets();
    }

    /// Ends `set_level`.
    pub(super) fn drop_level(&mut self) {
        if self.level.take().is_some() {
            self.set_targets();
        }
    }

    /// T by goal.
    pub(super) fn aims(&self) -> &[f64] {
        &self.aims
    }

    fn set_targets(&mut self) {
        (0..self.shares.nodes).for_each(|node| self.set_targets_of(node));
    }

    fn set_targets_of(&mut self, node: usize) {
        for role in 0..self.shares.roles {
            let heaviest = self.heaviest_giant(node, role, None);
            self.target[node * self.shares.roles + role] = self.target_with(node, role, heaviest);
        }
    }

    /// The most that a node may hold if its heaviest giant is `heaviest`.
    fn target_with(&self, node: usize, role: usize, heaviest: f64) -> f64 {
        let shares = self.shares;
        if shares.leaves(node) {
            return 0.0;
        }
        let ceiling = shares.ceilings(node)[role];
        let capacity = shares.capacity(node, role);
        let is_filled = heaviest > capacity;
        if role >= shares.weighed() {
            return ceiling;
        }
        if role >= shares.goals {
            let (_, beside) = shares.guard(role);
            return if is_filled {
                ceiling.max(beside * heaviest)
            } else {
                ceiling
            };
        }
        let mut target = self.aims[role] * capacity;
        if is_filled {
            let factor = (1.0 + shares.problem.goals[role].tolerance) * self.slack[role];
            target = target.max(factor * heaviest);
        } else if let Some((level, began)) = &self.level {
            let held = began[node * shares.roles + role];
            target = target.min(held.max(level[role] * capacity));
        }
        target.max(shares.least(node, role, heaviest)).min(ceiling)
    }

    /// The heaviest giant of a node, except for one slot.
    pub(super) fn heaviest_giant(&self, node: usize, role: usize, but: Option<usize>) -> f64 {
        let giants = self.shares.giants.iter().map(|slot| usize::from(*slot));
        let its =
            giants.filter(|slot| usize::from(self.owner[*slot]) == node && Some(*slot) != but);
        its.map(|slot| self.shares.load(slot, role))
            .fold(0.0, f64::max)
    }

    /// The load of a node, in all roles.
    #[inline]
    pub(super) fn loads(&self, node: usize) -> &[f64] {
        &self.load[node * self.shares.roles..(node + 1) * self.shares.roles]
    }

    /// The most that a node may hold, in all roles.
    #[inline]
    pub(super) fn targets(&self, node: usize) -> &[f64] {
        &self.target[node * self.shares.roles..(node + 1) * self.shares.roles]
    }

    /// The load that no move may bring a node above: its hard limit in a goal, its target in a guard.
    #[inline]
    pub(super) fn most(&self, node: usize, role: usize) -> f64 {
        if role < self.shares.goals {
            self.shares.ceilings(node)[role]
        } else {
            self.targets(node)[role]
        }
    }

    /// The slots of a node, ascending.
    pub(super) fn held(&self, node: usize) -> &[u16] {
        &self.held[node]
    }

    /// The load of a node above its targets, in all roles together.
    #[inline]
    pub(super) fn over(&self, node: usize) -> f64 {
        let both = self.loads(node).iter().zip(self.targets(node));
        both.map(|(load, target)| above(load - target)).sum()
    }

    /// The same of all nodes.
    pub(super) fn total_over(&self) -> f64 {
        (0..self.shares.nodes).map(|node| self.over(node)).sum()
    }

    /// Whether every node is below its hard limits, or holds no more than before anything moved.
    pub(super) fn keeps_hard_limits(&self) -> bool {
        (0..self.shares.nodes).all(|node| {
            let before = &self.before[node * self.shares.roles..];
            let mut roles = self.loads(node).iter().zip(before).enumerate();
            roles.all(|(role, (load, before))| *load <= self.most(node, role).max(*before) + NEAR)
        })
    }

    /// By how much both nodes together come nearer to their targets if `to` gets a slot that may be a giant; negative
    /// where they get further from them, `None` where a hard limit forbids it.
    pub(super) fn gain_of_single(&self, slot: usize, to: usize) -> Option<f64> {
        let shares = self.shares;
        let from = usize::from(self.owner[slot]);
        let mut gain = self.over(from) + self.over(to);
        for role in 0..shares.roles {
            let load = shares.load(slot, role);
            let (mut left, mut there) = (self.targets(from)[role], self.targets(to)[role]);
            if shares.is_giant[slot] && role < shares.weighed() {
                left = self.target_with(from, role, self.heaviest_giant(from, role, Some(slot)));
                let heaviest = self.heaviest_giant(to, role, None).max(load);
                there = self.target_with(to, role, heaviest);
            }
            let after = self.loads(to)[role] + load;
            let most = if role < shares.goals {
                shares.ceilings(to)[role]
            } else {
                there
            };
            if load > 0.0 && after > most + NEAR {
                return None;
            }
            gain -= above(self.loads(from)[role] - load - left) + above(after - there);
        }
        Some(gain)
    }

    /// Gives a run of slots of one node to another.
    pub(super) fn give(&mut self, run: Run, to: usize) {
        let from = self.owner[run.first];
        if usize::from(from) != to {
            self.log.push((run, from));
            self.transfer(run, to);
        }
    }

    /// Gives all slots to the owners of a plan.
    pub(super) fn carry_out(&mut self, owner: &[Option<usize>]) {
        for (slot, owner) in owner.iter().enumerate() {
            if let Some(node) = owner
                && usize::from(self.owner[slot]) != *node
                && self.owner[slot] != NOBODY
            {
                self.give(Run::single(slot), *node);
            }
        }
    }

    /// The node that owns each slot.
    pub(super) fn owners(&self) -> Vec<Option<usize>> {
        let owner = self.owner.iter();
        owner
            .map(|node| (*node != NOBODY).then_some(usize::from(*node)))
            .collect()
    }

    /// Where the log is now, for `undo`.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Takes back all that happened since `mark`.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.log.len() > mark
            && let Some((run, from)) = self.log.pop()
        {
            self.transfer(run, usize::from(from));
        }
    }

    fn transfer(&mut self, run: Run, to: usize) {
        let shares = self.shares;
        let from = usize::from(self.owner[run.first]);
        self.moved = self.moved_with(run, to);
        self.owner[run.first..run.end].fill(to as u16);
        for role in 0..shares.roles {
            let load = shares.before(run.end)[role] - shares.before(run.first)[role];
            self.load[from * shares.roles + role] -= load;
            self.load[to * shares.roles + role] += load;
        }
        let place =
            |held: &[u16], slot: usize| held.partition_point(|other| usize::from(*other) < slot);
        let (start, end) = (
            place(&self.held[from], run.first),
            place(&self.held[from], run.end),
        );
        self.held[from].drain(start..end);
        let at = place(&self.held[to], run.first);
        self.held[to].splice(at..at, run.first as u16..run.end as u16);
        if self.shares.is_giant[run.first..run.end].contains(&true) {
            self.set_targets_of(from);
            self.set_targets_of(to);
        }
    }
}

/// A load above its target, apart from rounding.
#[inline]
pub(super) fn above(excess: f64) -> f64 {
    (excess - NEAR).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::problem::{Goal, Problem};
    use slotscope_engine::metric::Metric;

    fn random(seed: &mut u64, below: usize) -> usize {
        *seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (*seed >> 33) as usize % below
    }

    /// Loads, slots and movement as they are counted anew.
    fn check(state: &PlanState<'_>) {
        let shares = state.shares;
        let mut moved = (0, 0);
        for node in 0..shares.nodes {
            let its = |slot: &usize| usize::from(state.owner[*slot]) == node;
            let slots: Vec<usize> = (0..shares.slots).filter(its).collect();
            assert_eq!(
                state.held(node),
                slots.iter().map(|slot| *slot as u16).collect::<Vec<_>>()
            );
            for role in 0..shares.roles {
                let load: f64 = slots.iter().map(|slot| shares.load(*slot, role)).sum();
                assert!((load - state.loads(node)[role]).abs() < 1e-9, "node {node}");
            }
            let away = slots
                .iter()
                .filter(|slot| shares.home(**slot) as usize != node);
            for slot in away {
                moved = (moved.0 + 1, moved.1 + shares.bytes(*slot, slot + 1));
            }
        }
        assert_eq!(state.moved(), moved);
    }

    #[test]
    fn loads_slots_and_movement_stay_right_through_moves_and_their_undoing() {
        let seed = &mut 5;
        let loads: Vec<Vec<u64>> = (0..2)
            .map(|_| (0..200).map(|_| random(seed, 100) as u64).collect())
            .collect();
        let goals = loads
            .iter()
            .map(|loads| Goal::even(Metric::Keys, loads, 4, 0.03));
        let owner = (0..200).map(|slot| Some(slot / 50)).collect();
        let mut problem = Problem::new(goals.collect(), owner);
        problem.leaves[3] = true;
        let shares = Shares::new(&problem, &[]);
        let mut state = PlanState::new(&shares, &[1.03, 1.03]);
        let start = state.owner.clone();
        let mark = state.mark();
        for _ in 0..300 {
            let first = random(seed, 200);
            let same = |slot: &usize| state.owner[*slot] == state.owner[first];
            let most = 1 + random(seed, 8);
            let len = (first..200).take_while(same).take(most).count();
            let (run, to) = (
                Run {
                    first,
                    end: first + len,
                },
                random(seed, 4),
            );
            let runs = state.moved_runs().len() as i32 + state.more_runs(run, to);
            state.give(run, to);
            assert_eq!(state.moved_runs().len() as i32, runs);
            check(&state);
        }
        state.undo(mark);
        check(&state);
        assert_eq!(state.owner, start);
    }

    #[test]
    fn a_node_may_hold_a_slot_that_is_heavier_than_its_share_and_little_beside_it() {
        let loads = [300, 100, 100, 100];
        let owner = vec![Some(0), Some(0), Some(1), Some(2)];
        let mut goal = Goal::even(Metric::Keys, &loads, 3, 0.03);
        goal.hard = vec![Some(305), None, Some(150)];
        let problem = Problem::new(vec![goal], owner);
        let shares = Shares::new(&problem, &[]);
        let state = PlanState::new(&shares, &[1.03]);
        let targets = [0, 1, 2].map(|node| (state.targets(node)[0] * 1000.0).round());
        assert_eq!(
            targets,
            [1525.0, 1030.0, 750.0],
            "the first and the last by their hard limit"
        );
        assert!(
            state.gain_of_single(0, 2).is_none(),
            "it cannot hold that slot"
        );
        assert!(state.gain_of_single(0, 1).is_some());
    }
}
