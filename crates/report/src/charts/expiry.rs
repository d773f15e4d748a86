//! expiry.png: what expires when, and what never does. If times are unknown, how much has a TTL.

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::text::{counted, percent, span};
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::expiry::Expiry;

use crate::charts::bars::{self, Bars, Row};
use crate::charts::expiry_over_time;
use crate::charts::loads::Loads;
use crate::charts::{Sheet, short_source_line};
use crate::palette::{FRAME, LOAD, Rgb, WATCH};
use crate::view::Expiring;

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let subtitle = short_source_line(summary);
    let Some(expiry) = summary.expiry.as_ref() else {
        let sentence = "nothing in this dump says when keys expire";
        return bars::empty_sheet("When keys expire", subtitle, sentence);
    };
    if loads.total() == 0.0 {
        return bars::empty_sheet("When keys expire", subtitle, loads.nothing());
    }
    let (keys, written) = (summary.input.keys, summary.input.written);
    let title = title(expiry, keys);
    if let Some(over_time) = Expiring::new(expiry, written) {
        let note = note(expiry, keys);
        return Sheet::new(title, subtitle, move |canvas| {
            expiry_over_time::draw(canvas, &over_time, &expiry.storms, &note)
        });
    }
    Bars::new(title, subtitle, rows(expiry, &loads), &loads).sheet()
}

/// Whether expiry times are known; otherwise the chart is just two bars.
pub(super) fn is_telling(summary: &Summary) -> bool {
    let over_time = |expiry| Expiring::new(expiry, summary.input.written);
    summary.expiry.as_ref().and_then(over_time).is_some()
}

fn title(expiry: &Expiry, keys: u64) -> String {
    let part = |of: u64| percent(of as f64 / keys.max(1) as f64);
    let never = part(expiry.never.keys);
    let of_a_day = expiry
        .within
        .iter()
        .filter(|of| of.secs.is_some_and(|secs| secs <= DAY));
    if let Some(storm) = expiry.storms.first() {
        let pattern = storm.pattern.as_ref().map(bars::in_title);
        let pattern = pattern.map_or_else(String::new, |of| format!(": {of}"));
        let (share, when) = (percent(storm.share), minutes(storm.minutes));
        return format!("{share} of the keys expire within {when}{pattern}");
    }
    if expiry.within.is_empty() {
        format!(
            "{} of the keys have a TTL, {never} have none",
            part(expiry.expiring.keys)
        )
    } else {
        format!(
            "{} of the keys expire within a day, {never} have no TTL",
            part(of_a_day.map(|of| of.load.keys).sum())
        )
    }
}

fn minutes(count: u64) -> String {
    match count {
        1 => String::from("one minute"),
        count => counted(count, "minute"),
    }
}

/// The note on keys that no bar shows.
fn note(expiry: &Expiry, keys: u64) -> String {
    let part = |what: &str, count: u64| {
        let share = percent(count as f64 / keys.max(1) as f64);
        (count > 0).then(|| format!("{what}: {} ({share})", counted(count, "key")))
    };
    let expired = expiry.expired.as_ref().map_or(0, |expired| expired.keys);
    let parts = [
        part("no TTL", expiry.never.keys),
        part("already expired", expired),
    ];
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("  ·  ")
}

const DAY: u64 = 86_400;

/// Expired keys, keys with a TTL by remaining time, and keys without TTL.
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
        // Without the dump time, remaining TTLs are unknown.
        rows.push(row("with TTL".into(), &at_some_time, LOAD, loads));
    }
    rows.push(row("no TTL".into(), &expiry.never, FRAME, loads));
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
