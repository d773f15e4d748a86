//! top-tags.png: the hash tags that hold most keys. A tag lives in one slot, so no move of slots can split it.

use std::io::{self, Write};

use super::bars::{self, Row};
use super::number::{counted, short};
use super::palette::LOAD;
use super::text::{Style, fit};
use super::{NO_KEYS, SHEET, all_keys, canvas, palette, source_line};
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
    let rows: Vec<_> = tags.iter().flat_map(|tags| &tags.top).take(SHOWN).map(row).collect();
    canvas::png(SHEET.0, bars::sheet_height(if rows.is_empty() { EMPTY_ROWS } else { rows.len() }), out, |canvas| {
        let (title, nothing) = match tags {
            _ if all_keys(summary) == 0.0 => ("Hash tags", Some(String::from(NO_KEYS))),
            None => ("Hash tags were not counted", Some(String::from("only slots were asked for"))),
            Some(tags) if tags.tagged_keys == 0 => {
                ("No hash tags: every key is a unit of its own", Some(String::from("no hash tags in this dump")))
            }
            Some(tags) if tags.top.is_empty() => ("Hash tags", Some(unnamed(tags))),
            Some(_) => ("", None),
        };
        let title = match tags.and_then(|tags| tags.top.first()) {
            Some(tag) if nothing.is_none() => finding(tag),
            _ => String::from(title),
        };
        canvas.heading(&title, &subtitle(summary));
        match nothing {
            None => bars::draw(canvas, &rows, &[], "keys"),
            Some(nothing) => canvas.nothing(&nothing),
        }
    })
}

/// The heaviest tag; a long name leaves room for the number.
fn finding(tag: &Tag) -> String {
    let name = fit(&tag.tag.to_string(), 480.0, Style::bold(canvas::size::TITLE, palette::INK));
    format!("Heaviest hash tag {{{name}}}: {} of all keys", percent(tag.share))
}

fn unnamed(tags: &Tags) -> String {
    format!("{} have a tag; one pass kept no names", counted(tags.tagged_keys, "key"))
}

fn subtitle(summary: &Summary) -> String {
    let Some(tags) = summary.tags.as_ref().filter(|tags| tags.tagged_keys > 0) else { return source_line(summary) };
    let about = if tags.distinct_error > 0.0 { "about " } else { "" };
    let bounds = match tags.exact {
        true => String::new(),
        false => format!("  ·  an unlisted tag holds {} at most", counted(tags.max_error, "key")),
    };
    let share = tags.tagged_keys as f64 / all_keys(summary).max(1.0);
    let found = format!("{about}{} on {} of the keys", counted(tags.distinct, "tag"), percent(share));
    format!("{found}{bounds}  ·  {}", source_line(summary))
}

fn row(tag: &Tag) -> Row {
    let up_to = match tag.keys_error {
        0 => String::new(),
        error => format!(" to {}", short(tag.load.keys as f64 + error as f64)),
    };
    Row::Bar {
        name: tag.tag.to_string(),
        value: tag.load.keys as f64,
        unsure: tag.keys_error as f64,
        words: format!("{}{up_to}   {}", short(tag.load.keys as f64), percent(tag.share)),
        colour: LOAD,
    }
}
