//! prefixes.png: the heaviest prefixes of key names by level, and how much of each is bound together by hash tags.

use std::io::{self, Write};

use super::bars::{self, Row};
use super::loads::Loads;
use super::palette::LOAD;
use super::{SHEET, canvas, short_source_line};
use crate::report::units::percent;
use crate::summary::Summary;
use crate::summary::patterns::{Kinds, Prefix};

/// Rows of one level, and of all; levels that are too deep for them are left out.
const OF_A_LEVEL: usize = 8;
const SHOWN: usize = 24;
/// Rows that a sheet without bars has room for.
const EMPTY_ROWS: usize = 3;

/// Writes the chart.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let loads = Loads::of(summary);
    let none = Kinds { exact: true, max_error: 0, top: Vec::new() };
    let prefixes = summary.prefixes.as_ref().unwrap_or(&none);
    let rows = rows(prefixes, &loads);
    canvas::png(SHEET.0, bars::sheet_height(rows.len().max(EMPTY_ROWS)), out, |canvas| {
        match prefixes.top.first() {
            Some(heaviest) => canvas.heading(&title(heaviest, &loads), &subtitle(summary, prefixes, &loads)),
            None => canvas.heading("Prefixes of key names", &short_source_line(summary)),
        }
        match rows.is_empty() {
            true if loads.total() == 0.0 => canvas.nothing(&loads.nothing()),
            true => canvas.nothing("no key name has a prefix that many keys share"),
            false => bars::draw(canvas, &rows, &[], &loads),
        }
    })
}

fn title(heaviest: &Prefix, loads: &Loads<'_>) -> String {
    let name = bars::in_title(&heaviest.prefix);
    format!("Heaviest prefix {name}: {} of all {}", percent(heaviest.kind.share), loads.noun())
}

fn subtitle(summary: &Summary, prefixes: &Kinds<Prefix>, loads: &Loads<'_>) -> String {
    let bound = match prefixes.exact {
        true => String::new(),
        false => format!("an unlisted prefix holds {} at most  ·  ", loads.counted(prefixes.max_error)),
    };
    format!("dark: keys with a hash tag, light: without  ·  {bound}{}", short_source_line(summary))
}

/// The heaviest of each level, under a line that names the level.
fn rows(prefixes: &Kinds<Prefix>, loads: &Loads<'_>) -> Vec<Row> {
    let deepest = prefixes.top.iter().map(|prefix| prefix.level).max().unwrap_or(0);
    let mut rows = Vec::new();
    for level in 1..=deepest {
        let of_level: Vec<_> = prefixes.top.iter().filter(|prefix| prefix.level == level).take(OF_A_LEVEL).collect();
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
    let of_tags =
        if kind.tagged_share > 0.0 { format!("   {} tagged", percent(kind.tagged_share)) } else { String::new() };
    let words = format!("{}   {}{of_tags}", loads.short(load), percent(kind.share));
    Row::Bar { name: bars::spelled(&prefix.prefix), value: tagged, light: load - tagged, words, colour: LOAD }
}
