//! A review as sections: the sentences, the shards over time, how many shards, the heaviest names, the reports.

use slotscope_base::metric::Metric;
use slotscope_base::text::{amount_cell, bytes_in_three_digits, day, grouped, three_digits, time};
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Block, Cell, Column, Scope, Section, Table, remarks};

use crate::capacity::Capacity;
use crate::capacity::counts::{Fits, Fullest, ShardCount};
use crate::capacity::fit::{Interval, Reached};
use crate::capacity::months::after;
use crate::capacity::names::Heavy;
use crate::capacity::outlook::Outlook;
use crate::capacity::picture;
use crate::capacity::point::{FullestAt, Point};
use crate::capacity::shards::Shard;
use crate::capacity::wording::{capital, rate};

/// Maximum rows of reports; beyond this, the first and the newest are shown.
const REPORTS: usize = 48;
/// Maximum rows of shards, those first that are full first.
const SHARDS: usize = 24;
/// Dates beyond this many months say nothing.
const FAR: f64 = 120.0;

/// Growth to this many times of today says only that it is not known.
const ABSURD: f64 = 1000.0;

/// The sections of a review.
pub(crate) fn sections(review: &Capacity) -> Vec<Section<'_>> {
    let metric = review.by;
    let mut sections = vec![
        Section::untitled()
            .paragraph(review.sentence.as_str())
            .with_all(review.answer.clone().map(Block::Paragraph)),
        shards(review),
    ];
    sections.extend(picture::figure(review).map(|figure| {
        let section = Section::titled("Over time").anchored("time", "Over time");
        section.scoped(Scope::Page).with(Block::Figure(figure))
    }));
    sections.push(counts(review));
    let names = [
        ("The heaviest hash tags", "hash tag", &review.tags),
        ("The heaviest keys", "key", &review.keys),
    ];
    for (title, kind, heavy) in names {
        if !heavy.is_empty() {
            let table = names_table(kind, heavy, metric, review);
            sections.push(Section::titled(title).table(table));
        }
    }
    sections.push(reports(review));
    sections.push(
        remarks::section(remarks::remarks(&[] as &[String], &review.notes)).scoped(Scope::Overview),
    );
    sections
}

impl Fits {
    fn words(self) -> &'static str {
        match (self.now_and_then(), self.with_one_lost()) {
            (true, true) => "yes, less one too",
            (true, false) => "yes",
            (false, _) if self.now => "today only",
            _ => "no",
        }
    }
}

/// The title of a page.
pub(crate) fn title(review: &Capacity) -> String {
    format!("Capacity review of {}", day(review.newest()))
}

/// The interval of an amount, `1.1 to 1.35 GiB`; without one the amount. An end beyond all reason is left out.
fn expected(metric: Metric, load: &Interval, now: u64) -> Cell<'static> {
    let spelled = |amount: f64| match metric {
        metric if metric.is_size() => bytes_in_three_digits(amount),
        metric if metric.is_time() => amount_cell(metric, amount.round() as u64),
        _ => three_digits(amount.round()),
    };
    let ends = load.low.zip(load.high);
    let Some((low, high)) = ends.map(|(low, high)| (spelled(low), spelled(high))) else {
        return Cell::text(spelled(load.estimate));
    };
    if load.high.is_some_and(|high| high > ABSURD * now as f64) {
        return Cell::text(format!("{low} or more"));
    }
    let unit = high.split_once(' ').map_or("", |(_, unit)| unit);
    let number = low.strip_suffix(unit).filter(|_| !unit.is_empty());
    Cell::text(format!(
        "{} to {high}",
        number.map_or(low.as_str(), str::trim_end)
    ))
}

/// Amounts, what they are after growth and in some months, and how they grow.
struct Followed<'a> {
    name: Cell<'a>,
    load: Option<&'a Outlook>,
    /// When the limit is reached.
    reached: Option<Reached>,
    limit: Option<u64>,
    others: Vec<Option<u64>>,
}

