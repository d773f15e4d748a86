//! The output files of `slotscope trend --out`.

use std::io::{self, Write};

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
