//! A plan under construction: current slot owners, and the maximum per node.

use crate::move_request::MoveLimits;
use crate::rest::NodeLoad;
use crate::shares::{NOBODY, Shares, allowed};

/// Less than this is rounding.
pub(crate) const NEAR: f64 = 1e-9;

/// A run of slots with one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub first: usize,
    pub end: usize,
}

impl Run {
    /// A slot alone.
    pub(crate) fn single(slot: usize) -> Self {
        Run {
            first: slot,
            end: slot + 1,
        }
    }

    pub(crate) fn len(self) -> usize {
        self.end - self.first
    }
}

/// The memory limit that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cap {
    /// Nodes are filled to this.
    Aimed,
    /// The hard cap.
    Hard,
    /// The hard cap, or today's load if higher.
    HardOrToday,
}

/// Upper bounds for nodes, by role.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    /// T: what a search brings nodes to, in fair shares.
    pub aims: Vec<f64>,
    /// The same for a node filled by one slot: shares beside that slot.
    pub beside: Vec<f64>,
    /// A finished plan has no node above this.
    pub ceilings: Vec<f64>,
    /// The ceiling for a node filled by one slot: shares beside that slot.
    pub most_beside: Vec<f64>,
    /// No node at all may exceed this, in fair shares.
    pub tops: Vec<f64>,
    pub cap: Cap,
}

/// Owners and loads at this point of the plan.
#[derive(Clone)]
pub(crate) struct PlanState<'a> {
    pub shares: &'a Shares<'a>,
    bounds: Bounds,
    /// By role: the temporary fill level in shares; by node and role: the load when it was set.
    level: Option<(Vec<f64>, Vec<f64>)>,
    /// Owners before any move.
    home: Vec<u16>,
    pub owner: Vec<u16>,
    load: Vec<f64>,
    target: Vec<f64>,
    held: Vec<Vec<u16>>,
    /// Loads before any move.
    before: Vec<f64>,
    /// Limits to keep (if any), and what has moved.
    pub limits: MoveLimits,
    pub(crate) moved: (u64, u128),
}

