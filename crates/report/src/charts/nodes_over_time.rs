//! nodes-over-time.png: the rate of each node over time, one line per node, with the busiest ones named.

use slotscope_canvas::font::{Style, fit, width};
use slotscope_canvas::{Anchor, Canvas};

use slotscope_engine::text::{counted, day};

use crate::charts::Sheet;
use crate::charts::bars;
use crate::charts::sheet::{BELOW_HEADING, size};
use crate::charts::time_map::scale;
use crate::palette::{ALARM, BIG_KEY, EXPECTED, FRAME, INK, LIGHT_LOAD, LOAD, MUTED, Rgb};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};
use crate::view::Heat;

/// Colours of the named nodes, highest peak first; they differ in lightness as well.
const COLOURS: [Rgb; 5] = [ALARM, LOAD, BIG_KEY, EXPECTED, LIGHT_LOAD];
/// If the last bucket is below this fraction of the previous one, the capture probably ended within it.
const PARTIAL: f64 = 0.5;
/// Maximum width of a name.
const NAMES: f32 = 240.0;
const LEFT: i32 = 120;
const BELOW: i32 = 90;

/// Nodes over time.
pub struct NodeRates {
    /// The counted kind of load.
    pub heat: Heat,
    /// The start of the first bucket, in seconds since 1970.
    pub from: u64,
    /// Bucket length in seconds.
    pub bucket_secs: u64,
    /// The name of each node, and its amounts by bucket.
    pub nodes: Vec<(String, Vec<u64>)>,
}

impl NodeRates {
    fn rate(&self, amount: u64) -> f64 {
        amount as f64 / self.bucket_secs.max(1) as f64 * scale(self.heat).0
    }

    fn to(&self) -> u64 {
        let buckets = self.nodes.iter().map(|(_, amounts)| amounts.len()).max();
        self.from + buckets.unwrap_or(0) as u64 * self.bucket_secs
    }

    /// Drops a partial last bucket: one with less than half of the previous bucket.
    fn without_partial_end(mut self) -> Self {
        let len = self.nodes.iter().map(|(_, amounts)| amounts.len()).max();
        let sum = |at: usize| {
            let amounts = self.nodes.iter().filter_map(|(_, amounts)| amounts.get(at));
            amounts.sum::<u64>() as f64
        };
        if let Some(len) = len.filter(|len| *len > 2 && sum(len - 1) < PARTIAL * sum(len - 2)) {
            let nodes = self.nodes.iter_mut();
            nodes.for_each(|(_, amounts)| amounts.truncate(len - 1));
        }
        self
    }

    /// The nodes with the highest peak first.
    fn by_peak(&self) -> Vec<&(String, Vec<u64>)> {
        let mut nodes: Vec<_> = self.nodes.iter().collect();
        nodes.sort_by_key(|(_, amounts)| std::cmp::Reverse(amounts.iter().max().copied()));
        nodes
    }

    /// `shop-3 peaks at 3,200 ops/s, 4.1× the peak of the next node`.
    fn title(&self) -> String {
        let nodes = self.by_peak();
        let Some((name, amounts)) = nodes.first() else {
            return String::from("No node is named");
        };
        let peak = amounts.iter().max().copied().unwrap_or(0);
        let rate = self.heat.rate(peak as f64 / self.bucket_secs.max(1) as f64);
        let second = nodes.get(1).and_then(|(_, amounts)| amounts.iter().max());
        let rest = match second {
            Some(second) if *second > 0 => {
                let times = peak as f64 / *second as f64;
                format!(" peaks at {rate}, {times:.1}× the peak of the next node")
            }
            _ => format!(" peaks at {rate}"),
        };
        bars::title(&[name, &rest], &[0])
    }
}

/// The chart of `rates`.
pub fn sheet(subtitle: String, rates: NodeRates) -> Sheet<'static> {
    let rates = rates.without_partial_end();
    Sheet::new(rates.title(), subtitle, move |canvas| draw(canvas, &rates))
}

fn draw(canvas: &Canvas<'_>, rates: &NodeRates) {
    let nodes = rates.by_peak();
    let plot = plot(canvas, rates, &nodes);
    let line = |amounts: &[u64], thickness: f64, colour: Rgb| {
        let point = |(at, amount): (usize, &u64)| {
            let middle = rates.from as f64 + (at as f64 + 0.5) * rates.bucket_secs as f64;
            (middle, rates.rate(*amount))
        };
        Mark::Line(
            amounts.iter().enumerate().map(point).collect(),
            thickness,
            colour,
        )
    };
    let (named, others) = nodes.split_at(nodes.len().min(COLOURS.len()));
    let others_drawn = others.iter().map(|(_, amounts)| line(amounts, 1.0, FRAME));
    // The busiest is drawn last, on top.
    let named_drawn = named.iter().zip(COLOURS).rev();
    let named_drawn = named_drawn.map(|((_, amounts), colour)| line(amounts, 2.5, colour));
    let plot = plot.with(others_drawn).with(named_drawn);
    let name = format!("time (UTC), from {}", day(rates.from));
    plot.draw(canvas, &name, scale(rates.heat).2);
    names(canvas, &plot, named, others.len());
}

fn plot(canvas: &Canvas<'_>, rates: &NodeRates, nodes: &[&(String, Vec<u64>)]) -> Plot {
    let style = Style::plain(size::BODY, INK);
    let widths = nodes.iter().take(COLOURS.len());
    let widths = widths.map(|(name, _)| width(&fit(name, NAMES, style), style));
    let right = widths.fold(110.0, f32::max).ceil() as i32 + 70;
    let peak = nodes.first().and_then(|(_, amounts)| amounts.iter().max());
    let most = rates.rate(peak.copied().unwrap_or(0)).max(1.0);
    let times = (rates.from as f64, rates.to() as f64);
    let x = Axis::new(times, (LEFT, canvas.width - right)).in_numbers(Numbers::Moments);
    let y = Axis::new((0.0, most), (canvas.height - BELOW, BELOW_HEADING + 60));
    Plot::new(x, y.in_numbers(scale(rates.heat).1))
}

/// Names on the right, highest peak first.
fn names(canvas: &Canvas<'_>, plot: &Plot, named: &[&(String, Vec<u64>)], more: usize) {
    let style = Style::plain(size::BODY, INK);
    let (x, line) = (plot.x.end + 16, |at: usize| plot.y.end + 24 * at as i32);
    for (at, ((name, _), colour)) in named.iter().zip(COLOURS).enumerate() {
        canvas.fill([x, line(at) - 2, x + 20, line(at) + 2], colour);
        let name = fit(name, NAMES, style);
        canvas.text(&name, (x + 28, line(at)), Anchor::Start, style);
    }
    if more > 0 {
        let y = line(named.len());
        canvas.fill([x, y - 1, x + 20, y + 1], FRAME);
        let words = counted(more as u64, "more node");
        let style = Style {
            colour: MUTED,
            ..style
        };
        canvas.text(&words, (x + 28, y), Anchor::Start, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_bucket_that_the_capture_ended_in_is_left_out() {
        let last = |amounts: &[u64]| {
            let rates = NodeRates {
                heat: Heat::Ops,
                from: 0,
                bucket_secs: 1,
                nodes: vec![
                    ("a".into(), amounts.to_vec()),
                    ("b".into(), vec![0; amounts.len()]),
                ],
            };
            rates.without_partial_end().nodes[0].1.len()
        };
        assert_eq!(last(&[100, 110, 90, 7]), 3);
        assert_eq!(last(&[100, 110, 90, 70]), 4);
        assert_eq!(last(&[100, 7]), 2);
    }
}
