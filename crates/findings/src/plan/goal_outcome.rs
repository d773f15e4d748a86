//! The result of a plan in its goals: targets, ratios, and why a target is not reached.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::text;

use crate::plan::inputs::PlanInputs;
use crate::plan::lower_bound::SetBy;
use crate::plan::problem::{Goal, Problem};
use crate::plan::proof::Proof;
use crate::plan::solve::{Impossible, Planned, PlannedGoal};
use crate::summary::balance::tidy;
use crate::summary::independent_units::UnitKind;

/// Slots that a reason names.
const SLOTS_NAMED: usize = 3;
/// A unit of more than this part of a slot is named in place of it.
const MOST: f64 = 0.5;

/// A goal, and how near to it the plan comes. Ratios are loads of the fullest node that stays, in its fair shares.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GoalOutcome {
    /// `memory` or `load`; absent for a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// `maxmemory`; absent for a role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<&'static str>,
    /// Its measure.
    pub metric: &'static str,
    /// The most that a node may hold, unless it has a slot that is heavier than its share.
    pub target: f64,
    /// Today.
    pub before: f64,
    /// Once all has moved.
    pub after: f64,
    /// Today, apart from slots that are heavier than the share of their node.
    pub rest_before: f64,
    /// The same then.
    pub rest_after: f64,
    /// Whether every node is at its target then, or so near to it that another plan is not worth its moves.
    pub met: bool,
    /// Why not, in a sentence.
    pub reason: Option<String>,
}

/// The slot, tag or key that sets the floor.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FloorUnit {
    /// `slot`, `tag` or `key`; `slots` where several have to share a node.
    pub kind: &'static str,
    /// Its number or name; of several slots how many of which.
    pub name: Name,
    /// The slot that it is in.
    pub slot: Option<u16>,
    /// Its part of the load of that slot.
    pub share: Option<f64>,
}

/// The name of a role.
pub(crate) fn role_of(metric: Metric) -> &'static str {
    if metric.is_of_use() { "load" } else { "memory" }
}

