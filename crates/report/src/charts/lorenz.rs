//! lorenz.png: which part of the load lies in which part of the slots, and of the nodes (Lorenz 1905).

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas};

use slotscope_engine::slot::SLOTS;
use slotscope_engine::text::percent;
use slotscope_findings::summary::model::lorenz;
use slotscope_findings::summary::{Summary, balance};

use crate::charts::field::dashes;
use crate::charts::loads::Loads;
use crate::charts::number::counted;
use crate::charts::sheet::{MARGIN, note, size};
use crate::charts::{Sheet, source_line};
use crate::palette::{ALARM, EXPECTED, FRAME, INK, LOAD, MUTED, Rgb};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};

/// Slots that the title is about: 1%.
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
        "The fullest 1% of the slots hold {} of the {noun}",
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
    let x = Axis::new((0.0, 1.0), (104, 764)).in_numbers(Numbers::Percent);
    let [start, end] = [canvas.height - 90, 150];
    let plot = Plot::new(x, Axis { start, end, ..x });
    let thinned = |points: &[(f64, f64)]| thinned(points, &plot);
    let perfect = loads.expected();
    let chance = perfect.as_ref().map(|perfect| thinned(&perfect.lorenz()));
    let dot = |point: &(f64, f64)| Mark::Dot(*point, 8.0, ALARM, String::new());
    // Few nodes: only the points are known, the lines lead the eye.
    let few = if nodes.len() <= 41 { nodes } else { &[] };
    let marks = [
        Some(Mark::Line(vec![(0.0, 0.0), (1.0, 1.0)], 1.5, FRAME)),
        Some(Mark::Line(thinned(slots), 5.0, LOAD)),
        chance.map(|points| Mark::Dashes(points, 2.0, EXPECTED)),
        Some(Mark::Line(thinned(nodes), 2.5, ALARM)),
    ];
    let marks = marks.into_iter().flatten().chain(few.iter().map(dot));
    let noun = loads.noun();
    let along = format!("share of the slots (or nodes), those with the fewest {noun} first");
    let up = format!("share of the {noun}");
    plot.clone().with(marks).draw(canvas, &along, &up);

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
    for (i, line) in HOW_TO_READ.iter().enumerate() {
        let place = (legend.left, y + 16 + 22 * i as i32);
        note(canvas, line, place, Anchor::Start);
    }
}

/// Points that are at least a few pixels apart; 16,384 of them on 600 pixels would only cost time.
fn thinned(points: &[(f64, f64)], plot: &Plot) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for point in points {
        let (x, y) = plot.place(*point);
        let last = kept.last().map(|last| plot.place(*last));
        if last.is_none_or(|last| (x - last.0).hypot(y - last.1) >= 3.0) {
            kept.push(*point);
        }
    }
    kept.extend(points.last());
    kept
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
            EXPECTED => dashes(&line)
                .iter()
                .for_each(|dash| self.canvas.curve(dash, 2.0, colour)),
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
