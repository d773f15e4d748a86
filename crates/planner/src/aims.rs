//! Per-role aims of a plan, and the gate that decides whether a plan is worth its moves.
//!
//! A role above its band is a goal: each node may hold `(1 + tolerance)` fair shares, or that factor times the slots
//! that must share a node. Any other role is a guard: nodes may hold what they hold today. A node with a slot heavier
//! than the largest share is measured against that slot and does not raise the target of other nodes. No node may
//! become fuller than today's fullest, unless it stays within the band.

use crate::lower_bound::LowerBound;
use crate::rest::NodeLoad;
use crate::shares::{Shares, allowed};
use crate::state::{Bounds, Cap, NEAR, PlanState};

/// The load that growth by a few percent, different on each slot and node, adds to the fullest node.
const GROWTH: f64 = 0.015;
/// Minimum gain of a plan, in fair shares of memory and of load.
const GAINS: [f64; 2] = [0.02, 0.05];
/// Minimum gain, as a fraction of the excess and as a fraction of the data moved.
const GAIN_OF_EXCESS: f64 = 0.1;
const GAIN_OF_MOVED: f64 = 0.2;
/// The least gain as a part of the excess over a limit.
const GAIN_OF_LIMIT: f64 = 0.5;
/// Less over a limit than this part of a share is rounding.
pub(crate) const LEAST_EXCESS: f64 = 1e-4;
/// If giants leave the other nodes more than this fraction of their shares, ignore the giants for those nodes.
const HARDLY_LESS: f64 = 0.98;
/// The load beside a slot that fills its node, in shares: a part of a giant slot may be more than a node's share.
const BESIDE: f64 = 0.03;

/// The aims of a request, by role.
pub(crate) struct Aims {
    /// Whether slots move for it.
    pub is_goal: Vec<bool>,
    /// T, in fair shares.
    pub aims: Vec<f64>,
    /// The load up to which a node counts as even.
    pub bands: Vec<f64>,
    /// Between both: the band minus what growth may take.
    pub mids: Vec<f64>,
    /// Shares that a node filled by one slot may hold beside that slot.
    pub beside: Vec<f64>,
    /// No move brings a node without a filling slot above this.
    pub ceilings: Vec<f64>,
    /// The ceiling for a node filled by one slot: shares beside that slot.
    pub most_beside: Vec<f64>,
    /// No move brings any node above this.
    pub tops: Vec<f64>,
    pub floors: Vec<LowerBound>,
    /// If slots fill whole nodes: the level the other nodes are first filled to, so that they share the rest.
    pub level: Option<Vec<f64>>,
}

