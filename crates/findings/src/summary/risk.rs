//! Risks that do not depend on balance. One finding per subject; none of them sets the state.

use std::time::Duration;

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_read::source::collection::load::Refused;

use crate::summary::block_time::{block_time, unlisted_block_time};
use crate::summary::independent_units::kind_of;
use crate::summary::migration::Migration;
use crate::summary::observed::Observed;
use crate::summary::verdict_inputs::VerdictInputs;
use crate::wording::finding::{self as said, KeyText};
use slotscope_model::Summary;
use slotscope_model::balance::tidy;
use slotscope_model::coverage::{Lack, Lacking};
use slotscope_model::expiry::Expiry;
use slotscope_model::expiry::Storm;
use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::independent_units::{Unit, UnitKind, Units};
use slotscope_model::measure::Measure;
use slotscope_model::nodes::{NodeLoad, Nodes};
use slotscope_model::state::{Role, Severity, State};

/// A key of this many bytes is always a risk.
pub(crate) const LARGE_KEY: u64 = 100 << 20;
/// A key of this many elements is always a risk.
pub(crate) const MANY_ELEMENTS: u64 = 1_000_000;
/// A key or tag with this fraction of a node's fair share is a risk; a tag with a whole share, a warning.
const HEAVY: f64 = 0.5;
const WHOLE: f64 = 1.0;
/// A key that blocks its node for longer than this, in milliseconds, is a warning.
const LONG_BLOCK: f64 = 1000.0;
/// From this many refused commands a second on they are a risk.
const REFUSED: f64 = 1.0;
/// Tags and keys that are listed.
const LISTED: usize = 20;

/// For how many milliseconds MIGRATE of a key blocks its node.
fn block_ms(time: Duration) -> f64 {
    1000.0 * time.as_secs_f64()
}

/// All risks, most severe first.
pub(crate) fn risks(inputs: &VerdictInputs<'_>) -> Vec<Finding> {
    let observed = inputs.observed;
    let Summary { nodes, units, .. } = inputs.summary;
    // Slots may move as a whole, without MIGRATE.
    let servers = observed.servers.iter();
    let versions = servers.map(|server| server.as_ref()?.version.as_deref());
    let is_atomic = Migration::of(versions).is_atomic();
    let mut risks = Vec::new();
    risks.extend(open_slots(nodes));
    risks.extend(refused(nodes, observed));
    risks.extend(storms(nodes, inputs.summary.expiry.as_ref()));
    risks.extend(keys(inputs.summary, is_atomic));
    risks.extend(tags(nodes, units));
    risks.extend(replicas(nodes));
    risks.extend(empty(nodes));
    let lacks = |lack: &Lack| lack.of == Lacking::Columns;
    let may_have_sizes = inputs.summary.coverage.lacks.iter().any(lacks);
    if nodes.total(Metric::Keys) > 0 && units.per.get(Metric::Bytes).is_none() && !may_have_sizes {
        risks.push(Finding::new(
            FindingKind::SizesUnknown,
            Severity::Notice,
            if inputs
                .summary
                .capacity
                .as_ref()
                .is_some_and(|capacity| capacity.measured)
            {
                said::KEY_SIZES_UNKNOWN
            } else {
                said::SIZES_UNKNOWN
            },
        ));
    }
    let order = |a: &Finding, b: &Finding| {
        let by_severity = b.severity.cmp(&a.severity);
        by_severity.then_with(|| size(b).total_cmp(&size(a)))
    };
    risks.sort_by(order);
    risks
}

/// Sort key: how much of a node, or of all keys, a risk affects. Open slots precede risks with a size; those without
/// come last.
fn size(risk: &Finding) -> f64 {
    match risk.kind {
        FindingKind::OpenSlot | FindingKind::Refused => f64::INFINITY,
        FindingKind::BigKey
        | FindingKind::HotKey
        | FindingKind::CoarseTag
        | FindingKind::Expiry => risk.value.unwrap_or(0.0),
        _ => -1.0,
    }
}

fn open_slots(nodes: &Nodes) -> Option<Finding> {
    let slots = nodes.open_slots();
    let first = *slots.first()?;
    let text = said::open_slots(&slots);
    let open = Finding {
        slot: Some(first),
        ..Finding::new(FindingKind::OpenSlot, Severity::Warning, text).of(slots.len() as f64)
    };
    // A collection that lacks something has to be read again.
    Some(if nodes.open.is_empty() {
        open
    } else {
        open.setting(State::Watch)
    })
}

