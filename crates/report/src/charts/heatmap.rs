//! slot-heatmap.png: one cell per slot, 128 per row, coloured by load, with node borders.

use slotscope_base::metric::Metric;
use slotscope_base::slot::SLOTS;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::words::times;
use slotscope_model::{HotSlot, Summary};

use crate::charts::grid::{self, Grid};
use crate::charts::{Sheet, node_name, source_line};
use crate::plot::axis::Axis;
use crate::plot::loads::{Loads, counted};

/// Cells per row.
const SIDE: usize = 128;
/// Maximum slots marked.
const MARKED: usize = 5;

/// The chart of `summary`; `None` if all slots are empty.
pub(super) fn sheet(summary: &Summary) -> Option<Sheet<'_>> {
    let loads = Loads::of(summary);
    let (noun, stats) = (loads.title(), loads.stats);
    let (max, mean) = (loads.short(stats.max as f64), loads.short(stats.mean));
    let title = format!("{noun} per hash slot: max {max}, mean {mean}");
    let sheet = Sheet::new(title, source_line(summary), move |canvas| {
        grid::draw(canvas, &grid(summary, &loads));
    });
    (stats.max > 0).then(|| sheet.with_height(grid::HEIGHT))
}

fn grid(summary: &Summary, loads: &Loads<'_>) -> Grid {
    let stats = loads.stats;
    // A single hot slot must not make all others pale, and small differences must not look large.
    let twice = (2.0 * stats.mean).ceil() as u64;
    let (top, reason) = if stats.p999 > twice {
        (stats.p999, "where 99.9% of the slots hold no more")
    } else {
        (twice, "at twice the mean")
    };
    let range = |node: &NodeLoad, (first, last): (u16, u16)| {
        let ratio = loads.held(&node.load) as f64 / loads.nodes.mean.max(f64::MIN_POSITIVE);
        (first, last, format!("{} {}", node_name(node), times(ratio)))
    };
    let nodes = summary.nodes.list.iter();
    let owners = nodes.flat_map(|node| node.ranges.iter().map(move |at| range(node, *at)));
    let hottest = summary.slots.hottest.iter().take(MARKED).enumerate();
    let marked = hottest.filter(|(at, slot)| *at == 0 || loads.held(&slot.load) > top);
    let mark = |slot: &HotSlot| {
        let load = loads.counted(loads.held(&slot.load));
        let filler = filler(slot, summary, loads).map_or(String::new(), |name| format!("  {name}"));
        let label = format!("slot {}: {load}{filler}", slot.slot);
        (slot.slot, label)
    };
    let expected = loads.expected().map_or(String::new(), |perfect| {
        let (least, most) = perfect.middle_998_permille();
        let (least, most) = (loads.short(least.floor()), loads.short(most.ceil()));
        format!("; a perfect hash: {least} to {most} in 99.8% of the slots")
    });
    let hot = loads.slots.iter().filter(|load| **load >= top).count();
    let scale = Axis::new((0.0, top as f64)).whole();
    Grid {
        rows: loads.slots.chunks(SIDE).map(<[u64]>::to_vec).collect(),
        columns: (0..SIDE)
            .step_by(16)
            .map(|at| (at as f64 + 0.5, format!("+{at}")))
            .collect(),
        owners: owners.take(SLOTS).collect(),
        marks: marked.map(|(_, slot)| mark(slot)).collect(),
        top,
        scale: scale.in_numbers(loads.numbers()),
        words: [
            format!("empty: {}", counted(stats.empty as u64, "slot")),
            format!("≥ {}: {}", loads.counted(top), counted(hot as u64, "slot")),
            format!(
                "{} per slot; the scale ends {reason}{expected}",
                loads.noun()
            ),
        ],
    }
}

/// The tag or untagged key with at least half of a slot.
fn filler(slot: &HotSlot, summary: &Summary, loads: &Loads<'_>) -> Option<String> {
    let is_most = |load: u64| 2 * u128::from(load) >= u128::from(loads.held(&slot.load));
    let tag = slot.top_tags.first();
    if let Some(tag) = tag.filter(|tag| is_most(loads.held(&tag.load))) {
        return Some(format!("{{{}}}", tag.tag));
    }
    if loads.by == Metric::Keys {
        return None;
    }
    let keys = summary.keys.iter().flat_map(|keys| &keys.top);
    let mut of_slot = keys.filter(|key| key.slot == slot.slot && !key.tagged);
    let key = of_slot.find(|key| is_most(key.weight(loads.by)))?;
    Some(key.key.to_string())
}
