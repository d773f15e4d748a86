//! A review as one table for spreadsheets.

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::text::day;
use slotscope_report::view::{Cell, Column, Table};

use crate::capacity::Capacity;
use crate::capacity::fit::Interval;
use crate::capacity::outlook::Outlook;

/// All numbers as rows: a name, a metric, a date.
pub(crate) fn rows(review: &Capacity) -> Table<'_> {
    struct Row<'a> {
        of: &'static str,
        name: Cell<'a>,
        metric: Metric,
        months: Cell<'a>,
        date: Cell<'a>,
        load: Interval,
        limit: Option<u64>,
        full: Option<u64>,
    }
    let newest = review.points.last().map_or(0, |point| point.at);
    let of = |of,
              name: &Cell<'static>,
              metric,
              load: &Outlook,
              limit: Option<u64>,
              full: Option<u64>| {
        let row = |months: Cell<'static>, date: Cell<'static>, load: Interval| Row {
            of,
            name: name.clone(),
            metric,
            months,
            date,
            load,
            limit: limit.filter(|_| metric == Metric::Bytes),
            full: full.filter(|_| metric == Metric::Bytes),
        };
        let exact = |estimate: u64| Interval {
            estimate: estimate as f64,
            low: None,
            high: None,
        };
        let now = row(Cell::count(0u64), Cell::text(day(newest)), exact(load.now));
        let grown = load
            .grown
            .map(|grown| row(Cell::text("grown"), Cell::text(""), exact(grown)));
        let ahead = load.trend.iter().flat_map(|trend| &trend.ahead);
        let ahead = ahead.map(|ahead| {
            row(
                Cell::count(ahead.months),
                Cell::text(day(ahead.at)),
                ahead.load,
            )
        });
        [now]
            .into_iter()
            .chain(grown)
            .chain(ahead)
            .collect::<Vec<_>>()
    };
    let name = |name: &Name| Cell::text(name.to_string());
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (metric, load) in review.total.iter() {
        rows.extend(of("total", &Cell::text(""), metric, load, None, None));
    }
    for shard in &review.shards {
        for (metric, load) in shard.load.iter() {
            rows.extend(of(
                "shard",
                &name(&shard.node),
                metric,
                load,
                shard.maxmemory,
                shard.full_on,
            ));
        }
    }
    for (kind, heavy) in [("tag", &review.tags), ("key", &review.keys)] {
        for heavy in heavy {
            rows.extend(of(
                kind,
                &name(&heavy.name),
                review.by,
                &heavy.load,
                None,
                heavy.outgrows_on,
            ));
        }
    }
    for count in &review.counts {
        for (metric, fullest) in count.fullest.iter() {
            let load = Outlook {
                now: fullest.now,
                grown: fullest.grown,
                ..Outlook::default()
            };
            let name = Cell::text(count.shards.to_string());
            rows.extend(of("shards", &name, metric, &load, None, count.full_on));
        }
    }
    let amount =
        |amount: Option<f64>| Cell::of(amount, |amount| Cell::count(amount.round() as u64));
    Table::of(rows)
        .column(Column::words("of"), |row| Cell::text(row.of))
        .column(Column::words("name"), |row| row.name.clone())
        .column(Column::words("metric"), |row| Cell::text(row.metric.name()))
        .column(Column::words("months"), |row| row.months.clone())
        .column(Column::words("date"), |row| row.date.clone())
        .column(Column::number("estimate"), |row| {
            amount(Some(row.load.estimate))
        })
        .column(Column::number("low"), |row| amount(row.load.low))
        .column(Column::number("high"), |row| amount(row.load.high))
        .column(Column::number("limit"), |row| {
            amount(row.limit.map(|limit| limit as f64))
        })
        .column(Column::words("full"), |row| {
            Cell::of(row.full, |full| Cell::text(day(full)))
        })
        .build()
}
