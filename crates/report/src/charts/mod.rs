//! The PNG charts. Each is a file with a function from `Summary` to `Sheet`, and a row in `CHARTS`.
//!
//! Drawn on a canvas of crates/canvas, with numbers from `summary` and colours from `palette`.

mod field;
mod grid;
mod heatmap;
mod node_stacks;
mod nodes;
mod sheet;

use std::io::{self, Write};

use slotscope_canvas::font::{Style, fit};

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;

use slotscope_engine::slot::SLOTS;
use slotscope_engine::text::{and_more, three_digits};
use slotscope_model::Summary;
use slotscope_model::balance;
use slotscope_model::nodes::NodeLoad;

pub use crate::charts::sheet::Sheet;
use crate::charts::sheet::size;
use crate::output::Written;
use crate::palette::MUTED;
use crate::plot::loads::{Loads, counted};
use crate::view::{distribution, tag_ranks};

/// Every chart of a report.
pub static CHARTS: &[Chart] = &[
    Chart {
        file: "slot-heatmap.png",
        sheet: heatmap::sheet,
    },
    Chart {
        file: "nodes.png",
        sheet: nodes::sheet,
    },
    Chart {
        file: "slot-distribution.png",
        sheet: |summary| {
            let figure = distribution::figure(summary)?;
            Some(Sheet::figure(figure, source_line(summary)))
        },
    },
    Chart {
        file: "tag-sizes.png",
        sheet: |summary| {
            let figure = tag_ranks::figure(summary)?;
            Some(Sheet::figure(figure, source_line(summary)))
        },
    },
];

/// Writes a chart, if there is one.
///
/// # Errors
/// `out` cannot be written to.
pub fn write(sheet: Option<Sheet<'_>>, out: &mut dyn Write) -> io::Result<Written> {
    match sheet {
        Some(sheet) => sheet.write(out).map(|()| Written::Whole),
        None => Ok(Written::Nothing),
    }
}

/// A chart of a report.
pub struct Chart {
    /// Its file.
    pub file: &'static str,
    /// Its content, if the summary has something to show.
    pub sheet: for<'s> fn(&'s Summary) -> Option<Sheet<'s>>,
}

/// Width of a file name in the subtitle.
const NAME: f32 = 220.0;

/// The subtitle: how much was read, the number of nodes, the source.
fn source_line(summary: &Summary) -> String {
    let nodes = counted(summary.nodes.owning().count() as u64, "node");
    let of = match () {
        () if summary.nodes.are_assumed() => String::from(" (assumed)"),
        () if summary.nodes.is_even() => String::new(),
        () if summary.nodes.are_files() => String::from(", one per file"),
        () => format!(" of {}", cut(&summary.nodes.source)),
    };
    let files = &summary.input.files;
    let from = match files.first() {
        None => String::new(),
        Some(first) if files.len() == 1 => format!("  ·  {}", cut(&first.name)),
        Some(first) => format!("  ·  {} {}", cut(&first.name), and_more(files.len() - 1)),
    };
    let slots = three_digits(SLOTS as f64);
    format!("{}  ·  {slots} slots  ·  {nodes}{of}{from}", read(summary))
}

fn cut(name: &Name) -> String {
    let style = Style::plain(size::SUBTITLE, MUTED);
    fit(base_name(&name.to_string()), NAME, style)
}

/// How much was read.
fn read(summary: &Summary) -> String {
    let part = if summary.input.incomplete.is_empty() {
        ""
    } else {
        "INPUT NOT READ TO ITS END  ·  "
    };
    let count = balance::sum(&summary.slots.loads.keys);
    let keys = counted(u64::try_from(count).unwrap_or(u64::MAX), "key");
    let loads = Loads::of(summary);
    let total = loads.short(loads.total());
    let weight = match loads.by {
        Metric::Keys => None,
        metric if metric.is_size() => Some(total),
        metric if metric.is_time() => Some(format!("{total} of {}", metric.title())),
        metric => Some(format!("{total} {}", metric.title())),
    };
    // For captures alone, the number of keys is unknown.
    let keys = Some(keys).filter(|_| weight.is_none() || !summary.has_only_operations());
    let read: Vec<String> = keys.into_iter().chain(weight).collect();
    format!("{part}{}", read.join("  ·  "))
}

/// The last component of a path.
fn base_name(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

/// The display name of a node.
fn node_name(node: &NodeLoad) -> String {
    node.label().to_string()
}
