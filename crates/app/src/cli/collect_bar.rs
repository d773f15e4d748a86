//! The progress of a collection: a bar with keys, rate and remaining time; without a terminal, a line every few seconds.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use slotscope_base::name::Name;
use slotscope_base::text::{counted, grouped, shell_word};
use slotscope_collect::run::Page;

use crate::cli::progress::{PAUSE, When};

const TEMPLATE: &str = "{msg} {wide_bar} {human_pos} of {human_len} keys, {per_sec}, {eta} left";

/// A bar for all nodes.
pub struct CollectBar {
    bar: ProgressBar,
    is_by_line: bool,
    seen: Mutex<Seen>,
}

/// The nodes so far, and when the last line was written.
#[derive(Default)]
struct Seen {
    nodes: BTreeSet<String>,
    last_line: Option<Instant>,
}

impl CollectBar {
    pub fn new(when: When) -> Self {
        let style = ProgressStyle::with_template(TEMPLATE)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("█░");
        CollectBar {
            bar: ProgressBar::with_draw_target(Some(0), when.target()).with_style(style),
            is_by_line: when.is_by_line(),
            seen: Mutex::default(),
        }
    }

    /// Adds what was read of a node.
    pub fn show(&self, node: &str, page: Page) {
        match page {
            // Rereading slots adds keys.
            Page::Expected(keys) => self.bar.inc_length(keys),
            Page::Read(keys) => self.bar.inc(keys),
            page => {
                // Ignore a closed standard error.
                let say = || drop(writeln!(io::stderr(), "slotscope: {}", trouble(node, page)));
                return self.bar.suspend(say);
            }
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.nodes.insert(node.to_owned()) {
            self.bar
                .set_message(counted(seen.nodes.len() as u64, "node"));
        }
        if self.is_by_line && seen.last_line.is_none_or(|last| last.elapsed() >= PAUSE) {
            seen.last_line = Some(Instant::now());
            self.write_line(&seen);
        }
    }

    fn write_line(&self, seen: &Seen) {
        // Ignore a closed standard error.
        drop(writeln!(
            io::stderr(),
            "slotscope: collecting {} of {} keys from {} nodes",
            grouped(self.bar.position()),
            grouped(self.bar.length().unwrap_or(0)),
            seen.nodes.len()
        ));
    }
}

/// A primary that does not answer, or has open slots.
fn trouble(node: &str, page: Page) -> String {
    let node = Name::from(node);
    match page {
        Page::Expected(_) | Page::Read(_) => String::new(),
        Page::Lost(slots) => format!(
            "warning: {node} does not answer and has no replica that could take over: its {} are not served. The other nodes are \
             read; of a cluster that is down only the names of the keys are; --slots-only counts them by slot at once",
            counted(slots, "slot")
        ),
        Page::Awaited(slots) => format!(
            "warning: {node} does not answer: waiting up to a minute for a replica to take over its {}",
            counted(slots, "slot")
        ),
        Page::AlsoSilent { others, slots } => {
            let slots = counted(slots, "slot");
            match others {
                0 => format!("warning: {node} does not answer either; it has {slots}"),
                _ => format!(
                    "warning: {node} and {} more do not answer either; they have {slots}",
                    grouped(others)
                ),
            }
        }
        Page::Open { first, slots, secs } => {
            let (which, them) = match slots {
                1 => (format!("slot {first} of {node} is"), "it"),
                _ => (
                    format!("slot {first} and {} more of {node} are", slots - 1),
                    "them",
                ),
            };
            format!(
                "{which} open: waiting up to {secs} s for the move of {them} to end; if no move is running, run the script of the \
                 move again, or redis-cli --cluster fix {}",
                shell_word(&node.to_string())
            )
        }
    }
}

impl Drop for CollectBar {
    fn drop(&mut self) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.bar.finish_and_clear();
        if self.is_by_line && !seen.nodes.is_empty() {
            self.write_line(&seen);
        }
    }
}
