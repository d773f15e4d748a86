//! The PNG charts. Each is a file with a function from `Summary` to `Sheet`, and a row in `CHARTS`.
//!
//! Drawn on a canvas of crates/canvas, with numbers from `summary` and colours from `palette`.

mod distribution;
mod factors;
mod field;
mod heatmap;
mod legend;
mod loads;
mod names;
mod node_stacks;
mod nodes;
mod number;
mod sheet;
mod slot_load;
mod tag_sizes;
pub mod time_map;

use std::io::{self, Write};

use slotscope_canvas::font::{Style, fit};

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;

use crate::charts::loads::Loads;
use crate::charts::number::{counted, short};
pub use crate::charts::sheet::Sheet;
use crate::charts::sheet::size;
use crate::output::Written;

use slotscope_engine::slot::SLOTS;
use slotscope_engine::text::{and_more, plural};
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::balance;
use slotscope_findings::summary::nodes::NodeLoad;

use crate::palette::MUTED;

/// Every chart of a report.
pub static CHARTS: &[Chart] = &[
    Chart {
        file: "slot-heatmap.png",
        wanted: |_| true,
        sheet: heatmap::sheet,
    },
    Chart {
        file: "slot-load.png",
        wanted: |_| true,
        sheet: slot_load::sheet,
    },
    Chart {
        file: "nodes.png",
        wanted: |_| true,
        sheet: nodes::sheet,
    },
    Chart {
        file: "slot-distribution.png",
        wanted: |_| true,
        sheet: distribution::sheet,
    },
    Chart {
        file: "tag-sizes.png",
        wanted: |summary| summary.tag_sizes.is_some(),
        sheet: tag_sizes::sheet,
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
    /// Whether a report with this summary includes it.
    pub wanted: fn(&Summary) -> bool,
    /// Its content; an empty sheet if the summary has nothing to show.
    pub sheet: for<'s> fn(&'s Summary) -> Sheet<'s>,
}

impl Chart {
    /// The chart of `summary`, if its report includes it.
    pub(crate) fn sheet_of<'s>(&self, summary: &'s Summary) -> Option<Sheet<'s>> {
        (self.wanted)(summary).then(|| (self.sheet)(summary))
    }
}

/// Width of a file name in the subtitle.
const NAME: f32 = 220.0;

/// The subtitle for slots and nodes: how much was read, the number of nodes, the source.
fn source_line(summary: &Summary) -> String {
    let (read, from) = source(summary);
    let nodes = summary.nodes.owning().count();
    let on = match () {
        () if summary.nodes.are_assumed() => {
            format!("{} (assumed)", counted(nodes as u64, "equal node"))
        }
        () if summary.nodes.is_even() => counted(nodes as u64, "equal node"),
        () if summary.nodes.are_files() => {
            format!("{}, one per file", counted(nodes as u64, "node"))
        }
        () => format!(
            "{} of {}",
            counted(nodes as u64, "node"),
            cut(&summary.nodes.source)
        ),
    };
    format!("{read}  ·  {} slots  ·  {on}{from}", short(SLOTS as f64))
}

/// The subtitle for charts without slots or nodes.
fn short_source_line(summary: &Summary) -> String {
    let (read, from) = source(summary);
    format!("{read}{from}")
}

fn cut(name: &Name) -> String {
    let style = Style::plain(size::SUBTITLE, MUTED);
    fit(base_name(&name.to_string()), NAME, style)
}

/// How much was read, and from what.
fn source(summary: &Summary) -> (String, String) {
    let files = &summary.input.files;
    let from = match files.first() {
        None => String::new(),
        Some(first) if files.len() == 1 => format!("  ·  {}", cut(&first.name)),
        Some(first) => format!("  ·  {} {}", cut(&first.name), and_more(files.len() - 1)),
    };
    let part = if summary.input.incomplete.is_empty() {
        ""
    } else {
        "INPUT NOT READ TO ITS END  ·  "
    };
    let count = balance::sum(&summary.slots.loads.keys) as f64;
    let keys = format!("{} key{}", short(count), plural(count as u64));
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
    (format!("{part}{}", read.join("  ·  ")), from)
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

/// Decimals for node loads relative to the fair share: two if that shows a difference, else three.
fn ratio_digits(nodes: &[&NodeLoad], loads: &Loads<'_>) -> usize {
    let apart =
        |node: &&NodeLoad| (loads.held(&node.load) as f64 / loads.nodes.mean - 1.0).abs() >= 0.05;
    if nodes.iter().any(apart) { 2 } else { 3 }
}