/// The error that most commands were refused with, of each node; not those that tell a client where slots are.
fn refused<'a>(nodes: &'a Nodes, observed: &'a Observed) -> impl Iterator<Item = Finding> + 'a {
    let servers = nodes.list.iter().zip(&observed.servers);
    servers.filter_map(|(node, server)| {
        let refused = &server.as_ref()?.refused;
        let is_refusal = |error: &&Refused| {
            error.per_sec >= REFUSED && !["MOVED", "ASK"].contains(&&*error.name)
        };
        let most = refused.errors.iter().find(is_refusal)?;
        let commands = refused.commands.iter().map(|command| command.name.clone());
        let commands: Vec<String> = commands.collect();
        let text = said::refused(&node.label(), &most.name, most.per_sec, &commands);
        let finding = Finding::new(FindingKind::Refused, Severity::Warning, text);
        Some(finding.on(&node.id).of(most.per_sec))
    })
}

fn empty(nodes: &Nodes) -> impl Iterator<Item = Finding> + '_ {
    let empty = nodes.list.iter().filter(|node| node.slots == 0);
    empty.map(|node| {
        let severity = Severity::warning_if(node.is_lost());
        let text = said::without_slots(&node.label(), node.is_lost());
        Finding::new(FindingKind::EmptyNode, severity, text).on(&node.id)
    })
}

/// Primaries without a replica; if none has one, that may be intended.
fn replicas(nodes: &Nodes) -> Vec<Finding> {
    let finding = |node: Option<&NodeLoad>| {
        let severity = Severity::warning_if(node.is_some());
        let text = said::no_replica(node.map(NodeLoad::label).as_ref());
        let risk = Finding::new(FindingKind::NoReplica, severity, text);
        match node {
            Some(node) => risk.on(&node.id),
            None => risk,
        }
    };
    // Failed ones are a problem, no risk.
    let is_up = |node: &&NodeLoad| node.replicas.is_some() && !node.is_lost();
    let known = || nodes.owning().filter(is_up);
    let lacking: Vec<&NodeLoad> = known().filter(|node| node.replicas == Some(0)).collect();
    // A single node has no cluster that could promote a replica.
    if lacking.is_empty() || nodes.list.len() == 1 {
        Vec::new()
    } else if lacking.len() == known().count() {
        vec![finding(None)]
    } else {
        let each = lacking.into_iter().take(LISTED);
        each.map(|node| finding(Some(node))).collect()
    }
}

/// Expiry storms, each with what most of its keys are.
fn storms(nodes: &Nodes, expiry: Option<&Expiry>) -> Vec<Finding> {
    let storms = expiry.into_iter().flat_map(|expiry| &expiry.storms);
    let finding = |storm: &Storm| {
        let name = storm.node.as_ref().map(|id| nodes.label(id));
        let text = said::expiry(storm, name.as_ref());
        Finding {
            node: storm.node.clone(),
            pattern: storm.pattern.clone(),
            ..Finding::new(FindingKind::Expiry, Severity::Warning, text).of(storm.share)
        }
    };
    storms.map(finding).collect()
}

/// Large and hot keys, each listed once with its largest share.
fn keys(summary: &Summary, is_atomic: bool) -> Vec<Finding> {
    let mut risky: Vec<KeyText> = Vec::new();
    let listed = summary.largest.as_deref();
    let largest = listed.unwrap_or_default();
    type Share = Option<(f64, Measure)>;
    let share_of = |(share, _): (f64, Measure)| share;
    let mut add =
        |key: (&Name, u16), kind, bytes: Option<u64>, node: &Option<Name>, share: Share| {
            let (name, slot) = key;
            let mut known = risky.iter_mut();
            match known.find(|known| (&known.name, known.slot) == key) {
                Some(known) if known.share.map(share_of) < share.map(share_of) => {
                    known.share = share
                }
                Some(_) => {}
                None => {
                    let large = largest.iter().find(|large| (&large.key, large.slot) == key);
                    let elements = large.map(|large| large.elements);
                    let time = match large {
                        Some(large) => block_time(Some(&large.kind), bytes, elements),
                        None => unlisted_block_time(bytes, listed),
                    };
                    let is_known = bytes.is_some() || elements.is_some();
                    risky.push(KeyText {
                        name: name.clone(),
                        kind,
                        bytes,
                        elements,
                        share,
                        block_ms: (is_known && !is_atomic).then(|| block_ms(time)),
                        node: node.clone(),
                        slot,
                    });
                }
            }
        };
    let heaviest = |metric| summary.keys.as_ref()?.heaviest.get(metric);
    for metric in Metric::WEIGHTS {
        let fair = fair(&summary.nodes, metric);
        for key in heaviest(metric).into_iter().flatten() {
            let share = if fair > 0.0 {
                key.weight(metric) as f64 / fair
            } else {
                0.0
            };
            let is_large = metric == Metric::Bytes && key.weight(metric) >= LARGE_KEY;
            if key.node.is_some() && (share >= HEAVY || is_large) {
                let bytes = key.weights.get(Metric::Bytes).copied();
                let share = Some((share, Measure::from(metric)));
                add((&key.key, key.slot), kind_of(key), bytes, &key.node, share);
            }
        }
    }
    for key in largest.iter().filter(|key| key.elements >= MANY_ELEMENTS) {
        add(
            (&key.key, key.slot),
            UnitKind::Key,
            key.load.bytes().copied(),
            &key.node,
            None,
        );
    }
    let share = |text: &KeyText| text.share.map_or(0.0, |(share, _)| share);
    risky.sort_by(|a, b| {
        share(b)
            .total_cmp(&share(a))
            .then_with(|| a.name.cmp(&b.name))
    });
    risky.truncate(LISTED);
    risky.into_iter().map(key_finding).collect()
}

