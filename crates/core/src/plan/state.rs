//! A plan in the making: who owns what so far, what that moves, and whether the limits let it.

use crate::plan::problem::Problem;

/// A slot of more than this part of the largest fair share is coarse: it is placed by itself, before all fine ones.
const COARSE: f64 = 0.125;

/// Owners and loads, as far as the plan has come.
#[derive(Debug, Clone)]
pub struct PlanState<'a> {
    problem: &'a Problem<'a>,
    fair: &'a [f64],
    caps: Vec<u64>,
    /// Up to which load a node gets slots; not above what it may hold.
    levels: Vec<u64>,
    coarse: u64,
    moved_slots: u64,
    moved_bytes: u64,
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// The load of each node.
    pub load: Vec<u64>,
    /// Whether a move was refused because of the limits.
    pub refused: bool,
}

impl<'a> PlanState<'a> {
    /// Nothing has moved.
    pub fn new(problem: &'a Problem<'a>, fair: &'a [f64]) -> Self {
        let largest = fair.iter().copied().fold(0.0, f64::max);
        PlanState {
            load: problem.loads_under(&problem.owner),
            owner: problem.owner.clone(),
            caps: Vec::new(),
            levels: Vec::new(),
            coarse: (COARSE * largest) as u64,
            moved_slots: 0,
            moved_bytes: 0,
            refused: false,
            problem,
            fair,
        }
    }

    /// What the plan is made for.
    pub fn problem(&self) -> &'a Problem<'a> {
        self.problem
    }

    /// No node is to have more than `bound` fair shares.
    pub fn set_bound(&mut self, bound: f64) {
        self.caps = self.fair.iter().map(|fair| (fair * bound) as u64).collect();
        self.levels.clone_from(&self.caps);
    }

    /// No node is to get more than makes it `level` fair shares.
    pub fn set_level(&mut self, level: f64) {
        let levels = self.fair.iter().map(|fair| (fair * level) as u64);
        self.levels = levels
            .zip(&self.caps)
            .map(|(level, cap)| level.min(*cap))
            .collect();
    }

    /// What a node may hold.
    pub fn cap(&self, node: usize) -> u64 {
        self.caps[node]
    }

    /// What a node holds beyond that.
    pub fn excess(&self, node: usize) -> u64 {
        self.load[node].saturating_sub(self.caps[node])
    }

    /// What it may still get.
    pub fn room(&self, node: usize) -> u64 {
        self.levels[node].saturating_sub(self.load[node])
    }

    /// All nodes.
    pub fn nodes(&self) -> std::ops::Range<usize> {
        0..self.load.len()
    }

    /// Whether the node is to be emptied.
    pub fn leaves(&self, node: usize) -> bool {
        self.problem.capacity[node] <= 0.0
    }

    /// The nodes that are to hold slots.
    pub fn staying(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes().filter(|node| !self.leaves(*node))
    }

    /// `load` in fair shares of `node`.
    pub fn share(&self, node: usize, load: u64) -> f64 {
        load as f64 / self.fair[node]
    }

    /// The fullest node that stays, in fair shares.
    pub fn fullest(&self) -> f64 {
        self.staying()
            .map(|node| self.share(node, self.load[node]))
            .fold(0.0, f64::max)
    }

    /// Whether a node that is to be emptied still owns slots.
    pub fn holds_leftovers(&self) -> bool {
        self.owner.iter().flatten().any(|node| self.leaves(*node))
    }

    /// The load of a slot.
    pub fn load_of(&self, slot: u16) -> u64 {
        self.problem.loads[usize::from(slot)]
    }

    /// Whether a slot must stay where it is.
    pub fn is_fixed(&self, slot: u16) -> bool {
        self.problem.fixed[usize::from(slot)]
    }

    /// Whether a slot is so heavy that it is placed by itself.
    pub fn is_coarse(&self, slot: u16) -> bool {
        self.load_of(slot) > self.coarse
    }