impl Aims {
    /// The aims for the roles above their bands; the others may only not get worse.
    pub(crate) fn new(before: &PlanState<'_>) -> Self {
        let shares = before.shares;
        let request = shares.request;
        let mut aims = Aims {
            is_goal: Vec::new(),
            aims: Vec::new(),
            bands: Vec::new(),
            mids: Vec::new(),
            beside: Vec::new(),
            ceilings: Vec::new(),
            most_beside: Vec::new(),
            tops: Vec::new(),
            floors: Vec::new(),
            level: None,
        };
        let is_same = !request.changes_nodes();
        let leave = request.leaves.contains(&true);
        let has_empty = request.has_empty();
        for (at, role) in request.roles.iter().enumerate() {
            let fair = request.fair(&role.loads, &role.capacity);
            let floor = LowerBound::new(&role.loads, &request.owner, &fair);
            let then = Today::of(before, at, |node| !shares.leaves(node));
            // Loads are compared, not ratios over another number of nodes; but the nodes that stay share those of the
            // nodes that leave.
            let today = if leave {
                Today::of(before, at, |node| !before.held(node).is_empty()).max(then)
            } else {
                then
            };
            let beside = role.tolerance.min(BESIDE);
            let own = (1.0 + role.tolerance) * floor.together.max(1.0);
            // A role that can be even is to be even.
            let own = if floor.together <= role.band {
                own.min(role.band)
            } else {
                own
            };
            // A node without slots is to get some however little the others are above their shares, as among many nodes.
            let even = if has_empty {
                own.min(role.band)
            } else {
                role.band
            };
            let is_uneven = max_over_mean(before, at) > even;
            let is_goal = role.is_goal && is_uneven;
            let aim = match role.is_judged() {
                false => f64::INFINITY,
                true if is_goal => own,
                true => own.max(then.open),
            };
            // With a different set of nodes, some ratios may be out of reach.
            let possible = if is_same {
                0.0
            } else {
                floor.over_fair + BESIDE
            };
            aims.is_goal.push(is_goal);
            aims.aims.push(aim);
            aims.bands.push(aim.max(role.band));
            aims.mids.push(aim.max(role.band * (1.0 - GROWTH)));
            aims.beside.push(if is_goal {
                beside
            } else {
                then.beside.max(beside)
            });
            aims.ceilings.push(role.band.max(today.open).max(possible));
            aims.most_beside.push(today.beside.max(beside));
            aims.tops.push(role.band.max(today.top).max(possible));
            aims.floors.push(floor);
        }
        let level: Vec<f64> = (0..request.roles.len())
            .map(|role| level(shares, role))
            .collect();
        let has_level = level.iter().any(|level| level.is_finite());
        aims.level = has_level.then_some(level);
        aims
    }

    /// The bounds of a search for these aims.
    pub(crate) fn bounds(&self, aims: &[f64]) -> Bounds {
        let beside = (0..aims.len()).map(|role| self.beside_at(role, aims[role]));
        Bounds {
            aims: aims.to_vec(),
            beside: beside.collect(),
            ceilings: self.ceilings.clone(),
            most_beside: self.most_beside.clone(),
            tops: self.tops.clone(),
            cap: Cap::Aimed,
        }
    }

    /// The shares that a node may hold beside its filling slot at `level`; a level above the band raises them.
    fn beside_at(&self, role: usize, level: f64) -> f64 {
        let band = self.bands[role];
        let above = if band.is_finite() { level - band } else { 0.0 };
        self.beside[role] + above.max(0.0)
    }

    /// Whether something is far enough from its aim that a plan is looked for.
    pub(crate) fn asks_for_a_plan(&self, before: &PlanState<'_>) -> bool {
        leftovers(before) > 0
            || before.excess(Cap::Aimed) > LEAST_EXCESS
            || self.is_goal.contains(&true)
    }

    /// Whether a plan lowers a goal enough if `part` of all data moves: in M, on nodes above the band that no slot
    /// fills, or in M_rest if that counts.
    pub(crate) fn helps(
        &self,
        before: &PlanState<'_>,
        after: &PlanState<'_>,
        part: f64,
        has_rest: bool,
    ) -> bool {
        let request = before.shares.request;
        let is_helped = |role: usize| {
            let [memory, load] = GAINS;
            // Among many nodes, what one without slots is due is little of the share of each other.
            let least = if request.has_empty() {
                0.0
            } else if request.roles[role].metric.is_of_use() {
                load
            } else {
                memory
            };
            let is_worth = |ratio: fn(&PlanState<'_>, usize) -> f64| {
                let (now, then) = (ratio(before, role), ratio(after, role));
                let needed = least
                    .max(GAIN_OF_EXCESS * (now - 1.0))
                    .max(GAIN_OF_MOVED * part);
                now - then >= needed - 1e-9
            };
            let is_open = open_over_mean(before, role) > self.bands[role];
            is_worth(max_over_mean)
                || is_open && is_worth(open_over_mean)
                || has_rest && is_worth(rest_over_mean)
        };
        (0..self.is_goal.len()).any(|role| self.is_goal[role] && is_helped(role))
    }

