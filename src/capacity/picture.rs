//! The shards over time as a picture.

use slotscope_engine::metric::Metric;
use slotscope_report::plot::Figure;
use slotscope_report::view::forecast::{Forecast, Line};

use crate::capacity::Capacity;
use crate::capacity::fit::Interval;
use crate::capacity::outlook::after;
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
        let along = |end: fn(&Interval) -> f64| {
            let ends = times.iter().map(|at| (*at, end(&series.at(*at))));
            std::iter::once((newest, now)).chain(ends).collect()
        };
        Some(Line {
            name: label.label(&shard.node).to_string(),
            past: series.points.clone(),
            ahead: along(|load| load.estimate),
            low: along(|load| load.low.unwrap_or(load.estimate)),
            high: along(|load| load.high.unwrap_or(load.estimate)),
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

/// The months of the picture: all that are asked for, or until the first shard is well beyond full.
fn horizon(review: &Capacity) -> Option<f64> {
    let months = review.months();
    let [first, last] = [months.first()?, months.last()?].map(|months| f64::from(*months));
    let full = review.full.as_ref().and_then(|full| full.months.estimate);
    Some(full.map_or(last, |full| last.min(first.max(2.0 * full))))
}
