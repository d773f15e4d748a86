//! The verdict for people who do not run the cluster: what it means and what to do next.

use crate::report::render::html::spell::cut;
use crate::summary::Summary;
use crate::summary::cause::{Cause, CauseKind, Verdict};

/// The colour that it has: the class of what is fine, to be watched, wrong.
pub fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Balanced | Verdict::Tagged => "fine",
        Verdict::Placement | Verdict::Watch | Verdict::Empty => "watch",
        Verdict::Suspicious | Verdict::Skewed => "alarm",
    }
}

/// What it means.
pub fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Empty => "There is nothing to judge: no key was found in what was read.",
        Verdict::Suspicious => {
            "The dump itself does not look whole, so its numbers may not be those of the cluster. The figures below are true of what was read; take the dump again before anybody acts on them."
        }
        Verdict::Balanced => {
            "The load is spread as evenly over the nodes as it can be expected to be. The cluster can be filled almost to the sum of its nodes."
        }
        Verdict::Tagged => {
            "The nodes are evenly loaded. Hash tags bind keys together, so single slots differ more than chance would make them; today that evens out over the nodes. With more nodes it would be felt."
        }
        Verdict::Placement => {
            "One node is fuller than the others because it owns more slots, not because of how keys are named. That is the cheapest kind of imbalance: it goes away when slots are moved."
        }
        Verdict::Watch => {
            "One node carries more than its fair share, and that is not chance. It is not urgent, but the cluster is full when this node is full, and the gap grows with the data."
        }
        Verdict::Skewed => {
            "One node carries much more than its fair share, and that is not chance. It fills up and slows down first, while the others still have room: part of what the cluster costs cannot be used."
        }
    }
}

/// What to do next, in order.
pub fn next_steps(summary: &Summary) -> Vec<String> {
    let skew = &summary.skew;
    match skew.verdict {
        Verdict::Empty => vec![
            "Check that the dump is the right file and that its form was told correctly; --format help lists all forms.".into(),
        ],
        Verdict::Suspicious => vec![
            "Read the warnings below: they say what is missing, there twice, or from elsewhere.".into(),
            "Take the dump again from every primary, and give the topology of the same moment with --topology.".into(),
        ],
        Verdict::Balanced => vec!["Nothing. Look again when the data has grown or the key names change.".into()],
        Verdict::Tagged => vec![
            "Nothing today. Before adding nodes, look at the heaviest tags below and at the table of other node counts.".into(),
        ],
        Verdict::Placement => vec![
            "Move slots from the fullest node to the emptiest: redis-cli --cluster rebalance evens out their numbers.".into(),
            "Analyze again with the new topology.".into(),
        ],
        Verdict::Watch | Verdict::Skewed => steps_by_cause(summary),
    }
}

fn steps_by_cause(summary: &Summary) -> Vec<String> {
    let above = |cause: &&Cause| cause.excess > 0.0;
    let heaviest = summary
        .skew
        .causes
        .iter()
        .filter(above)
        .max_by(|a, b| a.excess.total_cmp(&b.excess));
    let Some(cause) = heaviest else {
        return Vec::new();
    };
    let name = cause.name.as_ref().map(cut).unwrap_or_default();
    let mut steps = match cause.kind {
        CauseKind::Tag => vec![
            format!(
                "Split the tag {{{name}}} in the application, for instance into several tags with a number in each: all keys of one tag are in one slot, and no move of slots can part them."
            ),
            "Check first which commands need these keys together (MGET, transactions, scripts): those must keep a common tag.".into(),
        ],
        CauseKind::Key => vec![format!(
            "Split the key {name} in the application, for instance a large hash or sorted set into several: a key is on one node, whatever slots are moved."
        )],
        CauseKind::Placement => vec![
            "Move slots from the fullest node to the emptiest: redis-cli --cluster rebalance evens out their numbers.".into(),
        ],
        _ => vec![
            "Look at the hottest slots and tags below: what weighs most there is what to split or to move.".into(),
            "Move the hottest slots of the fullest node to the emptiest.".into(),
        ],
    };
    if let Some(capacity) = summary.skew.usable_capacity {
        steps.push(format!(
            "Until then plan with {:.0} % of the cluster: it is full when its fullest node is.",
            100.0 * capacity
        ));
    }
    steps
}
