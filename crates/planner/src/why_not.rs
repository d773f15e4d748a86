//! Why a role stays above its band: a cause is named only if it is proven that no placement is within the band, or if a
//! placement shows what stands in the way. That a search has found nothing is said as that.

use crate::aims::{Aims, LEAST_EXCESS, max_over_mean};
use crate::budget::Budget;
use crate::duals::is_proven;
use crate::every::{Every, every};
use crate::few::{EVERY, loaded};
use crate::lower_bound::SetBy;
use crate::move_request::MoveRequest;
use crate::order::sorted;
use crate::search::search;
use crate::shares::Shares;
use crate::state::{Cap, PlanState};

/// The reason why a role stays above its band.
#[derive(Debug, Clone, PartialEq)]
pub enum WhyNot {
    /// Slots that may not move hold so much of a node.
    Fixed(FixedAbove),
    /// One slot, or slots that must share a node.
    Floor(SetBy),
    /// A placement that is not worth its moves: the ratio, and the number of slots moved.
    NotWorth(f64, usize),
    /// It is proven that no placement is within the band.
    NoPlacement(NoPlacement),
    /// The search found no better placement.
    NotFound,
}

/// Load of pinned slots on one node, above the band of a role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedAbove {
    /// Index of the node.
    pub node: usize,
    /// In fair shares of the node, which cannot go below this.
    pub share: f64,
    /// The number of pinned slots.
    pub slots: usize,
}

/// The bounds that a proof holds for: that no placement within them is within the band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoPlacement {
    /// Up to which the role is even.
    pub band: f64,
    /// Whether it is for placements within the limits of memory.
    pub has_limits: bool,
    /// Whether it is for placements that keep the other roles.
    pub has_others: bool,
    /// The bounds without which a placement within the band was found, and its ratio.
    pub found: Option<(Freed, f64)>,
}

/// The bounds that need not be kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Freed {
    /// None.
    Nothing,
    /// The limits of memory.
    Limits,
    /// The most that other roles may hold.
    Others,
}

/// A placement is better by this much.
const BETTER: f64 = 0.03;
/// Work spent on finding a reason.
const REASON: u64 = 800_000;

/// Why a role is above its band.
pub fn why_not(request: &MoveRequest<'_>, role: usize) -> WhyNot {
    if let Some(sorted) = sorted(request) {
        return match why_not(&sorted, role) {
            WhyNot::Fixed(fixed) => WhyNot::Fixed(FixedAbove {
                node: request.order[fixed.node],
                ..fixed
            }),
            why => why,
        };
    }
    let shares = Shares::new(request);
    let before = PlanState::new(&shares);
    let aims = Aims::new(&before);
    let (band, now) = (request.roles[role].band, max_over_mean(&before, role));
    if let Some(fixed) = fixed_above(&before, role, aims.bands[role]) {
        return WhyNot::Fixed(fixed);
    }
    let floor = &aims.floors[role];
    if let Some(set_by) = floor.set_by.filter(|_| floor.over_fair > band) {
        return WhyNot::Floor(set_by);
    }
    let is_better = |ratio: f64| ratio < now - BETTER;
    let found = alone(request, role, Freed::Nothing);
    if let Some((ratio, slots)) = found.filter(|found| is_better(found.0)) {
        return WhyNot::NotWorth(ratio, slots);
    }
    if !is_impossible(&before, role) {
        return WhyNot::NotFound;
    }
    let judged = request.roles.iter().filter(|role| role.is_judged()).count();
    let (has_limits, has_others) = (request.caps.is_some(), judged > 1);
    let freed = [(has_limits, Freed::Limits), (has_others, Freed::Others)];
    let mut freed = freed.into_iter().filter(|(is_kept, _)| *is_kept);
    let found = freed.find_map(|(_, freed)| {
        let (ratio, _) = alone(request, role, freed)?;
        (ratio <= band).then_some((freed, ratio))
    });
    WhyNot::NoPlacement(NoPlacement {
        band,
        has_limits,
        has_others,
        found,
    })
}

/// The first node whose pinned slots are above this in a role.
fn fixed_above(state: &PlanState<'_>, role: usize, band: f64) -> Option<FixedAbove> {
    let shares = state.shares;
    let above = |node: usize| {
        let slots = state.held(node).iter().map(|slot| usize::from(*slot));
        let fixed: Vec<usize> = slots.filter(|slot| shares.is_fixed(*slot)).collect();
        let load: f64 = fixed.iter().map(|slot| shares.load(*slot, role)).sum();
        let (share, slots) = (load / shares.capacity(node, role), fixed.len());
        (share > band).then_some(FixedAbove { node, share, slots })
    };
    shares.request.staying().find_map(above)
}

/// The best ratio of a role that is found, and the slots that move for it, if memory keeps its limits.
fn alone(request: &MoveRequest<'_>, role: usize, freed: Freed) -> Option<(f64, usize)> {
    let request = MoveRequest {
        caps: request.caps.clone().filter(|_| freed != Freed::Limits),
        ..request.clone()
    };
    let shares = Shares::new(&request);
    let before = PlanState::new(&shares);
    let mut own = Aims::new(&before);
    for rival in (0..request.roles.len()).filter(|rival| *rival != role) {
        own.is_goal[rival] = false;
        for levels in [&mut own.aims, &mut own.mids, &mut own.bands] {
            levels[rival] = f64::INFINITY;
        }
        if freed == Freed::Others {
            own.ceilings[rival] = f64::INFINITY;
            own.tops[rival] = f64::INFINITY;
        }
    }
    let state = search(&before, &own, &mut Budget::new(REASON));
    let excess = [&state, &before].map(|state| state.excess(Cap::Hard));
    let keeps_limits = excess[0] <= excess[1] + LEAST_EXCESS;
    keeps_limits.then(|| (max_over_mean(&state, role), state.moved().0 as usize))
}

/// Whether it is proven that no placement has a role within its band, the fullest node of no other above today's, and
/// keeps the limits of memory.
fn is_impossible(before: &PlanState<'_>, role: usize) -> bool {
    // Nodes without a heavy slot have lower ceilings in a plan; the reason speaks of the fullest node alone.
    let mut aims = Aims::new(before);
    aims.ceilings.clone_from(&aims.tops);
    aims.most_beside.fill(f64::INFINITY);
    let mut levels = vec![f64::INFINITY; aims.bands.len()];
    levels[role] = aims.bands[role];
    let within = aims.within(before, &levels);
    let limit = |node, at, heaviest| within.most(node, at, heaviest);
    let is_exhausted = || every(before.shares, &limit, &mut Budget::new(EVERY)) == Every::None;
    loaded(before).is_some() && is_exhausted() || is_proven(before.shares, &limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::move_request::Role;
    use crate::solve::plan;
    use slotscope_base::metric::Metric;

    #[test]
    fn what_fixed_slots_hold_above_a_band_is_said_by_node() {
        let loads = vec![10; 300];
        let owner = (0..300).map(|slot| Some(usize::from(slot >= 200)));
        let role = Role::even(Metric::Bytes, &loads, 2, 0.03);
        let mut request = MoveRequest::new(vec![role], owner.collect());
        request.fixed[..180].fill(true);
        let planned = plan(&request);
        assert!(!planned.roles[0].is_near);
        assert!(planned.owner[..180].iter().all(|node| *node == Some(0)));
        let why = why_not(&request.with_owner(planned.owner), 0);
        let WhyNot::Fixed(fixed) = why else {
            panic!("{why:?}")
        };
        assert_eq!((fixed.node, fixed.slots), (0, 180));
        assert!((fixed.share - 1.2).abs() < 1e-9);
    }
}
