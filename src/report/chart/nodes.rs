//! nodes.png: what each primary holds, against its fair share.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::bars::{self, Mark, Row};
use super::number::{counted, short, times};
use super::palette::{ALARM, EXPECTED, LOAD, MUTED, WATCH};
use super::{NO_KEYS, SHEET, canvas, node_name, source_line};
use crate::summary::Summary;
use crate::summary::nodes::NodeLoad;

/// Nodes that are shown each by itself.
const SHOWN: usize = 40;
/// Rows that fit in the usual height; each further one adds `ROW` pixels.
const USUAL: usize = 20;
const ROW: u32 = 24;
/// From these multiples of the fair share on a node needs a look, or is too full: the bands of the verdict.
const BANDS: [f64; 2] = [1.05, 1.20];

/// Writes the chart.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut nodes: Vec<_> = summary.nodes.owning().collect();
    nodes.sort_by_key(|node| Reverse(node.keys));
    let mean = summary.nodes.keys.mean;
    let rows = rows(&nodes, mean);
    let height = SHEET.1 + rows.len().saturating_sub(USUAL) as u32 * ROW;
    canvas::png(SHEET.0, height, out, |canvas| {
        canvas.heading(&title(&nodes, mean), &subtitle(summary));
        if mean == 0.0 {
            return canvas.nothing(NO_KEYS);
        }
        let mark = |times: f64| Mark { value: mean * times, label: format!("{times:.2}×"), colour: MUTED };
        let fair = Mark { value: mean, label: format!("fair share {}", short(mean)), colour: EXPECTED };
        let bands = BANDS.into_iter().rev().map(mark);
        bars::draw(canvas, &rows, &std::iter::once(fair).chain(bands).collect::<Vec<_>>(), "keys");
    })
}

fn title(nodes: &[&NodeLoad], mean: f64) -> String {
    match nodes {
        [] => String::from("No node owns a slot"),
        [one] => format!("One node holds all: {}", counted(one.keys, "key")),
        _ if mean == 0.0 => format!("{}, all empty", counted(nodes.len() as u64, "node")),
        [fullest, ..] => {
            let (most, least) = (fullest.keys as f64 / mean, nodes[nodes.len() - 1].keys as f64 / mean);
            format!(
                "Fullest of {} nodes: {} its fair share, emptiest {}",
                short(nodes.len() as f64),
                times(most),
                times(least)
            )
        }
    }
}

fn subtitle(summary: &Summary) -> String {
    let unowned = &summary.nodes.unowned;
    let aside = match unowned.keys {
        0 => String::new(),
        keys => format!("  ·  {} in {} of no node", counted(keys, "key"), counted(u64::from(unowned.slots), "slot")),
    };
    format!("{}{aside}", source_line(summary))
}

fn rows(nodes: &[&NodeLoad], mean: f64) -> Vec<Row> {
    let bar = |node: &&NodeLoad| {
        let ratio = if mean > 0.0 { node.keys as f64 / mean } else { 0.0 };
        let colour = match ratio {
            r if r >= BANDS[1] => ALARM,
            r if r >= BANDS[0] => WATCH,
            _ => LOAD,
        };
        let words = format!("{}   {}", short(node.keys as f64), times(ratio));
        Row::Bar { name: node_name(node), value: node.keys as f64, unsure: 0.0, words, colour }
    };
    if nodes.len() <= SHOWN {
        return nodes.iter().map(bar).collect();
    }
    let (full, rest) = nodes.split_at(SHOWN / 2);
    let (between, empty) = rest.split_at(rest.len() - SHOWN / 2);
    let ratio =
        |node: Option<&&NodeLoad>| times(node.map_or(0.0, |node| node.keys as f64 / mean.max(f64::MIN_POSITIVE)));
    let gap = format!(
        "{} more in between: {} to {} the fair share",
        counted(between.len() as u64, "node"),
        ratio(between.first()),
        ratio(between.last())
    );
    full.iter().map(bar).chain([Row::Gap(gap)]).chain(empty.iter().map(bar)).collect()
}
