//! Remedies: what each does, and what it was computed to give.

use crate::metric::Metric;
use crate::summary::cause::{CauseKind, limit};
use crate::summary::remedy::{Remedy, RemedyKind};
use crate::text::{bytes, counted, grouped, list, short};
use crate::wording::verdict::NAMES;

/// What the remedy does and what it gives.
pub fn result(remedy: &Remedy, by: Metric) -> String {
    let after = remedy.max_over_mean_after;
    let about = if remedy.estimated { "about " } else { "" };
    let others = uneven_others(remedy, by);
    let then = format!("{about}{after:.2} times the fair share{others}");
    let moves = || {
        let keys = counted(remedy.keys_moved, "key");
        let bytes = remedy
            .bytes_moved
            .filter(|_| by == Metric::Bytes)
            .map(bytes);
        let slots = counted(remedy.slots_moved, "slot");
        match bytes {
            Some(bytes) => format!("{slots}, {keys}, {bytes} move"),
            // A capture does not say how many keys there are.
            None if remedy.keys_moved == 0 => format!("{slots} move"),
            None => format!("{slots} with {keys} move"),
        }
    };
    match remedy.kind {
        RemedyKind::EqualSlots => format!("Equal slot counts: {then}; {}", moves()),
        RemedyKind::Plan => format!("Move chosen slots: {then}; {}", moves()),
        RemedyKind::Split => format!("{}: {then}", split(remedy)),
        RemedyKind::AddNodes => {
            let limit = remedy.nodes.map_or(String::new(), |nodes| {
                format!(
                    "; on more than {} nodes the heaviest tag or key alone exceeds a fair share",
                    grouped(nodes)
                )
            });
            format!("Add a primary: {then}; {}{limit}", moves())
        }
    }
}

/// The other metrics in which the nodes are uneven afterwards.
fn uneven_others(remedy: &Remedy, by: Metric) -> String {
    let others = remedy.after.iter().filter(|(metric, _)| *metric != by);
    let uneven = others.filter(|(_, after)| **after > limit::BALANCED);
    let uneven: Vec<String> = uneven
        .map(|(metric, after)| format!("{after:.2} by {}", metric.name()))
        .collect();
    match uneven.is_empty() {
        true => String::new(),
        false => format!(" ({})", uneven.join(", ")),
    }
}

fn split(remedy: &Remedy) -> String {
    let parts = remedy.parts.unwrap_or(2);
    let each = if remedy.names.len() > 1 { " each" } else { "" };
    let is_tag = remedy.unit == Some(CauseKind::Tag);
    let names = remedy.names.iter().map(|name| match is_tag {
        true => format!("{{{}}}", short(name)),
        false => short(name),
    });
    let names = list(names, NAMES);
    match is_tag {
        true => format!(
            "Split {names} into {parts} hash tags{each} in the application, then move slots (commands with keys of several parts fail with CROSSSLOT)"
        ),
        false => {
            format!("Split {names} into {parts} keys{each} in the application, then move slots")
        }
    }
}
