//! Reasons to doubt or refuse a plan: an incomplete dump, or a sample.

use slotscope_base::text::{counted, grouped, list};

use slotscope_model::Summary;
use slotscope_model::reason::Reason;
use slotscope_model::state::State;

/// Maximum number of slots a warning names.
const SLOTS_NAMED: usize = 5;

/// Why the dump may lack keys, so that a plan would move the wrong slots; `None` if there is no sign of that.
pub fn incomplete(summary: &Summary) -> Option<String> {
    if let Some(stop) = summary.input.incomplete.first() {
        let (file, byte, reason) = (&stop.file, stop.byte, &stop.reason);
        return Some(if byte == 0 {
            format!("{file} is incomplete: {reason}")
        } else {
            format!("{file} ends early, at byte {byte}: {reason}")
        });
    }
    if let Some(percent) = summary.input.sample_percent {
        return Some(format!(
            "a sample of {percent}% of the slots, and a plan needs the keys of all"
        ));
    }
    if summary.verdict.state == State::Suspicious {
        return Some(summary.verdict.sentence.clone());
    }
    let roles = &summary.verdict.roles;
    let unseen = roles
        .iter()
        .find(|role| role.reason == Some(Reason::NotSeen));
    if let Some(role) = unseen.filter(|_| roles.iter().all(|role| !role.judged)) {
        return Some(role.sentence.clone());
    }
    let doubt = summary.input.doubt.as_ref();
    doubt.map(|sign| sign.sentence.clone())
}

/// Warnings for the reader of a plan, deduplicated.
pub(crate) fn warnings(summary: &Summary) -> Vec<String> {
    let input = &summary.input;
    let mut warnings: Vec<String> = incomplete(summary).into_iter().collect();
    for warning in &input.warnings {
        // The sentence about a suspicious dump quotes its evidence.
        if !warnings.iter().any(|known| known.contains(warning)) {
            warnings.push(warning.clone());
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
        let warning = "the nodes are the files of the dump, and their slots those that the files have keys of, with the \
            empty slots behind them; --topology FILE names the nodes and all their slots";
        warnings.push(warning.into());
    }
    let unowned = &summary.nodes.unowned;
    if unowned.slots > 0 {
        let state = if summary.nodes.are_files() {
            "in no file, left out of the plan"
        } else {
            "without a node, left out of the plan; redis-cli --cluster fix gives each a node"
        };
        warnings.push(format!("{} {state}", counted(unowned.slots.into(), "slot")));
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