    /// The gate: whether a plan is worth carrying out. A node that leaves is emptier, a limit is better kept, or a goal is
    /// lowered enough for what moves. M_rest alone is a reason where a node is empty, or to finish a plan that is
    /// begun: growth changes it by more than M.
    pub(crate) fn is_step(
        &self,
        before: &PlanState<'_>,
        after: &PlanState<'_>,
        is_begun: bool,
    ) -> bool {
        let has_rest = is_begun || before.shares.request.has_empty();
        let is_better = |cap: Cap| {
            let today = before.excess(cap);
            today - after.excess(cap) > LEAST_EXCESS.max(GAIN_OF_LIMIT * today)
        };
        leftovers(after) < leftovers(before)
            || is_better(Cap::Aimed)
            || is_better(Cap::Hard)
            || self.helps(before, after, after.moved_part(), has_rest)
    }

    /// By how much a role is above its ceiling.
    pub(crate) fn above_ceiling(&self, state: &PlanState<'_>, role: usize) -> f64 {
        let above = |node| {
            let load = state.loads(node)[role];
            let most = self.ceiling(
                state.shares,
                node,
                role,
                state.heaviest_giant(node, role, None),
            );
            if most.is_finite() {
                load / most.max(f64::MIN_POSITIVE) - 1.0
            } else {
                0.0
            }
        };
        let over = state.shares.request.staying().map(above);
        over.fold(0.0, f64::max)
    }

    /// The load above which no move may bring a node whose heaviest giant is `heaviest`.
    fn ceiling(&self, shares: &Shares<'_>, node: usize, role: usize, heaviest: f64) -> f64 {
        let (level, beside) = (self.ceilings[role], self.most_beside[role]);
        let (capacity, largest) = (shares.capacity(node, role), shares.largest(role));
        let most = allowed(level, beside, capacity, heaviest, largest);
        most.min(self.tops[role] * capacity)
            .max(shares.least(node, role, heaviest))
    }

    /// The state before any move with these levels as bounds, within ceilings and limits of memory.
    pub(crate) fn within<'a>(&self, before: &PlanState<'a>, levels: &[f64]) -> PlanState<'a> {
        let mut state = before.clone();
        state.set_bounds(&Bounds {
            cap: Cap::HardOrToday,
            ..self.bounds(levels)
        });
        state
    }

    /// The ceiling of a node, and what it may hold to be within its band, its mid, its aim.
    pub(crate) fn marks(
        &self,
        shares: &Shares<'_>,
        node: usize,
        role: usize,
        heaviest: f64,
    ) -> [f64; 4] {
        let least = shares.least(node, role, heaviest);
        let at = |level: f64| {
            self.allowed_with(shares, node, role, level, heaviest)
                .max(least)
        };
        [
            self.ceiling(shares, node, role, heaviest),
            at(self.bands[role]),
            at(self.mids[role]),
            at(self.aims[role]),
        ]
    }

    /// The fullest node of a role, relative to its ceiling at `level` fair shares.
    pub(crate) fn height(&self, state: &PlanState<'_>, role: usize, level: f64) -> f64 {
        let shares = state.shares;
        let over = shares.request.staying().map(|node| {
            let heaviest = state.heaviest_giant(node, role, None);
            let allowed = self.allowed(state, node, role, level);
            state.loads(node)[role] / allowed.max(shares.least(node, role, heaviest))
        });
        over.fold(0.0, f64::max)
    }

    /// Whether all nodes hold no more than `level` fair shares, also those whose slots may not move.
    pub(crate) fn is_within(&self, state: &PlanState<'_>, role: usize, level: f64) -> bool {
        let mut staying = state.shares.request.staying();
        staying.all(|node| {
            state.loads(node)[role] <= self.allowed(state, node, role, level) + 10.0 * NEAR
        })
    }

    /// The load a node may hold at `level` fair shares, or next to a slot that fills it.
    fn allowed(&self, state: &PlanState<'_>, node: usize, role: usize, level: f64) -> f64 {
        let heaviest = state.heaviest_giant(node, role, None);
        self.allowed_with(state.shares, node, role, level, heaviest)
    }

    fn allowed_with(
        &self,
        shares: &Shares<'_>,
        node: usize,
        role: usize,
        level: f64,
        heaviest: f64,
    ) -> f64 {
        let (capacity, largest) = (shares.capacity(node, role), shares.largest(role));
        allowed(
            level,
            self.beside_at(role, level),
            capacity,
            heaviest,
            largest,
        )
    }
}

