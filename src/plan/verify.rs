//! Compares a forecast with the current cluster. The `--json` of a plan forecasts the owners of moved slots and each
//! node's share of keys and memory; report.json forecasts the fullest node of each role after its moves.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::text::{counted, ranges};
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::nodes::NodeLoad;
use slotscope_findings::summary::state::Role;
use slotscope_findings::summary::step::StepKind;
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Cell, Column, Section, Table};

/// Relative tolerance of a figure, if no keys were added or removed.
const TOLERANCE: f64 = 0.02;
/// Maximum relative deviation explained by keys added or removed since.
const EXPLAINED: f64 = 0.1;
/// Added or removed keys on a node up to this number are normal.
const FEW_KEYS: f64 = 50.0;
/// The metrics that a plan forecasts for each node. Operations are a rate that varies from hour to hour.
const METRICS: [Metric; 2] = [Metric::Keys, Metric::Bytes];
/// Maximum ranges of slots shown.
const RANGES: usize = 12;

/// A forecast of a plan.
#[derive(Debug)]
pub(crate) enum Forecast {
    Plan(PlanForecast),
    Report(Box<Summary>),
}

/// The comparable parts of a plan.
#[derive(Debug, Deserialize)]
pub(crate) struct PlanForecast {
    nodes: Vec<ForecastNode>,
    moves: Vec<ForecastMove>,
}

#[derive(Debug, Deserialize)]
struct ForecastNode {
    id: String,
    slots: After,
    keys: Option<After>,
    bytes: Option<After>,
}

impl ForecastNode {
    fn planned(&self, metric: Metric) -> Option<u64> {
        let figure = match metric {
            Metric::Keys => &self.keys,
            _ => &self.bytes,
        };
        figure.as_ref().map(|figure| figure.after)
    }
}

#[derive(Debug, Deserialize)]
struct After {
    after: u64,
}

#[derive(Debug, Deserialize)]
struct ForecastMove {
    to: String,
    ranges: Vec<(u16, u16)>,
}

impl Forecast {
    /// Parses the JSON of a plan or report; the error message follows "FILE: ".
    pub(crate) fn parse(text: &[u8]) -> Result<Forecast, String> {
        let refused = |error: serde_json::Error| {
            format!(
                "is not the JSON of a plan or a report ({error}); slotscope plan --json writes one"
            )
        };
        let value: Value = serde_json::from_slice(text).map_err(refused)?;
        let schema = value["schema"].as_str().unwrap_or_default();
        if schema.starts_with("slotscope.plan/") {
            let plan = serde_json::from_value(value).map_err(refused)?;
            return Ok(Forecast::Plan(plan));
        }
        if schema == slotscope_findings::summary::SCHEMA {
            let report: Summary = serde_json::from_value(value).map_err(refused)?;
            let mut steps = report.verdict.steps.iter();
            return if steps.any(|step| step.kind == StepKind::Move) {
                Ok(Forecast::Report(Box::new(report)))
            } else {
                Err("has no step that moves slots, so it forecasts nothing".into())
            };
        }
        let schema = Name::from(schema);
        Err(format!(
            "has the schema \"{schema}\", and neither a plan nor a report of this version; slotscope plan --json writes one"
        ))
    }
}

/// A forecast, and the actual value.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Verification")]
pub(crate) struct Verification {
    /// `slotscope.verification/1`.
    schema: &'static str,
    /// Whether all is as it was forecast.
    pub as_forecast: bool,
    /// Slots that are not on the node that they were to move to, as first and last.
    slots_elsewhere: Vec<(u16, u16)>,
    /// Each figure that is in the forecast and was found.
    figures: Vec<Figure>,
    /// Forecasts that could not be compared.
    not_compared: Vec<String>,
}

/// A figure of a forecast.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Figure {
    /// The node that it is of; absent of a role, whose figure is that of the fullest node.
    node: Option<Name>,
    /// The metric or the role.
    of: String,
    /// The part of the cluster that the node was to hold; of a role, fair shares.
    forecast: f64,
    /// The same as it is now.
    found: f64,
    /// Whether it differs by more than 2%, and by more than keys that came or went since explain: up to 10%.
    differs: bool,
}

