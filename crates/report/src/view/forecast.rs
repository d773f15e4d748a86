//! Amounts over time, as they were and as they may become, with the limit that they reach.

use slotscope_base::metric::Metric;
use slotscope_base::text::{and_more, day};

use crate::palette::{ALARM, EXPECTED, FRAME, LIGHT_LOAD, LOAD, Rgb, WATCH};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Figure, Mark, Plot, Shape};

/// A forecast, the most urgent line first.
pub struct Forecast {
    /// The finding.
    pub title: String,
    /// The metric of the amounts.
    pub metric: Metric,
    /// The amounts that are followed.
    pub lines: Vec<Line>,
    /// How many lines are not drawn.
    pub others: usize,
    /// The limit, and the part of it that counts as full.
    pub limit: Option<(f64, f64)>,
}

/// An amount over time: seconds since 1970 and amounts.
pub struct Line {
    /// Its name.
    pub name: String,
    /// As it was.
    pub past: Vec<(u64, f64)>,
    /// As it may become, from the newest report on.
    pub ahead: Vec<(u64, f64)>,
    /// The lower end of the interval.
    pub low: Vec<(u64, f64)>,
    /// The upper end.
    pub high: Vec<(u64, f64)>,
}

const DAY: f64 = 86_400.0;
/// A limit this many times above the amounts would flatten them.
const FAR: f64 = 3.0;
/// The interval may reach this far above everything else.
const WIDE: f64 = 1.5;

impl Forecast {
    /// The picture; `None` without lines.
    pub fn figure(&self) -> Option<Figure> {
        let first = self.lines.first()?;
        let points = self
            .lines
            .iter()
            .flat_map(|line| line.past.iter().chain(&line.ahead));
        let (from, to) = points.clone().fold((u64::MAX, 0), |(from, to), (at, _)| {
            (from.min(*at), to.max(*at))
        });
        let most = points.map(|(_, amount)| *amount).fold(1.0, f64::max);
        let limit = self.limit.filter(|(limit, _)| *limit < FAR * most);
        let ends = first.high.iter().map(|(_, amount)| *amount);
        let widest = ends.fold(most, f64::max).min(WIDE * most);
        let top = limit.map_or(widest, |(limit, _)| limit.max(widest)) * 1.05;
        let ends = (
            from as f64 / DAY,
            (to as f64 / DAY).max(from as f64 / DAY + 1.0),
        );
        let x = Axis::new(ends).whole().in_numbers(Numbers::Days);
        let y = Axis::new((0.0, top)).in_numbers(Numbers::of(self.metric));
        let mut key = vec![
            (
                Shape::unit_line().of(LOAD),
                format!("{}, as reported", first.name),
            ),
            (
                Shape::unit_dashes(9.0).of(LOAD),
                String::from("as it grows"),
            ),
        ];
        if !first.high.is_empty() {
            key.push((
                Shape::unit_line().of(LIGHT_LOAD),
                String::from("95% interval"),
            ));
        }
        if self.lines.len() > 1 || self.others > 0 {
            let others = match self.others {
                0 => String::from("the other shards"),
                others => format!("other shards ({} not drawn)", and_more(others)),
            };
            key.push((Shape::unit_line().of(FRAME), others));
        }
        let mut plot = Plot::new(x, y);
        plot.marks.extend(first.interval());
        for line in self.lines[1..].iter().rev() {
            plot.marks.extend(line.marks(FRAME, self.metric));
        }
        plot.marks.extend(first.marks(LOAD, self.metric));
        for (part, colour, words) in limit.iter().flat_map(|(limit, full_at)| {
            let full = format!("{:.0}% of it", 100.0 * full_at);
            [
                (*limit, ALARM, String::from("the limit")),
                (limit * full_at, WATCH, full),
            ]
        }) {
            key.push((Shape::unit_line().of(colour), words.clone()));
            let line = Shape::Line(vec![(ends.0, part), (ends.1, part)]);
            plot.marks.push(line.of(colour).saying(words));
        }
        let newest = first.past.last().map_or(to, |(at, _)| *at) as f64 / DAY;
        let today = Shape::Dashes(vec![(newest, 0.0), (newest, top)], 3.0);
        plot.marks
            .push(today.of(EXPECTED).saying("the newest report"));
        let up = if self.metric.is_size() {
            "memory"
        } else {
            self.metric.title()
        };
        Some(Figure {
            title: self.title.clone(),
            along: format!(
                "date; the newest report is of {}",
                day((newest * DAY) as u64)
            ),
            up: format!("{up} of a shard"),
            key,
            plot,
        })
    }
}

impl Line {
    fn marks(&self, colour: Rgb, metric: Metric) -> Vec<Mark> {
        let newest = self.past.last().map_or(0.0, |(_, amount)| *amount);
        let words = format!("{}: {}", self.name, Numbers::of(metric).short(newest));
        vec![
            Shape::Line(in_days(&self.past))
                .of(colour)
                .saying(words.clone()),
            Shape::Dashes(in_days(&self.ahead), 9.0)
                .of(colour)
                .saying(words),
        ]
    }

    fn interval(&self) -> [Mark; 2] {
        [&self.low, &self.high].map(|end| {
            let line = Shape::Line(in_days(end));
            line.of(LIGHT_LOAD).saying("95% interval")
        })
    }
}

fn in_days(points: &[(u64, f64)]) -> Vec<(f64, f64)> {
    points
        .iter()
        .map(|(at, amount)| (*at as f64 / DAY, *amount))
        .collect()
}
