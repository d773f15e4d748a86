//! slot-load.png: the load of slots 0 to 16383, with the band expected under a perfect hash.

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas, overlap, text_box};

use slotscope_engine::metric::Metric;
use slotscope_engine::slot::SLOTS;
use slotscope_findings::summary::model::compound::CompoundPoisson;
use slotscope_findings::summary::nodes::NodeLoad;
use slotscope_findings::summary::{HotSlot, Summary};

use crate::charts::legend::{self, Swatch};
use crate::charts::loads::Loads;
use crate::charts::number::{short, times};
use crate::charts::sheet::{MARGIN, note, size};
use crate::charts::{Sheet, node_name, source_line};
use crate::palette::{ALARM, EXPECTED, FRAME, INK, LIGHT_LOAD, LOAD, MUTED};
use crate::plot::Plot;
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;

/// Maximum hot slots named.
const NAMED: usize = 5;
/// With more ranges than this, borders would cover everything.
const BORDERS: usize = 48;
/// Above this multiple of the usual load, the hottest slots get a panel of their own: the others would be flat.
const FAR: f64 = 4.0;
/// Up to this many keys in the hottest slot, a single panel is used.
const FEW: u64 = 10;
/// Below this fraction of the hottest slot, a peak is not visible.
const VISIBLE: f64 = 0.02;
/// Space for the name of what fills a hot slot.
const FILLER: f32 = 170.0;

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let subtitle = source_line(summary);
    let (Some(hottest), true) = (summary.slots.hottest.first(), loads.total() > 0.0) else {
        let title = format!("{} along the slots: all are empty", loads.title());
        return Sheet::empty(title, subtitle, loads.nothing());
    };
    let title = format!(
        "{} slot {}: {}, {} the mean of {}",
        match loads.by {
            by if by.is_of_use() => "Hottest",
            _ => "Fullest",
        },
        hottest.slot,
        loads.counted(loads.held(&hottest.load)),
        times(hottest.over_mean),
        loads.short(loads.stats.mean)
    );
    Sheet::new(title, subtitle, move |canvas| draw(canvas, summary, &loads))
}

fn draw(canvas: &Canvas<'_>, summary: &Summary, loads: &Loads<'_>) {
    let perfect = loads.expected();
    let stats = loads.stats;
    let chance = perfect
        .as_ref()
        .map_or(0.0, |perfect| perfect.middle_998_permille().1);
    let usual = chance.max(stats.p999 as f64).max(1.25 * stats.mean);
    legend(canvas, loads, perfect.as_ref());
    let across = (104, canvas.width - MARGIN);
    let x = Axis::new((0.0, SLOTS as f64), across).whole();
    let panel = |most: f64, up: (i32, i32)| {
        let y = Axis::new((0.0, (most * 1.12).ceil()), up).whole();
        Plot::new(x.in_numbers(Numbers::Plain), y.in_numbers(loads.numbers()))
    };
    let (top, bottom) = (204, canvas.height - 90);
    let show = |plot: &Plot, name: &str, is_named: bool| {
        plot.draw_y(canvas, name);
        envelope(canvas, plot, loads.slots);
        borders(canvas, plot, summary, is_named);
        if plot.y.start == bottom {
            yardstick(canvas, plot, stats.mean, perfect.as_ref());
            plot.draw_x(canvas, "slot");
        } else {
            plot.draw_base(canvas);
        }
    };
    let most = stats.max as f64;
    let whole = if stats.max > FEW && most > FAR * usual {
        let near = panel(usual, (bottom, 464));
        let cut = loads.counted(near.y.to as u64);
        show(&near, &format!("the same, cut at {cut}"), false);
        panel(most, (390, top))
    } else {
        panel(usual.max(most), (bottom, top))
    };
    show(&whole, &format!("{} per slot", loads.noun()), true);
    let hot: Vec<_> = summary
        .slots
        .hottest
        .iter()
        .map(|slot| Hot::of(slot, summary, loads))
        .collect();
    // Name only peaks far above the rest, above chance and above the line; the hottest is always named.
    name_hot(
        canvas,
        &whole,
        &hot,
        chance
            .max(1.2 * stats.p999 as f64)
            .max(VISIBLE * stats.max as f64),
    );
}

