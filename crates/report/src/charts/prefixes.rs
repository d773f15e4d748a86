//! prefixes.png: the heaviest prefixes of key names by level, and how much of each is grouped by hash tags.

use slotscope_engine::text::percent;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::patterns::{KeyGroups, Prefix};

use crate::charts::bars;
use crate::charts::bars::{Bars, Row};
use crate::charts::loads::Loads;
use crate::charts::{Sheet, short_source_line};
use crate::palette::{LIGHT_LOAD, LOAD};

/// Maximum rows per level and in total; deeper levels that do not fit are omitted.
const OF_A_LEVEL: usize = 8;
const SHOWN: usize = 24;

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let heaviest = summary.prefixes.as_ref().and_then(|prefixes| {
        let first = prefixes.top.first()?;
        Some((first, prefixes))
    });
    let (title, subtitle, rows) = match heaviest {
        Some((first, prefixes)) => (
            title(longest(first, &prefixes.top), &loads),
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
        false => Bars {
            legend: vec![
                (LOAD, "keys with a hash tag"),
                (LIGHT_LOAD, "keys without one"),
            ],
            ..Bars::new(title, subtitle, rows, &loads)
        }
        .sheet(),
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
    let bound = if prefixes.exact {
        String::new()
    } else {
        format!(
            "an unlisted prefix holds {} at most  ·  ",
            loads.counted(prefixes.max_error)
        )
    };
    format!("{bound}{}", short_source_line(summary))
}

/// The heaviest prefixes of each level, below a line naming the level. If all keys of a prefix continue alike, the
/// continuation is shown with it.
fn rows(prefixes: &KeyGroups<Prefix>, loads: &Loads<'_>) -> Vec<Row> {
    let top = &prefixes.top;
    let deepest = top.iter().map(|prefix| prefix.level).max().unwrap_or(0);
    let mut rows = Vec::new();
    for level in 1..=deepest {
        let of_level = top.iter().filter(|prefix| prefix.level == level);
        let of_level = of_level.filter(|prefix| !is_all_of_parent(prefix, top));
        let of_level: Vec<_> = of_level
            .take(OF_A_LEVEL)
            .map(|prefix| longest(prefix, top))
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

/// Whether all keys of another prefix have this one.
fn is_all_of_parent(prefix: &Prefix, top: &[Prefix]) -> bool {
    top.iter().any(|other| goes_on(other, prefix))
}

/// The longest prefix shared by all keys of `prefix`.
fn longest<'p>(prefix: &'p Prefix, top: &'p [Prefix]) -> &'p Prefix {
    let longer = top.iter().filter(|other| goes_on(prefix, other));
    longer.max_by_key(|other| other.level).unwrap_or(prefix)
}

/// Whether all keys of `prefix` have the longer one too.
fn goes_on(prefix: &Prefix, longer: &Prefix) -> bool {
    let is_longer = longer.level > prefix.level && longer.prefix.0.starts_with(&prefix.prefix.0);
    is_longer && longer.kind.load == prefix.kind.load
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
