//! The result of a plan per role: targets, ratios, and why a target is missed.

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_planner::lower_bound::SetBy;
use slotscope_planner::move_request::{MoveRequest, Role};
use slotscope_planner::solve::{MovePlan, PlannedRole};
use slotscope_planner::why_not::why_not;

use crate::plan::inputs::PlanInputs;
use crate::wording::step as said;
use slotscope_model::balance::tidy;
use slotscope_model::headroom::Headroom;
use slotscope_model::independent_units::UnitKind;
use slotscope_model::limit;
use slotscope_model::state;

/// A unit above this fraction of a slot is named instead of the slot.
const MOST: f64 = 0.5;

/// A load that is judged, and how near to its target the plan comes. Ratios are loads of the fullest node that stays, in its fair
/// shares; of a limit, the part of it that this node uses.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GoalOutcome {
    /// The role; absent for a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<state::Role>,
    /// The limit; absent for a role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Its metric.
    pub metric: Metric,
    /// Whether it is the memory that servers use, taken to be spread over the slots of a node as its keys are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_servers: bool,
    /// The most that a node is to hold, unless it has a slot that is heavier than its share.
    pub target: f64,
    /// No move brings a node above this, unless it has such a slot; absent for a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<f64>,
    /// Whether no slot moves for it, and it may only not get worse.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guard: bool,
    /// Today.
    pub before: f64,
    /// Once all has moved.
    pub after: f64,
    /// Today, apart from slots that are heavier than the share of their node.
    pub rest_before: f64,
    /// The same then.
    pub rest_after: f64,
    /// Whether the nodes are even then, or so near to their targets that another plan is not worth its moves.
    pub met: bool,
    /// Why not, in a sentence.
    pub reason: Option<String>,
}

impl GoalOutcome {
    /// The measure that it is judged by.
    pub fn noun(&self) -> &'static str {
        if self.of_servers {
            "used memory"
        } else {
            self.metric.name()
        }
    }
}

/// A limit of the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The limit of its memory.
    Maxmemory,
}

/// The slot, tag or key that sets the floor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FloorUnit {
    /// Its kind.
    pub kind: FloorKind,
    /// Its number or name; of several slots how many of which.
    pub name: Name,
    /// The slot that it is in.
    pub slot: Option<u16>,
    /// Its part of the load of that slot.
    pub share: Option<f64>,
}

/// The kinds of units that set a floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FloorKind {
    /// A slot.
    Slot,
    /// Several slots that have to share a node.
    Slots,
    /// A hash tag.
    Tag,
    /// A key.
    Key,
}

/// The roles in their order, then the limits of the nodes.
pub(super) fn goals(
    request: &MoveRequest<'_>,
    plan: &MovePlan,
    headroom: &Headroom,
) -> Vec<GoalOutcome> {
    let outcome = |(at, role, planned): (usize, &Role<'_>, &PlannedRole)| {
        let why = (!planned.is_near && !plan.limited && !plan.is_relief)
            .then(|| why_not(&request.with_owner(plan.owner.clone()), at));
        let reason = match &why {
            _ if planned.is_near => None,
            _ if plan.is_relief => Some("the next plan evens it out".to_owned()),
            Some(why) => Some(said::why_not(why)),
            None => Some("the limits of the plan keep it from more".to_owned()),
        };
        GoalOutcome {
            role: Some(if role.metric.is_of_use() {
                state::Role::Load
            } else {
                state::Role::Memory
            }),
            limit: None,
            metric: role.metric,
            of_servers: false,
            target: tidy(planned.target),
            ceiling: Some(tidy(planned.ceiling)),
            guard: !role.is_goal,
            before: tidy(planned.before),
            after: tidy(planned.after),
            rest_before: tidy(planned.rest_before),
            rest_after: tidy(planned.rest_after),
            met: planned.is_near,
            reason,
        }
    };
    let judged = judged(request, plan).map(outcome);
    judged.chain(maxmemory(request, plan, headroom)).collect()
}

/// The judged roles with their indices.
fn judged<'r, 'a>(
    request: &'r MoveRequest<'a>,
    plan: &'r MovePlan,
) -> impl Iterator<Item = (usize, &'r Role<'a>, &'r PlannedRole)> {
    let roles = request.roles.iter().zip(&plan.roles).enumerate();
    let judged = roles.filter(|(_, (role, _))| role.is_judged());
    judged.map(|(at, (role, planned))| (at, role, planned))
}

