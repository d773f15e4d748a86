//! expiry.png: how much expires within which time, how much never does, and the minute in which most keys expire.

use crate::metric::{Metric, PerMetric};
use crate::report::charts::bars;
use crate::report::charts::bars::Row;
use crate::report::charts::loads::Loads;
use crate::report::charts::{Sheet, short_source_line};
use crate::report::palette::{FRAME, LOAD, Rgb, WATCH};
use crate::summary::Summary;
use crate::summary::expiry::{Expiry, FullestTime};
use crate::text::{counted, percent, span, the_minutes, time};

/// The chart of `summary`.
pub fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let subtitle = short_source_line(summary);
    let Some(expiry) = summary.expiry.as_ref() else {
        let sentence = "nothing in this dump says when keys expire";
        return bars::empty_sheet("When keys expire", subtitle, sentence);
    };
    if loads.total() == 0.0 {
        return bars::empty_sheet("When keys expire", subtitle, loads.nothing());
    }
    let keys = summary.input.keys;
    let mut rows = rows(expiry, &loads);
    rows.extend(
        expiry
            .fullest
            .as_ref()
            .map(|fullest| Row::Gap(at_once(fullest))),
    );
    bars::sheet(title(expiry, keys), subtitle, rows, Vec::new(), loads)
}

fn title(expiry: &Expiry, keys: u64) -> String {
    let part = |of: u64| percent(of as f64 / keys.max(1) as f64);
    let never = part(expiry.never.keys);
    let of_a_day = expiry
        .within
        .iter()
        .filter(|of| of.secs.is_some_and(|secs| secs <= DAY));
    match expiry.within.is_empty() {
        true => format!(
            "{} of the keys expire, {never} never do",
            part(expiry.expiring.keys)
        ),
        false => format!(
            "{} of the keys expire within a day, {never} never do",
            part(of_a_day.map(|of| of.load.keys).sum())
        ),
    }
}

const DAY: u64 = 86_400;

fn at_once(fullest: &FullestTime) -> String {
    format!(
        "most at once: {} ({}) in {} from {}",
        counted(fullest.keys, "key"),
        percent(fullest.share),
        the_minutes(fullest.minutes),
        time(fullest.at)
    )
}

/// What had expired, what expires, by the time that is left, and what never does.
fn rows(expiry: &Expiry, loads: &Loads<'_>) -> Vec<Row> {
    let none = PerMetric::default();
    let expired = expiry.expired.as_ref().unwrap_or(&none);
    let mut rows = Vec::new();
    if expired.keys > 0 {
        rows.push(row("had expired".into(), expired, WATCH, loads));
    }
    let mut from = 0;
    for within in &expiry.within {
        let name = match within.secs {
            Some(secs) if from == 0 => format!("in less than {}", span(secs)),
            Some(secs) => format!("{} to {}", span(from), span(secs)),
            None => format!("{} or more", span(from)),
        };
        from = within.secs.unwrap_or(from);
        rows.push(row(name, &within.load, LOAD, loads));
    }
    let left = |metric: Metric| {
        let known = expiry.within.iter().map(|of| of.load.get(metric));
        let known: u64 = known.chain([expired.get(metric)]).flatten().sum();
        expiry
            .expiring
            .get(metric)
            .map_or(0, |all| all.saturating_sub(known))
    };
    let at_some_time = expiry.expiring.map(|metric, _| left(metric));
    if at_some_time.keys > 0 {
        // Without the time of the dump it is not known how long that is.
        rows.push(row("at some time".into(), &at_some_time, LOAD, loads));
    }
    rows.push(row("never".into(), &expiry.never, FRAME, loads));
    rows
}

fn row(name: String, load: &PerMetric<u64>, colour: Rgb, loads: &Loads<'_>) -> Row {
    let value = loads.held(load) as f64;
    Row::Bar {
        name,
        value,
        light: 0.0,
        words: format!(
            "{}   {}",
            loads.short(value),
            percent(value / loads.total())
        ),
        colour,
    }
}
