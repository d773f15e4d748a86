//! slot-load.png: the keys of all slots from 0 to 16383, and the band in which a perfect hash would keep them.

use std::io::{self, Write};

use super::axis::{Axis, Plot};
use super::canvas::{Anchor, BELOW_HEADING, Canvas, MARGIN, overlap, size, text_box};
use super::expectation::PerfectHash;
use super::number::{short, times};
use super::palette::{ALARM, EXPECTED, FRAME, INK, LIGHT_LOAD, LOAD, MUTED};
use super::text::{self, Style, fit};
use super::{NO_KEYS, SHEET, all_keys, canvas, node_name, source_line};
use crate::slot::SLOTS;
use crate::summary::nodes::NodeLoad;
use crate::summary::{HotSlot, Summary};

/// Hot slots that are named.
const NAMED: usize = 5;
/// More ranges than this would be a curtain of lines.
const BORDERS: usize = 48;
/// Room for the name of a hot slot's tag.
const TAG: f32 = 150.0;

/// Writes the chart.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    canvas::png(SHEET.0, SHEET.1, out, |canvas| {
        let stats = &summary.slots.stats.keys;
        let (Some(hottest), true) = (summary.slots.hottest.first(), all_keys(summary) > 0.0) else {
            canvas.heading("Keys along the slots: all are empty", &source_line(summary));
            return canvas.nothing(NO_KEYS);
        };
        let title = format!(
            "Hottest slot {}: {} keys, {} the mean of {}",
            short(f64::from(hottest.slot)),
            short(hottest.keys as f64),
            times(hottest.over_mean),
            short(stats.mean)
        );
        canvas.heading(&title, &source_line(summary));
        draw(canvas, summary);
    })
}

fn draw(canvas: &Canvas<'_>, summary: &Summary) {
    let perfect = PerfectHash::of(summary);
    let mean = summary.slots.stats.keys.mean;
    let most = (summary.slots.stats.keys.max as f64).max(perfect.as_ref().map_or(0.0, |p| p.band().1)).max(1.5 * mean);
    let x = Axis { from: 0.0, to: SLOTS as f64, start: 104, end: canvas.width - MARGIN };
    let plot = Plot { x, y: Axis { from: 0.0, to: most * 1.1, start: canvas.height - 90, end: 196 } };
    plot.draw_y(canvas, "keys per slot", |_, label| label);
    envelope(canvas, &plot, &summary.slots.keys);
    borders(canvas, &plot, summary);

    let level = |value: f64| plot.y.at(value);
    if let Some(perfect) = &perfect {
        let (least, most) = perfect.band();
        canvas.tint([x.start, level(most), x.end, level(least)], EXPECTED, 0.16);
        for edge in [least, most] {
            canvas.dashes([x.start, level(edge), x.end, level(edge) + 1], 6, EXPECTED);
        }
    }
    canvas.fill([x.start, level(mean) - 1, x.end, level(mean) + 1], INK);
    plot.draw_x(canvas, "slot", |_, label| label);
    legend(canvas, mean, perfect.as_ref());
    let calm = perfect.as_ref().map_or(0.0, |perfect| perfect.band().1);
    name_hot(canvas, &plot, &summary.slots.hottest, calm);
}

/// Least and most of the slots of each pixel column.
fn envelope(canvas: &Canvas<'_>, plot: &Plot, keys: &[u64]) {
    let columns = (plot.x.end - plot.x.start) as usize;
    for column in 0..columns {
        let slots = &keys[column * SLOTS / columns..((column + 1) * SLOTS / columns).min(keys.len())];
        let (least, most) = slots.iter().fold((u64::MAX, 0), |(least, most), keys| (least.min(*keys), most.max(*keys)));
        let x = plot.x.start + column as i32;
        let (top, middle) = (plot.y.at(most as f64), plot.y.at(least.min(most) as f64));
        canvas.fill([x, middle, x + 1, plot.y.start], LIGHT_LOAD);
        canvas.fill([x, top, x + 1, middle.max(top + i32::from(most > 0))], LOAD);
    }
}