    /// The slots with an owner, ascending, each with it.
    pub fn owned(&self) -> impl Iterator<Item = (u16, usize)> + '_ {
        self.owner
            .iter()
            .enumerate()
            .filter_map(|(slot, owner)| Some((slot as u16, (*owner)?)))
    }

    /// Gives a slot to another node; false where the limits do not let it.
    pub fn give(&mut self, slot: u16, to: usize) -> bool {
        let given = self.exchange(&[(slot, to)]);
        self.refused |= !given;
        given
    }

    /// Gives all these slots to other nodes; false, and nothing is given, where the limits do not let it or
    /// one has no owner.
    pub fn exchange(&mut self, given: &[(u16, usize)]) -> bool {
        let (slots, bytes) = self.moved_with(given);
        let is_owned = |(slot, _): &(u16, usize)| self.owner[usize::from(*slot)].is_some();
        if !given.iter().all(is_owned) || !self.is_within_limits(slots, bytes) {
            return false;
        }
        (self.moved_slots, self.moved_bytes) = (slots, bytes);
        for (slot, to) in given {
            let at = usize::from(*slot);
            if let Some(from) = self.owner[at].replace(*to) {
                self.load[from] -= self.problem.loads[at];
                self.load[*to] += self.problem.loads[at];
            }
        }
        true
    }

    /// Whether the limits let all these slots go to other nodes.
    pub fn allows(&self, given: &[(u16, usize)]) -> bool {
        let (slots, bytes) = self.moved_with(given);
        self.is_within_limits(slots, bytes)
    }

    /// What the limits count, if these slots go to other nodes too.
    fn moved_with(&self, given: &[(u16, usize)]) -> (u64, u64) {
        let counted = (self.moved_slots, self.moved_bytes);
        given.iter().fold(counted, |(slots, bytes), (slot, to)| {
            let at = usize::from(*slot);
            let home = self.problem.owner[at];
            let was_away = u64::from(self.owner[at] != home);
            let is_away = u64::from(Some(*to) != home);
            let size = self.problem.bytes.map_or(0, |bytes| bytes[at]);
            (
                slots - was_away + is_away,
                bytes
                    .saturating_sub(was_away * size)
                    .saturating_add(is_away * size),
            )
        })
    }

    /// What moves no more than before is within any limit.
    fn is_within_limits(&self, slots: u64, bytes: u64) -> bool {
        let limits = &self.problem.limits;
        let is_within = |now: u64, before: u64, most: Option<u64>| {
            most.is_none_or(|most| now <= most.max(before))
        };
        is_within(slots, self.moved_slots, limits.slots)
            && is_within(bytes, self.moved_bytes, limits.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::problem::MoveLimits;

    #[test]
    fn a_light_slot_that_comes_home_makes_no_room_for_a_heavy_one() {
        let (loads, bytes) = ([1, 1, 1], [10, 100, 5]);
        let problem = Problem {
            loads: &loads,
            others: Vec::new(),
            bytes: Some(&bytes),
            owner: vec![Some(0), Some(0), None],
            capacity: vec![1.0, 1.0],
            fixed: vec![false; 3],
            limits: MoveLimits {
                slots: Some(1),
                bytes: Some(50),
            },
            tolerance: 0.01,
        };
        let fair = problem.fair();
        let mut state = PlanState::new(&problem, &fair);
        assert!(state.give(0, 1));
        assert!(
            !state.exchange(&[(1, 1), (0, 0)]),
            "100 bytes are beyond 50"
        );
        assert_eq!(state.owner, [Some(1), Some(0), None]);
        assert!(!state.exchange(&[(2, 1)]), "it has no owner");
        assert!(!state.refused, "an exchange is no refusal");
        assert!(!state.give(1, 1));
        assert!(state.refused);
        assert!(
            state.exchange(&[(0, 0)]),
            "what comes home is within any limit"
        );
        assert_eq!(state.load, [2, 0]);
    }

    proptest::proptest! {
        #[test]
        fn what_moves_is_counted_and_stays_within_the_limits(
            bytes in proptest::collection::vec(0..100_u64, 8),
            most in (0..6_u64, 0..300_u64),
            exchanges in proptest::collection::vec(((0..8_u16, 0..3_usize), (0..8_u16, 0..3_usize)), 40),
        ) {
            let loads = [1, 2, 3, 4, 5, 6, 7, 8];
            let problem = Problem {
                loads: &loads,
                others: Vec::new(),
                bytes: Some(&bytes),
                owner: [0, 0, 0, 1, 1, 1, 2, 2].map(Some).to_vec(),
                capacity: vec![1.0; 3],
                fixed: vec![false; 8],
                limits: MoveLimits {
                    slots: Some(most.0),
                    bytes: Some(most.1),
                },
                tolerance: 0.01,
            };
            let fair = problem.fair();
            let mut state = PlanState::new(&problem, &fair);
            for (one, other) in exchanges.into_iter().filter(|(one, other)| one.0 != other.0) {
                state.exchange(&[one, other]);
                let away = || (0..8).filter(|at| state.owner[*at] != problem.owner[*at]);
                let (slots, moved) = (away().count() as u64, away().map(|at| bytes[at]).sum());
                assert_eq!((state.moved_slots, state.moved_bytes), (slots, moved));
                assert!(slots <= most.0 && moved <= most.1, "{slots} slots, {moved} bytes");
                assert_eq!(state.load, problem.loads_under(&state.owner));
            }
        }
    }
}