/// The goals in their order, then the limits of the nodes.
pub(super) fn goals(
    problem: &Problem<'_>,
    plan: &Planned,
    inputs: &PlanInputs<'_>,
) -> Vec<GoalOutcome> {
    let both = problem.goals.iter().zip(&plan.goals).enumerate();
    let role = |(at, (goal, planned)): (usize, (&Goal<'_>, &PlannedGoal))| GoalOutcome {
        role: Some(role_of(goal.metric)),
        limit: None,
        metric: goal.metric.name(),
        target: tidy(planned.target),
        before: tidy(planned.before),
        after: tidy(planned.after),
        rest_before: tidy(planned.rest_before),
        rest_after: tidy(planned.rest_after),
        met: planned.is_near,
        reason: (!planned.is_near).then(|| reason(problem, plan, at, inputs)),
    };
    both.map(role).chain(maxmemory(problem, plan)).collect()
}

/// How full the nodes are, where they have a limit.
fn maxmemory(problem: &Problem<'_>, plan: &Planned) -> Option<GoalOutcome> {
    let goal = problem.goals.iter().find(|goal| !goal.hard.is_empty())?;
    let fullest = |owner: &[Option<usize>]| {
        let loads = problem.loads_under(goal.loads, owner);
        let used = problem.staying().filter_map(|node| {
            let limit = goal.hard[node]?;
            Some(loads[node] as f64 / limit.max(1) as f64)
        });
        used.fold(0.0, f64::max)
    };
    let (before, after) = (fullest(&problem.owner), fullest(&plan.owner));
    let reason = plan.impossible.map(|impossible| match impossible {
        Impossible::Sum { .. } => String::from("all nodes together can hold less than there is"),
        Impossible::Slot { slot, .. } => format!("no node can hold slot {slot}"),
    });
    let otherwise = || String::from("no plan was found that keeps all nodes below it");
    Some(GoalOutcome {
        role: None,
        limit: Some("maxmemory"),
        metric: goal.metric.name(),
        target: 1.0,
        before: tidy(before),
        after: tidy(after),
        rest_before: tidy(before),
        rest_after: tidy(after),
        met: after <= 1.0 && plan.impossible.is_none(),
        reason: reason.or_else(|| (after > 1.0).then(otherwise)),
    })
}

/// Why a goal is not met.
fn reason(problem: &Problem<'_>, plan: &Planned, at: usize, inputs: &PlanInputs<'_>) -> String {
    let planned = &plan.goals[at];
    if plan.limited {
        return String::from("the limits of the plan keep it from more");
    }
    let fixed = plan.fixed_above.iter().find(|fixed| fixed.goal == at);
    if let Some(proof) = &planned.proof {
        return sentence(problem, plan, at, proof, inputs);
    }
    if let Some(fixed) = fixed {
        let node = &inputs.nodes[fixed.node];
        let address = node.address.as_deref().map(Name::from);
        let hostname = node.hostname.as_deref().map(Name::from);
        let name = text::node_name(
            &Name::from(node.id.as_str()),
            address.as_ref(),
            hostname.as_ref(),
        );
        return format!(
            "{name} cannot go below {:.2}: {} that may not move hold so much",
            fixed.share,
            text::counted(fixed.slots as u64, "slot")
        );
    }
    if plan.is_step {
        String::from("no placement that meets it was found")
    } else {
        String::from("no plan was found that gains 0.02")
    }
}

/// The least that any placement can reach, with the slots that prevent less.
fn sentence(
    problem: &Problem<'_>,
    plan: &Planned,
    at: usize,
    proof: &Proof,
    inputs: &PlanInputs<'_>,
) -> String {
    let role = |of: usize| role_of(problem.role(of).0);
    let other = if proof.heavy == at { proof.kept } else { at };
    let named = proof.slots.iter().take(SLOTS_NAMED);
    let named: Vec<String> = named
        .map(|slot| named_slot(*slot, proof.heavy, problem, inputs))
        .collect();
    let (slots, holds) = match proof.slots.len() {
        1 => (format!("slot {}", named[0]), "holds"),
        more => (
            format!(
                "slots {}{}",
                named.join(", "),
                text::and_more(more - named.len())
            ),
            "hold together",
        ),
    };
    let is_goal = proof.kept < problem.goals.len();
    let (what, changes) = if is_goal {
        (String::from("both"), "stays at")
    } else {
        let (asked, kept) = (role(at), role(proof.kept));
        (
            format!("the {asked} and leaves the {kept} as even as it is"),
            "rises to",
        )
    };
    let alternative = proof.other_trade.map_or(String::new(), |least| {
        format!("{} {changes} {least:.2} or more, or ", role(proof.kept))
    });
    let after = |of: usize| format!("{} {:.2}", role(of), problem.fullest(of, &plan.owner));
    format!(
        "no placement evens {what}: {slots} {holds} {:.2} shares of the {}, and nodes with it can take at most {:.2} shares of \
        the {} in all, so {alternative}{} stays at {:.2} or more. This plan: {}, {}",
        proof.share,
        role(proof.heavy),
        proof.beside,
        role(other),
        role(at),
        proof.least,
        after(proof.kept),
        after(at),
    )
}

/// The number of a slot, with the unit that is most of it.
fn named_slot(slot: u16, role: usize, problem: &Problem<'_>, inputs: &PlanInputs<'_>) -> String {
    match heaviest_unit(slot, problem.role(role).0, inputs).filter(|(.., share)| *share > MOST) {
        Some((UnitKind::Key, name, _)) => format!("{slot} (key {})", text::short(&name)),
        Some((_, name, _)) => format!("{slot} ({{{}}})", text::short(&name)),
        None => slot.to_string(),
    }
}

/// The floor of each goal for any plan.
pub(super) fn floors(problem: &Problem<'_>, plan: &Planned) -> BTreeMap<&'static str, f64> {
    let both = problem.goals.iter().zip(&plan.goals);
    both.map(|(goal, planned)| (goal.metric.name(), tidy(planned.floor.over_fair)))
        .collect()
}

/// The unit that sets the floor of the first goal that has one above 1.
pub(super) fn floor_unit(
    problem: &Problem<'_>,
    plan: &Planned,
    inputs: &PlanInputs<'_>,
) -> Option<FloorUnit> {
    let both = problem.goals.iter().zip(&plan.goals);
    let (metric, set_by) = both
        .filter_map(|(goal, planned)| Some((goal.metric, planned.floor.set_by?)))
        .next()?;
    let slot = match set_by {
        SetBy::Slot(slot) => slot,
        SetBy::Slots { together, heaviest } => {
            let name = Name::from(format!("{together} of the {heaviest} heaviest").as_str());
            return Some(FloorUnit {
                kind: "slots",
                name,
                slot: None,
                share: None,
            });
        }
    };
    let unit = heaviest_unit(slot, metric, inputs).filter(|(.., share)| *share > MOST);
    let (kind, name, share) = match unit {
        Some((UnitKind::Key, name, share)) => ("key", name, Some(tidy(share))),
        Some((_, name, share)) => ("tag", name, Some(tidy(share))),
        None => ("slot", Name::from(slot.to_string().as_str()), None),
    };
    Some(FloorUnit {
        kind,
        name,
        slot: Some(slot),
        share,
    })
}

/// The named unit that is the largest part of a slot's load, and which part of it.
fn heaviest_unit(
    slot: u16,
    metric: Metric,
    inputs: &PlanInputs<'_>,
) -> Option<(UnitKind, Name, f64)> {
    let units = inputs.units.per.get(metric)?;
    let whole = inputs.loads.get(metric)?[usize::from(slot)] as f64;
    let its = units
        .named
        .iter()
        .filter(|unit| unit.slot == slot && whole > 0.0);
    let heaviest = its.max_by(|a, b| a.load.total_cmp(&b.load))?;
    Some((
        heaviest.kind,
        heaviest.name.clone(),
        (heaviest.load / whole).min(1.0),
    ))
}
