//! The verdict in one role: how uneven the compared nodes are, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;

use crate::summary::balance::tidy;
use crate::summary::cause::Cause;
use crate::summary::compared::Compared;
use crate::summary::floor::slot_floor_of;
use crate::summary::independent_units::UnitsBy;
use crate::summary::judge::{Amounts, Bands, Judgement, judge};
use crate::summary::measure::Measure;
use crate::summary::nodes::Nodes;
use crate::summary::reason::Reason;
use crate::summary::role_load::RoleLoad;
use crate::summary::scaling::{self, Scaled};
use crate::summary::split::Split;
use crate::summary::state::{Role, State};
use crate::summary::verdict_inputs::VerdictInputs;

/// The verdict in one role.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoleVerdict {
    /// The role; null for keys and other measures that the user chose beside it.
    pub role: Option<Role>,
    /// Its measure.
    pub metric: Measure,
    /// Whether the nodes are compared and judged.
    pub judged: bool,
    /// Why not.
    pub reason: Option<Reason>,
    /// How uneven the nodes are.
    pub state: State,
    /// The finding in a sentence.
    pub sentence: String,
    /// From which ratio on the state is `watch`, and from which it is `skewed`.
    pub bands: Bands,
    /// How many nodes are compared.
    pub compared: usize,
    /// Seconds that the load covers, where it is a rate.
    pub span_secs: Option<f64>,
    /// Whether a part of the load is estimated.
    pub estimated: bool,
    /// The fullest node; absent without load.
    pub fullest: Option<FullestNode>,
    /// Why the fullest node is above its fair share, largest first; the excesses add up to max/mean - 1.
    pub causes: Vec<Cause>,
    /// The independent units that the load behaves like.
    pub n_eff: Option<f64>,
    /// 0: exact; else the relative standard error of `n_eff`.
    pub n_eff_error: f64,
    /// No move of slots gets the fullest node below this, in fair shares.
    pub floor: Option<f64>,
    /// 1 / M: with equal nodes the cluster is full when its fullest node is.
    pub usable_capacity: Option<f64>,
    /// The same slots on other numbers of equal nodes.
    pub by_node_count: Vec<Scaled>,
    /// Where nodes are not compared, the heaviest tag or key of the load: its name, whether it is a tag, and its part.
    #[serde(skip)]
    pub(crate) seen: Option<(Name, bool, f64)>,
}

/// The fullest node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullestNode {
    /// Its id.
    pub node: Name,
    /// Its load in fair shares.
    pub max_over_mean: f64,
    /// The part of its limit that it uses; absent if the limit is not known.
    #[serde(default)]
    pub limit_use: Option<f64>,
}

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

impl RoleVerdict {
    /// Judges the compared nodes.
    pub(crate) fn new(inputs: &RoleInputs<'_>) -> Self {
        let RoleInputs { load, units, .. } = *inputs;
        let compared = Compared::new(inputs.nodes(), load);
        let verdict = RoleVerdict {
            role: load.role,
            metric: load.measure,
            span_secs: load.span_secs.map(tidy),
            estimated: load.is_estimated,
            ..RoleVerdict::default()
        }
        .with_units(inputs, &compared);
        let Some(split) = Split::of(&compared, units, load.measure) else {
            return RoleVerdict {
                sentence: inputs.nothing(),
                state: State::Empty,
                ..verdict
            };
        };
        if let Some(reason) = load.reason {
            return RoleVerdict {
                reason: Some(reason),
                state: State::Unjudged,
                sentence: inputs.not_compared(reason),
                seen: inputs.heaviest(),
                ..verdict
            };
        }
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
            ..verdict
        }
    }

    /// Adds what the units tell about slots.
    fn with_units(self, inputs: &RoleInputs<'_>, compared: &Compared<'_>) -> Self {
        let RoleInputs { load, units, .. } = *inputs;
        // n_eff is unknown if tags were not counted.
        RoleVerdict {
            n_eff: units.effective().map(tidy),
            n_eff_error: if inputs.verdict.units.are_exact {
                0.0
            } else {
                N_EFF_ERROR
            },
            floor: slot_floor_of(&load.slots, &compared.shares),
            by_node_count: if units.total > 0.0 {
                scaling::by_node_count(load, units, inputs.amounts.keys)
            } else {
                Vec::new()
            },
            ..self
        }
    }

    /// The fullest node's load in fair shares.
    pub fn max_over_mean(&self) -> Option<f64> {
        self.fullest.as_ref().map(|fullest| fullest.max_over_mean)
    }

    /// The fraction of its limit that the fullest node uses.
    pub fn limit_use(&self) -> Option<f64> {
        self.fullest.as_ref()?.limit_use
    }

    /// Whether it is not judged because values are missing or unreadable.
    pub fn has_gap(&self) -> bool {
        matches!(self.reason, Some(Reason::Unreadable | Reason::Missing))
    }

    /// The name of the role, or of the measure if there is no role.
    pub fn name(&self) -> &'static str {
        self.role.map_or(self.by().name(), Role::name)
    }

    /// Its display name, by measure.
    pub fn called(&self) -> &'static str {
        self.role.map_or(self.by().name(), |_| self.metric.head())
    }

    /// The metric of its tables.
    pub fn by(&self) -> Metric {
        self.metric.metric()
    }
}

impl RoleInputs<'_> {
    pub(crate) fn nodes(&self) -> &Nodes {
        self.verdict.nodes
    }

    fn judgement(&self, split: &Split<'_>) -> Judgement {
        let (load, gaps) = (self.load, self.verdict.gaps);
        let mut known = self.verdict.asked.previous.iter();
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
        if self.verdict.headroom.is_capped && is_memory {
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
        let limit_use = self.verdict.headroom.of(self.load.role);
        limit_use.get(place).copied().flatten().map(tidy)
    }
}
