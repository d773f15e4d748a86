//! Signs of a damaged dump, each as the end of "the dump does not look whole: ...".

use slotscope_engine::text::{are, counted, grouped, ranges, short};

use crate::summary::integrity::{Damage, REQUESTS, Sign};
use crate::wording::InWords;
use crate::wording::evidence::in_times;

/// Shared slots in at most this many ranges may be those of split keys.
const FEW_RANGES: usize = 2;
/// Maximum number of slot ranges in a sentence.
const RANGES_NAMED: usize = 4;

impl InWords for Sign {
    fn in_words(&self) -> String {
        match self {
            Sign::Incomplete => "the input could not be read to its end".into(),
            Sign::ErrorLines { lines } => format!(
                "{} of the input {} of a server or of redis-cli: a scan broke off",
                counted(*lines, "line"),
                if *lines == 1 {
                    "is an error"
                } else {
                    "are errors"
                }
            ),
            Sign::Duplicates { share } if *share > REQUESTS => format!(
                "{:.0}% of its rows are of keys that it has already: it needs one row per key, in which requests are added up as operations",
                100.0 * share
            ),
            Sign::Duplicates { share } => format!(
                "{:.0}% of its keys are duplicates: a replica, the same node twice, or a log of accesses",
                100.0 * share
            ),
            Sign::NodeTwice { node, share } => format!(
                "{:.0}% of the keys of node {} are duplicates, and hardly any elsewhere: its dump occurs twice, or with its replica's",
                100.0 * share,
                short(&node.name)
            ),
            Sign::UnownedKeys { keys } => format!(
                "{} of its keys {} in slots that no node owns: the topology is that of another cluster, or an old one",
                grouped(*keys),
                are(*keys)
            ),
            Sign::StrayKeys { keys } => format!(
                "{} of its keys {} in slots of another node than they were taken from: two clusters, an old topology, or keys that a move left behind",
                grouped(*keys),
                are(*keys)
            ),
            Sign::EmptyNode { node } => format!(
                "no key is in the slots of node {}: its dump is missing",
                short(&node.name)
            ),
            Sign::EmptyServer { node } => {
                format!("{} is empty: it may have lost its data", short(&node.name))
            }
            Sign::OneNode { first, last } => format!(
                "it is the RDB file of one node of a cluster, all of its keys in slots {first}-{last}: name those of all primaries"
            ),
            Sign::EmptySlots { first, last } => format!(
                "no key is in slots {first}-{last}: the dump of a node is missing, or it was cut off"
            ),
            Sign::OverfullSlot {
                slot,
                keys,
                unusual,
            } => format!(
                "slot {slot} holds {} keys that no tag explains, where at most {} are expected, and they repeat: names were cut short, at a NUL or a newline",
                grouped(*keys),
                grouped(*unusual)
            ),
            Sign::OnlyNode { node, others } => format!(
                "nearly all keys are in the slots of node {}: the dumps of the other {} are missing",
                short(&node.name),
                counted(*others as u64, "node")
            ),
            Sign::SharedSlots {
                files: [left, right],
                ranges: shared,
                others,
                are_snapshots,
            } => {
                let is_single = matches!(shared.as_slice(), [(first, last)] if first == last);
                let slots = if is_single { "slot" } else { "slots" };
                let are = if is_single { "is" } else { "are" };
                let kind = if *are_snapshots { "backups" } else { "dumps" };
                let pairs = if *others > 0 {
                    format!(
                        " ({} share slots too)",
                        counted(*others as u64, "other pair")
                    )
                } else {
                    String::new()
                };
                // Half of a key with a line break is a key of any slot.
                let split = if !are_snapshots && shared.len() <= FEW_RANGES {
                    "a key with a line break was split (redis-cli --no-raw keeps it whole), "
                } else {
                    ""
                };
                format!(
                    "{slots} {} {are} in both {left} and {right}{pairs}: {split}slots moved between the {kind}, or one holds keys \
                     of another cluster; take the {kind} of all nodes again, at the same time",
                    ranges(shared, RANGES_NAMED)
                )
            }
            Sign::Stranger { file, slots } => format!(
                "{file} holds keys in {} of other nodes, while the other files hold one node each: it is of another \
                 cluster, or holds keys of one",
                counted(*slots as u64, "slot")
            ),
            Sign::FilesApart(apart) => format!(
                "{}: they are not of the same time; take the backups of all nodes again, at the same time",
                in_times(apart)
            ),
            Sign::UnlikelyNode {
                node,
                over,
                sigmas,
                assumed: true,
                ..
            } => format!(
                "node {} is {:.0}% below its share ({sigmas:.0} sigma), and no other node is above: its part of the dump \
                 is incomplete, or the cluster has other nodes",
                short(&node.name),
                100.0 * over.abs()
            ),
            Sign::UnlikelyNode {
                node,
                over,
                damage,
                of_two,
                ..
            } => {
                let side = if *over > 0.0 { "above" } else { "below" };
                let why = match damage {
                    Damage::MissingNode if *of_two => {
                        "a part of its dump is missing, or the other has keys of another cluster"
                    }
                    Damage::MissingNode => "a part of its dump is missing",
                    Damage::Duplicates => "it is in the dump twice, or with a replica",
                    _ => "keys of another cluster are among them",
                };
                format!(
                    "without heavy tags node {} is {:.0}% {side} its share, which no hash does: {why}",
                    short(&node.name),
                    100.0 * over.abs()
                )
            }
        }
    }
}
