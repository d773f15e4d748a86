//! The result of a plan per role: targets, ratios, and why a target is missed.

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_planner::lower_bound::SetBy;
use slotscope_planner::move_request::Role;
use slotscope_planner::solve::PlannedRole;
use slotscope_planner::why_not::why_not;

use crate::plan::planned::Planned;
use crate::wording as said;
use slotscope_model::balance::tidy;
use slotscope_model::independent_units::UnitKind;
use slotscope_model::limit;
use slotscope_model::measure::Measure;
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

impl Planned<'_> {
    /// The roles in their order, then the limits of the nodes.
    pub(super) fn goals(&self) -> Vec<GoalOutcome> {
        let mut roles = self.placement.roles.iter();
        let of_servers = roles.any(|role| role.load.measure == Measure::UsedMemory);
        let outcome = |(at, role, planned): (usize, &Role<'_>, &PlannedRole)| {
            let its = if role.metric.is_of_use() {
                state::Role::Load
            } else {
                state::Role::Memory
            };
            GoalOutcome {
                role: Some(its),
                limit: None,
                metric: role.metric,
                of_servers: of_servers && its == state::Role::Memory,
                target: tidy(planned.target),
                ceiling: Some(tidy(planned.ceiling)),
                guard: !role.is_goal,
                before: tidy(planned.before),
                after: tidy(planned.after),
                rest_before: tidy(planned.rest_before),
                rest_after: tidy(planned.rest_after),
                met: planned.is_near,
                reason: (!planned.is_near).then(|| self.why_not(at)),
            }
        };
        let judged = self.judged().map(outcome);
        judged.chain(self.maxmemory()).collect()
    }

    /// Why a role is missed.
    fn why_not(&self, role: usize) -> String {
        if self.plan.is_relief {
            "the next plan evens it out".into()
        } else if self.plan.limited {
            "the limits of the plan keep it from more".into()
        } else {
            let then = self.request.with_owner(self.plan.owner.clone());
            said::why_not(&why_not(&then, role))
        }
    }

    /// The part of their limits that the nodes use, where they have one.
    fn maxmemory(&self) -> Option<GoalOutcome> {
        let (request, headroom) = (&self.request, &self.summary.headroom);
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
        let ((before, _), (after, met)) = (fullest(&request.owner), fullest(&self.plan.owner));
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
    pub(super) fn floors(&self) -> BTreeMap<&'static str, f64> {
        let floor = |planned: &PlannedRole| tidy(planned.floor.over_fair);
        let judged = self.judged();
        judged
            .map(|(_, role, planned)| (role.metric.name(), floor(planned)))
            .collect()
    }

    /// The unit that sets the floor of the first role with a floor above 1.
    pub(super) fn floor_unit(&self) -> Option<FloorUnit> {
        let mut judged = self.judged();
        let (metric, set_by) =
            judged.find_map(|(_, role, planned)| Some((role.metric, planned.floor.set_by?)))?;
        let slot = match set_by {
            SetBy::Slot(slot) => slot,
            SetBy::Slots { together, heaviest } => {
                let name = Name::from(format!("{together} of the {heaviest} heaviest"));
                return Some(FloorUnit {
                    kind: FloorKind::Slots,
                    name,
                    slot: None,
                    share: None,
                });
            }
        };
        let unit = self.heaviest_unit(slot, metric);
        let (kind, name, share) = match unit.filter(|(.., share)| *share > MOST) {
            Some((UnitKind::Key | UnitKind::Channel, name, share)) => {
                (FloorKind::Key, name, Some(tidy(share)))
            }
            Some((_, name, share)) => (FloorKind::Tag, name, Some(tidy(share))),
            None => (FloorKind::Slot, Name::from(slot.to_string()), None),
        };
        Some(FloorUnit {
            kind,
            name,
            slot: Some(slot),
            share,
        })
    }

    /// The named unit with the largest part of a slot's load, and that part.
    fn heaviest_unit(&self, slot: u16, metric: Metric) -> Option<(UnitKind, Name, f64)> {
        let units = self.summary.units.per.get(metric)?.named.iter();
        let whole = self.summary.slots.loads.get(metric)?[usize::from(slot)] as f64;
        let units = units.filter(|unit| unit.slot == slot && whole > 0.0);
        let heaviest = units.max_by(|a, b| a.load.total_cmp(&b.load))?;
        let share = (heaviest.load / whole).min(1.0);
        Some((heaviest.kind, heaviest.name.clone(), share))
    }
}