fn followed<'a>(
    name: Column,
    rows: Vec<Followed<'a>>,
    (limit, reached): (&'static str, String),
    others: &[Metric],
    review: &Capacity,
) -> Table<'a> {
    let metric = review.by;
    let mut table = Table::of(rows).column(name, |row| row.name.clone());
    for (at, other) in others.iter().enumerate() {
        let column = Column::for_people(other.head())
            .optional()
            .rank(Rank::OtherMetric);
        table = table.column(column, |row| {
            Cell::known_amount(*other, row.others.get(at).copied().flatten())
        });
    }
    table = table
        .column(Column::for_people("now").rank(Rank::Kept), |row| {
            Cell::known_amount(metric, row.load.map(|load| load.now))
        })
        .column(
            Column::for_people("of limit").optional().rank(Rank::Detail),
            |row| {
                let parts = row.load.zip(row.limit);
                Cell::of(parts, |(load, limit)| {
                    Cell::share(load.now as f64 / limit as f64)
                })
            },
        )
        .column(
            Column::for_people("grown").optional().rank(Rank::Main),
            |row| Cell::known_amount(metric, row.load.and_then(|load| load.grown)),
        );
    for (at, months) in review.months().into_iter().enumerate() {
        let title = match months {
            1 => String::from("in 1 month"),
            months => format!("in {months} months"),
        };
        // A quarter and a year are what reviews are about; others give way where lines are narrow.
        let rank = match months {
            3 => Rank::Main,
            12 => Rank::Usual,
            _ => Rank::Detail,
        };
        table = table.column(Column::for_people(title).optional().rank(rank), |row| {
            let trend = row.load.and_then(|load| load.trend.as_ref());
            Cell::of(trend.and_then(|trend| trend.ahead.get(at)), |ahead| {
                let now = row.load.map_or(0, |load| load.now);
                expected(metric, &ahead.load, now)
            })
        });
    }
    table
        .column(
            Column::for_people(limit).optional().rank(Rank::Detail),
            |row| Cell::of(row.limit, Cell::bytes),
        )
        .column(
            Column::for_people(reached).optional().rank(Rank::Main),
            |row| {
                Cell::of(row.reached, |months| {
                    Cell::text(date(&months, review.newest()))
                })
            },
        )
        .column(
            Column::for_people("growth").optional().rank(Rank::Detail),
            |row| {
                let trend = row.load.and_then(|load| load.trend.as_ref());
                Cell::of(trend, |trend| {
                    let (change, ends) = rate(&trend.rate, metric);
                    Cell::text(ends.map_or(change.clone(), |ends| format!("{change} ({ends})")))
                })
            },
        )
        .build()
}

/// When something is reached, as the interval where there is one: `2027-06-01 to 08-13`, `today`, `after 10 years`.
fn date(months: &Reached, newest: u64) -> String {
    let on = |months: f64| day(after(newest, months));
    match (months.estimate, months.low, months.high) {
        (Some(0.0), ..) => String::from("today"),
        (Some(months), ..) | (None, Some(months), _) if months > FAR => {
            String::from("after 10 years")
        }
        (_, Some(low), Some(high)) if high <= FAR => {
            let (low, high) = (on(low), on(high));
            let is_of_year = |year: &str| high.starts_with(year);
            let year = low.get(..5).filter(|year| is_of_year(year));
            format!(
                "{low} to {}",
                year.map_or(high.as_str(), |year| &high[year.len()..])
            )
        }
        (_, Some(low), _) => format!("{} or later", on(low)),
        (Some(months), None, _) => on(months),
        (None, None, _) => String::from("not as it grows"),
    }
}

fn shards<'a>(review: &'a Capacity) -> Section<'a> {
    let metric = review.by;
    let others: Vec<Metric> = Metric::ALL
        .into_iter()
        .filter(|other| *other != metric)
        .collect();
    let label = review.labels();
    let total = Followed {
        name: Cell::text("all"),
        load: review.total.get(metric),
        reached: None,
        limit: None,
        others: others
            .iter()
            .map(|other| Some(review.total.get(*other)?.now))
            .collect(),
    };
    let row = |shard: &'a Shard| Followed {
        name: Cell::text(label.label(&shard.node).to_string()),
        load: shard.load.get(metric),
        reached: shard.full.filter(|_| metric == Metric::Bytes),
        limit: shard.maxmemory.filter(|_| metric == Metric::Bytes),
        others: others
            .iter()
            .map(|other| Some(shard.load.get(*other)?.now))
            .collect(),
    };
    let rows = [total]
        .into_iter()
        .chain(review.by_urgency().into_iter().map(row));
    let full = format!("{:.0}% full", 100.0 * review.full_at);
    let table = followed(
        Column::words("shard").flexible(),
        rows.collect(),
        ("limit", full),
        &others,
        review,
    );
    Section::titled(format!("{} of the shards", capital(metric)))
        .anchored("shards", "Shards")
        .table(table.at_most(SHARDS + 1))
}

