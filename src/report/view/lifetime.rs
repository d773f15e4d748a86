//! When keys expire, and how long they were not used.

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::report::view::table::{Rank, loads};
use crate::report::view::{Cell, Column, Section, Table, Value};
use crate::summary::Summary;
use crate::summary::expiring::{Leaving, LeavingPart};
use crate::summary::expiry::FullestTime;
use crate::summary::nodes::NodeLoad;
use crate::text::{self, counted, grouped, percent, span};

/// Characters of a node or a pattern.
const NAME: usize = 120;

/// LFU counters that are one row: up to this one, and what it means.
const LFU: [(u8, &str); 6] = [
    (4, "not used for minutes"),
    (5, "new, or hardly used"),
    (10, "up to about 50 a minute"),
    (50, "up to about 450 a minute"),
    (249, "up to about 2,400 a minute"),
    (255, "2,500 a minute or more"),
];

/// When keys expire.
pub fn expiry(summary: &Summary) -> Option<Section<'_>> {
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
        let what =
            "had expired when the dump was written, and are in memory until they are used or swept";
        section = section.line(format!("{} {what}", counted(expired.keys, "key")));
    }
    if let Some(fullest) = &expiry.fullest {
        section = section.line(fullest_in_words(fullest));
    }
    let rows = expiry.within.iter().map(|within| {
        let left = match within.secs {
            Some(secs) => format!("in less than {}", span(secs)),
            None => "later".into(),
        };
        row(left, &within.load, keys)
    });
    let table = table("expires", rows, summary.by);
    section = match expiry.within.is_empty() {
        true => section,
        false => section.table(table),
    };
    Some(match &expiry.leaving {
        Some(leaving) => soon(summary, leaving)
            .into_iter()
            .fold(section, Section::table),
        None => section,
    })
}

/// What expires within an hour: by node, and by pattern.
fn soon<'a>(summary: &'a Summary, leaving: &'a Leaving) -> [Table<'a>; 2] {
    let count = if leaving.estimated {
        "about keys"
    } else {
        "keys"
    };
    let table = |what: &'static str, parts: &'a [LeavingPart], shown: &dyn Fn(&Name) -> Name| {
        let columns = vec![
            Column::words(what).flexible(),
            Column::number(count),
            Column::number("of them").rank(Rank::Main),
        ];
        let rows = parts.iter().map(|part| {
            vec![
                Cell::text(text::name(&shown(&part.name), NAME)),
                Cell::text(grouped(part.keys)),
                Cell::share(part.share).with_load_bar(part.share),
            ]
        });
        Table::new(columns, rows.collect::<Vec<_>>())
    };
    let node = |id: &Name| {
        let nodes = summary.nodes.list.iter();
        let node = nodes
            .filter(|node| node.id == *id)
            .map(NodeLoad::label)
            .next();
        node.unwrap_or_else(|| id.clone())
    };
    [
        table("expires within an hour, by node", &leaving.nodes, &node),
        table(
            "expires within an hour, by pattern",
            &leaving.patterns,
            &Name::clone,
        ),
    ]
}

fn fullest_in_words(fullest: &FullestTime) -> String {
    format!(
        "most keys at once expire in {} from {}: {} ({})",
        text::the_minutes(fullest.minutes),
        text::time(fullest.at),
        grouped(fullest.keys),
        percent(fullest.share)
    )
}

/// How long keys were not used.
pub fn idle(summary: &Summary) -> Option<Section<'_>> {
    let mut from = 0;
    let rows = summary.idle.as_ref()?.iter().map(|of| {
        let idle = match of.under_secs {
            Some(under) if from == 0 => format!("less than {}", span(under)),
            Some(under) => format!("{} to {}", span(from), span(under)),
            None => format!("{} or more", span(from)),
        };
        from = of.under_secs.unwrap_or(from);
        row(idle, &of.load, summary.input.keys)
    });
    let table = table("not used for", rows, summary.by);
    Some(
        Section::titled("Idle time")
            .anchored("idle", "Idle")
            .table(table),
    )
}

/// How often keys are used, as far as LFU counters say it.
pub fn lfu(summary: &Summary) -> Option<Section<'_>> {
    let lfu = summary.lfu.as_ref()?;
    let carried = lfu.first()?.load;
    let mut least = 0;
    let rows = LFU.into_iter().map(|(most, meaning)| {
        let those = lfu.iter().filter(|of| (least..=most).contains(&of.counter));
        let sum = |metric| {
            those
                .clone()
                .filter_map(|of| of.load.get(metric))
                .sum::<u64>()
        };
        let load = carried.map(|metric, _| sum(metric));
        let counter = match least == most {
            true => most.to_string(),
            false => format!("{least} to {most}"),
        };
        least = most.saturating_add(1);
        let mut cells = row(counter, &load, summary.input.keys);
        cells.insert(1, Cell::text(meaning));
        cells
    });
    let mut table = table("LFU counter", rows, summary.by);
    table.columns.insert(1, Column::words("accesses").rank(Rank::Detail).hint(
        "with lfu-log-factor 10 and lfu-decay-time 1; a counter cannot say more than about 2,500 a minute",
    ));
    Some(
        Section::titled("Use, by LFU counter")
            .anchored("lfu", "LFU")
            .table(table),
    )
}

fn row(what: String, load: &PerMetric<u64>, keys: u64) -> Vec<Cell<'static>> {
    let share = load.keys as f64 / keys.max(1) as f64;
    let mut row = vec![Cell::text(what)];
    row.extend(loads(load));
    row.push(Cell::share(share).with_load_bar(share));
    row
}

/// A table of the rows that hold a key.
fn table<'a>(
    what: &'static str,
    rows: impl Iterator<Item = Vec<Cell<'a>>>,
    by: Metric,
) -> Table<'a> {
    let share = |row: &Vec<Cell<'a>>| row.last().map(|cell| cell.value.clone());
    let rows = rows.filter(|row| share(row) != Some(Value::Share(0.0)));
    let mut columns = vec![Column::words(what).flexible()];
    columns.extend(Column::loads(by));
    columns.push(Column::number("of the keys").rank(Rank::Main));
    Table::new(columns, rows)
}
