//! The verdict in one role: how uneven the compared nodes are, and why.

use slotscope_base::name::Name;
use slotscope_model::balance::tidy;
use slotscope_model::compared::Compared;
use slotscope_model::independent_units::UnitsBy;
use slotscope_model::nodes::Nodes;
use slotscope_model::reason::Reason;
use slotscope_model::role_load::RoleLoad;
use slotscope_model::role_verdict::{FullestNode, RoleVerdict};
use slotscope_model::state::{Role, State};

use crate::summary::floor::slot_floor_of;
use crate::summary::independent_units::effective;
use crate::summary::judge::{Amounts, Judgement, judge};
use crate::summary::split::Split;
use crate::summary::verdict_inputs::VerdictInputs;

/// Relative standard error of an estimated number of units.
const N_EFF_ERROR: f64 = 0.0055;

/// The inputs for judging a role, and for explaining that.
pub(crate) struct RoleInputs<'a> {
    /// Those of all roles.
    pub verdict: &'a VerdictInputs<'a>,
    pub load: &'a RoleLoad,
    /// The units as the role weighs them.
    pub units: &'a UnitsBy,
    pub amounts: Amounts,
    /// A node that is being filled or drained.
    pub moving: Option<&'a Name>,
}

/// Judges the compared nodes.
pub(crate) fn of(inputs: &RoleInputs<'_>) -> RoleVerdict {
    let RoleInputs { load, units, .. } = *inputs;
    let compared = Compared::new(inputs.nodes(), load);
    let verdict = RoleVerdict {
        role: load.role,
        metric: load.measure,
        span_secs: load.span_secs.map(tidy),
        estimated: load.is_estimated,
        // It is unknown if tags were not counted.
        n_eff: effective(units).map(tidy),
        n_eff_error: if inputs.verdict.summary.units.are_exact {
            0.0
        } else {
            N_EFF_ERROR
        },
        floor: slot_floor_of(&load.slots, &compared.shares),
        ..RoleVerdict::default()
    };
    let is_sample = inputs.verdict.summary.input.sample_percent.is_some();
    // The nodes that were seen whole are compared, without a verdict on all.
    let is_compared =
        |reason: &Reason| *reason == Reason::NotSeen && compared.nodes.len() > 1 && !is_sample;
    let is_there = compared.total > 0.0 || compared.nodes.is_empty();
    let reason = load.reason.filter(|reason| !is_compared(reason));
    if let Some(reason) = reason.filter(|_| is_there) {
        return RoleVerdict {
            reason: Some(reason),
            state: State::Unjudged,
            sentence: inputs.not_compared(reason),
            seen: inputs.heaviest(),
            ..verdict
        };
    }
    let Some(split) = Split::of(&compared, units, load.measure) else {
        return RoleVerdict {
            sentence: inputs.nothing(),
            state: State::Empty,
            ..verdict
        };
    };
    let judgement = inputs.judgement(&split);
    let causes = split.causes(&load.slots);
    let sentence = inputs.fullest(&split, &judgement, &causes);
    RoleVerdict {
        judged: !matches!(judgement.state, State::Unjudged | State::Suspicious),
        reason: judgement.reason,
        state: judgement.state,
        sentence,
        bands: judgement.bands,
        compared: compared.nodes.len(),
        fullest: Some(FullestNode {
            node: split.fullest.id.clone(),
            max_over_mean: tidy(split.max_over_mean),
            limit_use: inputs.limit_use_of(load.compared[split.at]),
        }),
        usable_capacity: Some(tidy(1.0 / split.max_over_mean)),
        causes,
        seen: load.reason.and_then(|_| inputs.heaviest()),
        ..verdict
    }
}

impl RoleInputs<'_> {
    pub(crate) fn nodes(&self) -> &Nodes {
        &self.verdict.summary.nodes
    }

    fn judgement(&self, split: &Split<'_>) -> Judgement {
        let (load, gaps) = (self.load, self.verdict.gaps);
        let mut known = self.verdict.summary.asked.previous.iter();
        let previous = known.find(|(measure, _)| *measure == load.measure);
        let previous = previous.map(|(_, state)| *state);
        let judged = judge(split, load.measure, self.amounts, previous);
        let is_memory = load.measure.role() == Role::Memory;
        let suspicious = Judgement {
            state: State::Suspicious,
            ..judged
        };
        let unjudged = |reason| Judgement {
            state: State::Unjudged,
            reason: Some(reason),
            ..judged
        };
        if !self.verdict.signs.is_empty() {
            return suspicious;
        }
        if let Some(reason) = load.reason {
            return unjudged(reason);
        }
        if self.verdict.summary.headroom.is_capped && is_memory {
            return unjudged(Reason::Capped);
        }
        if gaps.unreadable(load).is_some() {
            return unjudged(Reason::Unreadable);
        }
        if gaps.are_missing(load) {
            return unjudged(Reason::Missing);
        }
        let may_be = split.max_over_mean + gaps.lost_shares(split.nodes());
        if judged.state == State::Balanced
            && judged.reason.is_none()
            && gaps.lost_rows > 0
            && may_be > judged.bands.lower
        {
            return suspicious;
        }
        // A cluster being rebalanced is uneven until that is done, which is not worth paging anybody. Unevenness that
        // is not due to slot counts has another cause.
        let without_slots = split.max_over_mean - split.by_slots.max(0.0);
        let is_of_slots = without_slots < judged.bands.upper;
        let is_moving = self.moving.is_some() && judged.state.is_uneven() && is_of_slots;
        Judgement {
            state: if is_moving {
                judged.state.min(State::Watch)
            } else {
                judged.state
            },
            reason: judged.reason.or(is_moving.then_some(Reason::Moving)),
            ..judged
        }
    }

    fn limit_use_of(&self, place: usize) -> Option<f64> {
        let limit_use = self.verdict.summary.headroom.of(self.load.role);
        limit_use.get(place).copied().flatten().map(tidy)
    }
}
