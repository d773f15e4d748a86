//! Expiry and idle time of keys.

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::text::{self, counted, grouped, percent, span};
use slotscope_model::Summary;
use slotscope_model::expiry::FullestTime;
use slotscope_model::expiry::{Leaving, LeavingPart};

use crate::view::table::Rank;
use crate::view::{Cell, Column, Section, Table};

/// Maximum characters of a node or pattern.
const NAME: usize = 120;

/// Fewer of the keys that expire in the same minutes are not a peak.
const PEAK: f64 = 0.01;

/// Groups of LFU counters: upper bound, and meaning.
const LFU: [(u8, &str); 6] = [
    (4, "not used for minutes"),
    (5, "new, or hardly used"),
    (10, "up to about 50 a minute"),
    (50, "up to about 450 a minute"),
    (249, "up to about 2,400 a minute"),
    (255, "2,500 a minute or more"),
];

/// When keys expire.
pub(crate) fn expiry(summary: &Summary) -> Option<Section<'_>> {
    let expiry = summary.expiry.as_ref()?;
    let keys = summary.input.keys;
    let share = |keys_of: u64| percent(keys_of as f64 / keys.max(1) as f64);
    let never = expiry.never.keys;
    let mut section = Section::titled("Expiry")
        .anchored("expiry", "Expiry")
        .line(format!(
            "{} without expiry ({})",
            counted(never, "key"),
            share(never)
        ));
    if let Some(expired) = expiry.expired.as_ref().filter(|expired| expired.keys > 0) {
        let state =
            "had expired when the dump was written, and are in memory until they are used or swept";
        section = section.line(format!("{} {state}", counted(expired.keys, "key")));
    }
    if let Some(fullest) = expiry.fullest.as_ref().filter(|at| at.share >= PEAK) {
        section = section.line(fullest_in_words(fullest));
    }
    let mut from = 0;
    let rows = expiry.within.iter();
    let rows = rows.map(|within| Part::new(range(&mut from, within.secs), within.load));
    let table = table("expires", None, rows, summary);
    section = if expiry.within.is_empty() {
        section
    } else {
        section.table(table)
    };
    Some(match &expiry.leaving {
        Some(leaving) => soon(summary, leaving)
            .into_iter()
            .fold(section, Section::table),
        None => section,
    })
}

/// Keys that expire within an hour: by node, and by pattern.
fn soon<'a>(summary: &'a Summary, leaving: &'a Leaving) -> [Table<'a>; 2] {
    let count = if leaving.estimated {
        "about keys"
    } else {
        "keys"
    };
    let table = |title: &'static str, parts: &'a [LeavingPart], shown: &dyn Fn(&Name) -> Name| {
        Table::of(parts)
            .column(Column::words(title).flexible(), |part| {
                Cell::text(text::name(&shown(&part.name), NAME))
            })
            .column(Column::number(count), |part| Cell::text(grouped(part.keys)))
            .column(Column::number("of them").rank(Rank::Main), |part| {
                Cell::share(part.share).with_load_bar(part.share)
            })
            .build()
    };
    [
        table("expires within an hour, by node", &leaving.nodes, &|id| {
            summary.nodes.label(id)
        }),
        table(
            "expires within an hour, by pattern",
            &leaving.patterns,
            &Name::clone,
        ),
    ]
}

fn fullest_in_words(fullest: &FullestTime) -> String {
    format!(
        "Expiry peak: {} keys ({}) in {} from {}",
        grouped(fullest.keys),
        percent(fullest.share),
        text::the_minutes(fullest.minutes),
        text::time(fullest.at)
    )
}

/// Idle time of keys.
pub(crate) fn idle(summary: &Summary) -> Option<Section<'_>> {
    let mut from = 0;
    let rows = summary.idle.as_ref()?.iter();
    let rows = rows.map(|row| Part::new(range(&mut from, row.under_secs), row.load));
    let table = table("not used for", None, rows, summary);
    Some(
        Section::titled("Idle time")
            .anchored("idle", "Idle")
            .table(table),
    )
}

/// The range of time after the last one, which ended at `from`.
fn range(from: &mut u64, under: Option<u64>) -> String {
    let range = match under {
        Some(under) if *from == 0 => format!("less than {}", span(under)),
        Some(under) => format!("{} to {}", span(*from), span(under)),
        None => format!("{} or more", span(*from)),
    };
    *from = under.unwrap_or(*from);
    range
}

/// How often keys are used, according to LFU counters.
pub(crate) fn lfu(summary: &Summary) -> Option<Section<'_>> {
    let lfu = summary.lfu.as_ref()?;
    let carried = lfu.first()?.load;
    let mut least = 0;
    let rows = LFU.into_iter().map(|(most, meaning)| {
        let counters = lfu.iter();
        let within = counters.filter(|row| (least..=most).contains(&row.counter));
        let sum = |metric| {
            within
                .clone()
                .filter_map(|row| row.load.get(metric))
                .sum::<u64>()
        };
        let load = carried.map(|metric, _| sum(metric));
        let counter = if least == most {
            most.to_string()
        } else {
            format!("{least} to {most}")
        };
        least = most.saturating_add(1);
        Part {
            meaning,
            ..Part::new(counter, load)
        }
    });
    let accesses = Column::words("accesses").rank(Rank::Detail).hint(
        "with lfu-log-factor 10 and lfu-decay-time 1; a counter cannot say more than about 2,500 a minute",
    );
    let table = table("LFU counter", Some(accesses), rows, summary);
    Some(
        Section::titled("Use, by LFU counter")
            .anchored("lfu", "LFU")
            .table(table),
    )
}

/// A group of keys.
struct Part {
    name: String,
    meaning: &'static str,
    load: PerMetric<u64>,
}

impl Part {
    fn new(name: String, load: PerMetric<u64>) -> Self {
        Part {
            name,
            meaning: "",
            load,
        }
    }
}

/// A table of non-empty groups, with a column for their meaning if there is one.
fn table(
    title: &'static str,
    meaning: Option<Column>,
    parts: impl Iterator<Item = Part>,
    summary: &Summary,
) -> Table<'static> {
    let keys = summary.input.keys.max(1) as f64;
    Table::of(parts.filter(|part| part.load.keys > 0))
        .column(Column::words(title).flexible(), |part| {
            Cell::text(&*part.name)
        })
        .columns(&meaning, Column::clone, |_, part| Cell::text(part.meaning))
        .loads(Metric::ALL, summary.by, |part| part.load)
        .column(Column::number("of the keys").rank(Rank::Main), |part| {
            let share = part.load.keys as f64 / keys;
            Cell::share(share).with_load_bar(share)
        })
        .build()
}
