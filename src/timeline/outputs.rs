//! The output files of `slotscope timeline --out`.

use std::io::{self, Write};

use slotscope_report::charts::{Sheet, time_map};
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
        .file("timeline.png", |timeline, out| map(timeline).write(out))
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

fn map(timeline: &Timeline) -> Sheet<'static> {
    let (title, subtitle) = (view::chart_title(timeline), view::title(timeline));
    time_map::sheet(title, subtitle, view::time_map(timeline))
}
