//! Signs of a damaged dump, each as the end of "the dump does not look whole: ...".

use crate::report::wording::InWords;
use crate::summary::cause::CauseKind;
use crate::summary::integrity::Sign;
use crate::text::{grouped, short};

impl InWords for Sign {
    fn in_words(&self) -> String {
        match self {
            Sign::Duplicates { share } => format!(
                "{:.0} % of its keys came before already: a replica, or the same node twice",
                100.0 * share
            ),
            Sign::UnownedKeys { keys } => format!(
                "{} of its keys are in slots that no node owns: the topology is that of another cluster, or an old one",
                grouped(*keys)
            ),
            Sign::StrayKeys { keys } => format!(
                "{} of its keys are in slots of another node than they were taken from: two clusters, or an old topology",
                grouped(*keys)
            ),
            Sign::EmptyNode { node } => format!(
                "no key is in the slots of node {}: its dump is missing",
                short(&node.name)
            ),
            Sign::EmptySlots { first, last } => format!(
                "no key is in slots {first}-{last}: the dump of a node is missing, or it was cut off"
            ),
            Sign::OverfullSlot {
                slot,
                keys,
                unusual,
            } => format!(
                "slot {slot} holds {} keys that no tag explains, where {} would be many: names were cut short, at a NUL or a newline",
                grouped(*keys),
                grouped(*unusual)
            ),
            Sign::UnlikelyNode { node, over, cause } => {
                let side = if *over > 0.0 { "above" } else { "below" };
                let why = match cause {
                    CauseKind::MissingNode => "a part of its dump is missing",
                    CauseKind::Duplicates => "it is in the dump twice, or with a replica",
                    _ => "keys of another cluster are among them",
                };
                format!(
                    "beside heavy tags node {} is {:.0} % {side} its part, which no hash does: {why}",
                    short(&node.name),
                    100.0 * over.abs()
                )
            }
        }
    }
}