/// Today's extremes: the fullest node, the fullest without a filling slot, and the most beside a filling slot.
#[derive(Clone, Copy)]
struct Today {
    top: f64,
    open: f64,
    beside: f64,
}

impl Today {
    fn of(state: &PlanState<'_>, role: usize, is_counted: impl Fn(usize) -> bool) -> Self {
        let shares = state.shares;
        let counted: Vec<usize> = (0..shares.nodes).filter(|node| is_counted(*node)).collect();
        let capacity = |node: usize| shares.own_capacity(node, role);
        let total: f64 = counted.iter().map(|node| capacity(*node)).sum();
        let whole = shares.staying as f64;
        let mut today = Today {
            top: 0.0,
            open: 0.0,
            beside: 0.0,
        };
        for node in counted {
            let (load, heaviest) = (
                state.loads(node)[role],
                state.heaviest_giant(node, role, None),
            );
            if capacity(node) > 0.0 {
                let of_share = load / (capacity(node) * whole / total);
                today.top = today.top.max(of_share);
                if heaviest <= shares.largest(role) {
                    today.open = today.open.max(of_share);
                }
            }
            if heaviest > shares.largest(role) {
                today.beside = today.beside.max(load - heaviest);
            }
        }
        today
    }

    fn max(self, other: Self) -> Self {
        Today {
            top: self.top.max(other.top),
            open: self.open.max(other.open),
            beside: self.beside.max(other.beside),
        }
    }
}

/// M of a role, over the nodes that stay.
pub(crate) fn max_over_mean(state: &PlanState<'_>, role: usize) -> f64 {
    fullest(state, role, |_| true)
}

/// The same over those that no slot fills.
fn open_over_mean(state: &PlanState<'_>, role: usize) -> f64 {
    fullest(state, role, |node| node.heaviest <= node.capacity)
}

fn fullest(state: &PlanState<'_>, role: usize, is_counted: fn(&NodeLoad) -> bool) -> f64 {
    let nodes = state.node_loads(role).into_iter().filter(is_counted);
    let ratios = nodes.map(|node| node.load / node.capacity);
    ratios.fold(0.0, f64::max)
}

/// M_rest of a role.
pub(crate) fn rest_over_mean(state: &PlanState<'_>, role: usize) -> f64 {
    crate::rest::rest_over_mean(&state.node_loads(role))
}

/// Slots that nodes own which are to be emptied.
pub(crate) fn leftovers(state: &PlanState<'_>) -> usize {
    let nodes = (0..state.shares.nodes).filter(|node| state.shares.leaves(*node));
    nodes.map(|node| state.held(node).len()).sum()
}

/// The level up to which nodes without a filling slot share a role, with tolerance; infinite if that is nearly all of
/// it.
fn level(shares: &Shares<'_>, role: usize) -> f64 {
    let goal = &shares.request.roles[role];
    if !goal.is_judged() {
        return f64::INFINITY;
    }
    let slots = shares.giants.iter();
    let mut giants: Vec<f64> = slots
        .map(|slot| shares.load(usize::from(*slot), role))
        .collect();
    giants.sort_by(|a, b| b.total_cmp(a));
    let mut nodes = shares.staying as f64;
    let mut load: f64 = (0..shares.slots).map(|slot| shares.load(slot, role)).sum();
    for giant in giants {
        if nodes <= 1.0 || giant <= load / nodes {
            break;
        }
        (nodes, load) = (nodes - 1.0, load - giant);
    }
    if load / nodes < HARDLY_LESS {
        (1.0 + goal.tolerance) * load / nodes
    } else {
        f64::INFINITY
    }
}