/// The part of their limits that the nodes use, where they have one.
fn maxmemory(
    request: &MoveRequest<'_>,
    plan: &MovePlan,
    headroom: &Headroom,
) -> Option<GoalOutcome> {
    let caps = request.caps.as_ref()?;
    let role = &request.roles[caps.role];
    let fullest = |owner: &[Option<usize>]| {
        let loads = request.loads_under(&role.loads, owner);
        let used = request.staying().filter_map(|node| {
            let is_kept = loads[node] as f64 <= caps.hard[node]?;
            Some((headroom.limit_of(node)?.part(loads[node] as f64), is_kept))
        });
        used.fold((0.0, true), |(most, are_kept), (part, is_kept)| {
            (f64::max(most, part), are_kept && is_kept)
        })
    };
    let ((before, _), (after, met)) = (fullest(&request.owner), fullest(&plan.owner));
    let held = request.loads_under(&role.loads, &request.owner).into_iter();
    let room: Option<f64> = request.staying().map(|node| caps.hard[node]).sum();
    let is_too_much = room.is_some_and(|room| held.map(|held| held as f64).sum::<f64>() > room);
    let reason = if is_too_much {
        "all nodes together can hold less than there is"
    } else {
        "no plan was found that keeps all nodes below it"
    };
    Some(GoalOutcome {
        role: None,
        limit: Some(Limit::Maxmemory),
        metric: role.metric,
        of_servers: false,
        target: limit::FULL,
        ceiling: None,
        guard: false,
        before: tidy(before),
        after: tidy(after),
        rest_before: tidy(before),
        rest_after: tidy(after),
        met,
        reason: (!met).then(|| reason.into()),
    })
}

/// The lower bound of each role for any plan.
pub(super) fn floors(request: &MoveRequest<'_>, plan: &MovePlan) -> BTreeMap<&'static str, f64> {
    judged(request, plan)
        .map(|(_, role, planned)| (role.metric.name(), tidy(planned.floor.over_fair)))
        .collect()
}

/// The unit that sets the floor of the first role with a floor above 1.
pub(super) fn floor_unit(
    request: &MoveRequest<'_>,
    plan: &MovePlan,
    inputs: &PlanInputs<'_>,
) -> Option<FloorUnit> {
    let (metric, set_by) = judged(request, plan)
        .find_map(|(_, role, planned)| Some((role.metric, planned.floor.set_by?)))?;
    let slot = match set_by {
        SetBy::Slot(slot) => slot,
        SetBy::Slots { together, heaviest } => {
            let name = Name::from(format!("{together} of the {heaviest} heaviest").as_str());
            return Some(FloorUnit {
                kind: FloorKind::Slots,
                name,
                slot: None,
                share: None,
            });
        }
    };
    let unit = heaviest_unit(slot, metric, inputs).filter(|(.., share)| *share > MOST);
    let (kind, name, share) = match unit {
        Some((UnitKind::Key | UnitKind::Channel, name, share)) => {
            (FloorKind::Key, name, Some(tidy(share)))
        }
        Some((_, name, share)) => (FloorKind::Tag, name, Some(tidy(share))),
        None => (FloorKind::Slot, Name::from(slot.to_string().as_str()), None),
    };
    Some(FloorUnit {
        kind,
        name,
        slot: Some(slot),
        share,
    })
}

/// The named unit with the largest part of a slot's load, and that part.
fn heaviest_unit(
    slot: u16,
    metric: Metric,
    inputs: &PlanInputs<'_>,
) -> Option<(UnitKind, Name, f64)> {
    let units = inputs.units.per.get(metric)?;
    let whole = inputs.loads.get(metric)?[usize::from(slot)] as f64;
    let units_of_slot = units
        .named
        .iter()
        .filter(|unit| unit.slot == slot && whole > 0.0);
    let heaviest = units_of_slot.max_by(|a, b| a.load.total_cmp(&b.load))?;
    Some((
        heaviest.kind,
        heaviest.name.clone(),
        (heaviest.load / whole).min(1.0),
    ))
}
