//! The verdict for people who do not operate the cluster, and what it means.

use slotscope_model::state::{Role, State};

/// Its CSS class: good, watched or bad.
pub(super) fn class(state: State) -> &'static str {
    match state {
        State::Balanced => "fine",
        State::Watch | State::Empty | State::Unjudged => "watch",
        State::Suspicious | State::Skewed | State::Limit | State::Down => "alarm",
    }
}

/// Its meaning.
pub(super) fn meaning(state: State, role: Option<Role>) -> &'static str {
    match (state, role) {
        (State::Down, _) => {
            "Slots are not served: commands on their keys fail. Bring them back before anything else."
        }
        (State::Limit, Some(Role::Load)) => {
            "A node uses nearly all of a core. Commands wait for each other, and latency rises with every more of them."
        }
        (State::Limit, _) => {
            "A node is about to reach its memory limit. It then evicts keys or refuses writes, whatever room the others have."
        }
        (State::Empty, _) => "There is nothing to judge: the input has no keys and no operations.",
        (State::Unjudged, _) => {
            "There is too little to compare the nodes by, or it does not compare. The sentence above says which."
        }
        (State::Suspicious, _) => {
            "Keys are missing, or the dump is damaged, so its numbers may not be those of the cluster. The figures below are true of what was read; find the cause before anybody acts on them."
        }
        (State::Balanced, _) => {
            "The nodes are evenly loaded. The cluster can be filled almost to the sum of its nodes."
        }
        (State::Watch, _) => {
            "One node carries more than its fair share. It is not urgent, but the cluster is full when this node is full, and the gap grows with the data."
        }
        (State::Skewed, Some(Role::Load)) => {
            "One node does much more than its fair share of the work. It slows down first, while the others are idle: adding nodes will not help until this is fixed."
        }
        (State::Skewed, _) => {
            "One node holds much more than its fair share. It is full first, while the others still have room: you pay for memory that you cannot fill."
        }
    }
}
