//! The output files of `slotscope trend --out`.

use std::io::{self, Write};

use slotscope_report::charts::{self, Sheet, over_time};
use slotscope_report::json;
use slotscope_report::output::OutputSet;
use slotscope_report::render::html::sections;

use crate::trend::{Trend, view};

/// Rows of a table of the page before it is expanded.
const ROWS: usize = 10;

/// The files.
pub(crate) fn outputs() -> OutputSet<Trend> {
    OutputSet::marked("\"schema\":\"slotscope.trend/")
        .file("trend.json", |trend, out| json::write_object(trend, out))
        .file("trend.html", page)
        .maybe("growth.png", |trend, out| charts::write(growth(trend), out))
        .maybe("fullest-node.png", |trend, out| {
            charts::write(fullest_node(trend), out)
        })
}

fn page(trend: &Trend, out: &mut dyn Write) -> io::Result<()> {
    let frame = sections::Frame {
        title: &view::title(trend),
        sentence: &trend.sentence,
        notes: &trend.notes,
        rows: ROWS,
    };
    sections::write(&frame, &view::sections(trend), out)
}

/// The total load over time.
fn growth(trend: &Trend) -> Option<Sheet<'static>> {
    let curve = view::growth_curve(trend)?;
    let title = view::growth_title(trend);
    Some(over_time::sheet(title, view::title(trend), curve))
}

/// The fullest node over time, up to its limit.
fn fullest_node(trend: &Trend) -> Option<Sheet<'static>> {
    let curve = view::full_curve(trend)?;
    let title = view::full_title(trend);
    Some(over_time::sheet(title, view::title(trend), curve))
}
