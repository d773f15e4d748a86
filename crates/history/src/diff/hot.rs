//! Nodes, slots and tags with a much larger share of the load than before.

use serde::Serialize;

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_model::balance::tidy;
use slotscope_model::limit;

use crate::diff::report::Report;
use crate::diff::{NodeChange, OldNew};

/// A slot or tag is hot with at least this share of the load: 164 mean slots.
const HOT_SHARE: f64 = 0.01;
/// It got hot if its share grew by this factor.
const HOT_RATIO: f64 = 2.0;
/// Fewer keys than this are not hot: a small dump has them in one slot by chance.
const HOT_KEYS: u64 = 100;

/// Something that got hot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Hot {
    /// Its kind.
    pub kind: HotKind,
    /// The display name of the node, the number of the slot, or the tag.
    pub name: Name,
    /// Its part of the load of all keys; before, of a tag, at most, and after at least.
    pub share: OldNew<f64>,
}

/// The kinds of things that can get hot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HotKind {
    /// A primary that was balanced, or not there, and is more than 5% above its fair share.
    Node,
    /// A hash slot.
    Slot,
    /// A hash tag.
    Tag,
}

/// Everything that got hot: nodes, then slots, then tags, heaviest first.
pub(super) fn find(changes: &[NodeChange], old: &Report, new: &Report, metric: Metric) -> Vec<Hot> {
    let mut lists = [
        nodes(changes, old, new, metric),
        slots(old, new, metric),
        tags(old, new, metric),
    ];
    for hot in &mut lists {
        hot.sort_by(|a, b| {
            b.share
                .new
                .unwrap_or(0.0)
                .total_cmp(&a.share.new.unwrap_or(0.0))
                .then_with(|| a.name.cmp(&b.name))
        });
    }
    lists.concat()
}

fn nodes(changes: &[NodeChange], old: &Report, new: &Report, metric: Metric) -> Vec<Hot> {
    let got_hot = |change: &&NodeChange| {
        let OldNew { old, new, .. } = change.over_fair;
        let is_balanced = |over: Option<f64>| over.unwrap_or(0.0) <= limit::BALANCED;
        is_balanced(old) && !is_balanced(new)
    };
    let hot = |change: &NodeChange| {
        let load = change.load.get(metric).copied().unwrap_or_default();
        let share = |report: &Report, load: Option<u64>| report.share(load.unwrap_or(0), metric);
        Hot {
            kind: HotKind::Node,
            name: change.name.as_ref().unwrap_or(&change.id).clone(),
            share: OldNew::both(share(old, load.old), share(new, load.new)),
        }
    };
    changes.iter().filter(got_hot).map(hot).collect()
}

fn slots(old: &Report, new: &Report, metric: Metric) -> Vec<Hot> {
    let (Some(before), Some(after)) = (
        old.summary.slots.loads.get(metric),
        new.summary.slots.loads.get(metric),
    ) else {
        return Vec::new();
    };
    let totals = [old, new].map(|report| report.load(metric).unwrap_or(0).max(1) as f64);
    let each = before.iter().zip(after).enumerate();
    let hot = |(slot, (before, after)): (usize, (&u64, &u64))| {
        let share = [*before as f64 / totals[0], *after as f64 / totals[1]];
        let name = Name::from(slot.to_string().as_str());
        got_hot(share, *after, metric).then(|| Hot {
            kind: HotKind::Slot,
            name,
            share: tidied(share),
        })
    };
    each.filter_map(hot).collect()
}

/// Tags whose lower bound now is a multiple of their upper bound before.
fn tags(old: &Report, new: &Report, metric: Metric) -> Vec<Hot> {
    let (Some(before), Some(after)) = (old.tags(metric), new.tags(metric)) else {
        return Vec::new();
    };
    let listed = new.summary.tags.iter().flat_map(|tags| &tags.top);
    let hot = |name: &Name| {
        let (at_most, at_least) = (before.known(name).at_most, after.known(name).at_least);
        let share = [old.share(at_most, metric), new.share(at_least, metric)];
        got_hot(share, at_least, metric).then(|| Hot {
            kind: HotKind::Tag,
            name: name.clone(),
            share: tidied(share),
        })
    };
    listed.filter_map(|tag| hot(&tag.tag)).collect()
}

fn got_hot([before, after]: [f64; 2], load: u64, metric: Metric) -> bool {
    let enough = metric != Metric::Keys || load >= HOT_KEYS;
    enough && after >= HOT_SHARE && after >= before * HOT_RATIO
}

fn tidied([before, after]: [f64; 2]) -> OldNew<f64> {
    OldNew::both(tidy(before), tidy(after))
}
