//! The result of a change of nodes, policy or names, in one sentence.

use slotscope_base::text::{grouped, percent};
use slotscope_model::measure::Measure;
use slotscope_model::words::times;

use crate::whatif::findings::WhatIfFindings;

/// The effect of a change, without a full stop.
pub(crate) fn sentence(findings: &WhatIfFindings) -> String {
    let [was, is] = [&findings.before, &findings.after];
    let Some((before, after)) = was.nodes.max_over_mean.zip(is.nodes.max_over_mean) else {
        return "no node has a key on one side, so there is nothing to compare".into();
    };
    // Fair shares for different numbers of nodes are not comparable; fractions of the load are.
    let (share_before, share_after) = was
        .fullest_share
        .zip(is.fullest_share)
        .unwrap_or((1.0, 1.0));
    let turns = match share_after / share_before {
        ratio if ratio <= 0.995 => ["better", "less on the fullest node"],
        ratio if ratio >= 1.005 => ["worse", "more on the fullest node"],
        _ => ["no better and no worse", "as much on the fullest node"],
    };
    // Twice the nodes for half the load of each is no better: that is for who pays for them to say.
    let (old, new) = (was.node_count, is.node_count);
    let turn = turns[usize::from(old != new)];
    let measure = Measure::from(findings.by);
    let (verb, noun) = (measure.verb(), measure.noun());
    let turned = match times(before) {
        was if was == times(after) => String::from("as today"),
        was if after < before => format!("down from {was}"),
        was => format!("up from {was}"),
    };
    let fullest = if old == new {
        format!(
            "the fullest node {verb} {} its share of {noun}, {turned}",
            times(after)
        )
    } else {
        format!(
            "the fullest of {new} nodes {verb} {} of all {noun} ({} its share), {} on {old} nodes ({})",
            percent(share_after),
            times(after),
            percent(share_before),
            times(before),
        )
    };
    let without_keys: String = findings
        .without_keys
        .iter()
        .map(|sentence| format!("{sentence}; "))
        .collect();
    let part = |keys: u64| percent(keys as f64 / findings.input.keys.max(1) as f64);
    let about = if findings.tag_sample.exact {
        ""
    } else {
        "about "
    };
    let split = match findings.parted_tags {
        0 => String::from("no tag is split"),
        1 => String::from("one tag is split: commands with several of its keys become CROSSSLOT"),
        tags => format!(
            "{about}{} tags are split: commands with several keys of one become CROSSSLOT",
            grouped(tags)
        ),
    };
    let unplaced = match findings.unplaced.keys {
        0 => String::new(),
        keys => format!("; {} have no slot any more and are left out", grouped(keys)),
    };
    // For captures, the number of keys is unknown.
    let moved = match findings.input.keys {
        0 => String::new(),
        _ => {
            let [slots, nodes] = [findings.moved.keys, findings.changed_node.keys].map(part);
            format!("{slots} of the keys change their slot and {nodes} their node; ")
        }
    };
    format!("{without_keys}{turn}: {fullest}; {moved}{split}{unplaced}")
}
