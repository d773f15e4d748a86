//! Why a role is above its band although nothing moves: established by search, not assumed.

use crate::aims::{Aims, LEAST_EXCESS, max_over_mean};
use crate::budget::Budget;
use crate::lower_bound::SetBy;
use crate::move_request::MoveRequest;
use crate::search::search;
use crate::shares::Shares;
use crate::solve::{FixedAbove, fixed_above};
use crate::state::{Cap, PlanState};

/// The reason why a role stays above its band.
#[derive(Debug, Clone, PartialEq)]
pub enum WhyNot {
    /// Slots that may not move hold so much of a node.
    Fixed(FixedAbove),
    /// One slot, or slots that must share a node.
    Floor(SetBy),
    /// The best placement is not worth its moves: the ratio, and the number of slots moved.
    NotWorth(f64, usize),
    /// The limits of memory.
    Limits,
    /// The other roles.
    OtherRole,
    /// No placement was found.
    NotFound,
}

/// A placement is better by this much.
const BETTER: f64 = 0.03;
/// Work spent on finding a reason.
const REASON: u64 = 800_000;

/// Why a role is above its band.
pub fn why_not(request: &MoveRequest<'_>, role: usize) -> WhyNot {
    let shares = Shares::new(request);
    let before = PlanState::new(&shares);
    let aims = Aims::new(&before);
    let (band, now) = (request.roles[role].band, max_over_mean(&before, role));
    let mut fixed = fixed_above(&before, &aims).into_iter();
    if let Some(fixed) = fixed.find(|fixed| fixed.role == role && fixed.share > band) {
        return WhyNot::Fixed(fixed);
    }
    let floor = &aims.floors[role];
    if let Some(set_by) = floor.set_by.filter(|_| floor.over_fair > band) {
        return WhyNot::Floor(set_by);
    }
    let alone = |request: &MoveRequest<'_>, are_others_kept: bool| {
        let shares = Shares::new(request);
        let before = PlanState::new(&shares);
        let mut own = Aims::new(&before);
        for rival in (0..request.roles.len()).filter(|rival| *rival != role) {
            own.is_goal[rival] = false;
            own.aims[rival] = f64::INFINITY;
            own.bands[rival] = f64::INFINITY;
            if !are_others_kept {
                own.ceilings[rival] = f64::INFINITY;
                own.tops[rival] = f64::INFINITY;
            }
        }
        let state = search(&before, &own, &mut Budget::new(REASON)).state;
        let excess = [&state, &before].map(|state| state.excess(Cap::Hard));
        let keeps_limits = excess[0] <= excess[1] + LEAST_EXCESS;
        (
            max_over_mean(&state, role),
            state.moved().0 as usize,
            keeps_limits,
        )
    };
    let is_better = |ratio: f64| ratio < now - BETTER;
    let (ratio, slots, keeps_limits) = alone(request, true);
    if is_better(ratio) && keeps_limits {
        return WhyNot::NotWorth(ratio, slots);
    }
    let without_limits = MoveRequest {
        caps: None,
        ..request.clone()
    };
    if request.caps.is_some() && is_better(alone(&without_limits, true).0) {
        return WhyNot::Limits;
    }
    if request.roles.len() > 1 && is_better(alone(request, false).0) {
        return WhyNot::OtherRole;
    }
    WhyNot::NotFound
}
