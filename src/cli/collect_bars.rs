//! The progress of a collection: a bar per node with keys, rate and remaining time; without a terminal, a line every
//! few seconds.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use slotscope_collect::run::Page;
use slotscope_engine::name::Name;
use slotscope_engine::text::{counted, grouped};

use crate::cli::progress::{PAUSE, When};

const TEMPLATE: &str = "{prefix} {wide_bar} {human_pos} of {human_len} keys, {per_sec}, {eta} left";

/// A bar per node.
pub(super) struct NodeBars {
    bars: MultiProgress,
    is_by_line: bool,
    nodes: Mutex<Nodes>,
}

/// The nodes by name.
#[derive(Default)]
struct Nodes {
    bars: BTreeMap<String, ProgressBar>,
    last_line: Option<Instant>,
}

impl NodeBars {
    /// No bars yet.
    pub(super) fn new(when: When) -> Self {
        NodeBars {
            bars: MultiProgress::with_draw_target(when.target()),
            is_by_line: when.is_by_line(),
            nodes: Mutex::default(),
        }
    }

    /// Updates the bar of a node.
    pub(super) fn show(&self, node: &str, page: Page) {
        let warning = unanswered(node, page).map(|warning| format!("warning: {warning}"));
        if let Some(line) = warning.or_else(|| open(node, page)) {
            // Ignore a closed standard error.
            let say = || drop(writeln!(io::stderr(), "slotscope: {line}"));
            return self.bars.suspend(say);
        }
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = nodes
            .bars
            .entry(node.to_owned())
            .or_insert_with(|| self.bar(node));
        match page {
            // Rereading slots adds keys.
            Page::Expected(keys) => bar.inc_length(keys),
            Page::Read(keys) => bar.inc(keys),
            Page::Lost(_) | Page::Awaited(_) | Page::Open { .. } => {}
        }
        if self.is_by_line && nodes.last_line.is_none_or(|last| last.elapsed() >= PAUSE) {
            nodes.last_line = Some(Instant::now());
            nodes.write_line();
        }
    }

    fn bar(&self, node: &str) -> ProgressBar {
        let style = ProgressStyle::with_template(TEMPLATE)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("█░");
        let bar = ProgressBar::new(0).with_style(style);
        self.bars.add(bar).with_prefix(Name::from(node).to_string())
    }
}

/// The warning for a primary that does not answer.
fn unanswered(node: &str, page: Page) -> Option<String> {
    let node = Name::from(node);
    match page {
        Page::Expected(_) | Page::Read(_) | Page::Open { .. } => None,
        Page::Lost(slots) => Some(format!(
            "{node} does not answer and has no replica that could take over: its {} are not served. The other nodes are read; \
             of a cluster that is down the names of the keys, and --slots-only counts them by slot at once",
            counted(slots, "slot")
        )),
        Page::Awaited(slots) => Some(format!(
            "{node} does not answer: waiting up to a minute for a replica to take over its {}",
            counted(slots, "slot")
        )),
    }
}

/// The warning for a primary with open slots.
fn open(node: &str, page: Page) -> Option<String> {
    let Page::Open { first, slots, secs } = page else {
        return None;
    };
    let node = Name::from(node);
    let (which, them) = match slots {
        1 => (format!("slot {first} of {node} is"), "it"),
        _ => (
            format!("slot {first} and {} more of {node} are", slots - 1),
            "them",
        ),
    };
    Some(format!(
        "{which} open: waiting up to {secs} s for the move of {them} to end; if no move is running, run the script of the \
         move again, or redis-cli --cluster fix {node}"
    ))
}

impl Nodes {
    fn write_line(&self) {
        let sum = |count: fn(&ProgressBar) -> u64| self.bars.values().map(count).sum::<u64>();
        let (done, total) = (
            sum(ProgressBar::position),
            sum(|bar| bar.length().unwrap_or(0)),
        );
        // Ignore a closed standard error.
        drop(writeln!(
            io::stderr(),
            "slotscope: collecting {} of {} keys from {} nodes",
            grouped(done),
            grouped(total),
            self.bars.len()
        ));
    }
}

impl Drop for NodeBars {
    fn drop(&mut self) {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.bars.values().for_each(ProgressBar::finish_and_clear);
        if self.is_by_line && !nodes.bars.is_empty() {
            nodes.write_line();
        }
    }
}
