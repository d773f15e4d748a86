//! The PNG charts: those that only files have, and the figures of `view`.
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

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use slotscope_base::slot::SLOTS;
use slotscope_base::text::{and_more, three_digits};
use slotscope_model::Summary;
use slotscope_model::balance;
use slotscope_model::nodes::NodeLoad;

pub use crate::charts::sheet::Sheet;
use crate::charts::sheet::size;
use crate::output::Written;
use crate::palette::MUTED;
use crate::plot::Figure;
use crate::plot::loads::{Loads, counted};
use crate::view::FIGURES;

/// A chart of a report.
#[derive(Clone, Copy)]
pub struct Chart {
    /// Its file.
    pub file: &'static str,
    /// Its subject, in a few words.
    pub about: &'static str,
    content: Content,
}

/// The function that makes it, if the summary has something to show.
#[derive(Clone, Copy)]
enum Content {
    Sheet(for<'s> fn(&'s Summary) -> Option<Sheet<'s>>),
    Figure(fn(&Summary) -> Option<Figure>),
}

/// The charts that the page does not have as figures.
static SHEETS: [Chart; 2] = [
    Chart {
        file: "slot-heatmap.png",
        about: "the slots as a map",
        content: Content::Sheet(heatmap::sheet),
    },
    Chart {
        file: "nodes.png",
        about: "nodes against their fair share of memory and load",
        content: Content::Sheet(nodes::sheet),
    },
];

/// Every chart of a report.
pub fn charts() -> impl Iterator<Item = Chart> {
    let figures = FIGURES.iter().map(|(file, about, figure)| Chart {
        file,
        about,
        content: Content::Figure(*figure),
    });
    SHEETS.iter().copied().chain(figures)
}

impl Chart {
    /// The chart of a summary, if it has something to show.
    pub fn sheet<'s>(&self, summary: &'s Summary) -> Option<Sheet<'s>> {
        match self.content {
            Content::Sheet(sheet) => sheet(summary),
            Content::Figure(figure) => Some(Sheet::figure(figure(summary)?, source_line(summary))),
        }
    }

    /// Writes the chart of a summary, if there is one.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn write(&self, summary: &Summary, out: &mut dyn Write) -> io::Result<Written> {
        match self.sheet(summary) {
            Some(sheet) => sheet.write(out).map(|()| Written::Whole),
            None => Ok(Written::Nothing),
        }
    }
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