/// The mean, and the band expected under a perfect hash.
fn yardstick(canvas: &Canvas<'_>, plot: &Plot, mean: f64, perfect: Option<&CompoundPoisson>) {
    let (left, right) = (plot.x.start, plot.x.end);
    if let Some(perfect) = perfect {
        let (least, most) = perfect.middle_998_permille();
        let (low, high) = (plot.y.at(least), plot.y.at(most));
        canvas.tint([left, high, right, low], EXPECTED, 0.16);
        [low, high]
            .into_iter()
            .for_each(|y| canvas.dashes([left, y, right, y + 1], 6, EXPECTED));
    }
    let y = plot.y.at(mean);
    canvas.fill([left, y - 1, right, y + 1], INK);
}

/// Minimum and maximum slot load per pixel column.
fn envelope(canvas: &Canvas<'_>, plot: &Plot, loads: &[u64]) {
    let columns = (plot.x.end - plot.x.start) as usize;
    for column in 0..columns {
        let slots =
            &loads[column * SLOTS / columns..((column + 1) * SLOTS / columns).min(loads.len())];
        let (least, most) = slots.iter().fold((u64::MAX, 0), |(least, most), load| {
            (least.min(*load), most.max(*load))
        });
        let x = plot.x.start + column as i32;
        let (top, middle) = (plot.y.at(most as f64), plot.y.at(least.min(most) as f64));
        canvas.fill([x, middle, x + 1, plot.y.start], LIGHT_LOAD);
        canvas.fill([x, top, x + 1, middle.max(top + i32::from(most > 0))], LOAD);
    }
}

/// Borders between nodes, with names if they fit.
fn borders(canvas: &Canvas<'_>, plot: &Plot, summary: &Summary, named: bool) {
    let ranges = || {
        summary
            .nodes
            .list
            .iter()
            .flat_map(|node| node.ranges.iter().map(move |range| (node, *range)))
    };
    if ranges().count() > BORDERS {
        let text = format!(
            "{} ranges of slots: node borders are not drawn",
            short(ranges().count() as f64)
        );
        if named {
            note(canvas, &text, (plot.x.end, plot.y.end - 28), Anchor::End);
        }
        return;
    }
    let style = Style::plain(size::NOTE, MUTED);
    for (node, (first, last)) in ranges() {
        let (left, right) = (
            plot.x.at(f64::from(first)),
            plot.x.at(f64::from(last) + 1.0),
        );
        for x in [left, right]
            .into_iter()
            .filter(|x| *x > plot.x.start && *x < plot.x.end)
        {
            canvas.dashes(
                [
                    x,
                    plot.y.end - if named { 18 } else { 0 },
                    x + 1,
                    plot.y.start,
                ],
                3,
                FRAME,
            );
        }
        if named {
            name(canvas, node, (left, right), plot.y.end - 10, style);
        }
    }
}

fn name(canvas: &Canvas<'_>, node: &NodeLoad, (left, right): (i32, i32), y: i32, style: Style) {
    let room = (right - left - 12) as f32;
    if room >= 64.0 {
        canvas.text(
            &fit(&node_name(node), room, style),
            ((left + right) / 2, y),
            Anchor::Middle,
            style,
        );
    }
}

