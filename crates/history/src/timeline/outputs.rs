//! The output files of `slotscope timeline --out`.

use std::io::{self, Write};

use slotscope_report::json;
use slotscope_report::output::OutputSet;
use slotscope_report::render::html::sections;

use crate::timeline::{Timeline, view};

/// The files, with `rows` per table of the page.
pub(crate) fn outputs(rows: usize) -> OutputSet<Timeline> {
    OutputSet::marked("\"schema\":\"slotscope.timeline/")
        .file("timeline.json", |timeline, out| {
            json::write_object(timeline, out)
        })
        .file("timeline.html", move |timeline, out| {
            page(timeline, rows, out)
        })
}

fn page(timeline: &Timeline, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let frame = sections::Frame {
        title: &view::title(timeline),
        sentence: &view::sentence(timeline),
        notes: &view::remarks_of(timeline),
        rows,
    };
    sections::write(&frame, &view::sections(timeline, usize::MAX), out)
}
