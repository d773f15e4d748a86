//! Orders findings: down, at a limit, suspicious, uneven or watched, then risks. Within a state, closeness to a limit
//! comes first, then load before memory; the degree of imbalance does not count.

use std::cmp::Ordering;

use slotscope_base::name::Name;

use crate::summary::observed::Observed;
use crate::wording::finding as said;
use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::independent_units::UnitKind;
use slotscope_model::integrity::Integrity;
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::{NodeFlag, NodeLoad, Nodes};
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::{Role, Severity, State};

/// Unserved slots. `has_listing`: the nodes are from a cluster listing, not assumed or derived from files.
pub(crate) fn down(nodes: &Nodes, observed: &Observed, has_listing: bool) -> Option<Finding> {
    let owning = |is_so: fn(&NodeLoad) -> bool| nodes.owning().filter(move |node| is_so(node));
    let row = |node: &NodeLoad| (node.label(), node.slots);
    let names = |is_so| -> Vec<(Name, u32)> { owning(is_so).map(row).collect() };
    let is_refusing = |node: &NodeLoad| !node.is_lost() && node.flags.contains(&NodeFlag::Refusing);
    let (failed, refusing) = (names(|node| node.failed), names(is_refusing));
    let silent = names(|node| node.is_lost() && !node.failed);
    let unowned = if has_listing { nodes.unowned.slots } else { 0 };
    let said_fail = observed.cluster_state.filter(|(_, fail)| *fail > 0);
    let parts = [&failed, &silent, &refusing].into_iter().flatten();
    let slots: u32 = parts.map(|(_, slots)| slots).sum::<u32>() + unowned;
    let is_down = slots > 0 || said_fail.is_some();
    let text = said::down([&failed, &silent, &refusing], unowned, said_fail);
    is_down.then(|| Finding {
        node: owning(NodeLoad::is_lost)
            .chain(owning(is_refusing))
            .next()
            .map(|node| node.id.clone()),
        ..Finding::new(FindingKind::Down, Severity::Critical, text)
            .of(f64::from(slots))
            .setting(State::Down)
    })
}

/// Primaries suspected to have failed.
pub(crate) fn suspected(nodes: &Nodes) -> impl Iterator<Item = Finding> + '_ {
    let suspected = nodes
        .owning()
        .filter(|node| node.is_suspected() && !node.failed);
    suspected.map(|node| {
        let text = said::suspected(&node.label(), node.slots);
        Finding::new(FindingKind::Suspected, Severity::Warning, text)
            .on(&node.id)
            .of(f64::from(node.slots))
            .setting(State::Watch)
    })
}

/// A suspicious dump, in the words of the first role.
pub(crate) fn suspicious(signs: &[Integrity], roles: &[RoleVerdict]) -> Option<Finding> {
    let role = roles.first()?;
    signs.first()?;
    let text = role.sentence.clone();
    let finding = Finding::new(FindingKind::Suspicious, Severity::Critical, text);
    Some(finding.setting(State::Suspicious))
}

/// Nodes above their fair share, one finding per role.
pub(crate) fn skews(roles: &[RoleVerdict]) -> impl Iterator<Item = Finding> + '_ {
    let uneven = roles.iter().filter(|role| role.state.is_uneven());
    uneven.filter_map(|role| {
        let fullest = role.fullest.as_ref()?;
        let text = role.sentence.clone();
        let finding = skew(role.state, fullest.max_over_mean, fullest.limit_use, text);
        Some(finding.in_role(role.role, role.metric).on(&fullest.node))
    })
}

/// A node above its fair share.
pub(crate) fn skew(
    state: State,
    max_over_mean: f64,
    limit_use: Option<f64>,
    text: String,
) -> Finding {
    let is_close = match (limit_use, state) {
        (Some(limit_use), _) => limit_use >= limit::CLOSE,
        (None, State::Skewed) => max_over_mean >= limit::CRITICAL,
        (None, _) => false,
    };
    let severity = match (state, is_close) {
        (State::Skewed, true) => Severity::Critical,
        (State::Skewed, false) | (_, true) => Severity::Warning,
        (_, false) => Severity::Notice,
    };
    let finding = Finding::new(FindingKind::Skew, severity, text);
    Finding {
        limit_use,
        ..finding.of(max_over_mean).setting(state)
    }
}

/// Hot tags and keys in captures, if nodes are not compared.
pub(crate) fn hot_of_seen(roles: &[RoleVerdict]) -> impl Iterator<Item = Finding> + '_ {
    roles.iter().filter_map(|role| {
        let (name, kind, part) = role.seen.as_ref()?;
        let is_hot = *part >= limit::HOT && role.metric.role() == Role::Load;
        is_hot.then(|| hot(name, *kind, *part, role.metric))
    })
}

fn hot(name: &Name, unit: UnitKind, part: f64, measure: Measure) -> Finding {
    let text = said::seen(name, unit, part, measure);
    let (kind, tag, key) = match name.clone() {
        tag if unit == UnitKind::Tag => (FindingKind::CoarseTag, Some(tag), None),
        key => (FindingKind::HotKey, None, Some(key)),
    };
    let finding = Finding {
        tag,
        key,
        ..Finding::new(kind, Severity::Warning, text)
    };
    finding.in_role(Some(measure.role()), measure).of(part)
}

/// Sorts findings and assigns ids. On assumed nodes nothing is critical.
pub(crate) fn ordered(mut findings: Vec<Finding>, are_assumed: bool) -> Vec<Finding> {
    if are_assumed {
        for finding in &mut findings {
            finding.severity = finding.severity.min(Severity::Warning);
        }
    }
    findings.sort_by(order);
    findings.into_iter().map(Finding::identified).collect()
}

fn order(a: &Finding, b: &Finding) -> Ordering {
    let by_severity = b.severity.cmp(&a.severity);
    let of_state = || {
        // Nodes close to a limit come first; then load, which users notice immediately.
        let close = |finding: &Finding| {
            let part = finding.limit_use.filter(|part| *part >= limit::CLOSE);
            part.unwrap_or(0.0)
        };
        let place = |finding: &Finding| match finding.role {
            _ if finding.is_chosen => 0,
            Some(Role::Load) => 1,
            Some(Role::Memory) => 2,
            None => 3,
        };
        let by_limit = close(b).total_cmp(&close(a));
        by_limit.then(place(a).cmp(&place(b))).then(by_severity)
    };
    b.state.cmp(&a.state).then_with(|| match a.state {
        Some(_) => of_state(),
        None => by_severity,
    })
}