/// Where one node's slots end and another's begin, with names where they fit.
fn borders(canvas: &Canvas<'_>, plot: &Plot, summary: &Summary) {
    let ranges = || summary.nodes.list.iter().flat_map(|node| node.ranges.iter().map(move |range| (node, *range)));
    if ranges().count() > BORDERS {
        let text = format!("{} ranges of slots: node borders are not drawn", short(ranges().count() as f64));
        canvas.text(&text, (plot.x.end, plot.y.end - 24), Anchor::End, Style::plain(size::NOTE, MUTED));
        return;
    }
    let style = Style::plain(size::NOTE, MUTED);
    for (node, (first, last)) in ranges() {
        let (left, right) = (plot.x.at(f64::from(first)), plot.x.at(f64::from(last) + 1.0));
        for x in [left, right].into_iter().filter(|x| *x > plot.x.start && *x < plot.x.end) {
            canvas.dashes([x, plot.y.end - 14, x + 1, plot.y.start], 3, FRAME);
        }
        name(canvas, node, (left, right), plot.y.end - 4, style);
    }
}

fn name(canvas: &Canvas<'_>, node: &NodeLoad, (left, right): (i32, i32), y: i32, style: Style) {
    let room = (right - left - 12) as f32;
    if room >= 64.0 {
        canvas.text(&fit(&node_name(node), room, style), ((left + right) / 2, y), Anchor::Middle, style);
    }
}

fn legend(canvas: &Canvas<'_>, mean: f64, perfect: Option<&PerfectHash>) {
    let style = Style::plain(size::BODY, MUTED);
    let y = BELOW_HEADING + 12;
    let mut x = MARGIN;
    let mut entry = |swatch: &dyn Fn([i32; 4]), words: &str| {
        swatch([x, y - 8, x + 24, y + 8]);
        canvas.text(words, (x + 34, y), Anchor::Start, style);
        x += 34 + text::width(words, style) as i32 + 32;
    };
    entry(
        &|[x0, y0, x1, y1]| {
            canvas.fill([x0, y0, x1, y1], LIGHT_LOAD);
            canvas.fill([x0, y0, x1, y0 + 8], LOAD);
        },
        "least to most of neighbouring slots",
    );
    entry(&|[x0, y0, x1, _]| canvas.fill([x0, y0 + 7, x1, y0 + 9], INK), &format!("mean {}", short(mean)));
    if let Some(perfect) = perfect {
        let (least, most) = perfect.band();
        let words = format!("a perfect hash: mean ±3σ, {} to {}", short(least.round()), short(most.round()));
        entry(
            &|[x0, y0, x1, y1]| {
                canvas.tint([x0, y0, x1, y1], EXPECTED, 0.16);
                [y0, y1 - 1].into_iter().for_each(|y| canvas.dashes([x0, y, x1, y + 1], 6, EXPECTED));
            },
            &words,
        );
    }
}

/// Names the hottest slot, and others that are above what chance does, each beside its peak where there is room.
fn name_hot(canvas: &Canvas<'_>, plot: &Plot, hottest: &[HotSlot], calm: f64) {
    let mut taken: Vec<[i32; 4]> = Vec::new();
    let mut hot: Vec<_> = hottest.iter().take(NAMED).enumerate().collect();
    hot.retain(|(rank, slot)| *rank == 0 || slot.keys as f64 > calm);
    let peaks: Vec<_> =
        hot.iter().map(|(_, slot)| (plot.x.at(f64::from(slot.slot) + 0.5), plot.y.at(slot.keys as f64))).collect();
    taken.extend(peaks.iter().map(|(x, y)| [x - 5, y - 5, x + 5, y + 5]));
    for ((_, slot), (x, y)) in hot.iter().zip(&peaks) {
        canvas.curve(&[(f64::from(*x), f64::from(*y))], 9.0, ALARM);
        let style = Style::plain(size::NOTE, INK);
        let tag = match slot.top_tags.first() {
            Some(tag) => format!("  {{{}}}", fit(&tag.tag.to_string(), TAG, style)),
            None => String::new(),
        };
        let words = format!("slot {}: {}{tag}", short(f64::from(slot.slot)), short(slot.keys as f64));
        let places = [(10, 0), (-10, 0), (10, -18), (-10, -18), (10, 20), (-10, 20), (10, 40), (-10, 40)];
        for (dx, dy) in places {
            let anchor = if dx > 0 { Anchor::Start } else { Anchor::End };
            let at = (x + dx, y + dy);
            let place = text_box(&words, at, anchor, style);
            let inside =
                place[0] > plot.x.start && place[2] < plot.x.end && place[1] > plot.y.end && place[3] < plot.y.start;
            if inside && !taken.iter().any(|other| overlap(*other, place)) {
                canvas.label(&words, at, anchor, style);
                taken.push(place);
                break;
            }
        }
    }
}