fn key_finding(text: KeyText) -> Finding {
    let is_hot = text
        .share
        .is_some_and(|(_, measure)| measure.role() == Role::Load);
    let is_warning = text.block_ms.is_some_and(|ms| ms >= LONG_BLOCK)
        || text.share.is_some_and(|(share, _)| share >= WHOLE);
    let severity = Severity::warning_if(is_warning);
    let kind = if is_hot {
        FindingKind::HotKey
    } else {
        FindingKind::BigKey
    };
    let share = text.share;
    let finding = Finding::new(kind, severity, text.in_words());
    Finding {
        role: share.map(|(_, measure)| measure.role()),
        metric: share.map(|(_, measure)| measure),
        value: share.map(|(share, _)| tidy(share)),
        node: text.node,
        slot: Some(text.slot),
        key: Some(text.name),
        ..finding
    }
}

/// Heavy tags, each listed once with its largest share.
fn tags(nodes: &Nodes, units: &Units) -> Vec<Finding> {
    let mut heavy: Vec<(&Unit, f64, Measure)> = Vec::new();
    for (metric, of_metric) in units.per.iter() {
        let fair = fair(nodes, metric);
        let named = of_metric.named.iter();
        let tags = named.filter(|unit| unit.kind == UnitKind::Tag && unit.node.is_some());
        for tag in tags.take_while(|tag| fair > 0.0 && tag.load / fair >= HEAVY) {
            // Its key has a finding of its own.
            if tag.main_key.is_some() {
                continue;
            }
            let share = tag.load / fair;
            match heavy.iter_mut().find(|known| known.0.name == tag.name) {
                Some(known) if known.1 < share => (known.1, known.2) = (share, metric.into()),
                Some(_) => {}
                None => heavy.push((tag, share, metric.into())),
            }
        }
    }
    heavy.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.name.cmp(&b.0.name)));
    heavy.truncate(LISTED);
    let finding = |(tag, share, measure): (&Unit, f64, Measure)| {
        let severity = Severity::warning_if(share >= WHOLE);
        let text = said::tag(&tag.name, share, measure);
        Finding {
            node: tag.node.clone(),
            slot: Some(tag.slot),
            tag: Some(tag.name.clone()),
            ..Finding::new(FindingKind::CoarseTag, severity, text)
                .in_role(Some(measure.role()), measure)
                .of(share)
        }
    };
    heavy.into_iter().map(finding).collect()
}

fn fair(nodes: &Nodes, metric: Metric) -> f64 {
    nodes.total(metric) as f64 / nodes.owning().count().max(1) as f64
}

#[cfg(test)]
mod tests {
    use slotscope_count::tally::{Parts, Tallies};
    use slotscope_model::InputFacts;
    use slotscope_model::role_load::Asked;
    use slotscope_topology::Topology;

    use super::*;
    use crate::summary::gaps::Gaps;
    use crate::summary::summarise;

    /// The kinds of the risks of two nodes without keys, after a change of their report.
    fn kinds(change: impl FnOnce(&mut Summary)) -> Vec<FindingKind> {
        let observed = Observed::default();
        let mut summary = summarise(
            &Tallies::new(Parts::Slots),
            None,
            &Topology::even(2, "two nodes".into()).unwrap(),
            &observed,
            &Asked::default(),
            InputFacts::default(),
        );
        change(&mut summary);
        let found = risks(&VerdictInputs {
            summary: &summary,
            observed: &observed,
            signs: &[],
            gaps: &Gaps::default(),
        });
        found.into_iter().map(|risk| risk.kind).collect()
    }

    #[test]
    fn risks_are_facts_of_the_report() {
        assert_eq!(kinds(|_| {}), []);
        let without_slots = kinds(|summary| summary.nodes.list[0].slots = 0);
        assert_eq!(without_slots, [FindingKind::EmptyNode]);
        let replicas = |counts: [u32; 2]| {
            kinds(|summary| {
                for (node, count) in summary.nodes.list.iter_mut().zip(counts) {
                    node.replicas = Some(count);
                }
            })
        };
        assert_eq!(replicas([1, 1]), []);
        assert_eq!(replicas([0, 1]), [FindingKind::NoReplica]);
        // A cluster without replicas is one risk.
        assert_eq!(replicas([0, 0]), [FindingKind::NoReplica]);
    }
}
