//! The verdict for people who do not run the cluster: what it means.

use crate::summary::cause::{State, limit};
use crate::summary::verdict::{MetricVerdict, Verdict};

/// The colour that it has: the class of what is fine, to be watched, wrong.
pub fn class(state: State) -> &'static str {
    match state {
        State::Balanced => "fine",
        State::Watch | State::Empty => "watch",
        State::Suspicious | State::Skewed => "alarm",
    }
}

/// What it means.
pub fn meaning(verdict: &Verdict) -> &'static str {
    let fullest = verdict.worst().and_then(MetricVerdict::max_over_mean);
    match verdict.state {
        State::Balanced if fullest.is_some_and(|ratio| ratio > limit::BALANCED) => {
            "There are too few keys to judge the nodes by: where so few are is chance. Look again when there are more."
        }
        State::Empty => "There is nothing to judge: no key was found in what was read.",
        State::Suspicious => {
            "The dump itself does not look whole, so its numbers may not be those of the cluster. The figures below are true of what was read; take the dump again before anybody acts on them."
        }
        State::Balanced => {
            "The nodes are evenly loaded. The cluster can be filled almost to the sum of its nodes."
        }
        State::Watch => {
            "One node carries more than its fair share. It is not urgent, but the cluster is full when this node is full, and the gap grows with the data."
        }
        State::Skewed => {
            "One node carries much more than its fair share. It fills up and slows down first, while the others still have room: part of what the cluster costs cannot be used."
        }
    }
}
