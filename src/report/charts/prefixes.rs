//! prefixes.png: the heaviest prefixes of key names by level, and how much of each is bound together by hash tags.

use crate::report::charts::bars;
use crate::report::charts::bars::Row;
use crate::report::charts::loads::Loads;
use crate::report::charts::{Sheet, short_source_line};
use crate::report::palette::LOAD;
use crate::summary::Summary;
use crate::summary::patterns::{KeyGroups, Prefix};
use crate::text::percent;

/// Rows of one level, and of all; levels that are too deep for them are left out.
const OF_A_LEVEL: usize = 8;
const SHOWN: usize = 24;

/// The chart of `summary`.
pub fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let heaviest = summary.prefixes.as_ref().and_then(|prefixes| {
        let first = prefixes.top.first()?;
        Some((first, prefixes))
    });
    let (title, subtitle, rows) = match heaviest {
        Some((first, prefixes)) => (
            title(first, &loads),
            subtitle(summary, prefixes, &loads),
            rows(prefixes, &loads),
        ),
        None => (
            String::from("Prefixes of key names"),
            short_source_line(summary),
            Vec::new(),
        ),
    };
    match rows.is_empty() {
        true if loads.total() == 0.0 => bars::empty_sheet(title, subtitle, loads.nothing()),
        true => bars::empty_sheet(
            title,
            subtitle,
            "no key name has a prefix that many keys share",
        ),
        false => bars::sheet(title, subtitle, rows, Vec::new(), loads),
    }
}

fn title(heaviest: &Prefix, loads: &Loads<'_>) -> String {
    let name = bars::in_title(&heaviest.prefix);
    format!(
        "Heaviest prefix {name}: {} of all {}",
        percent(heaviest.kind.share),
        loads.noun()
    )
}

fn subtitle(summary: &Summary, prefixes: &KeyGroups<Prefix>, loads: &Loads<'_>) -> String {
    let bound = match prefixes.exact {
        true => String::new(),
        false => format!(
            "an unlisted prefix holds {} at most  ·  ",
            loads.counted(prefixes.max_error)
        ),
    };
    format!(
        "dark: keys with a hash tag, light: without  ·  {bound}{}",
        short_source_line(summary)
    )
}

/// The heaviest of each level, under a line that names the level.
fn rows(prefixes: &KeyGroups<Prefix>, loads: &Loads<'_>) -> Vec<Row> {
    let deepest = prefixes
        .top
        .iter()
        .map(|prefix| prefix.level)
        .max()
        .unwrap_or(0);
    let mut rows = Vec::new();
    for level in 1..=deepest {
        let of_level: Vec<_> = prefixes
            .top
            .iter()
            .filter(|prefix| prefix.level == level)
            .take(OF_A_LEVEL)
            .collect();
        if rows.len() + of_level.len() >= SHOWN {
            break;
        }
        if !of_level.is_empty() {
            rows.push(Row::Gap(format!("level {level}")));
            rows.extend(of_level.into_iter().map(|prefix| row(prefix, loads)));
        }
    }
    rows
}

fn row(prefix: &Prefix, loads: &Loads<'_>) -> Row {
    let kind = &prefix.kind;
    let load = loads.held(&kind.load) as f64;
    let tagged = load * kind.tagged_share;
    let of_tags = if kind.tagged_share > 0.0 {
        format!("   {} tagged", percent(kind.tagged_share))
    } else {
        String::new()
    };
    let words = format!("{}   {}{of_tags}", loads.short(load), percent(kind.share));
    Row::Bar {
        name: bars::spelled(&prefix.prefix),
        value: tagged,
        light: load - tagged,
        words,
        colour: LOAD,
    }
}
