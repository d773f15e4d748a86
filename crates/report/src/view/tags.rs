//! Hash tags: the heaviest ones, and keys per tag.

use slotscope_base::metric::Metric;
use slotscope_base::text::{amount, grouped, percent};
use slotscope_model::Summary;

use crate::view::keys::share_column;
use crate::view::table::Rank;
use crate::view::{Cell, Column, Section, Table, Value};

/// The heaviest hash tags.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    let tags = summary.tags.as_ref()?;
    if summary.has_only_extremes() {
        return None;
    }
    // The number of tagged keys in captures is unknown.
    let is_of_operations = tags.tagged_keys == 0 && summary.has_only_operations();
    let nothing = match is_of_operations {
        true if tags.top.is_empty() => Some("No operation is on a key with a hash tag."),
        false if tags.tagged_keys == 0 => Some("No key has a hash tag."),
        _ => None,
    };
    if let Some(nothing) = nothing {
        return Some(Section::untitled().paragraph(nothing));
    }
    let about = if tags.distinct_error > 0.0 {
        "about "
    } else {
        ""
    };
    let distinct = grouped(tags.distinct);
    let title = if is_of_operations {
        format!("Hash tags of operations ({about}{distinct} distinct)")
    } else {
        let part = percent(tags.tagged_keys as f64 / summary.input.keys as f64);
        format!("Hash tags ({about}{distinct} distinct, on {part} of the keys)")
    };
    Some(listed(summary, title))
}

/// The table, and a note on tags not in it.
fn listed(summary: &Summary, title: String) -> Section<'_> {
    let section = Section::titled(title)
        .anchored("tags", "Tags")
        .table(table(summary));
    let Some(tags) = &summary.tags else {
        return section;
    };
    let metric = summary.by;
    let first_hidden = tags.top.get(summary.rows);
    let of_first = first_hidden.and_then(|tag| Some(tag.load.get(metric)? + tag.error(metric)));
    let hidden = of_first.unwrap_or(0).max(tags.max_error);
    if hidden == 0 {
        return section;
    }
    let counts = if tags.exact {
        "Counts are exact"
    } else {
        "The input was read once: counts are at least these"
    };
    section.paragraph(format!(
        "{counts}; a tag that is not shown holds at most {}.",
        amount(metric, hidden)
    ))
}

/// The heaviest hash tags, also `tags.csv`.
pub fn table(summary: &Summary) -> Table<'_> {
    let top = summary.tags.as_ref().map_or(&[][..], |tags| &tags.top);
    let shares = top.iter().map(|tag| tag.share);
    let longest = shares.fold(f64::MIN_POSITIVE, f64::max);
    let is_bounded = top.iter().any(|tag| tag.errors.0.keys > 0);
    let column = Column::number("keys_error");
    let error = if is_bounded {
        column
            .titled("more")
            .rank(Rank::OtherMetric)
            .hint("it holds at most this many more keys")
    } else {
        column.only_in_files()
    };
    Table::of(top)
        .column(Column::words("tag").flexible(), |tag| Cell::tag(&tag.tag))
        .column(Column::number("slot"), |tag| Cell::number(tag.slot))
        .column(Column::words("node").rank(Rank::Detail), |tag| {
            Cell::owner(&summary.nodes.list, tag.node.as_ref())
        })
        .loads([Metric::Keys], summary.by, |tag| tag.load)
        .column(error, |tag| Value::AtMost(tag.errors.0.keys).into())
        .loads(Metric::WEIGHTS, summary.by, |tag| tag.load)
        .column(share_column(summary.by), |tag| {
            Cell::of(tag.load.get(summary.by), |_| {
                Cell::share(tag.share).with_load_bar(tag.share / longest)
            })
        })
        .build()
        .in_file("tags.csv")
}
