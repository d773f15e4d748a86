//! What nodes say of themselves, on the terminal.

use std::io::{self, Write};

use super::layout::{Sheet, bar, wrapped};
use super::{BAR, BESIDE_BAR, WIDTHS};
use crate::metric::Metric;
use crate::report::units::grouped;
use crate::summary::node_counts::NodeCounts;

/// Writes it, `width` columns wide, with at most `rows` nodes.
pub fn write(counts: &NodeCounts, width: usize, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    super::verdict(counts.skew.verdict, &counts.skew.sentence, width, out)?;
    writeln!(out)?;
    wrapped(&format!("Nodes ({})", counts.nodes.source), width).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let columns = [("node", false), ("slots", true), ("keys", true), ("x fair", true), ("", false)];
    let mut nodes = Sheet::new(width, &columns, 0, Metric::Keys);
    let largest = counts.nodes.keys.max.max(1) as f64;
    for node in counts.nodes.list.iter().take(rows) {
        let over = node.over_fair.map_or(String::from("-"), |over| format!("{over:.3}"));
        let bar = bar(node.keys as f64 / largest, width.saturating_sub(BESIDE_BAR).min(BAR));
        let cells = vec![node.address.to_string(), grouped(u64::from(node.slots)), grouped(node.keys), over, bar];
        nodes.row(cells);
    }
    nodes.print(out)?;
    match counts.nodes.list.len().saturating_sub(rows) {
        0 => Ok(()),
        more => writeln!(out, "  ... and {} more, in --json", grouped(more as u64)),
    }
}
