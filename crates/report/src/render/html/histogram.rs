//! Frequencies of amounts as bars: key lengths and value sizes.

use askama::{Result, Template};

use slotscope_engine::metric::Metric;
use slotscope_engine::text::{amount_cell, grouped, percent};
use slotscope_findings::summary::quantiles::Quantiles;

use crate::palette::LOAD;
use crate::plot::axis::Axis;
use crate::plot::{Mark, Plot};
use crate::render::html::plot::{ACROSS, Marks, UP};
use crate::view::amounts::mean;

/// Maximum bars.
const BARS: u64 = 48;
/// If the ratio of largest to smallest is at least this, bars are logarithmic: 2 per octave.
const WIDE: u64 = 64;

/// A picture of amounts and their quantiles.
#[derive(Template)]
#[template(path = "histogram.html", config = "src/render/html/askama.toml")]
pub(super) struct Histogram {
    section: &'static str,
    bars: String,
    from: String,
    to: String,
    doubling: bool,
    quantiles: Vec<(&'static str, String, u64)>,
    mean: String,
    mean_exact: f64,
    count: String,
}

impl Histogram {
    /// The picture of `amounts` of a metric as HTML; without bars if only quantiles are known.
    ///
    /// # Errors
    /// None: the template cannot fail.
    pub(super) fn render_of(
        section: &'static str,
        metric: Metric,
        amounts: &Quantiles,
    ) -> Result<String> {
        let shown = |amount| amount_cell(metric, amount);
        let edges = edges(amounts.min, amounts.max);
        let mut counts = vec![0u64; edges.len() - 1];
        for (value, count) in &amounts.counts {
            let bar = edges
                .partition_point(|edge| edge <= value)
                .clamp(1, counts.len())
                - 1;
            counts[bar] = counts[bar].saturating_add(*count);
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let x = Axis::new((0.0, counts.len() as f64), ACROSS);
        let bar = |(at, count): (usize, &u64)| {
            let to = edges[at + 1].saturating_sub(1).min(amounts.max);
            let share = percent(*count as f64 / amounts.count.max(1) as f64);
            let (from, to, count_shown) = (shown(edges[at]), shown(to), grouped(*count));
            let words = format!("{from} to {to}: {count_shown} ({share})");
            Mark::Bar([at as f64, at as f64 + 1.0, *count as f64], LOAD, words)
        };
        let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let plot = Plot::new(x, Axis::new((0.0, most as f64), UP)).with(filled.map(bar));
        let (from, to) = (shown(amounts.min), shown(amounts.max));
        let words = format!("From {from} to {to}; the quantiles are in the list below");
        let bars = match most {
            0 => String::new(),
            _ => Marks::new(&plot, &words).render()?,
        };
        let quantile = |name, value: u64| (name, shown(value), value);
        let quantiles = [
            ("min", amounts.min),
            ("p50", amounts.p50),
            ("p90", amounts.p90),
            ("p99", amounts.p99),
            ("p99.9", amounts.p999),
            ("max", amounts.max),
        ];
        let histogram = Histogram {
            section,
            bars,
            from,
            to,
            doubling: doubling(amounts.min, amounts.max),
            quantiles: quantiles
                .into_iter()
                .map(|(name, value)| quantile(name, value))
                .collect(),
            mean: mean(metric, amounts),
            mean_exact: amounts.mean,
            count: grouped(amounts.count),
        };
        histogram.render()
    }
}

fn doubling(min: u64, max: u64) -> bool {
    max / min.max(1) >= WIDE
}

/// The start of each bar, and the end of the last: ascending.
fn edges(min: u64, max: u64) -> Vec<u64> {
    let mut edges = vec![min];
    let mut edge = min;
    let step = ((max - min.min(max)) / BARS + 1).max(1);
    while edge <= max && edges.len() <= 130 {
        let next = if doubling(min, max) {
            (edge as f64 * std::f64::consts::SQRT_2).ceil() as u64
        } else {
            edge.saturating_add(step)
        };
        edge = next.max(edge.saturating_add(1));
        edges.push(edge);
        if edge == u64::MAX {
            break;
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantiles(counts: Vec<(u64, u64)>) -> Quantiles {
        let min = counts.first().map_or(0, |(value, _)| *value);
        let max = counts.last().map_or(0, |(value, _)| *value);
        Quantiles {
            count: counts.iter().map(|(_, count)| count).sum(),
            min,
            max,
            counts,
            ..Quantiles::default()
        }
    }

    #[test]
    fn bars_are_few_whatever_the_range_and_ascend() {
        for (min, max) in [
            (0, 0),
            (0, 1),
            (5, 5),
            (10, 400),
            (1, 512 << 20),
            (0, u64::MAX),
            (u64::MAX, u64::MAX),
        ] {
            let edges = edges(min, max);
            assert!(
                edges.len() >= 2 && edges.len() <= 140,
                "{min} {max}: {}",
                edges.len()
            );
            assert!(
                edges.windows(2).all(|pair| pair[0] < pair[1]) || min == u64::MAX,
                "{min} {max}"
            );
        }
    }

    #[test]
    fn every_amount_is_in_its_bar() {
        let of = |amounts: &Quantiles| Histogram::render_of("h", Metric::Bytes, amounts).unwrap();
        let page = of(&quantiles(vec![(10, 1), (11, 2), (12, 1)]));
        assert!(page.contains("M333.3 1000.0V0.0H666.7V1000.0Z"), "{page}");
        assert!(
            page.contains("<title>11 B to 11 B: 2 (50.0%)</title>"),
            "{page}"
        );
        assert_eq!(page.matches("V500.0H").count(), 2);
        assert!(!of(&quantiles(vec![])).contains("<svg"));
    }
}
