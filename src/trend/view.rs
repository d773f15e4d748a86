//! A trend as sections: the sentence, reports over time, growth, the fullest node.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::{amount_cell, day, grouped, time};
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Cell, Column, Section, Table, remarks};

use crate::trend::Trend;
use crate::trend::fit::{Interval, Shape};
use crate::trend::point::{FullestAt, Point};
use crate::trend::wording::{self, rate};

/// Maximum rows of reports; beyond this, the first and the newest are shown.
const REPORTS: usize = 48;

/// The sections of a trend.
pub(crate) fn sections(trend: &Trend) -> Vec<Section<'_>> {
    let mut sections = vec![Section::untitled().paragraph(trend.sentence.as_str())];
    sections.extend(growth(trend));
    sections.extend(ahead(trend));
    sections.extend(full(trend));
    sections.push(reports(trend));
    let remarks = remarks::remarks(&[] as &[String], &trend.notes);
    sections.push(remarks::section(remarks));
    sections
}

/// Both ends of an interval in one cell: one alone would mislead.
fn ends(interval: &Interval, spell: impl Fn(f64) -> String) -> Cell<'static> {
    Cell::of(interval.low.zip(interval.high), |(low, high)| {
        Cell::text(format!("{} to {}", spell(low), spell(high)))
    })
}

fn growth(trend: &Trend) -> Option<Section<'_>> {
    let forecast = trend.forecast.as_ref()?;
    let growths = forecast.growth.iter();
    let rows = growths.map(|(metric, growth)| (metric, growth, rate(&growth.rate, metric)));
    let table = Table::of(rows)
        .column(Column::words("metric").rank(Rank::Kept), |(metric, ..)| {
            Cell::text(metric.title())
        })
        .column(Column::for_people("now"), |(metric, growth, _)| {
            Cell::amount(*metric, growth.series.newest().1 as u64)
        })
        .column(
            Column::for_people("growth").rank(Rank::Kept),
            |(.., (change, _))| Cell::text(change.clone()),
        )
        .column(
            Column::for_people("95% interval").rank(Rank::Detail),
            |(.., (_, ends))| Cell::of(ends.clone(), Cell::text),
        )
        .column(
            Column::words("grows").rank(Rank::Detail),
            |(_, growth, _)| {
                Cell::text(match growth.shape {
                    Shape::Linear => "by an amount",
                    Shape::Exponential => "by a percentage",
                })
            },
        )
        .column(
            Column::for_people("reports").rank(Rank::Detail),
            |(_, growth, _)| Cell::count(growth.reports),
        )
        .build();
    Some(Section::titled("Growth").table(table))
}

/// The forecast of the total load, in the metric of the trend.
fn ahead(trend: &Trend) -> Option<Section<'_>> {
    let growth = trend.forecast.as_ref()?.growth.get(trend.by)?;
    let spelled = |amount: f64| amount_cell(trend.by, amount as u64);
    let table = Table::of(&growth.ahead)
        .column(Column::words("date").rank(Rank::Kept), |ahead| {
            Cell::text(day(ahead.at))
        })
        .column(
            Column::for_people("months ahead").rank(Rank::Detail),
            |ahead| Cell::count(ahead.months),
        )
        .column(
            Column::for_people(trend.by.head()).rank(Rank::Main),
            |ahead| Cell::amount(trend.by, ahead.load.estimate as u64),
        )
        .column(Column::for_people("95% interval"), |ahead| {
            ends(&ahead.load, spelled)
        })
        .build();
    (!growth.ahead.is_empty()).then(|| Section::titled("Forecast").table(table))
}

fn full(trend: &Trend) -> Option<Section<'_>> {
    let full = trend.forecast.as_ref()?.full.as_ref()?;
    let section = Section::titled("The node that is full first");
    Some(section.line(wording::full_first(full)))
}

/// The times of the reports: just dates, if these are distinct.
fn times(trend: &Trend) -> Vec<String> {
    let days: Vec<String> = trend.points.iter().map(|point| day(point.at)).collect();
    if days.windows(2).any(|pair| pair[0] == pair[1]) {
        trend.points.iter().map(|point| time(point.at)).collect()
    } else {
        days
    }
}

fn reports(trend: &Trend) -> Section<'_> {
    let metric = trend.by;
    let times = times(trend);
    let mut points: Vec<(&Point, &String)> = trend.points.iter().zip(&times).collect();
    let older = points.len().saturating_sub(REPORTS);
    if older > 0 {
        points.drain(1..=older);
    }
    let ratio = |ratio: Option<&Option<f64>>| {
        Cell::of(ratio.copied().flatten(), |ratio| Cell::ratio(ratio, 2))
    };
    let table = Table::of(points)
        .column(Column::words("date").rank(Rank::Kept), |(_, time)| {
            Cell::text(*time)
        })
        .loads(Metric::ALL, metric, |(point, _)| point.load)
        .column(
            Column::for_people("nodes").rank(Rank::Detail),
            |(point, _)| Cell::count(point.nodes.count),
        )
        .column(
            Column::for_people("max/mean").hint("the fullest node over the mean node"),
            |(point, _)| ratio(point.nodes.max_over_mean.get(metric)),
        )
        .column(
            Column::for_people("slots max/mean").rank(Rank::Detail),
            |(point, _)| ratio(point.slots.max_over_mean.get(metric)),
        )
        .column(Column::words("fullest node"), |(point, _)| {
            Cell::of(fullest(point, metric), |node| {
                Cell::text(node.name.to_string())
            })
        })
        .column(
            Column::for_people("holds").rank(Rank::Detail),
            |(point, _)| {
                Cell::of(fullest(point, metric), |node| {
                    Cell::amount(metric, node.load)
                })
            },
        )
        .column(
            Column::words("left out").optional().rank(Rank::Main),
            |(point, _)| Cell::of(point.left_out, |doubt| Cell::text(doubt.name())),
        )
        .build();
    let section = Section::titled("The reports").table(table);
    match older as u64 {
        0 => section,
        older => section.line(format!(
            "{} older ones, after the first, are only in --json",
            grouped(older)
        )),
    }
}

/// The fullest node of a report.
fn fullest(point: &Point, metric: Metric) -> Option<&FullestAt> {
    point.nodes.fullest.get(metric).and_then(Option::as_ref)
}