fn legend(canvas: &Canvas<'_>, loads: &Loads<'_>, perfect: Option<&CompoundPoisson>) {
    let envelope = |[x0, y0, x1, y1]: [i32; 4]| {
        canvas.fill([x0, y0, x1, y1], LIGHT_LOAD);
        canvas.fill([x0, y0, x1, y0 + 8], LOAD);
    };
    let line = |[x0, y0, x1, _]: [i32; 4]| canvas.fill([x0, y0 + 7, x1, y0 + 9], INK);
    let band = |[x0, y0, x1, y1]: [i32; 4]| {
        canvas.tint([x0, y0, x1, y1], EXPECTED, 0.16);
        [y0, y1 - 1]
            .into_iter()
            .for_each(|y| canvas.dashes([x0, y, x1, y + 1], 6, EXPECTED));
    };
    let mean = format!("mean {}", loads.short(loads.stats.mean));
    let expected = perfect.map(|perfect| {
        let (least, most) = perfect.middle_998_permille();
        let (least, most) = (loads.short(least.floor()), loads.short(most.ceil()));
        format!("perfect hash: {least} to {most} in 99.8% of the slots")
    });
    let mut entries = vec![
        (
            Swatch::Drawn(&envelope),
            "lowest to highest of neighbouring slots",
        ),
        (Swatch::Drawn(&line), mean.as_str()),
    ];
    entries.extend(
        expected
            .iter()
            .map(|words| (Swatch::Drawn(&band), words.as_str())),
    );
    legend::draw(canvas, &entries);
}

/// Candidate positions for a name, relative to its peak.
const PLACES: [(i32, i32); 10] = [
    (10, 0),
    (-10, 0),
    (10, -18),
    (-10, -18),
    (10, -36),
    (-10, -36),
    (10, 20),
    (-10, 20),
    (10, 40),
    (-10, 40),
];

/// Names the hottest slot, and others above `unusual`, if they fit.
fn name_hot(canvas: &Canvas<'_>, plot: &Plot, hottest: &[Hot], unusual: f64) {
    let (first, others) = hottest.split_at(hottest.len().min(1));
    let others = others
        .iter()
        .take(NAMED - 1)
        .filter(|slot| slot.load > unusual);
    let hot: Vec<_> = first.iter().chain(others).collect();
    let peak = |slot: &Hot| (plot.x.at(slot.along), plot.y.at(slot.load));
    let mut taken: Vec<_> = hot
        .iter()
        .map(|slot| peak(slot))
        .map(|(x, y)| [x - 5, y - 5, x + 5, y + 5])
        .collect();
    for slot in &hot {
        let (x, y) = peak(slot);
        let colour = if slot.load > unusual { ALARM } else { INK };
        if colour == ALARM {
            canvas.fill([x - 1, y, x + 1, plot.y.start], colour);
            taken.push([x - 2, y, x + 2, plot.y.start]);
        }
        canvas.curve(&[(f64::from(x), f64::from(y))], 9.0, colour);
    }
    let style = Style::plain(size::NOTE, INK);
    for slot in hot {
        let (x, y) = peak(slot);
        let place = |(dx, dy): &(i32, i32)| {
            let anchor = if *dx > 0 { Anchor::Start } else { Anchor::End };
            let at = (x + dx, y + dy);
            let place = text_box(&slot.words, at, anchor, style);
            let inside = place[0] > plot.x.start
                && place[2] < plot.x.end
                && place[1] > plot.y.end
                && place[3] < plot.y.start;
            (inside && !taken.iter().any(|label| overlap(*label, place)))
                .then_some((place, at, anchor))
        };
        if let Some((place, at, anchor)) = PLACES.iter().find_map(place) {
            canvas.label(&slot.words, at, anchor, style);
            taken.push(place);
        }
    }
}

/// A hot slot on the sheet.
struct Hot {
    /// Its centre, in slots.
    along: f64,
    load: f64,
    /// `slot 719: 328  {common}`, `slot 4096: 204 MiB  leaderboard:loyalty`.
    words: String,
}

impl Hot {
    fn of(slot: &HotSlot, summary: &Summary, loads: &Loads<'_>) -> Self {
        let load = loads.held(&slot.load) as f64;
        let style = Style::plain(size::NOTE, INK);
        let filler = match filler(slot, summary, loads) {
            Some(name) => format!("  {}", fit(&name, FILLER, style)),
            None => String::new(),
        };
        let words = format!("slot {}: {}{filler}", slot.slot, loads.short(load));
        Hot {
            along: f64::from(slot.slot) + 0.5,
            load,
            words,
        }
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