impl<'a> PlanState<'a> {
    /// Nothing has moved.
    pub(crate) fn new(shares: &'a Shares<'a>) -> Self {
        let roles = shares.weighed();
        let mut state = PlanState {
            shares,
            bounds: Bounds {
                aims: vec![f64::INFINITY; roles],
                beside: vec![0.0; roles],
                ceilings: vec![f64::INFINITY; roles],
                most_beside: vec![0.0; roles],
                tops: vec![f64::INFINITY; roles],
                cap: Cap::Hard,
            },
            level: None,
            home: (0..shares.slots).map(|slot| shares.home(slot)).collect(),
            owner: (0..shares.slots).map(|slot| shares.home(slot)).collect(),
            load: vec![0.0; shares.nodes * shares.roles],
            target: vec![0.0; shares.nodes * shares.roles],
            held: vec![Vec::new(); shares.nodes],
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
        state.set_level(None);
        state
    }

    /// The same as where another plan begins: nothing has moved.
    pub(crate) fn settled(&self) -> Self {
        PlanState {
            home: self.owner.clone(),
            moved: (0, 0),
            ..self.clone()
        }
    }

    /// The owner of a slot before any move.
    #[inline]
    pub(crate) fn home(&self, slot: usize) -> u16 {
        self.home[slot]
    }

    /// Bounds nodes otherwise.
    pub(crate) fn set_bounds(&mut self, bounds: &Bounds) {
        self.bounds.clone_from(bounds);
        self.set_level(None);
    }

    /// A limit of memory in shares; infinite without one, and in other roles.
    pub(crate) fn cap(&self, node: usize, role: usize, cap: Cap) -> f64 {
        let caps = self.shares.request.caps.as_ref();
        let Some(caps) = caps.filter(|caps| caps.role == role) else {
            return f64::INFINITY;
        };
        let (aimed, hard) = (caps.aimed[node], caps.hard[node]);
        let mean = self.shares.mean(caps.role);
        let in_shares = |cap: Option<f64>| cap.map_or(f64::INFINITY, |cap| cap / mean);
        match cap {
            Cap::Aimed => in_shares(aimed),
            Cap::Hard => in_shares(hard),
            Cap::HardOrToday => {
                in_shares(hard).max(self.before[node * self.shares.roles + caps.role])
            }
        }
    }

    /// The memory of nodes above their limits, in shares.
    pub(crate) fn excess(&self, cap: Cap) -> f64 {
        let Some(caps) = &self.shares.request.caps else {
            return 0.0;
        };
        let staying = self.shares.request.staying();
        let over =
            staying.map(|node| above(self.loads(node)[caps.role] - self.cap(node, caps.role, cap)));
        over.sum()
    }

    /// No node is filled above these shares by role; one that is fuller already stays as it is.
    pub(crate) fn set_level(&mut self, level: Option<&[f64]>) {
        self.level = level.map(|level| (level.to_vec(), self.load.clone()));
        (0..self.shares.nodes).for_each(|node| self.set_targets_of(node));
    }

    fn set_targets_of(&mut self, node: usize) {
        for role in 0..self.shares.roles {
            let heaviest = self.heaviest_giant(node, role, None);
            let at = node * self.shares.roles + role;
            self.target[at] = self.most(node, role, heaviest);
        }
    }

    /// The load a node is brought to if its heaviest giant is `heaviest`.
    pub(crate) fn most(&self, node: usize, role: usize, heaviest: f64) -> f64 {
        let (shares, bounds) = (self.shares, &self.bounds);
        if shares.leaves(node) {
            return 0.0;
        }
        if role >= shares.weighed() {
            return f64::INFINITY;
        }
        let (capacity, largest) = (shares.capacity(node, role), shares.largest(role));
        let at = |level, beside| allowed(level, beside, capacity, heaviest, largest);
        let mut target = at(bounds.aims[role], bounds.beside[role]);
        if let Some((level, began)) = self.level.as_ref().filter(|_| heaviest <= largest) {
            let held = began[node * shares.roles + role];
            target = target.min(held.max(level[role] * capacity));
        }
        let limit = at(bounds.ceilings[role], bounds.most_beside[role]);
        let ceiling = limit.min(bounds.tops[role] * capacity);
        let least = shares.least(node, role, heaviest);
        let target = target.max(least).min(ceiling);
        target.min(self.cap(node, role, bounds.cap))
    }

    /// The heaviest giant of a node, except for one slot.
    pub(crate) fn heaviest_giant(&self, node: usize, role: usize, but: Option<usize>) -> f64 {
        let giants = self.shares.giants.iter().map(|slot| usize::from(*slot));
        let on_node =
            giants.filter(|slot| usize::from(self.owner[*slot]) == node && Some(*slot) != but);
        let loads = on_node.map(|slot| self.shares.load(slot, role));
        loads.fold(0.0, f64::max)
    }

    #[inline]
    pub(crate) fn loads(&self, node: usize) -> &[f64] {
        &self.load[node * self.shares.roles..(node + 1) * self.shares.roles]
    }

    #[inline]
    pub(crate) fn targets(&self, node: usize) -> &[f64] {
        &self.target[node * self.shares.roles..(node + 1) * self.shares.roles]
    }

    /// The nodes that stay, in a role.
    pub(crate) fn node_loads(&self, role: usize) -> Vec<NodeLoad> {
        let node = |node: usize| {
            let slots = self.held(node).iter();
            let loads = slots.map(|slot| self.shares.load(usize::from(*slot), role));
            NodeLoad {
                load: self.loads(node)[role],
                heaviest: loads.fold(0.0, f64::max),
                capacity: self.shares.capacity(node, role),
            }
        };
        self.shares.request.staying().map(node).collect()
    }

    /// The slots of a node, ascending.
    pub(crate) fn held(&self, node: usize) -> &[u16] {
        &self.held[node]
    }

    /// A node's load above its targets, over all roles.
    #[inline]
    pub(crate) fn over(&self, node: usize) -> f64 {
        let pairs = self.loads(node).iter().zip(self.targets(node));
        pairs.map(|(load, target)| above(load - target)).sum()
    }

    /// The same of all nodes.
    pub(crate) fn total_over(&self) -> f64 {
        (0..self.shares.nodes).map(|node| self.over(node)).sum()
    }

    /// By how much both nodes together come nearer to their targets if `to` gets a slot that may be a giant; negative
    /// where they get further from them.
    pub(crate) fn gain_of_single(&self, slot: usize, to: usize) -> f64 {
        let shares = self.shares;
        let from = usize::from(self.owner[slot]);
        let mut gain = self.over(from) + self.over(to);
        for role in 0..shares.roles {
            let load = shares.load(slot, role);
            let (mut left, mut there) = (self.targets(from)[role], self.targets(to)[role]);
            if shares.is_giant[slot] && role < shares.weighed() {
                left = self.most(from, role, self.heaviest_giant(from, role, Some(slot)));
                let heaviest = self.heaviest_giant(to, role, None).max(load);
                there = self.most(to, role, heaviest);
            }
            let after = self.loads(to)[role] + load;
            gain -= above(self.loads(from)[role] - load - left) + above(after - there);
        }
        gain
    }

    /// Gives a run of slots of one node to another.
    pub(crate) fn give(&mut self, run: Run, to: usize) {
        let from = self.owner[run.first];
        if usize::from(from) != to {
            self.transfer(run, to);
        }
    }

    /// Gives all slots to the owners of a plan, those in a row together.
    pub(crate) fn carry_out(&mut self, owner: &[Option<usize>]) {
        let goes = |state: &Self, slot: usize| {
            let from = state.owner[slot];
            let to = owner[slot].filter(|to| from != NOBODY && usize::from(from) != *to);
            to.map(|to| (from, to))
        };
        let mut slot = 0;
        while slot < owner.len() {
            let Some((from, to)) = goes(self, slot) else {
                slot += 1;
                continue;
            };
            let is_same = |end: &usize| goes(self, *end) == Some((from, to));
            let end = slot + (slot..owner.len()).take_while(is_same).count();
            self.give(Run { first: slot, end }, to);
            slot = end;
        }
    }

    /// The node that owns each slot.
    pub(crate) fn owners(&self) -> Vec<Option<usize>> {
        let owner = self.owner.iter();
        owner
            .map(|node| (*node != NOBODY).then_some(usize::from(*node)))
            .collect()
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
            |held: &[u16], slot: usize| held.partition_point(|owned| usize::from(*owned) < slot);
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

/// Excess over a target, with rounding removed.
#[inline]
pub(crate) fn above(excess: f64) -> f64 {
    (excess - NEAR).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::move_request::{Caps, MoveRequest, Role};
    use slotscope_base::metric::Metric;

    fn random(seed: &mut u64, below: usize) -> usize {
        *seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (*seed >> 33) as usize % below
    }

    /// Compares the incremental loads, slots and movement with a recount.
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
    fn loads_slots_and_movement_stay_right_through_moves() {
        let seed = &mut 5;
        let loads: Vec<Vec<u64>> = (0..2)
            .map(|_| (0..200).map(|_| random(seed, 100) as u64).collect())
            .collect();
        let roles = loads
            .iter()
            .map(|loads| Role::even(Metric::Keys, loads, 4, 0.03));
        let owner = (0..200).map(|slot| Some(slot / 50)).collect();
        let mut request = MoveRequest::new(roles.collect(), owner);
        request.leaves[3] = true;
        let shares = Shares::new(&request);
        let mut state = PlanState::new(&shares);
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
    }

    #[test]
    fn a_node_may_hold_a_slot_that_is_heavier_than_its_share_and_little_beside_it() {
        let loads = [300, 100, 100, 100];
        let owner = vec![Some(0), Some(0), Some(1), Some(2)];
        let role = Role::even(Metric::Keys, &loads, 3, 0.03);
        let mut request = MoveRequest::new(vec![role], owner);
        let cap = vec![Some(305.0), None, Some(150.0)];
        request.caps = Some(Caps {
            role: 0,
            aimed: cap.clone(),
            hard: cap,
        });
        let shares = Shares::new(&request);
        let mut state = PlanState::new(&shares);
        state.set_bounds(&Bounds {
            aims: vec![1.03],
            beside: vec![0.03],
            ceilings: vec![2.0],
            most_beside: vec![0.4],
            tops: vec![2.0],
            cap: Cap::Hard,
        });
        let targets = [0, 1, 2].map(|node| (state.targets(node)[0] * 1000.0).round());
        assert_eq!(
            targets,
            [1525.0, 1030.0, 750.0],
            "the first and the last by their limit"
        );
        assert!(state.gain_of_single(0, 2) < state.gain_of_single(0, 1));
        assert!((state.excess(Cap::Hard) - 95.0 / 200.0).abs() < 1e-6);
    }
}
