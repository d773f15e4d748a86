//! types.png: the types and encodings of keys, with their parts of the keys and of the bytes.

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::text::percent;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::kinds::EncodingLoad;

use crate::charts::bars;
use crate::charts::bars::{Bars, Row};
use crate::charts::loads::Loads;
use crate::charts::{Sheet, short_source_line};
use crate::palette::LOAD;

/// Rows.
const SHOWN: usize = 16;

/// Whether there is more than one type.
pub(super) fn is_telling(summary: &Summary) -> bool {
    summary.encodings.iter().flatten().nth(1).is_some()
}

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::by(summary, Metric::Bytes);
    let mut kinds: Vec<&EncodingLoad> = summary.encodings.iter().flatten().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(loads.held(&kind.load)));
    let subtitle = short_source_line(summary);
    let Some(first) = kinds.first() else {
        return bars::empty_sheet("Types of keys", subtitle, "no types in this dump");
    };
    if loads.total() == 0.0 {
        return bars::empty_sheet("Types of keys", subtitle, loads.nothing());
    }
    let title = title(first, &loads, summary);
    let rows = kinds
        .iter()
        .take(SHOWN)
        .map(|kind| row(kind, &loads, summary));
    Bars::new(title, subtitle, rows.collect(), &loads).sheet()
}

/// `hash, listpack`.
fn name(kind: &EncodingLoad) -> Name {
    let encoding = kind.encoding.iter();
    let rest = encoding.flat_map(|encoding| [&b", "[..], &encoding.0].concat());
    Name(kind.kind.0.iter().copied().chain(rest).collect())
}

fn parts(kind: &EncodingLoad, loads: &Loads<'_>, summary: &Summary) -> (f64, f64) {
    let of_keys = kind.load.keys as f64 / summary.input.keys.max(1) as f64;
    (loads.held(&kind.load) as f64 / loads.total(), of_keys)
}

fn title(first: &EncodingLoad, loads: &Loads<'_>, summary: &Summary) -> String {
    let (part, of_keys) = parts(first, loads, summary);
    let held = format!(
        "{}: {} of all {}",
        bars::in_title(&name(first)),
        percent(part),
        loads.noun()
    );
    match loads.by {
        Metric::Keys => held,
        _ => format!("{held}, {} of the keys", percent(of_keys)),
    }
}

fn row(kind: &EncodingLoad, loads: &Loads<'_>, summary: &Summary) -> Row {
    let (part, of_keys) = parts(kind, loads, summary);
    let value = loads.held(&kind.load) as f64;
    let words = format!("{}   {}", loads.short(value), percent(part));
    Row::Bar {
        name: bars::spelled(&name(kind)),
        value,
        light: 0.0,
        words: match loads.by {
            Metric::Keys => words,
            _ => format!("{words}   {} of the keys", percent(of_keys)),
        },
        colour: LOAD,
    }
}
