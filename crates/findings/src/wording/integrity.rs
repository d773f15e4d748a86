//! Signs of a damaged dump, each as the end of "the dump does not look whole: ...".

use slotscope_base::name::Name;
use slotscope_base::text::{are, counted, grouped, list, percent, ranges, short};
use slotscope_model::words::NAMES;

use crate::summary::integrity::REQUESTS;
use slotscope_model::integrity::Damage;

/// Shared slots in at most this many ranges may be those of split keys.
const FEW_RANGES: usize = 2;
/// Maximum number of slot ranges in a sentence.
const RANGES_NAMED: usize = 4;

/// Reading stopped before the end.
pub(crate) const INCOMPLETE: &str = "the input could not be read to its end";

/// A server without keys.
pub(crate) fn empty_server(name: &str) -> String {
    format!("{name} is empty: it may have lost its data")
}

/// No key is in the slots of a node.
pub(crate) fn missing_node(name: &str) -> String {
    format!("no key is in the slots of node {name}: its dump is missing")
}

/// No key is in a range of slots, all of them of a node if it is known.
pub(crate) fn empty_slots(first: usize, last: usize, node: Option<&str>) -> String {
    match node {
        Some(node) => {
            format!("no key is in slots {first}-{last} of node {node}: its dump is a part")
        }
        None => format!(
            "no key is in slots {first}-{last}: the dump of a node is missing, or it was cut off"
        ),
    }
}

/// The file of one node of a cluster.
pub(crate) fn one_node(first: usize, last: usize) -> String {
    format!(
        "it is the RDB file of one node of a cluster, all of its keys in slots {first}-{last}: name those of all primaries"
    )
}

/// Lines are server or redis-cli errors: a scan was interrupted.
pub(crate) fn error_lines(lines: u64) -> String {
    format!(
        "{} of the input {} of a server or of redis-cli: a scan broke off",
        counted(lines, "line"),
        if lines == 1 {
            "is an error"
        } else {
            "are errors"
        }
    )
}

/// This fraction of the keys was seen before.
pub(crate) fn duplicates(share: f64) -> String {
    if share > REQUESTS {
        format!(
            "{:.0}% of its rows are of keys that it has already: it needs one row per key, in which requests are added up as operations",
            100.0 * share
        )
    } else {
        format!(
            "{:.0}% of its keys are duplicates: a replica, the same node twice, or a log of accesses",
            100.0 * share
        )
    }
}

/// This fraction of the keys of one node was seen before.
pub(crate) fn node_twice(node: &Name, share: f64) -> String {
    format!(
        "{:.0}% of the keys of node {} are duplicates, and hardly any elsewhere: its dump occurs twice, or with its replica's",
        100.0 * share,
        short(node)
    )
}

/// Keys are in slots that no node owns.
pub(crate) fn unowned_keys(keys: u64) -> String {
    format!(
        "{} of its keys {} in slots that no node owns: the topology is that of another cluster, or an old one",
        grouped(keys),
        are(keys)
    )
}

/// Keys are in slots of a node other than the one they were taken from.
pub(crate) fn stray_keys(keys: u64) -> String {
    format!(
        "{} of its keys {} in slots of another node than they were taken from: two clusters, an old topology, or keys that a move left behind",
        grouped(keys),
        are(keys)
    )
}

/// A slot holds far more keys than any tag accounts for, and this many would already be unusual.
pub(crate) fn overfull_slot(slot: usize, keys: u64, unusual: u64) -> String {
    format!(
        "slot {slot} holds {} keys that no tag explains, where at most {} are expected, and they repeat: names were cut short, at a NUL or a newline",
        grouped(keys),
        grouped(unusual)
    )
}

/// One node holds all or nearly all keys of a cluster of several.
pub(crate) fn only_node(node: &Name, others: usize) -> String {
    format!(
        "nearly all keys are in the slots of node {}: the dumps of the other {} are missing",
        short(node),
        counted(others as u64, "node")
    )
}

/// Dumps of two nodes cover the same slots; `others` is the number of other pairs that share some.
pub(crate) fn shared_slots(
    [left, right]: [Name; 2],
    shared: &[(u16, u16)],
    others: usize,
    are_snapshots: bool,
) -> String {
    let is_single = matches!(shared, [(first, last)] if first == last);
    let slots = if is_single { "slot" } else { "slots" };
    let are = if is_single { "is" } else { "are" };
    let kind = if are_snapshots { "backups" } else { "dumps" };
    let pairs = if others > 0 {
        format!(
            " ({} share slots too)",
            counted(others as u64, "other pair")
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

/// A node of an even split, which may not match the cluster, is so much below its share.
pub(crate) fn low_node(node: &Name, over: f64, sigmas: f64) -> String {
    format!(
        "node {} is {:.0}% below its share ({sigmas:.0} sigma), and no other node is above: its part of the dump \
         is incomplete, or the cluster has other nodes",
        short(node),
        100.0 * over.abs()
    )
}

/// The load of a node, maybe of only two, deviates from its share more than hashing explains, and that of `others`. What was
/// measured comes before what may be the cause.
pub(crate) fn unlikely_node(
    node: &Name,
    over: f64,
    damage: Damage,
    of_two: bool,
    others: &[(Name, f64)],
) -> String {
    let why = match damage {
        Damage::MissingNode if of_two => {
            "it may have lost keys, its dump may be partial, or the other has keys of another cluster"
        }
        Damage::MissingNode => "it may have lost keys, or its dump is partial",
        Damage::Duplicates => "it is in the dump twice, or with a replica",
        _ => "keys of another cluster are among them",
    };
    let of = |over: f64| percent(1.0 + over);
    let others = others
        .iter()
        .map(|(name, over)| format!("{} {}", short(name), of(*over)));
    let others: Vec<String> = others.collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" ({} too)", list(others.iter(), NAMES)),
    };
    format!(
        "{} holds {} of what its slots should hold{others}, without heavy tags: {why}",
        short(node),
        of(over)
    )
}
