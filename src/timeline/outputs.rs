//! The output files of `slotscope timeline --out`.

use std::io::{self, Write};

use slotscope_report::charts::nodes_over_time::{self, NodeRates};
use slotscope_report::charts::{self, Sheet, time_map};
use slotscope_report::json;
use slotscope_report::output::OutputSet;
use slotscope_report::render::html::sections;

use crate::timeline::{NodeOverTime, Timeline, view};

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
        .maybe("nodes-over-time.png", |timeline, out| {
            charts::write(nodes(timeline), out)
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

fn map(timeline: &Timeline) -> Sheet<'static> {
    let (title, subtitle) = (view::chart_title(timeline), view::title(timeline));
    time_map::sheet(title, subtitle, view::time_map(timeline))
}

/// The nodes over time, if there are several.
fn nodes(timeline: &Timeline) -> Option<Sheet<'static>> {
    let nodes = timeline.nodes.as_deref().filter(|nodes| nodes.len() > 1)?;
    let shared = view::shared_parts(timeline);
    let node = |node: &NodeOverTime| {
        let label = shared.label(&node.name);
        (label.to_string(), node.over_time.clone())
    };
    let rates = NodeRates {
        heat: timeline.by,
        from: timeline.buckets.first().map_or(0, |bucket| bucket.from),
        bucket_secs: timeline.bucket_secs,
        nodes: nodes.iter().map(node).collect(),
    };
    Some(nodes_over_time::sheet(view::title(timeline), rates))
}
