//! What is a risk however even the nodes are.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::name::Name;
use crate::summary::balance::tidy;
use crate::summary::expiry::Expiry;
use crate::summary::independent_units::{UnitKind, Units};
use crate::summary::keys::Keys;
use crate::summary::kinds::LargeKey;
use crate::summary::nodes::Nodes;
use crate::summary::worded::Worded;

/// A key of this many bytes blocks both nodes while its slot moves, for about a second.
pub const LARGE_KEY: u64 = 100 << 20;
/// A key of this part of a node's fair share is a risk.
const HEAVY_KEY: f64 = 0.05;
/// A tag of this part of a node's fair share is a risk.
const HEAVY_TAG: f64 = 0.2;
/// A key of this many elements blocks its node while it is copied or deleted.
pub const MANY_ELEMENTS: u64 = 1_000_000;
/// Keys that expire together are a risk from this share of all keys on.
const EXPIRING: f64 = 0.1;
/// Minutes that count as together: of times over more than 45 days single ones are not counted.
const TOGETHER: u64 = 4;
/// Tags and keys that are listed.
const LISTED: usize = 20;

/// A risk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Risk {
    /// What it is.
    pub kind: RiskKind,
    /// The tag or key, where it is one.
    pub name: Option<Name>,
    /// The node that is concerned.
    pub node: Option<Name>,
    /// Bytes of a large key; elements; the share of the keys that expire together; the part of a node's fair share of a heavy key or tag; slots.
    pub value: Option<f64>,
    /// The risk in a sentence.
    #[serde(default)]
    pub sentence: Worded<RiskFinding>,
}

/// What is a risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RiskKind {
    /// A key of 100 MiB or more.
    LargeKey,
    /// A key of 1,000,000 elements or more.
    ManyElements,
    /// A tenth of the keys or more expire within the same minute; within four where times span months.
    ExpiringTogether,
    /// A key of 5 % of a node's fair share by bytes or operations.
    HeavyKey,
    /// A tag of 20 % of a node's fair share.
    HeavyTag,
    /// A failed primary owns slots.
    FailedNode,
    /// A primary owns no slots.
    EmptyNode,
    /// Slots are being moved.
    SlotsInFlight,
    /// The input has no sizes: a big key would be invisible.
    MemoryUnknown,
}

/// What a risk's sentence has.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskFinding {
    /// What it is.
    pub kind: RiskKind,
    /// The tag or key, or the node.
    pub name: Option<Name>,
    /// See `Risk`.
    pub value: f64,
    /// The metric of a share.
    pub metric: Metric,
    /// Within how many minutes, where a time belongs to it.
    pub minutes: Option<u64>,
}

/// All risks, the worst kinds first.
pub fn risks(
    nodes: &Nodes,
    units: &Units,
    keys: Option<&Keys>,
    largest: Option<&[LargeKey]>,
    expiry: Option<&Expiry>,
) -> Vec<Risk> {
    let mut risks = Vec::new();
    risks.extend(failed(nodes));
    risks.extend(large_keys(keys));
    risks.extend(many_elements(largest));
    risks.extend(expiring_together(expiry));
    risks.extend(heavy(nodes, units, keys));
    risks.extend(empty(nodes));
    let in_flight = nodes.in_flight.len();
    if in_flight > 0 {
        risks.push(Risk::new(
            RiskKind::SlotsInFlight,
            None,
            None,
            in_flight as f64,
            Metric::Keys,
        ));
    }
    if nodes.total(Metric::Keys) > 0 && units.per.get(Metric::Bytes).is_none() {
        risks.push(Risk::new(
            RiskKind::MemoryUnknown,
            None,
            None,
            0.0,
            Metric::Bytes,
        ));
    }
    risks
}

impl Risk {
    fn new(
        kind: RiskKind,
        name: Option<&Name>,
        node: Option<&Name>,
        value: f64,
        metric: Metric,
    ) -> Self {
        let finding = RiskFinding {
            kind,
            name: name.or(node).cloned(),
            value,
            metric,
            minutes: None,
        };
        Risk::of(finding, name, node)
    }

    fn of(finding: RiskFinding, name: Option<&Name>, node: Option<&Name>) -> Self {
        let (kind, value) = (finding.kind, finding.value);
        Risk {
            kind,
            name: name.cloned(),
            node: node.cloned(),
            value: (kind != RiskKind::MemoryUnknown).then(|| tidy(value)),
            sentence: finding.into(),
        }
    }
}