fn counts(review: &Capacity) -> Section<'_> {
    let has_limit = review.counts.iter().any(|count| count.fits.is_some());
    let metrics: Vec<Metric> = review.counts.first().map_or(Vec::new(), |count| {
        count.fullest.iter().map(|(metric, _)| metric).collect()
    });
    // Keys fill no shard whose bytes are known.
    let has_bytes = metrics.contains(&Metric::Bytes);
    let is_shown =
        |metric: &Metric| *metric == review.by || !(has_bytes && *metric == Metric::Keys);
    let mut metrics: Vec<Metric> = metrics.into_iter().filter(is_shown).collect();
    metrics.sort_by_key(|metric| *metric != review.by);
    let amount = |metric: Metric, part: fn(&Fullest) -> Option<u64>| {
        move |count: &&ShardCount| {
            let amount = count.fullest.get(metric).and_then(part);
            Cell::known_amount(metric, amount)
        }
    };
    let then = review.after_growth();
    let column = |title: &str| Column::for_people(title).optional();
    let mut table = Table::of(&review.counts)
        .column(Column::for_people("shards").rank(Rank::Kept), |count| {
            Cell::count(count.shards)
        });
    for metric in metrics {
        let head = if metric.is_size() {
            "memory"
        } else {
            metric.head()
        };
        table = table
            .column(
                column(&format!("fullest: {head}")).rank(Rank::Main),
                amount(metric, |fullest| Some(fullest.now)),
            )
            .column(
                column("at best")
                    .hint("no placement has less")
                    .rank(Rank::Detail),
                amount(metric, |fullest| Some(fullest.bound)),
            )
            .column(
                column("less one")
                    .hint("with one shard less")
                    .rank(Rank::Detail),
                amount(metric, |fullest| Some(fullest.one_lost)),
            )
            .column(
                column(&then).rank(Rank::Usual),
                amount(metric, |fullest| fullest.grown),
            );
    }
    let table = table
        .column(column("fits").rank(Rank::Main), |count| {
            Cell::of(count.fits, |fits| Cell::text(fits.words()))
        })
        .column(column("until").rank(Rank::Main), |count| {
            Cell::of(count.full, |full| Cell::text(date(&full, review.newest())))
        })
        .build();
    let mut lines = Vec::new();
    if has_limit {
        let part = 100.0 * review.full_at;
        let mut fits = review.counts.iter().filter_map(|count| count.fits);
        let then = if fits.any(|fits| fits.grown.is_some()) {
            format!(" today and {then}, by the estimates")
        } else {
            String::from(" today")
        };
        lines.push(format!(
            "fits: the fullest stays below {part:.0}% of the limit{then}; less one: with one shard lost too"
        ));
    }
    if review.horizon.is_some() && review.horizon < review.months().last().copied() {
        lines.push(String::from(
            "later months are further ahead than the reports reach back; --months 6 alone looks 6 months ahead",
        ));
    }
    let section = Section::titled("How many shards").anchored("counts", "How many shards");
    lines.into_iter().fold(section.table(table), Section::line)
}

fn names_table<'a>(
    kind: &'static str,
    heavy: &'a [Heavy],
    metric: Metric,
    review: &'a Capacity,
) -> Table<'a> {
    let row = |heavy: &'a Heavy| Followed {
        name: if kind == "key" {
            Cell::name(&heavy.name)
        } else {
            Cell::tag(&heavy.name)
        },
        load: Some(&heavy.load),
        reached: heavy.outgrows,
        limit: None,
        others: Vec::new(),
    };
    let rows = heavy.iter().map(row).collect();
    debug_assert_eq!(metric, review.by);
    followed(
        Column::words(kind).flexible(),
        rows,
        ("", format!("{:.0}% of a shard", 100.0 * review.full_at)),
        &[],
        review,
    )
}

/// The times of the reports: just dates, if these are distinct.
fn times(review: &Capacity) -> Vec<String> {
    let days: Vec<String> = review.points.iter().map(|point| day(point.at)).collect();
    if days.windows(2).any(|pair| pair[0] == pair[1]) {
        review.points.iter().map(|point| time(point.at)).collect()
    } else {
        days
    }
}

fn reports(review: &Capacity) -> Section<'_> {
    let metric = review.by;
    let times = times(review);
    let mut points: Vec<(&Point, &String)> = review.points.iter().zip(&times).collect();
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
            |(point, _)| Cell::known_amount(metric, fullest(point, metric).map(|node| node.load)),
        )
        .column(
            Column::words("left out").optional().rank(Rank::Main),
            |(point, _)| Cell::of(point.left_out, |doubt| Cell::text(doubt.name())),
        )
        .build();
    let section = Section::titled("The reports")
        .scoped(Scope::IfItFits)
        .table(table);
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
