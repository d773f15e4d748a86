//! Which slots to move where: loads and owners by slot come in, new owners go out.
//!
//! A plan is made against a bound on the fullest node. What overflows it moves, everything else stays: coarse slots
//! first (`coarse`), then runs of fine ones (`runs`), then single slots and swaps for what is left (`level`).

mod board;
mod coarse;
pub mod floor;
mod level;
pub mod mix;
pub mod moves;
pub mod outcome;
mod runs;

use board::Board;
use floor::Floor;

/// Halvings in the search for the lowest bound that limits allow: 2^-30 of a fair share is less than any slot.
const HALVINGS: usize = 30;

/// What is to be planned. Nodes are indices; slots without an owner stay without one.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem<'a> {
    /// The load of each slot, in any one unit; the sum is below 2^62.
    pub loads: &'a [u64],
    /// The bytes in each slot, where they are known: what `Limits::bytes` counts.
    pub bytes: Option<&'a [u64]>,
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// What each node can bear beside the others; 0: it is to be emptied. Some node has more than 0.
    pub capacity: Vec<f64>,
    /// Slots that stay where they are.
    pub fixed: Vec<bool>,
    /// How much may move.
    pub limits: Limits,
    /// How far above its fair share a node may be, or above the floor where that is beyond; 0.01 for 1 %.
    pub tolerance: f64,
}

/// How much may move at most.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Slots.
    pub slots: Option<u64>,
    /// Bytes.
    pub bytes: Option<u64>,
}

/// Who owns what when the plan is carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// The least that the fullest node can come to.
    pub floor: Floor,
    /// The fullest node that stays, in fair shares by capacity.
    pub over_fair: f64,
    /// Whether more would move if the limits let it.
    pub limited: bool,
}

impl Problem<'_> {
    /// W, the load of all slots that somebody owns.
    pub fn total(&self) -> u64 {
        self.owner.iter().zip(self.loads).filter(|(owner, _)| owner.is_some()).map(|(_, load)| load).sum()
    }

    /// The fair share of each node: W by capacity.
    pub fn fair(&self) -> Vec<f64> {
        let (total, capacity) = (self.total() as f64, self.capacity.iter().sum::<f64>());
        self.capacity.iter().map(|of| total * of / capacity).collect()
    }

    /// The load of each node under `owner`.
    pub fn loads_under(&self, owner: &[Option<usize>]) -> Vec<u64> {
        let mut sums = vec![0; self.capacity.len()];
        for (owner, load) in owner.iter().zip(self.loads) {
            owner.iter().for_each(|node| sums[*node] += load);
        }
        sums
    }
}

/// The plan that brings the fullest node to the floor, or as near to it as tolerance and limits have it, and moves
/// little on the way.
pub fn plan(problem: &Problem<'_>) -> Plan {
    let floor = Floor::of(problem);
    let fair = problem.fair();
    let before = Board::new(problem, &fair);
    let least = bound_for(floor.over_fair, problem.tolerance);
    let whole = attempt(&before, least);
    let limited = whole.refused;
    let chosen = if limited { within_limits(&before, least) } else { whole };
    // Where not even the best that is found helps, nothing moves.
    let helps = before.holds_leftovers() || chosen.fullest() < before.fullest();
    let chosen = if helps { chosen } else { before };
    Plan { over_fair: chosen.fullest(), owner: chosen.owner, floor, limited }
}

/// What the fullest node may come to: so much above its fair share, or above a floor that is beyond that.
fn bound_for(floor: f64, tolerance: f64) -> f64 {
    let above_fair = 1.0 + tolerance;
    if floor > above_fair { floor * above_fair } else { above_fair }
}

/// Moves what overflows `bound` fair shares.
fn attempt<'a>(before: &Board<'a>, bound: f64) -> Board<'a> {
    let mut board = before.clone();
    board.set_bound(bound);
    coarse::place(&mut board);
    runs::shed(&mut board);
    level::level(&mut board);
    board
}

/// The lowest bound, not below `least`, that is reached without a move being refused. Where even emptying the nodes
/// that go takes more than the limits, they are emptied in part.
fn within_limits<'a>(before: &Board<'a>, least: f64) -> Board<'a> {
    let (mut low, mut high) = (least, before.fullest().max(least));
    let mut found = attempt(before, high);
    if found.refused {
        return found;
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        let tried = attempt(before, middle);
        if tried.refused {
            low = middle;
        } else {
            (high, found) = (middle, tried);
        }
    }
    found
}
