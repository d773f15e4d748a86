//! top-tags.png: the hash tags that hold most. A tag lives in one slot, so no move of slots can split it.

use crate::report::charts::bars;
use crate::report::charts::bars::Row;
use crate::report::charts::loads::Loads;
use crate::report::charts::number::counted;
use crate::report::charts::{Sheet, short_source_line};
use crate::report::palette::LOAD;
use crate::summary::Summary;
use crate::summary::tags::{Tag, Tags};
use crate::text::percent;

/// Rows.
const SHOWN: usize = 20;

/// The chart of `summary`.
pub fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let subtitle = subtitle(summary, &loads);
    let empty =
        |title: &str, sentence: String| bars::empty_sheet(title, subtitle.clone(), sentence);
    if loads.total() == 0.0 {
        return empty("Hash tags", loads.nothing());
    }
    let Some(tags) = summary.tags.as_ref() else {
        let sentence = String::from("only slots were asked for");
        return empty("Hash tags were not counted", sentence);
    };
    match tags.top.first() {
        _ if tags.tagged_keys == 0 => empty(
            "No hash tags: every key is a unit of its own",
            String::from("no hash tags in this dump"),
        ),
        None => empty("Hash tags", unnamed(tags)),
        Some(heaviest) => {
            let shown = tags.top.iter().take(SHOWN);
            let rows = shown.map(|tag| row(tag, &loads)).collect();
            bars::sheet(finding(heaviest, &loads), subtitle, rows, Vec::new(), loads)
        }
    }
}

fn finding(tag: &Tag, loads: &Loads<'_>) -> String {
    format!(
        "Heaviest hash tag {{{}}}: {} of all {}",
        bars::in_title(&tag.tag),
        percent(tag.share),
        loads.noun()
    )
}

fn unnamed(tags: &Tags) -> String {
    format!(
        "{} have a tag; one pass kept no names",
        counted(tags.tagged_keys, "key")
    )
}

fn subtitle(summary: &Summary, loads: &Loads<'_>) -> String {
    let Some(tags) = summary.tags.as_ref().filter(|tags| tags.tagged_keys > 0) else {
        return short_source_line(summary);
    };
    let about = if tags.distinct_error > 0.0 {
        "about "
    } else {
        ""
    };
    let bounds = match tags.exact {
        true => String::new(),
        false => format!(
            "  ·  an unlisted tag holds {} at most",
            loads.counted(tags.max_error)
        ),
    };
    let share = tags.tagged_keys as f64 / (summary.input.keys as f64).max(1.0);
    let found = format!(
        "{about}{} on {} of the keys",
        counted(tags.distinct, "tag"),
        percent(share)
    );
    format!("{found}{bounds}  ·  {}", short_source_line(summary))
}

fn row(tag: &Tag, loads: &Loads<'_>) -> Row {
    let (least, unsure) = (loads.held(&tag.load) as f64, tag.error(loads.by) as f64);
    let up_to = if unsure > 0.0 {
        format!(" to {}", loads.short(least + unsure))
    } else {
        String::new()
    };
    let words = format!("{}{up_to}   {}", loads.short(least), percent(tag.share));
    Row::Bar {
        name: bars::spelled(&tag.tag),
        value: least,
        light: unsure,
        words,
        colour: LOAD,
    }
}
