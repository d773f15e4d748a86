//! Patterns of key names and their prefixes.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_model::Summary;
use slotscope_model::patterns::{GroupLoad, KeyGroups};

use crate::view::keys::share_column;
use crate::view::table::Rank;
use crate::view::{Cell, Column, Scope, Section, Table};

/// Key names with marks instead of ids.
pub(crate) fn patterns(summary: &Summary) -> Option<Section<'_>> {
    let patterns = summary.patterns.as_ref()?;
    let section = Section::titled("Patterns of keys").anchored("patterns", "Patterns");
    finished(section.table(patterns_table(summary)), patterns)
}

/// The prefixes of key names.
pub(crate) fn prefixes(summary: &Summary) -> Option<Section<'_>> {
    let prefixes = summary.prefixes.as_ref()?;
    // The text output has the patterns, which are more precise.
    let section = Section::titled("Prefixes")
        .anchored("prefixes", "Prefixes")
        .scoped(Scope::Page);
    finished(section.table(prefixes_table(summary)), prefixes)
}

/// The table of patterns, also `patterns.csv`.
pub fn patterns_table(summary: &Summary) -> Table<'_> {
    let patterns = summary.patterns.iter().flat_map(|patterns| &patterns.top);
    let rows = patterns.map(|row| (&row.pattern, &row.kind));
    table("pattern", rows, summary.by).in_file("patterns.csv")
}

/// The table of prefixes, also `prefixes.csv`.
pub fn prefixes_table(summary: &Summary) -> Table<'_> {
    let prefixes = summary.prefixes.iter().flat_map(|prefixes| &prefixes.top);
    let rows = prefixes.map(|row| (&row.prefix, &row.kind));
    table("prefix", rows, summary.by).in_file("prefixes.csv")
}

fn table<'a>(
    title: &'static str,
    rows: impl Iterator<Item = (&'a Name, &'a GroupLoad)> + Clone,
    metric: Metric,
) -> Table<'a> {
    let shares = rows.clone().map(|(_, kind)| kind.share);
    let longest = shares.fold(f64::MIN_POSITIVE, f64::max);
    Table::of(rows)
        .column(Column::words(title).flexible(), |(name, _)| {
            Cell::name(name)
        })
        .loads(Metric::ALL, metric, |(_, kind)| kind.load)
        .column(share_column(metric), |(_, kind)| {
            Cell::of(kind.load.get(metric), |_| {
                Cell::share(kind.share).with_load_bar(kind.share / longest)
            })
        })
        .column(
            Column::number("tagged")
                .field("tagged_share")
                .rank(Rank::Detail)
                .hint("the part of its keys that have a hash tag"),
            |(_, kind)| Cell::share(kind.tagged_share),
        )
        .column(
            Column::number("in slots")
                .field("slots")
                .rank(Rank::Detail)
                .hint("how many slots its keys are in"),
            |(_, kind)| Cell::of(kind.slots, Cell::count),
        )
        .column(
            Column::number("no expiry")
                .field("no_expiry_share")
                .rare()
                .rank(Rank::Detail)
                .hint("the part of its keys that never expire"),
            |(_, kind)| Cell::of(kind.no_expiry_share, Cell::share),
        )
        .build()
}

/// The section with a note on its counts; `None` if there is no content.
fn finished<'a, R>(section: Section<'a>, kinds: &KeyGroups<R>) -> Option<Section<'a>> {
    match (kinds.exact, kinds.top.is_empty()) {
        (true, true) => None,
        (true, false) if kinds.coarseness > 0 => Some(section.line(
            "There are too many to count each, so more of a name than usual counts as an id.",
        )),
        (true, false) => Some(section),
        (false, _) => Some(section.line("There are too many patterns to count.")),
    }
}
