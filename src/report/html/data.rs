//! The numbers that the page's script draws: loads by slot, owners, what a perfect hash would give.

use serde_json::{Map, Value, json};

use super::table::cut;
use crate::report::chart;
use crate::report::units::short_id;
use crate::summary::Summary;

/// Runs of slots with one owner that are drawn; a topology with more has no borders to see.
const MAX_RANGES: usize = 8192;

/// JSON that may stand in a script element: no name in it can end the element.
pub fn json(summary: &Summary) -> String {
    let loads = &summary.slots.loads;
    let per_metric = |value: &dyn Fn(crate::metric::Metric) -> Option<Value>| {
        let present = loads.iter().filter_map(|(metric, _)| Some((metric.name().to_string(), value(metric)?)));
        Value::Object(present.collect::<Map<_, _>>())
    };
    let mean = |metric| summary.slots.stats.get(metric).map_or(0.0, |stats| stats.mean);
    let band = |metric| {
        let cv = summary.slots.expected.as_ref()?.get(metric)?.cv;
        Some(json!([(mean(metric) * (1.0 - 3.0 * cv)).max(0.0), mean(metric) * (1.0 + 3.0 * cv)]))
    };
    let mut ranges: Vec<(u16, u16, usize)> = Vec::new();
    for (index, node) in summary.nodes.list.iter().enumerate() {
        ranges.extend(node.ranges.iter().map(|(first, last)| (*first, *last, index)));
    }
    ranges.truncate(MAX_RANGES);
    let tags = summary.slots.hottest.iter().filter(|slot| !slot.top_tags.is_empty()).map(|slot| {
        let tags: Vec<_> = slot.top_tags.iter().map(|tag| json!([cut(&tag.tag.to_string()), tag.load.keys])).collect();
        (slot.slot.to_string(), Value::Array(tags))
    });
    let data = json!({
        "by": summary.skew.by.name(),
        "slots": loads,
        "mean": per_metric(&|metric| Some(json!(mean(metric)))),
        "band": per_metric(&band),
        "owners": ranges,
        "nodes": summary.nodes.list.iter().take(MAX_RANGES).map(|node| cut(&short_id(&node.id))).collect::<Vec<_>>(),
        "tags": Value::Object(tags.collect()),
        "ramp": chart::ramp(),
    });
    let mut text = String::new();
    for c in data.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text
}
