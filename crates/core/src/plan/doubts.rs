//! What a plan cannot know or should not be made for: a dump that is not whole, memory without sizes, giant keys.

use schemars::JsonSchema;
use serde::Serialize;

use crate::metric::Metric;
use crate::name::Name;
use crate::summary::Summary;
use crate::summary::cause::State;
use crate::summary::risk::LARGE_KEY;
use crate::text::{counted, grouped, list};

/// Slots that a warning names.
const SLOTS_NAMED: usize = 5;

/// A key that is copied in one piece.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BigKey {
    /// Its first 512 bytes.
    pub key: Name,
    /// Its slot.
    pub slot: u16,
    /// Its size.
    pub bytes: u64,
}

/// Why the dump may lack keys, so that a plan for it would move the wrong slots; `None` where nothing says so.
pub fn incomplete(summary: &Summary) -> Option<String> {
    if let Some(stop) = summary.input.incomplete.first() {
        return Some(format!(
            "{} ends early, at byte {}: {}",
            stop.file, stop.byte, stop.reason
        ));
    }
    if let Some(percent) = summary.input.sample_percent {
        return Some(format!(
            "a sample of {percent} % of the slots, and a plan needs the keys of all"
        ));
    }
    let is_suspicious = summary.verdict.state == State::Suspicious;
    is_suspicious.then(|| summary.verdict.sentence.to_string())
}

/// The keys of `LARGE_KEY` or more in the slots that move, the largest first.
pub fn big_keys(summary: &Summary, moves: impl Fn(u16) -> bool) -> Vec<BigKey> {
    let keys = summary.keys.as_ref();
    let heaviest = keys.and_then(|keys| keys.heaviest.get(Metric::Bytes));
    heaviest
        .into_iter()
        .flatten()
        .filter(|key| key.weight(Metric::Bytes) >= LARGE_KEY && moves(key.slot))
        .map(|key| BigKey {
            key: key.key.clone(),
            slot: key.slot,
            bytes: key.weight(Metric::Bytes),
        })
        .collect()
}

/// What a reader of the plan is warned of, each once.
pub fn warnings(summary: &Summary) -> Vec<String> {
    let input = &summary.input;
    let mut warnings: Vec<String> = incomplete(summary).into_iter().collect();
    for warning in input.warnings.iter().map(ToString::to_string) {
        // The sentence of a suspicious dump quotes its evidence.
        if !warnings.iter().any(|known| known.contains(&warning)) {
            warnings.push(warning);
        }
    }
    if let Some(first) = input.rejected.first.first() {
        warnings.push(format!(
            "{} without a key, left out of the plan; the first in {} at byte {}: {}",
            counted(input.rejected.count, "row"),
            first.file,
            grouped(first.byte),
            first.reason
        ));
    }
    if summary.nodes.are_files() {
        let what = "the nodes are the files of the dump, and their slots those that the files have keys of, with the \
            empty slots behind them; --topology FILE names the nodes and all their slots";
        warnings.push(what.into());
    }
    let unowned = &summary.nodes.unowned;
    if unowned.slots > 0 {
        let what = match summary.nodes.are_files() {
            true => "in no file, left out of the plan",
            false => {
                "without a node, left out of the plan; redis-cli --cluster fix gives each a node"
            }
        };
        warnings.push(format!("{} {what}", counted(unowned.slots.into(), "slot")));
    }
    let in_flight = &summary.nodes.in_flight;
    if !in_flight.is_empty() {
        let count = counted(in_flight.len() as u64, "slot");
        let slots = list(in_flight.iter().map(|moving| moving.slot), SLOTS_NAMED);
        warnings.push(format!(
            "{count} on the way to another node, left out of the plan: {slots}"
        ));
    }
    warnings
}