fn failed(nodes: &Nodes) -> impl Iterator<Item = Risk> + '_ {
    let failed = nodes.owning().filter(|node| node.failed);
    failed.map(|node| {
        let slots = f64::from(node.slots);
        Risk::new(
            RiskKind::FailedNode,
            None,
            Some(&node.name()),
            slots,
            Metric::Keys,
        )
    })
}

fn empty(nodes: &Nodes) -> impl Iterator<Item = Risk> + '_ {
    let empty = nodes.list.iter().filter(|node| node.slots == 0);
    empty.map(|node| {
        Risk::new(
            RiskKind::EmptyNode,
            None,
            Some(&node.name()),
            0.0,
            Metric::Keys,
        )
    })
}

fn large_keys(keys: Option<&Keys>) -> Vec<Risk> {
    let keys = keys.and_then(|keys| keys.heaviest.get(Metric::Bytes));
    let keys = keys.into_iter().flatten();
    let large = keys.filter(|key| key.weight(Metric::Bytes) >= LARGE_KEY);
    large
        .take(LISTED)
        .map(|key| {
            let bytes = key.weight(Metric::Bytes) as f64;
            Risk::new(
                RiskKind::LargeKey,
                Some(&key.key),
                key.node.as_ref(),
                bytes,
                Metric::Bytes,
            )
        })
        .collect()
}

fn many_elements(largest: Option<&[LargeKey]>) -> impl Iterator<Item = Risk> + '_ {
    let many = largest.unwrap_or_default().iter();
    let many = many
        .take_while(|key| key.elements >= MANY_ELEMENTS)
        .take(LISTED);
    many.map(|key| {
        let (name, node) = (Some(&key.key), key.node.as_ref());
        Risk::new(
            RiskKind::ManyElements,
            name,
            node,
            key.elements as f64,
            Metric::Keys,
        )
    })
}

fn expiring_together(expiry: Option<&Expiry>) -> Option<Risk> {
    let fullest = expiry?.fullest?;
    let is_risk = fullest.minutes <= TOGETHER && fullest.share >= EXPIRING;
    let finding = RiskFinding {
        kind: RiskKind::ExpiringTogether,
        name: None,
        value: fullest.share,
        metric: Metric::Keys,
        minutes: Some(fullest.minutes),
    };
    is_risk.then(|| Risk::of(finding, None, None))
}

/// Heavy keys and tags, each once with its largest share.
fn heavy(nodes: &Nodes, units: &Units, keys: Option<&Keys>) -> Vec<Risk> {
    let mut found: Vec<(RiskKind, &Name, Option<&Name>, f64, Metric)> = Vec::new();
    let n = nodes.owning().count() as f64;
    for (metric, of_metric) in units.per.iter() {
        let fair = nodes.total(metric) as f64 / n;
        let share = |load: f64| if fair > 0.0 { load / fair } else { 0.0 };
        let tags = of_metric
            .named
            .iter()
            .filter(|unit| unit.kind == UnitKind::Tag);
        let tags = tags.map(|tag| (RiskKind::HeavyTag, &tag.name, tag.node.as_ref(), tag.load));
        let keys = keys.filter(|_| metric != Metric::Keys);
        let keys = keys
            .and_then(|keys| keys.heaviest.get(metric))
            .into_iter()
            .flatten();
        let keys = keys.map(|key| {
            let weight = key.weight(metric) as f64;
            (RiskKind::HeavyKey, &key.key, key.node.as_ref(), weight)
        });
        for (kind, name, node, load) in tags.chain(keys) {
            let least = if kind == RiskKind::HeavyTag {
                HEAVY_TAG
            } else {
                HEAVY_KEY
            };
            if node.is_none() || share(load) < least {
                continue;
            }
            match found
                .iter_mut()
                .find(|other| (other.0, other.1) == (kind, name))
            {
                Some(other) if other.3 < share(load) => (other.3, other.4) = (share(load), metric),
                Some(_) => {}
                None => found.push((kind, name, node, share(load), metric)),
            }
        }
    }
    found.sort_by(|a, b| {
        let kind = |kind: RiskKind| Reverse(u8::from(kind == RiskKind::HeavyKey));
        (kind(a.0), b.3, a.1)
            .partial_cmp(&(kind(b.0), a.3, b.1))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    found.truncate(LISTED);
    found
        .into_iter()
        .map(|(kind, name, node, share, metric)| Risk::new(kind, Some(name), node, share, metric))
        .collect()
}
