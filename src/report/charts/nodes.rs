//! nodes.png: what each primary holds, against its fair share.

use crate::metric::Metric;
use crate::report::charts::bars;
use crate::report::charts::bars::{Mark, Row};
use crate::report::charts::loads::Loads;
use crate::report::charts::number::{counted, short, times_with};
use crate::report::charts::{Sheet, node_name, ratio_digits, source_line};
use crate::report::palette::{ALARM, EXPECTED, LIGHT_LOAD, MUTED, WATCH};
use crate::summary::Summary;
use crate::summary::limit;
use crate::summary::nodes::NodeLoad;
use std::cmp::Reverse;

/// Nodes that are shown each by itself.
const SHOWN: usize = 40;
/// From these multiples of the fair share on a node needs a look, or is too full: the bands of the verdict.
const BANDS: [f64; 2] = [limit::BALANCED, limit::SKEWED];

/// The chart of `summary`.
pub fn sheet(summary: &Summary) -> Sheet<'_> {
    let mut nodes: Vec<_> = summary.nodes.owning().collect();
    let loads = Loads::of(summary);
    nodes.sort_by_key(|node| Reverse(loads.held(&node.load)));
    let mean = loads.nodes.mean;
    let (title, subtitle) = (title(&nodes, &loads), subtitle(summary, &loads));
    if mean == 0.0 {
        return bars::empty_sheet(title, subtitle, loads.nothing());
    }
    let fair = Mark {
        value: mean,
        label: format!("fair share {}", loads.short(mean)),
        colour: EXPECTED,
    };
    let bands = BANDS.map(|times| Mark {
        value: mean * times,
        label: format!("{times:.2}×"),
        colour: MUTED,
    });
    let marks = std::iter::once(fair).chain(bands).collect();
    bars::sheet(title, subtitle, rows(&nodes, &loads), marks, loads)
}

fn title(nodes: &[&NodeLoad], loads: &Loads<'_>) -> String {
    match nodes {
        [] => String::from("No node owns a slot"),
        [one] => format!(
            "One node holds all: {}",
            loads.counted(loads.held(&one.load))
        ),
        _ if loads.nodes.mean == 0.0 => {
            format!("{}, all empty", counted(nodes.len() as u64, "node"))
        }
        [fullest, .., emptiest] => {
            let digits = ratio_digits(nodes, loads);
            let times = |node: &NodeLoad| {
                times_with(digits, loads.held(&node.load) as f64 / loads.nodes.mean)
            };
            let (count, most, least) = (short(nodes.len() as f64), times(fullest), times(emptiest));
            match loads.by {
                Metric::Keys => {
                    format!("Fullest of {count} nodes: {most} its fair share, emptiest {least}")
                }
                _ => format!(
                    "Fullest of {count} nodes by {}: {most} its fair share, emptiest {least}",
                    loads.noun()
                ),
            }
        }
    }
}

fn subtitle(summary: &Summary, loads: &Loads<'_>) -> String {
    let unowned = &summary.nodes.unowned;
    let aside = match loads.held(&unowned.load) {
        0 => String::new(),
        load => format!(
            "  ·  {} in {} of no node",
            loads.counted(load),
            counted(u64::from(unowned.slots), "slot")
        ),
    };
    format!("{}{aside}", source_line(summary))
}

fn rows(nodes: &[&NodeLoad], loads: &Loads<'_>) -> Vec<Row> {
    let (mean, digits) = (loads.nodes.mean, ratio_digits(nodes, loads));
    let ratio = |node: &NodeLoad| {
        if mean > 0.0 {
            loads.held(&node.load) as f64 / mean
        } else {
            0.0
        }
    };
    let times = |node: &NodeLoad| times_with(digits, ratio(node));
    let bar = |node: &&NodeLoad| {
        let ratio = ratio(node);
        let colour = match ratio {
            r if r >= BANDS[1] => ALARM,
            r if r >= BANDS[0] => WATCH,
            _ => LIGHT_LOAD,
        };
        let load = loads.held(&node.load) as f64;
        let words = format!("{}   {}", loads.short(load), times(node));
        Row::Bar {
            name: node_name(node),
            value: load,
            light: 0.0,
            words,
            colour,
        }
    };
    if nodes.len() <= SHOWN {
        return nodes.iter().map(bar).collect();
    }
    let (full, rest) = nodes.split_at(SHOWN / 2);
    let (between, empty) = rest.split_at(rest.len() - SHOWN / 2);
    let times = |node: Option<&&NodeLoad>| node.map_or_else(String::new, |node| times(node));
    let gap = format!(
        "{} more in between: {} to {} the fair share",
        counted(between.len() as u64, "node"),
        times(between.first()),
        times(between.last())
    );
    full.iter()
        .map(bar)
        .chain([Row::Gap(gap)])
        .chain(empty.iter().map(bar))
        .collect()
}
