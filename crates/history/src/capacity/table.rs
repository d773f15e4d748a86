//! A review as one table for spreadsheets.

use slotscope_base::metric::Metric;
use slotscope_base::text::day;
use slotscope_report::view::{Cell, Column, Table};

use crate::capacity::Capacity;
use crate::capacity::fit::{Interval, Reached};
use crate::capacity::months::after;
use crate::capacity::outlook::Outlook;
use crate::capacity::shards::least_limit;

/// An amount of something at a time.
struct Row<'a> {
    of: &'static str,
    name: Cell<'a>,
    metric: Metric,
    /// `past`, `now`, `grown` by assumption, `ahead`, `at best`, `less one` shard, or two of these.
    kind: &'static str,
    months: Option<u32>,
    at: Option<u64>,
    load: Interval,
    limit: Option<u64>,
    fits: Option<bool>,
    /// When it is full, on the row of the newest report.
    full: Option<Reached>,
}

/// All numbers as rows: a name, a metric, a date.
pub(crate) fn rows(review: &Capacity) -> Table<'_> {
    let rows = totals(review).chain(shards(review)).chain(names(review));
    let rows: Vec<Row<'_>> = rows.chain(counts(review)).collect();
    let amount =
        |amount: Option<f64>| Cell::of(amount, |amount| Cell::count(amount.round() as u64));
    let date = |at: Option<u64>| Cell::of(at, |at| Cell::text(day(at)));
    let full = |row: &Row<'_>, end: fn(Reached) -> Option<f64>| {
        date(
            row.full
                .and_then(end)
                .map(|months| after(review.newest(), months)),
        )
    };
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
        .column(Column::words("full"), |row| full(row, |full| full.estimate))
        .column(Column::words("full low"), |row| full(row, |full| full.low))
        .column(Column::words("full high"), |row| {
            full(row, |full| full.high)
        })
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
            full: self.full.filter(|_| kind == "now"),
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

fn totals(review: &Capacity) -> impl Iterator<Item = Row<'_>> {
    let row =
        |(metric, load)| Row::new("total", Cell::text(""), metric).over_time(load, review.newest());
    review.total.iter().flat_map(row)
}

fn shards(review: &Capacity) -> impl Iterator<Item = Row<'_>> {
    let label = review.labels();
    review.shards.iter().flat_map(move |shard| {
        let name = Cell::text(label.label(&shard.node).to_string());
        shard.load.iter().flat_map(move |(metric, load)| {
            let is_memory = metric == Metric::Bytes;
            let row = Row {
                limit: shard.maxmemory.filter(|_| is_memory),
                full: shard.full.filter(|_| is_memory),
                ..Row::new("shard", name.clone(), metric)
            };
            row.over_time(load, review.newest())
        })
    })
}

fn names(review: &Capacity) -> impl Iterator<Item = Row<'_>> {
    let tags = review.tags.iter().map(|tag| ("tag", tag));
    let keys = review.keys.iter().map(|key| ("key", key));
    tags.chain(keys).flat_map(|(kind, heavy)| {
        let row = Row {
            full: heavy.outgrows,
            ..Row::new(kind, Cell::text(heavy.name.to_string()), review.by)
        };
        row.over_time(&heavy.load, review.newest())
    })
}

/// The fullest of each number of shards, and whether it fits.
fn counts(review: &Capacity) -> impl Iterator<Item = Row<'_>> {
    let limit = least_limit(&review.shards);
    let [then, then_less_one] = match review.horizon {
        Some(_) => ["ahead", "ahead less one"],
        None => ["grown", "grown less one"],
    };
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
                (then, fullest.grown, fits.and_then(|fits| fits.grown)),
                (
                    then_less_one,
                    fullest.grown_one_lost,
                    fits.and_then(|fits| fits.grown_one_lost),
                ),
            ];
            let rows = kinds.into_iter().filter_map(move |(kind, load, fits)| {
                let ahead = review.horizon.filter(|_| kind.starts_with(then));
                let months = if kind == "now" { Some(0) } else { ahead };
                Some(Row {
                    kind,
                    months,
                    at: months.map(|months| after(review.newest(), f64::from(months))),
                    load: exact(load? as f64),
                    limit: limit.filter(|_| is_memory),
                    fits,
                    full: count.full.filter(|_| is_memory && kind == "now"),
                    ..Row::new("shards", Cell::text(count.shards.to_string()), metric)
                })
            });
            rows.collect::<Vec<_>>()
        })
    })
}
