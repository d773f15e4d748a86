//! The shards over time as a picture.

use slotscope_base::metric::Metric;
use slotscope_report::plot::Figure;
use slotscope_report::view::forecast::{Forecast, Line};

use crate::capacity::Capacity;
use crate::capacity::fit::Interval;
use crate::capacity::months::after;
use crate::capacity::shards::{Shard, least_limit};
use crate::capacity::wording::headline;

/// Points of a line after the newest report.
const STEPS: u32 = 32;
/// Maximum lines of shards.
const LINES: usize = 8;

/// The picture: the shards that are full first, with their limit.
pub(crate) fn figure(review: &Capacity) -> Option<Figure> {
    let metric = review.by;
    let label = review.labels();
    let horizon = horizon(review)?;
    let line = |shard: &&Shard| {
        let series = shard.load.get(metric)?.series.as_ref()?;
        let (newest, now) = *series.points.last()?;
        let steps = (1..=STEPS).map(|step| horizon * f64::from(step) / f64::from(STEPS));
        let times: Vec<u64> = steps.map(|months| after(newest, months)).collect();
        let along = |end: fn(&Interval) -> Option<f64>| {
            let ends = times.iter().map(|at| Some((*at, end(&series.at(*at))?)));
            let all: Option<Vec<_>> = std::iter::once(Some((newest, now))).chain(ends).collect();
            // Two reports leave no interval.
            all.unwrap_or_default()
        };
        Some(Line {
            name: label.label(&shard.node).to_string(),
            past: series.points.clone(),
            ahead: along(|load| Some(load.estimate)),
            low: along(|load| load.low),
            high: along(|load| load.high),
        })
    };
    let shards = review.by_urgency();
    let lines: Vec<Line> = shards.iter().take(LINES).filter_map(line).collect();
    let limit = least_limit(&review.shards).filter(|_| metric == Metric::Bytes);
    Forecast {
        title: headline(review),
        metric,
        lines,
        others: shards.len().saturating_sub(LINES),
        limit: limit.map(|limit| (limit as f64, review.full_at)),
    }
    .figure()
}

/// The last month of the picture: the first requested month that is well after the first shard is full and as far ahead as the
/// reports reach back, otherwise the last requested one.
fn horizon(review: &Capacity) -> Option<f64> {
    let full = review.full.as_ref().and_then(|full| full.months.estimate);
    let back = review.total.keys.series.as_ref()?.span();
    let least = full.map_or(f64::INFINITY, |full| back.max(2.0 * full));
    let months: Vec<f64> = review.months().into_iter().map(f64::from).collect();
    let near = months.iter().find(|months| **months >= least);
    near.or(months.last()).copied()
}
