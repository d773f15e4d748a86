//! The data for the page's script: part of report.json, compacted, as text that is safe inside `<script>`.
//!
//! Slot loads are base-36 numbers separated by spaces, half the size of JSON and large enough for u64; owners are
//! run-length encoded, `3x:1` for 141 slots of node 1, with `-` for slots without an owner.

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_model::Summary;
use slotscope_model::balance::{Balance, tidy};
use slotscope_model::independent_units::slot_cv;

use crate::render::html::spell;
use crate::render::html::spell::cut;

/// Maximum bytes of node names; further nodes get numbers.
const NODES: usize = 80_000;
/// Maximum bytes of tag and key names.
const FILLS: usize = 40_000;
/// Tags and keys named per slot.
const FILLS_OF_A_SLOT: usize = 5;
/// The number of heaviest keys by each metric that are named for their slots.
const KEYS: usize = 100;

/// The data.
#[derive(Serialize)]
struct Data<'a> {
    by: Metric,
    slots: PerMetric<String>,
    stats: &'a PerMetric<Balance>,
    /// The coefficient of variation expected of untagged keys of equal size.
    #[serde(skip_serializing_if = "Option::is_none")]
    cv: Option<PerMetric<f64>>,
    nodes: Vec<String>,
    owners: String,
    /// Tags and keys by slot: the name, and the compacted load by each metric of `slots`.
    fills: BTreeMap<u16, Vec<(String, String)>>,
}

/// The data of `summary`, escaped for `<script type="application/json">`.
pub(super) fn data(summary: &Summary) -> String {
    let data = Data {
        by: summary.by,
        slots: summary.slots.loads.map(|_, loads| packed(loads)),
        stats: &summary.slots.stats,
        cv: summary
            .units
            .per
            .filter_map(|units| (units.positive > 0.0).then(|| tidy(slot_cv(units.positive)))),
        nodes: nodes(summary),
        owners: owners(summary),
        fills: fills(summary),
    };
    // Strings, numbers and lists always serialize.
    for_script(&serde_json::to_string(&data).unwrap_or_default())
}

/// Escapes JSON so that it cannot end the enclosing element, and is also valid JavaScript. The escaped characters only
/// occur in strings.
pub(super) fn for_script(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            c => text.push(c),
        }
    }
    text
}

fn packed(loads: &[u64]) -> String {
    loads
        .iter()
        .map(|load| base36(*load))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A number in base 36.
pub(super) fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or_default());
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

fn nodes(summary: &Summary) -> Vec<String> {
    let mut room = NODES;
    let called = |(index, node)| {
        let name = spell::node(node);
        room = room.saturating_sub(cost(&name));
        if room > 0 {
            name
        } else {
            format!("#{}", index + 1)
        }
    };
    // Primaries without slots come last, and no slot refers to them.
    let listed = summary.nodes.list.iter();
    let with_slots = listed.take_while(|node| !node.ranges.is_empty());
    with_slots.enumerate().map(called).collect()
}

fn owners(summary: &Summary) -> String {
    let run = |run: &[Option<usize>]| {
        let owner = run[0].map_or(String::from("-"), |owner| base36(owner as u64));
        format!("{}:{owner}", base36(run.len() as u64))
    };
    let owners = summary.nodes.owners();
    owners
        .chunk_by(|a, b| a == b)
        .map(run)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The heaviest known tags and keys of slots, within limits.
fn fills(summary: &Summary) -> BTreeMap<u16, Vec<(String, String)>> {
    let mut known: BTreeMap<u16, Vec<(String, String)>> = BTreeMap::new();
    let mut room = FILLS;
    for (slot, row) in keys(summary).chain(tags(summary)) {
        let fills = known.entry(slot).or_default();
        if fills.len() < FILLS_OF_A_SLOT && !fills.contains(&row) {
            room = room.saturating_sub(cost(&row.0) + row.1.len() + 12);
            if room == 0 {
                break;
            }
            fills.push(row);
        }
    }
    known.retain(|_, fills| !fills.is_empty());
    known
}

/// The heaviest untagged keys by each metric; tagged ones are part of their tag.
fn keys(summary: &Summary) -> impl Iterator<Item = (u16, (String, String))> {
    let lists = summary.keys.iter().flat_map(|keys| keys.heaviest.iter());
    let keys = lists.flat_map(|(_, keys)| keys.iter().filter(|key| !key.tagged).take(KEYS));
    keys.map(|key| {
        let load = |metric| Some(key.weight(metric));
        (key.slot, (cut(&key.key), fill(summary, load)))
    })
}

/// The tags of the hottest slots, then the heaviest.
fn tags(summary: &Summary) -> impl Iterator<Item = (u16, (String, String))> {
    let hot = summary.slots.hottest.iter().flat_map(|slot| {
        let tags = slot.top_tags.iter();
        tags.map(move |tag| (slot.slot, &tag.tag, &tag.load))
    });
    let tags = summary.tags.iter().flat_map(|tags| &tags.top);
    let listed = tags.map(|tag| (tag.slot, &tag.tag, &tag.load));
    hot.chain(listed).map(|(slot, tag, load)| {
        let load = |metric| load.get(metric).copied();
        (slot, (format!("{{{}}}", cut(tag)), fill(summary, load)))
    })
}

/// The load by each metric of the slots.
fn fill(summary: &Summary, load: impl Fn(Metric) -> Option<u64>) -> String {
    let metrics = summary.slots.loads.iter();
    let loads = metrics.map(|(metric, _)| load(metric).map_or(String::from("-"), base36));
    loads.collect::<Vec<_>>().join(" ")
}

/// An upper bound on the bytes of a name here: characters escaped by `for_script` and JSON take six.
fn cost(name: &str) -> usize {
    name.len() + 5 * name.matches(['<', '>', '&', '"', '\\']).count() + 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_element_that_it_stands_in() {
        let hostile = ["</script><!--", "a&b", "\u{2028}\u{2029}"];
        let text = for_script(&serde_json::to_string(&hostile).unwrap());
        assert!(
            !text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), hostile);
    }

    #[test]
    fn every_load_comes_back_from_base_36() {
        for load in [0, 1, 35, 36, 1_543_901_949, u64::MAX] {
            assert_eq!(u64::from_str_radix(&base36(load), 36), Ok(load));
        }
        assert_eq!(packed(&[0, 36, 7]), "0 10 7");
    }
}
