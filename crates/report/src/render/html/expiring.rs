//! Expiry over time as pictures for the page: one for keys and, if known, one for bytes.

use askama::{Result, Template};

use slotscope_engine::metric::Metric;

use crate::plot::expiring::plot;
use crate::render::html::plot::{ACROSS, Marks, UP};
use crate::view::Expiring;

/// A picture.
#[derive(Template)]
#[template(path = "expiring.html", config = "src/render/html/askama.toml")]
struct Picture {
    title: String,
    most: String,
    marks: String,
    /// The ends of the spans.
    ends: Vec<String>,
    along: String,
    has_storms: bool,
}

/// The pictures of `expiring` as HTML.
///
/// # Errors
/// None: the template cannot fail.
pub(super) fn render(expiring: &Expiring) -> Result<String> {
    let is_known = |metric: &Metric| expiring.spans[0].get(*metric).is_some();
    let metrics = [Metric::Bytes, Metric::Keys].into_iter().filter(is_known);
    let pictures = metrics.map(|metric| picture(expiring, metric).render());
    pictures.collect::<Result<String>>()
}

fn picture(expiring: &Expiring, metric: Metric) -> Picture {
    let plot = plot(expiring, metric, ACROSS, UP);
    let title = format!("{} that expire", metric.title());
    let words = format!("{title}, by the time until then");
    let edges = expiring.first..=expiring.first + expiring.spans.len();
    Picture {
        most: plot.y.numbers.short(plot.y.to),
        // The template cannot fail.
        marks: Marks::new(&plot, &words).render().unwrap_or_default(),
        ends: edges
            .map(|edge| plot.x.numbers.short(edge as f64))
            .collect(),
        along: expiring.along(),
        has_storms: expiring.storms.iter().any(|span| span.keys > 0),
        title,
    }
}
