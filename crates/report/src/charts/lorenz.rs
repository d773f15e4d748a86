//! lorenz.png: which part of the load lies in which part of the slots, and of the nodes (Lorenz 1905).

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas};

use slotscope_engine::slot::SLOTS;
use slotscope_engine::text::percent;
use slotscope_findings::summary::model::lorenz;
use slotscope_findings::summary::{Summary, balance};

use crate::charts::axis::{Axis, Plot};
use crate::charts::loads::Loads;
use crate::charts::number::{Numbers, counted};
use crate::charts::sheet::{MARGIN, size};
use crate::charts::{Sheet, source_line};
use crate::palette::{ALARM, EXPECTED, FRAME, INK, LOAD, MUTED, Rgb};

/// Slots that the title is about: 1 %.
const FULLEST: usize = SLOTS / 100;

const HOW_TO_READ: [&str; 4] = [
    "The further a curve hangs below the straight",
    "line, the less even the load. Chance alone",
    "bends the curve of the slots; memory runs out",
    "on nodes.",
];

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let (noun, subtitle) = (loads.noun(), source_line(summary));
    if loads.total() == 0.0 {
        let title = format!("Share of the {noun} by share of the slots");
        return Sheet::empty(title, subtitle, loads.nothing());
    }
    let mut slots = loads.slots.to_vec();
    slots.sort_unstable();
    let fullest = balance::sum(&slots[SLOTS - FULLEST..]) as f64 / loads.total();
    let title = format!(
        "The fullest 1 % of the slots hold {} of the {noun}",
        percent(fullest)
    );
    let owning = summary.nodes.owning();
    let mut nodes: Vec<_> = owning.map(|node| loads.held(&node.load)).collect();
    nodes.sort_unstable();
    Sheet::new(title, subtitle, move |canvas| {
        let curve = |loads: &[u64]| lorenz::curve(lorenz::members(loads));
        draw(canvas, summary, &loads, (&curve(&slots), &curve(&nodes)));
    })
}

/// Points of a curve: part of the members, part of the load.
type Curve<'a> = &'a [(f64, f64)];

fn draw(
    canvas: &Canvas<'_>,
    summary: &Summary,
    loads: &Loads<'_>,
    (slots, nodes): (Curve<'_>, Curve<'_>),
) {
    let x = Axis {
        from: 0.0,
        to: 1.0,
        start: 104,
        end: 764,
        step: 0.0,
        numbers: Numbers::Decimal,
    };
    let plot = Plot {
        x,
        y: Axis {
            start: canvas.height - 90,
            end: 150,
            ..x
        },
    };
    let in_percent = |value: f64, _| format!("{:.0} %", value * 100.0);
    plot.draw_y(
        canvas,
        &format!("share of the {}", loads.noun()),
        in_percent,
    );
    let along = format!(
        "share of the slots (or nodes), those with the fewest {} first",
        loads.noun()
    );
    plot.draw_x(canvas, &along, in_percent);
    let on_sheet = |points: &[(f64, f64)]| {
        thinned(
            points
                .iter()
                .map(|(along, up)| (plot.x.exact(*along), plot.y.exact(*up)))
                .collect(),
        )
    };
    canvas.curve(&on_sheet(&[(0.0, 0.0), (1.0, 1.0)]), 1.5, FRAME);
    let perfect = loads.expected();
    canvas.curve(&on_sheet(slots), 5.0, LOAD);
    if let Some(perfect) = &perfect {
        dashed(canvas, &on_sheet(&perfect.lorenz()), EXPECTED);
    }
    canvas.curve(&on_sheet(nodes), 2.5, ALARM);
    // Few nodes: the points are what is known, the lines only lead the eye.
    if nodes.len() <= 41 {
        on_sheet(nodes)
            .iter()
            .for_each(|point| canvas.curve(&[*point], 8.0, ALARM));
    }

    let gini = |value: Option<f64>| value.map_or(String::from("none"), |gini| format!("{gini:.3}"));
    let legend = Legend { canvas, left: 810 };
    let y = legend.entry(
        190,
        LOAD,
        "Slots",
        &format!("Gini {}", gini(loads.stats.gini)),
    );
    let count = summary.nodes.owning().count();
    let y = legend.entry(
        y,
        ALARM,
        &counted(count as u64, "node"),
        &format!("Gini {}", gini(loads.nodes.gini)),
    );
    let y = match &perfect {
        Some(perfect) => {
            let tagged = summary
                .tags
                .as_ref()
                .is_some_and(|tags| tags.tagged_keys > 0);
            let of = if tagged {
                "these tags by chance"
            } else {
                "chance alone"
            };
            let chance = format!("Gini {:.3}: {of}", perfect.gini());
            legend.entry(y, EXPECTED, "Slots of a perfect hash", &chance)
        }
        None => y,
    };
    let y = legend.entry(y, FRAME, "Equal", "Gini 0: all hold the same");
    let style = Style::plain(size::NOTE, MUTED);
    for (i, line) in HOW_TO_READ.iter().enumerate() {
        canvas.text(
            line,
            (legend.left, y + 16 + 22 * i as i32),
            Anchor::Start,
            style,
        );
    }
}

/// Points that are at least a few pixels apart; 16,384 of them on 600 pixels would only cost time.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let last = points.last().copied();
    for point in points {
        if kept
            .last()
            .is_none_or(|(x, y)| (point.0 - x).hypot(point.1 - y) >= 3.0)
        {
            kept.push(point);
        }
    }
    kept.extend(last);
    kept
}

/// A dashed line: pieces of the curve by their length.
fn dashed(canvas: &Canvas<'_>, points: &[(f64, f64)], colour: Rgb) {
    const DASH: f64 = 9.0;
    let mut along = 0.0;
    for pair in points.windows(2) {
        let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
        let length = (bx - ax).hypot(by - ay);
        let mut done = 0.0;
        while done < length {
            let step = (DASH - along % DASH).min(length - done).max(0.01);
            if (along / DASH) as i64 % 2 == 0 {
                let point = |part: f64| {
                    (
                        ax + (bx - ax) * part / length,
                        ay + (by - ay) * part / length,
                    )
                };
                canvas.curve(&[point(done), point(done + step)], 2.0, colour);
            }
            done += step;
            along += step;
        }
    }
}

struct Legend<'c, 'a> {
    canvas: &'c Canvas<'a>,
    left: i32,
}

impl Legend<'_, '_> {
    /// A line's colour, its name and its number; returns where the next entry goes.
    fn entry(&self, y: i32, colour: Rgb, name: &str, number: &str) -> i32 {
        let left = f64::from(self.left);
        let line = [(left, f64::from(y)), (left + 34.0, f64::from(y))];
        match colour {
            EXPECTED => dashed(self.canvas, &line, colour),
            _ => self.canvas.curve(&line, 4.0, colour),
        }
        let text = self.left + 50;
        self.canvas.text(
            name,
            (text, y),
            Anchor::Start,
            Style::bold(size::SUBTITLE, INK),
        );
        let room = (self.canvas.width - MARGIN - text) as f32;
        let style = Style::plain(size::BODY, MUTED);
        self.canvas.text(
            &fit(number, room, style),
            (text, y + 26),
            Anchor::Start,
            style,
        );
        y + 72
    }
}
