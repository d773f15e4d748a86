//! Lengths of key names and sizes of values.

use slotscope_base::metric::Metric;
use slotscope_base::text::amount_cell;
use slotscope_model::Summary;
use slotscope_model::quantiles::Quantiles;

use crate::view::{Scope, Section};

/// The lengths of key names.
pub fn lengths(summary: &Summary) -> Option<Section<'_>> {
    let lengths = Section::titled("Key lengths in bytes")
        .anchored("lengths", "Lengths")
        .scoped(Scope::Page);
    section(lengths, Metric::Keys, summary.lengths.as_ref()?)
}

/// The sizes of keys with their values.
pub(crate) fn sizes(summary: &Summary) -> Option<Section<'_>> {
    let sizes = Section::titled("Key sizes").anchored("sizes", "Sizes");
    section(sizes, Metric::Bytes, summary.sizes.as_ref()?)
}

/// `quantiles` under the title of `section`, in units of `metric`.
fn section<'a>(section: Section<'a>, metric: Metric, quantiles: &Quantiles) -> Option<Section<'a>> {
    let line = self::quantiles(metric, quantiles);
    (quantiles.count > 0).then(|| section.narrow().detail().line(line))
}

/// Mean and quantiles on one line.
fn quantiles(metric: Metric, quantiles: &Quantiles) -> String {
    let mean = mean(metric, quantiles);
    let amounts = [quantiles.min, quantiles.p50, quantiles.p99, quantiles.max];
    let [min, p50, p99, max] = amounts.map(|amount| amount_cell(metric, amount));
    format!("mean {mean}, min {min}, p50 {p50}, p99 {p99}, max {max}")
}

/// The mean, with one decimal if small.
fn mean(metric: Metric, quantiles: &Quantiles) -> String {
    if quantiles.mean < 1000.0 {
        format!("{:.1}", quantiles.mean)
    } else {
        amount_cell(metric, quantiles.mean.round() as u64)
    }
}