/// Compares a forecast with a cluster.
pub(crate) fn verify(forecast: &Forecast, now: &Summary) -> Verification {
    let mut found = match forecast {
        Forecast::Plan(plan) => verify_plan(plan, now),
        Forecast::Report(report) => verify_report(report, now),
    };
    found.as_forecast =
        found.slots_elsewhere.is_empty() && !found.figures.iter().any(|figure| figure.differs);
    found
}

fn empty() -> Verification {
    Verification {
        schema: "slotscope.verification/1",
        as_forecast: false,
        slots_elsewhere: Vec::new(),
        figures: Vec::new(),
        not_compared: Vec::new(),
    }
}

fn verify_plan(plan: &PlanForecast, now: &Summary) -> Verification {
    let mut found = empty();
    let nodes = matched(plan, now);
    for of in &plan.moves {
        let target = nodes.get(of.to.as_str());
        for (first, last) in &of.ranges {
            let is_there = |slot: &u16| {
                let mut owned = target.iter().flat_map(|node| &node.ranges);
                owned.any(|(first, last)| (*first..=*last).contains(slot))
            };
            let elsewhere = (*first..=*last).filter(|slot| !is_there(slot));
            elsewhere.for_each(|slot| add(&mut found.slots_elsewhere, slot));
        }
    }
    found.slots_elsewhere.sort_unstable();
    let held_keys: u64 = now.nodes.list.iter().map(|node| node.load.keys).sum();
    let planned_keys: Option<u64> = plan
        .nodes
        .iter()
        .map(|node| node.planned(Metric::Keys))
        .sum();
    let part_of_keys = |keys: f64| keys / held_keys.max(1) as f64;
    // Keys added or removed may all belong to one node.
    let changed = planned_keys.map_or(0, |keys| keys.abs_diff(held_keys));
    let (few, changed) = (part_of_keys(FEW_KEYS), part_of_keys(changed as f64));
    for metric in METRICS {
        let planned = |node: &ForecastNode| node.planned(metric);
        let all_planned: u64 = plan.nodes.iter().filter_map(planned).sum();
        let held = |node: &NodeLoad| node.load.get(metric).copied();
        let all_held: u64 = now.nodes.list.iter().filter_map(held).sum();
        if all_planned == 0 {
            continue;
        }
        if all_held == 0 {
            found.not_compared.push(format!(
                "{}: the input does not have them; name a collection of all keys",
                metric.name()
            ));
            continue;
        }
        for node in &plan.nodes {
            let is_now = nodes.get(node.id.as_str());
            let forecast = planned(node).unwrap_or(0) as f64 / all_planned as f64;
            let part = is_now.and_then(|node| held(node)).unwrap_or(0) as f64 / all_held as f64;
            let off = (part - forecast).abs();
            found.figures.push(Figure {
                node: Some(is_now.map_or_else(|| node.id.as_str().into(), |node| label(node))),
                of: metric.name().into(),
                forecast: rounded(forecast),
                found: rounded(part),
                differs: off > few
                    && off > f64::max(TOLERANCE * forecast, changed.min(EXPLAINED * forecast)),
            });
        }
    }
    found
}

/// For a report, the roles after its last move.
fn verify_report(report: &Summary, now: &Summary) -> Verification {
    let mut found = empty();
    let mut steps = report.verdict.steps.iter();
    let Some(last) = steps.rfind(|step| step.kind == StepKind::Move) else {
        return found;
    };
    let roles = [
        (Role::Memory, &last.after.memory),
        (Role::Load, &last.after.load),
    ];
    for (role, after) in roles {
        let Some(after) = after else { continue };
        let shares = now.nodes.list.iter();
        let fullest = shares
            .filter_map(|node| node.over_share.of(role))
            .fold(None, |most: Option<f64>, share| {
                Some(most.map_or(share, |most| most.max(share)))
            });
        match fullest {
            // Being more even than forecast is not a difference.
            Some(fullest) => found.figures.push(Figure {
                node: None,
                of: role.name().into(),
                forecast: rounded(after.max_over_mean),
                found: rounded(fullest),
                differs: fullest > after.max_over_mean * (1.0 + TOLERANCE),
            }),
            None => found
                .not_compared
                .push(format!("{}: the input does not have it", role.name())),
        }
    }
    found
}

