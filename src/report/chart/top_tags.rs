//! top-tags.png: the hash tags that hold most. A tag lives in one slot, so no move of slots can split it.

use std::io::{self, Write};

use super::bars::{self, Row};
use super::loads::Loads;
use super::number::counted;
use super::palette::LOAD;
use super::{SHEET, canvas, short_source_line};
use crate::report::units::percent;
use crate::summary::Summary;
use crate::summary::tags::{Tag, Tags};

/// Rows.
const SHOWN: usize = 20;
/// Rows that a sheet without bars has room for.
const EMPTY_ROWS: usize = 3;

/// Writes the chart.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let tags = summary.tags.as_ref();
    let loads = Loads::of(summary);
    let rows: Vec<_> = tags.iter().flat_map(|tags| &tags.top).take(SHOWN).map(|tag| row(tag, &loads)).collect();
    canvas::png(SHEET.0, bars::sheet_height(if rows.is_empty() { EMPTY_ROWS } else { rows.len() }), out, |canvas| {
        let (title, nothing) = match tags {
            _ if loads.total() == 0.0 => ("Hash tags", Some(loads.nothing())),
            None => ("Hash tags were not counted", Some(String::from("only slots were asked for"))),
            Some(tags) if tags.tagged_keys == 0 => {
                ("No hash tags: every key is a unit of its own", Some(String::from("no hash tags in this dump")))
            }
            Some(tags) if tags.top.is_empty() => ("Hash tags", Some(unnamed(tags))),
            Some(_) => ("", None),
        };
        let title = match tags.and_then(|tags| tags.top.first()) {
            Some(tag) if nothing.is_none() => finding(tag, &loads),
            _ => String::from(title),
        };
        canvas.heading(&title, &subtitle(summary, &loads));
        match nothing {
            None => bars::draw(canvas, &rows, &[], &loads),
            Some(nothing) => canvas.nothing(&nothing),
        }
    })
}

fn finding(tag: &Tag, loads: &Loads<'_>) -> String {
    format!("Heaviest hash tag {{{}}}: {} of all {}", bars::in_title(&tag.tag), percent(tag.share), loads.noun())
}

fn unnamed(tags: &Tags) -> String {
    format!("{} have a tag; one pass kept no names", counted(tags.tagged_keys, "key"))
}

fn subtitle(summary: &Summary, loads: &Loads<'_>) -> String {
    let Some(tags) = summary.tags.as_ref().filter(|tags| tags.tagged_keys > 0) else {
        return short_source_line(summary);
    };
    let about = if tags.distinct_error > 0.0 { "about " } else { "" };
    let bounds = match tags.exact {
        true => String::new(),
        false => format!("  ·  an unlisted tag holds {} at most", loads.counted(tags.max_error)),
    };
    let share = tags.tagged_keys as f64 / (summary.input.keys as f64).max(1.0);
    let found = format!("{about}{} on {} of the keys", counted(tags.distinct, "tag"), percent(share));
    format!("{found}{bounds}  ·  {}", short_source_line(summary))
}

fn row(tag: &Tag, loads: &Loads<'_>) -> Row {
    let (least, unsure) = (loads.held(&tag.load) as f64, tag.error(loads.by) as f64);
    let up_to = if unsure > 0.0 { format!(" to {}", loads.short(least + unsure)) } else { String::new() };
    let words = format!("{}{up_to}   {}", loads.short(least), percent(tag.share));
    Row::Bar { name: bars::spelled(&tag.tag), value: least, light: unsure, words, colour: LOAD }
}
