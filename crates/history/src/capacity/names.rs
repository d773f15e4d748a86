//! The heaviest hash tags and keys over time, and when one of them alone is more than a shard may hold.

use serde::Serialize;

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_model::Summary;
use slotscope_model::keys::Key;
use slotscope_model::tags::Tag;

use crate::capacity::fit::Reached;
use crate::capacity::grow::Grown;
use crate::capacity::months::after;
use crate::capacity::outlook::Outlook;
use crate::capacity::parts::{self, Points};
use crate::capacity::point::Condensed;

/// How many tags and keys are shown.
const SHOWN: usize = 5;
/// The part of a shard from which one of them matters.
const HEAVY: f64 = 0.01;

/// A tag or a key, today and later.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Heavy {
    /// Its name.
    pub name: Name,
    /// Its slot.
    pub slot: u16,
    /// The node that owns the slot.
    pub node: Option<Name>,
    /// Its load, in the metric of `by`.
    #[serde(flatten)]
    pub load: Outlook,
    /// When it alone is more than a shard may hold, in months after the newest report; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outgrows: Option<Reached>,
    /// When by the estimate, in seconds since 1970 (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outgrows_on: Option<u64>,
}

/// The options by which names are followed.
pub(crate) struct Followed<'a> {
    pub reports: &'a [&'a Condensed],
    pub grown: Option<&'a Grown>,
    pub metric: Metric,
    pub months: &'a [u32],
    /// The load of a shard on average.
    pub share: f64,
    /// Bytes of keys that a shard may hold.
    pub room: Option<f64>,
}

impl Followed<'_> {
    /// The heaviest tags of the newest report.
    pub(crate) fn tags(&self, summary: &Summary) -> Vec<Heavy> {
        let tags = summary.tags.iter().flat_map(|tags| &tags.top);
        let load = |tag: &Tag| tag.load.get(self.metric).copied().unwrap_or(0);
        let heaviest = self.heaviest(tags.map(|tag| (tag, load(tag))));
        let heavy = |(tag, now): (&Tag, u64)| {
            let grown = self.grown;
            let grown = grown.and_then(|grown| grown.of_tag(&tag.tag, self.metric, now));
            let points = parts::points(self.reports, &tag.tag, self.metric, |report| &report.tags);
            self.heavy((&tag.tag, tag.slot, &tag.node), now, points, grown)
        };
        heaviest.into_iter().map(heavy).collect()
    }

    /// The heaviest keys of the newest report; as single keys they all count the same.
    pub(crate) fn keys(&self, summary: &Summary) -> Vec<Heavy> {
        let keys = summary.keys.iter().flat_map(|keys| &keys.top);
        let keys = keys.filter(|_| self.metric != Metric::Keys);
        let heaviest = self.heaviest(keys.map(|key| (key, key.weight(self.metric))));
        let heavy = |(key, now): (&Key, u64)| {
            let points = parts::points(self.reports, &key.key, self.metric, |report| &report.keys);
            let of_key = (&key.key, key.slot, &key.node);
            // A rule is of all, of a tag or of a pattern: which keys these add to, a report does not say.
            self.heavy(of_key, now, points, None)
        };
        heaviest.into_iter().map(heavy).collect()
    }

    /// The heaviest of a list, which may be sorted by another metric.
    fn heaviest<T>(&self, names: impl Iterator<Item = (T, u64)>) -> Vec<(T, u64)> {
        let is_heavy = |load: u64| load as f64 >= (self.share * HEAVY).max(1.0);
        let mut names: Vec<(T, u64)> = names.filter(|(_, load)| is_heavy(*load)).collect();
        names.sort_by_key(|(_, load)| std::cmp::Reverse(*load));
        names.truncate(SHOWN);
        names
    }

    fn heavy(
        &self,
        (name, slot, node): (&Name, u16, &Option<Name>),
        now: u64,
        points: Points,
        grown: Option<f64>,
    ) -> Heavy {
        let load = Outlook::new(now, points, [], self.months);
        let load = load.grown(grown);
        let outgrows = self.room.and_then(|room| load.reaches(room));
        let months = outgrows.and_then(|outgrows| outgrows.estimate);
        let newest = self.reports.last().map_or(0, |report| report.point.at);
        Heavy {
            name: name.clone(),
            slot,
            node: node.clone(),
            load,
            outgrows,
            outgrows_on: months.map(|months| after(newest, months)),
        }
    }
}
