//! The PNG charts: a `Summary` comes in, pictures that can be shown in a meeting go out. One file a chart; only this
//! folder knows plotters. `canvas` has the sheet and the type scale, `palette` the colours.

pub mod distribution;
pub mod heatmap;
pub mod key_lengths;
pub mod lorenz;
pub mod nodes;
pub mod prefixes;
pub mod slot_load;
pub mod tag_sizes;
pub mod throughput;
pub mod top_tags;
pub mod value_sizes;

mod axis;
mod bars;
mod canvas;
mod expectation;
mod factors;
mod histogram;
mod loads;
mod number;
mod palette;
mod text;

use crate::metric::Metric;
use crate::name::Name;
use crate::slot::SLOTS;
use crate::summary::Summary;
use crate::summary::balance;
use crate::summary::nodes::NodeLoad;
use loads::Loads;
use number::{counted, short};

/// Width and height of most charts, in pixels.
const SHEET: (u32, u32) = (1200, 800);

/// What to say where there is no key.
const NO_KEYS: &str = "no keys in this dump";

/// Pixels for the name of a file in the line under the title.
const NAME: f32 = 220.0;

/// Anchors of the scale from light to dark, for who draws it elsewhere: red, green, blue.
pub fn ramp() -> [[u8; 3]; 9] {
    std::array::from_fn(|i| {
        let colour = palette::ramp(i as f64 / 8.0);
        [colour.0, colour.1, colour.2]
    })
}

/// The line under the titles of slots and nodes: how much was read, how many nodes, from what.
fn source_line(summary: &Summary) -> String {
    let (read, from) = source(summary);
    let nodes = summary.nodes.owning().count();
    let source = summary.nodes.source.to_string();
    let on = match source.split(' ').next() {
        Some("assumed") => format!("{} (assumed)", counted(nodes as u64, "equal node")),
        Some("even") => counted(nodes as u64, "equal node"),
        _ => format!("{} of {}", counted(nodes as u64, "node"), cut(&summary.nodes.source)),
    };
    format!("{read}  ·  {} slots  ·  {on}{from}", short(SLOTS as f64))
}

/// The line under the titles of charts in which slots and nodes have no part.
fn short_source_line(summary: &Summary) -> String {
    let (read, from) = source(summary);
    format!("{read}{from}")
}

fn cut(name: &Name) -> String {
    let style = text::Style::plain(canvas::size::SUBTITLE, palette::MUTED);
    text::fit(base_name(&name.to_string()), NAME, style)
}

/// How much was read, and from what.
fn source(summary: &Summary) -> (String, String) {
    let files = &summary.input.files;
    let from = match files.first() {
        None => String::new(),
        Some(first) if files.len() == 1 => format!("  ·  {}", cut(&first.name)),
        Some(first) => format!("  ·  {} and {} more", cut(&first.name), files.len() - 1),
    };
    let part = if summary.input.incomplete.is_empty() { "" } else { "INPUT NOT READ TO ITS END  ·  " };
    let keys = balance::sum(&summary.slots.loads.keys) as f64;
    let keys = format!("{} key{}", short(keys), if keys == 1.0 { "" } else { "s" });
    let loads = Loads::of(summary);
    let weight = match loads.by {
        Metric::Keys => String::new(),
        Metric::Bytes => format!("  ·  {}", loads.short(loads.total())),
        Metric::Ops => format!("  ·  {} ops", loads.short(loads.total())),
    };
    (format!("{part}{keys}{weight}"), from)
}

/// The last part of a path.
fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// What people call a node: where it listens, else its id; of the forty digits that servers make up the first eight,
/// as redis-cli's users do.
fn node_name(node: &NodeLoad) -> String {
    match &node.address {
        Some(address) => address.to_string(),
        None if node.id.0.len() == 40 && node.id.0.iter().all(u8::is_ascii_hexdigit) => short_id(&node.id),
        None => node.id.to_string(),
    }
}

fn short_id(id: &Name) -> String {
    id.to_string().chars().take(8).collect()
}

/// Digits of a node's load over the fair share: two, where that tells the nodes apart, else three.
fn ratio_digits(nodes: &[&NodeLoad], loads: &Loads<'_>) -> usize {
    let apart = |node: &&NodeLoad| (loads.held(&node.load) as f64 / loads.nodes.mean - 1.0).abs() >= 0.05;
    if nodes.iter().any(apart) { 2 } else { 3 }
}

/// Which node of the list owns each slot.
fn owners(summary: &Summary) -> Vec<Option<usize>> {
    let mut owners = vec![None; SLOTS];
    for (index, node) in summary.nodes.list.iter().enumerate() {
        for (first, last) in &node.ranges {
            let last = usize::from(*last).min(SLOTS - 1);
            owners[usize::from(*first).min(last)..=last].fill(Some(index));
        }
    }
    owners
}
