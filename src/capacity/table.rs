//! A review as one table for spreadsheets.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::day;
use slotscope_report::view::{Cell, Column, Table};

use crate::capacity::Capacity;
use crate::capacity::fit::Interval;
use crate::capacity::outlook::Outlook;

/// An amount of something at a time.
struct Row<'a> {
    of: &'static str,
    name: Cell<'a>,
    metric: Metric,
    /// `past`, `now`, `grown`, `ahead`, `less one` or `at best`.
    kind: &'static str,
    months: Option<u32>,
    at: Option<u64>,
    load: Interval,
    limit: Option<u64>,
    fits: Option<bool>,
    full: Option<u64>,
}

/// All numbers as rows: a name, a metric, a date.
pub(crate) fn rows(review: &Capacity) -> Table<'_> {
    let rows = totals(review).chain(shards(review)).chain(names(review));
    let rows: Vec<Row<'_>> = rows.chain(counts(review)).collect();
    let amount =
        |amount: Option<f64>| Cell::of(amount, |amount| Cell::count(amount.round() as u64));
    let date = |at: Option<u64>| Cell::of(at, |at| Cell::text(day(at)));
    Table::of(rows)
        .column(Column::words("of"), |row| Cell::text(row.of))
        .column(Column::words("name"), |row| row.name.clone())
        .column(Column::words("metric"), |row| Cell::text(row.metric.name()))
        .column(Column::words("unit"), |row| Cell::text(row.metric.units()))
        .column(Column::words("kind"), |row| Cell::text(row.kind))
        .column(Column::number("months"), |row| {
            Cell::of(row.months, Cell::count)
        })
        .column(Column::words("date"), |row| date(row.at))
        .column(Column::number("estimate"), |row| {
            amount(Some(row.load.estimate))
        })
        .column(Column::number("low"), |row| amount(row.load.low))
        .column(Column::number("high"), |row| amount(row.load.high))
        .column(Column::number("limit"), |row| {
            amount(row.limit.map(|limit| limit as f64))
        })
        .column(Column::words("fits"), |row| {
            Cell::of(row.fits, |fits| Cell::text(if fits { "yes" } else { "no" }))
        })
        .column(Column::words("full"), |row| date(row.full))
        .build()
}

impl<'a> Row<'a> {
    fn new(of: &'static str, name: Cell<'a>, metric: Metric) -> Row<'a> {
        Row {
            of,
            name,
            metric,
            kind: "now",
            months: None,
            at: None,
            load: exact(0.0),
            limit: None,
            fits: None,
            full: None,
        }
    }

    /// The amounts of the reports, of today, after growth and in some months.
    fn over_time(self, load: &Outlook, newest: u64) -> impl Iterator<Item = Row<'a>> {
        let past = load.series.iter().flat_map(|series| &series.points);
        let past = past.filter(|(at, _)| *at < newest);
        let past = past.map(|(at, amount)| ("past", None, Some(*at), exact(*amount)));
        let now = ("now", Some(0), Some(newest), exact(load.now as f64));
        let grown = load
            .grown
            .map(|grown| ("grown", None, None, exact(grown as f64)));
        let ahead = load.trend.iter().flat_map(|trend| &trend.ahead);
        let ahead = ahead.map(|ahead| ("ahead", Some(ahead.months), Some(ahead.at), ahead.load));
        let all: Vec<_> = past.chain([now]).chain(grown).chain(ahead).collect();
        all.into_iter().map(move |(kind, months, at, load)| Row {
            kind,
            months,
            at,
            load,
            name: self.name.clone(),
            ..self
        })
    }
}

fn exact(estimate: f64) -> Interval {
    Interval {
        estimate,
        low: None,
        high: None,
    }
}

fn newest(review: &Capacity) -> u64 {
    review.points.last().map_or(0, |point| point.at)
}

fn totals(review: &Capacity) -> impl Iterator<Item = Row<'_>> {
    let row =
        |(metric, load)| Row::new("total", Cell::text(""), metric).over_time(load, newest(review));
    review.total.iter().flat_map(row)
}

fn shards(review: &Capacity) -> impl Iterator<Item = Row<'_>> {
    review.shards.iter().flat_map(|shard| {
        shard.load.iter().flat_map(|(metric, load)| {
            let is_memory = metric == Metric::Bytes;
            let row = Row {
                limit: shard.maxmemory.filter(|_| is_memory),
                full: shard.full_on.filter(|_| is_memory),
                ..Row::new("shard", Cell::text(shard.node.to_string()), metric)
            };
            row.over_time(load, newest(review))
        })
    })
}

fn names(review: &Capacity) -> impl Iterator<Item = Row<'_>> {
    let tags = review.tags.iter().map(|tag| ("tag", tag));
    let keys = review.keys.iter().map(|key| ("key", key));
    tags.chain(keys).flat_map(|(kind, heavy)| {
        let row = Row {
            full: heavy.outgrows_on,
            ..Row::new(kind, Cell::text(heavy.name.to_string()), review.by)
        };
        row.over_time(&heavy.load, newest(review))
    })
}

/// The fullest of each number of shards, and whether it fits.
fn counts(review: &Capacity) -> impl Iterator<Item = Row<'_>> {
    review.counts.iter().flat_map(move |count| {
        count.fullest.iter().flat_map(move |(metric, fullest)| {
            let is_memory = metric == Metric::Bytes;
            let fits = count.fits.filter(|_| is_memory);
            let kinds = [
                ("now", Some(fullest.now), fits.map(|fits| fits.now)),
                ("at best", Some(fullest.bound), None),
                (
                    "less one",
                    Some(fullest.one_lost),
                    fits.map(|fits| fits.one_lost),
                ),
                ("grown", fullest.grown, fits.and_then(|fits| fits.grown)),
            ];
            let rows = kinds.into_iter().filter_map(move |(kind, load, fits)| {
                let is_grown = kind == "grown";
                Some(Row {
                    kind,
                    months: review.horizon.filter(|_| is_grown),
                    load: exact(load? as f64),
                    fits,
                    full: count.full_on.filter(|_| is_memory && kind == "now"),
                    ..Row::new("shards", Cell::text(count.shards.to_string()), metric)
                })
            });
            rows.collect::<Vec<_>>()
        })
    })
}
