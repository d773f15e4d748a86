//! Hash tags, and keys without one, that hold much of a shard: where one grows faster than the rest, a line through the sum of both would
//! bend up too late, so each has a line of its own.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_model::Summary;

use crate::capacity::fit::Fit;
use crate::capacity::point::{Condensed, Weights};

/// The part of a shard on average from which a name may have a line of its own.
pub(super) const LEAST_PART: f64 = 0.1;
/// How much faster than the rest it grows then.
pub(super) const FASTER: f64 = 1.2;

/// Times in seconds since 1970, and amounts.
pub(crate) type Points = Vec<(u64, f64)>;

/// A hash tag or a key over time.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub name: Name,
    pub slot: u16,
    points: Points,
}

/// The tags, and the keys in other slots, that hold much of a shard of the newest report by `metric`.
pub(crate) fn of(reports: &[&Condensed], summary: &Summary, metric: Metric) -> Vec<Part> {
    let nodes = summary.nodes.owning().count().max(1) as f64;
    let Some(total) = reports.last().and_then(|newest| newest.total(metric)) else {
        return Vec::new();
    };
    let part = |name: &Name, slot, lists: fn(&Condensed) -> &Weights| {
        let points = points(reports, name, metric, lists);
        let is_large = |(_, load): &(u64, f64)| *load >= LEAST_PART * total / nodes;
        points.last().is_some_and(is_large).then(|| Part {
            name: name.clone(),
            slot,
            points,
        })
    };
    let tags = summary.tags.iter().flat_map(|tags| &tags.top);
    let tags = tags.filter_map(|of| part(&of.tag, of.slot, |report| &report.tags));
    let mut parts: Vec<Part> = tags.collect();
    let keys = summary.keys.iter().flat_map(|keys| &keys.top);
    let keys = keys.filter_map(|of| part(&of.key, of.slot, |report| &report.keys));
    // A key of a tag is in the tag's load.
    let keys: Vec<Part> = keys
        .filter(|key| parts.iter().all(|tag| tag.slot != key.slot))
        .collect();
    parts.extend(keys);
    parts
}

/// The load of a name in each report that lists it; none where the newest does not.
pub(crate) fn points(
    reports: &[&Condensed],
    name: &Name,
    metric: Metric,
    lists: fn(&Condensed) -> &Weights,
) -> Points {
    let point = |report: &&Condensed| {
        let load = lists(report).get(name)?;
        Some((report.point.at, *load.get(metric)? as f64))
    };
    let points: Points = reports.iter().filter_map(point).collect();
    // A list of another metric may leave out what it was, or is.
    let newest = reports.last().map(|report| report.point.at);
    let is_known = points.last().map(|(at, _)| *at) == newest;
    if is_known { points } else { Vec::new() }
}

impl Part {
    /// In the unit of memory, of which a byte of keys is `per_byte`.
    pub(crate) fn scaled(&self, per_byte: f64) -> Part {
        let points = self.points.iter();
        Part {
            points: points.map(|(at, load)| (*at, load * per_byte)).collect(),
            ..self.clone()
        }
    }

    /// This part of an amount, and the rest of it; `None` if the part is not known at each time, or nothing is left.
    fn taken_from(&self, amount: &Points) -> Option<(Points, Points)> {
        let split = |(at, all): &(u64, f64)| {
            let place = self.points.binary_search_by_key(at, |(at, _)| *at).ok()?;
            let own = self.points[place].1;
            (own < *all).then_some(((*at, own), (*at, all - own)))
        };
        amount
            .iter()
            .map(split)
            .collect::<Option<Vec<_>>>()
            .map(|both| both.into_iter().unzip())
    }
}

/// The fit of an amount, with a separate line for each part that grows faster than the rest, and the names of these parts.
pub(crate) fn fit<'a>(
    amount: &Points,
    parts: impl Iterator<Item = &'a Part>,
) -> Option<(Fit, Vec<Name>)> {
    let (mut rest, mut of_rest) = (amount.clone(), Fit::of(amount)?);
    let (mut faster, mut names) = (Vec::new(), Vec::new());
    for part in parts {
        let Some((own, others)) = part.taken_from(&rest) else {
            continue;
        };
        let (Some(of_own), Some(of_others)) = (Fit::of(&own), Fit::of(&others)) else {
            continue;
        };
        if of_own.speed() > FASTER * of_others.speed().max(0.0) {
            (rest, of_rest) = (others, of_others);
            faster.push(of_own);
            names.push(part.name.clone());
        }
    }
    Some((faster.into_iter().fold(of_rest, Fit::and), names))
}
