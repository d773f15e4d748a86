//! Lengths of key names and sizes of values.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::amount_cell;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::quantiles::Quantiles;

use crate::view::{Block, Scope, Section};

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

/// `of` under the title of `section`, in units of `metric`.
pub(crate) fn section<'a>(
    section: Section<'a>,
    metric: Metric,
    of: &'a Quantiles,
) -> Option<Section<'a>> {
    (of.count > 0).then(|| section.narrow().detail().with(Block::Quantiles(metric, of)))
}

/// Mean and quantiles on one line.
pub(crate) fn quantiles(metric: Metric, of: &Quantiles) -> String {
    let mean = mean(metric, of);
    let [min, p50, p99, max] = [of.min, of.p50, of.p99, of.max].map(|n| amount_cell(metric, n));
    format!("mean {mean}, min {min}, p50 {p50}, p99 {p99}, max {max}")
}

/// The mean, with one decimal if small.
pub(crate) fn mean(metric: Metric, of: &Quantiles) -> String {
    if of.mean < 1000.0 {
        format!("{:.1}", of.mean)
    } else {
        amount_cell(metric, of.mean.round() as u64)
    }
}