/// The current node for each node of a plan. An added node has no id in the plan, so it is the new one.
fn matched<'a>(plan: &'a PlanForecast, now: &'a Summary) -> BTreeMap<&'a str, &'a NodeLoad> {
    let with_id = |id: &str| {
        let mut nodes = now.nodes.list.iter();
        nodes.find(|node| node.id.0 == id.as_bytes())
    };
    let known = plan.nodes.iter();
    let mut nodes: BTreeMap<&str, &NodeLoad> = known
        .filter_map(|node| Some((node.id.as_str(), with_id(&node.id)?)))
        .collect();
    let mut added: Vec<_> = plan.nodes.iter().collect();
    added.retain(|node| node.id.starts_with("new-") && !nodes.contains_key(node.id.as_str()));
    let is_known = |node: &&NodeLoad| nodes.values().any(|known| known.id == node.id);
    let mut others: Vec<_> = now
        .nodes
        .list
        .iter()
        .filter(|node| !is_known(node))
        .collect();
    // Several new nodes are distinguished by their slots.
    added.sort_by_key(|node| node.slots.after);
    others.sort_by_key(|node| node.slots);
    nodes.extend(added.iter().map(|node| node.id.as_str()).zip(others));
    nodes
}

fn add(slots: &mut Vec<(u16, u16)>, slot: u16) {
    match slots.last_mut() {
        Some((_, last)) if u32::from(*last) + 1 == u32::from(slot) => *last = slot,
        _ => slots.push((slot, slot)),
    }
}

fn label(node: &NodeLoad) -> Name {
    node.address.clone().unwrap_or_else(|| node.id.clone())
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

pub(crate) fn sections(found: &Verification) -> Vec<Section<'_>> {
    let mut top = Section::untitled().paragraph(headline(found));
    for what in &found.not_compared {
        top = top.paragraph(format!("not compared: {what}"));
    }
    let value = |figure: &Figure, value: f64| match figure.node {
        Some(_) => Cell::text(format!("{:.1}%", 100.0 * value)),
        None => Cell::text(format!("{value:.3} × fair")),
    };
    let table = Table::of(&found.figures)
        .column(Column::words("node").flexible(), |figure| {
            Cell::text(
                figure
                    .node
                    .as_ref()
                    .map_or("the fullest".into(), Name::to_string),
            )
        })
        .column(Column::words("of"), |figure| Cell::text(figure.of.clone()))
        .column(Column::number("forecast"), move |figure| {
            value(figure, figure.forecast)
        })
        .column(Column::number("now").rank(Rank::Main), move |figure| {
            value(figure, figure.found)
        })
        .column(Column::words("as forecast").rank(Rank::Main), |figure| {
            Cell::text(if figure.differs { "no" } else { "yes" })
        })
        .build();
    vec![top, Section::untitled().table(table)]
}

fn headline(found: &Verification) -> String {
    let differ = found.figures.iter().filter(|figure| figure.differs).count();
    let slots: usize = found
        .slots_elsewhere
        .iter()
        .map(|(first, last)| usize::from(last - first) + 1)
        .sum();
    let mut wrong = Vec::new();
    if slots > 0 {
        let (slots, which) = (
            counted(slots as u64, "slot"),
            ranges(&found.slots_elsewhere, RANGES),
        );
        wrong.push(format!(
            "{slots} not where the plan puts them ({which}): run its script again"
        ));
    }
    if differ > 0 {
        wrong.push(format!(
            "{} from the forecast by more than 2% and than the keys that came or went since explain: it was made of an old dump",
            if differ == 1 { "1 figure differs".into() } else { format!("{differ} figures differ") }
        ));
    }
    if wrong.is_empty() {
        "as forecast: every slot is where the plan puts it, and no figure differs by more than 2% or the keys that came or went since"
            .into()
    } else {
        wrong.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plans_and_reports_with_moves_are_forecasts() {
        let plan = br#"{"schema": "slotscope.plan/2", "nodes": [{"id": "a", "slots": {"before": 1, "after": 2},
            "keys": {"before": 5, "after": 7}, "bytes": null}], "moves": [{"from": "b", "to": "a", "ranges": [[3, 4]]}]}"#;
        assert!(matches!(Forecast::parse(plan), Ok(Forecast::Plan(_))));
        for (text, expected) in [
            (&b"{"[..], "is not the JSON of a plan or a report"),
            (br#"{"schema": "slotscope.plan/2"}"#, "missing field"),
            (
                br#"{"schema": "slotscope.diff/1\u001b[31m"}"#,
                r#""slotscope.diff/1\x1b[31m""#,
            ),
        ] {
            let refused = Forecast::parse(text).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
