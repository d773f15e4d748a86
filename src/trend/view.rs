//! A trend as sections: the sentence, reports over time, growth, the fullest node.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::{amount, amount_cell, counted, day, grouped, short, time};
use slotscope_report::plot::Figure;
use slotscope_report::view::curve::{Expected, Measured};
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Block, Cell, Column, Curve, Scope, Section, Table, remarks};

use crate::trend::Trend;
use crate::trend::fit::{Interval, Shape};
use crate::trend::forecast::{Series, after};
use crate::trend::point::{FullestAt, Point};
use crate::trend::wording::{self, rate};

/// Maximum rows of reports; beyond this, the first and the newest are shown.
const REPORTS: usize = 48;
/// A picture extends to the end of the interval, up to this multiple of the estimate.
const FAR: f64 = 3.0;
/// Points per line in a picture.
const STEPS: u64 = 120;

/// The sections of a trend.
pub(crate) fn sections(trend: &Trend) -> Vec<Section<'_>> {
    let overview = Section::untitled().scoped(Scope::Overview);
    let mut sections = vec![overview.paragraph(trend.sentence.as_str())];
    sections.extend(growth_picture(trend));
    sections.extend(growth(trend));
    sections.extend(ahead(trend));
    sections.extend(full(trend));
    sections.push(reports(trend));
    let remarks = remarks::section(remarks::remarks(&[] as &[String], &trend.notes));
    sections.push(remarks.scoped(Scope::Overview));
    sections
}

fn growth_picture(trend: &Trend) -> Option<Section<'_>> {
    let title = format!("All {} over time", trend.by.title());
    let section = Section::titled(title)
        .anchored("over-time", "Over time")
        .scoped(Scope::Page);
    growth_figure(trend).map(|figure| section.with(Block::Figure(figure)))
}

/// The total load over time, in the metric of the trend.
fn growth_figure(trend: &Trend) -> Option<Figure> {
    let series = &trend.forecast.as_ref()?.growth.get(trend.by)?.series;
    let measured = |point: &Point| {
        Some(Measured {
            at: point.at,
            amount: *point.load.get(trend.by)? as f64,
            is_left_out: point.left_out.is_some(),
        })
    };
    let curve = Curve {
        metric: trend.by,
        points: trend.points.iter().filter_map(measured).collect(),
        line: line(series, series.fit.span / 2.0),
        limit: None,
    };
    Some(curve.figure(growth_title(trend)))
}

/// The bytes of the node that fills up first, until it is full.
fn full_figure(trend: &Trend) -> Option<Figure> {
    let full = trend.forecast.as_ref()?.full.as_ref()?;
    let (series, months) = (&full.series, &full.months);
    let measured = |(at, amount): &(u64, f64)| Measured {
        at: *at,
        amount: *amount,
        is_left_out: false,
    };
    // An unbounded interval, or one ending far out, would squeeze the rest to the left.
    let near = |end: &f64| {
        months
            .estimate
            .is_none_or(|estimate| *end <= FAR * estimate)
    };
    let end = months.high.filter(near).or(months.estimate).or(months.low);
    let ahead = end.map_or(series.fit.span, |end| {
        (1.05 * end).max(series.fit.span / 4.0)
    });
    let curve = Curve {
        metric: Metric::Bytes,
        points: series.points.iter().map(measured).collect(),
        line: line(series, ahead),
        limit: Some(full.maxmemory),
    };
    Some(curve.figure(full_title(trend)))
}

/// The line from the first point to some months after the last.
fn line(series: &Series, ahead: f64) -> Vec<Expected> {
    let (from, to) = (series.start(), after(series.newest().0, ahead));
    let expected = |step: u64| {
        let at = from + ((to - from) as f64 * step as f64 / STEPS as f64) as u64;
        let interval = series.at(at);
        Expected {
            at,
            amount: interval.estimate,
            band: interval.low.zip(interval.high),
        }
    };
    (0..=STEPS).map(expected).collect()
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
    let section = Section::titled("Growth").anchored("growth", "Growth");
    Some(section.table(table))
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
    let section = Section::titled("Forecast").anchored("ahead", "Forecast");
    (!growth.ahead.is_empty()).then(|| section.table(table))
}

fn full(trend: &Trend) -> Option<Section<'_>> {
    let full = trend.forecast.as_ref()?.full.as_ref()?;
    let section = Section::titled("The node that is full first").anchored("full", "Full first");
    // The picture is for pages only; text skips it.
    let picture = full_figure(trend).map(Block::Figure);
    Some(section.line(wording::full_first(full)).with_all(picture))
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
    let titled = Section::titled("The reports").anchored("reports", "Reports");
    let section = titled.table(table);
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

/// The title of a page.
pub(crate) fn title(trend: &Trend) -> String {
    let times = [trend.points.first(), trend.points.last()];
    let [from, to] = times.map(|point| point.map_or(String::new(), |point| day(point.at)));
    format!(
        "{}, {from} to {to}",
        counted(trend.points.len() as u64, "report")
    )
}

/// The finding as title of the total load chart.
fn growth_title(trend: &Trend) -> String {
    let forecast = trend.forecast.as_ref();
    let growth = forecast.and_then(|forecast| forecast.growth.get(trend.by));
    growth.map_or(String::new(), |growth| {
        let now = amount(trend.by, growth.series.newest().1 as u64);
        format!("{now}, {}", wording::growth(&growth.rate, trend.by))
    })
}

/// The finding as title of the chart of the node that fills up first.
fn full_title(trend: &Trend) -> String {
    let forecast = trend.forecast.as_ref();
    let full = forecast.and_then(|forecast| forecast.full.as_ref());
    full.map_or(String::new(), |full| {
        let when = wording::full(&full.months, full.at);
        format!("Node {} {when}", short(&full.node))
    })
}
