//! Steps, each in one sentence in the imperative.

use slotscope_base::name::Name;
use slotscope_base::text::{bytes, counted, grouped, list, percent, short};
use slotscope_planner::lower_bound::SetBy;
use slotscope_planner::why_not::{Freed, NoPlacement, WhyNot};

use slotscope_findings::wording::finding::about;
use slotscope_findings::wording::verdict::unit;
use slotscope_model::independent_units::UnitKind;
use slotscope_model::step::Pieces;
use slotscope_model::words::NAMES;
use slotscope_model::words::{ratio, times};

/// The limit of memory is raised on the host.
pub(crate) const RAISE_LIMIT: &str = "raise maxmemory, where the host has room";

/// Slots move once a change is made.
pub(crate) const EVEN_OUT: &str = "then even out: slotscope plan on a new dump";

/// This many bytes of a node are buffers.
pub(crate) fn buffers(size: u64) -> String {
    let size = bytes(size);
    format!("look at client buffers and the replication backlog: {size} that are not keys")
}

/// Failed primaries come back.
pub(crate) fn bring_back(nodes: &[Name]) -> String {
    format!("bring {} back", list(nodes.iter().map(short), NAMES))
}

/// A replica is promoted if the primary cannot be brought back.
pub(crate) fn fail_over(nodes: &[Name]) -> String {
    format!(
        "if {} cannot be brought back, promote the replica with the highest offset (TAKEOVER without a majority)",
        list(nodes.iter().map(short), NAMES)
    )
}

/// Interrupted migrations are completed.
pub(crate) fn end_move(slots: &[u16]) -> String {
    match slots {
        [slot] => format!("slot {slot} is half-migrated: if no migration is running, fix it"),
        _ => format!(
            "{} are half-migrated: if no migration is running, fix them",
            counted(slots.len() as u64, "slot")
        ),
    }
}

/// MONITOR shows which key of a slot is hot, or without a slot, which keys of a node; `likely` are the largest of its
/// `keys` keys and their bytes, where they are known.
pub(crate) fn find_key(slot: Option<u16>, likely: &[(&Name, Option<u64>)], keys: u64) -> String {
    let search = match slot {
        Some(slot) => format!("find the hot key of slot {slot}"),
        None => "find the hot slots and keys".into(),
    };
    let keys_and_sizes = likely.iter().map(|(key, size)| match size {
        Some(size) => format!("{} ({})", short(key), bytes(*size)),
        None => short(key),
    });
    let names: Vec<String> = keys_and_sizes.collect();
    let largest = match names.as_slice() {
        [] => String::new(),
        [name] if keys > 1 => format!("; of its {} the largest is {name}", counted(keys, "key")),
        names => format!("; of its {}: {}", counted(keys, "key"), names.join(", ")),
    };
    let pronoun = if slot.is_some() { "it" } else { "them" };
    format!("{search}: MONITOR for a few seconds names {pronoun}{largest}")
}

/// Keys of a pattern without a TTL get one, or are deleted; `size` are the bytes of all its keys.
pub(crate) fn expire(pattern: &Name, part: f64, size: u64) -> String {
    format!(
        "give keys of {} a TTL or delete some: {} of them have none; all of them are {}",
        short(pattern),
        percent(part),
        bytes(size)
    )
}

/// The limit of memory is raised, of this node or of all. `slot`: a slot for which no node has room, and the limit that
/// it needs.
pub(crate) fn raise_to(node: Option<&Name>, to: u64, slot: Option<(u16, u64)>) -> String {
    let why = slot.map_or(String::new(), |(slot, needed)| {
        format!(
            "; moving does not help: slot {slot} needs about {} on any node",
            bytes(needed)
        )
    });
    let to = bytes(to);
    match node {
        Some(node) => format!(
            "now: raise maxmemory of {} to {to}, if its host has that much{why}",
            short(node)
        ),
        None => format!(
            "now: raise maxmemory of all nodes to {to}, so that they stay equal, if their hosts have that much{why}"
        ),
    }
}

/// Slots move, with their keys and bytes, where these are known.
pub(crate) fn moves(slots: u64, keys: Option<u64>, size: Option<u64>) -> String {
    let amount = match (size, keys) {
        (Some(size), _) => format!(", {}", bytes(size)),
        (None, Some(keys)) => format!(", {}", counted(keys, "key")),
        (None, None) => String::new(),
    };
    format!("move {}{amount}", counted(slots, "slot"))
}

/// The fullest node stays as it is, and the others become even.
pub(crate) fn evens_others(before: f64, after: f64) -> String {
    format!(
        ": the fullest node stays, the others go from {} to {}",
        ratio(before),
        ratio(after)
    )
}

/// Few slots move that bring nodes below their limit of memory: the part of it that the fullest node uses, and then.
pub(crate) fn relieve(slots: &[u16], size: u64, [before, after]: [f64; 2]) -> String {
    format!(
        "now: move slot{} {}, {}: the fullest node goes from {} to {} of its maxmemory",
        if slots.len() == 1 { "" } else { "s" },
        list(slots.iter(), NAMES),
        bytes(size),
        percent(before),
        percent(after)
    )
}

/// A backup is restored into shards with other slot ranges.
pub(crate) fn slot_ranges(shards: u64) -> String {
    format!(
        "restore a backup into {} with other ranges of slots (loses writes since the backup and changes the endpoint)",
        counted(shards, "shard")
    )
}

/// Tags and keys are split, maybe with slots that move along; `is_written`: the heaviest is mostly written.
pub(crate) fn split(units: &[Pieces], then_move: bool, is_written: bool) -> String {
    let no_cache = match (is_written, units.len()) {
        (false, _) => "",
        (true, 1) => "; a cache does not help: it is mostly written",
        (true, _) => "; a cache does not help: the first is mostly written",
    };
    let moves = if then_move { ", then even out" } else { "" };
    format!(
        "split {}{moves} (in the application{no_cache})",
        pieces(units)
    )
}

/// Slots move for the time until a tag or key is split.
pub(crate) fn until_split(name: &Name, kind: UnitKind, moves: &str) -> String {
    format!("until {} is split: {moves}", unit(name, kind))
}

/// The braces are removed from names. With captures beside the dump, another command tells what needs them.
pub(crate) fn untag(tag: &Name, has_captures: bool) -> String {
    let caveat = if has_captures {
        "; slotscope advise shows whether commands need them"
    } else {
        ""
    };
    format!(
        "take the braces of {{{}}} out of the key names: nearly all keys have it (in the application{caveat})",
        short(tag)
    )
}

/// A tag or key is cached; `reads` is the part of its operations that only read. Replicas help too, where a primary has
/// one, or it is not known that none has.
pub(crate) fn cache(name: &Name, kind: UnitKind, reads: Option<f64>, has_replicas: bool) -> String {
    let reads = match reads {
        Some(reads) => format!("{} of its operations are reads", percent(reads)),
        None => "if it is mostly read; MONITOR shows it".into(),
    };
    let or = if has_replicas {
        ", or read it from replicas"
    } else {
        ""
    };
    format!(
        "now: cache {} in the client{or} ({reads})",
        unit(name, kind)
    )
}

/// Primaries are added; with more nodes than `most`, the heaviest slot alone exceeds a fair share.
pub(crate) fn add_nodes(count: u64, most: Option<u64>) -> String {
    let most = most.map_or(String::new(), |most| {
        format!(
            "; on more than {} the heaviest slot alone exceeds a fair share",
            grouped(most)
        )
    });
    let count = if count == 1 {
        "a primary".into()
    } else {
        format!("{} primaries", grouped(count))
    };
    format!("add {count}, then move slots{most}")
}

/// A key stays that would block its node for this many milliseconds.
pub(crate) fn pinned(key: &Name, block_ms: f64) -> String {
    format!(
        "key {} stays: moving it blocks its node for {} (--move-big moves it)",
        short(key),
        about(block_ms)
    )
}

/// `{flash} and key big into 13 parts each`
fn pieces(units: &[Pieces]) -> String {
    let shown = units.iter().map(|(name, kind, _)| unit(name, *kind));
    let names = list(shown, NAMES);
    match units {
        [(_, kind, parts)] => {
            let parts = (grouped(u64::from(*parts)), kind.noun(*parts));
            format!("{names} into {} {}", parts.0, parts.1)
        }
        _ => {
            let parts = units.iter().map(|(.., parts)| *parts);
            let (least, most) = (parts.clone().min(), parts.max());
            let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
            if least == most {
                format!("{names} into {most} parts each")
            } else {
                format!("{names} into {least} to {most} parts each")
            }
        }
    }
}

/// Why no placement is better, by the planner.
pub(crate) fn why_not(why: &WhyNot) -> String {
    match why {
        WhyNot::Fixed(fixed) => format!(
            "{} that may not move hold {} a node's share",
            counted(fixed.slots as u64, "slot"),
            times(fixed.share)
        ),
        WhyNot::Floor(SetBy::Slot(slot)) => {
            format!("slot {slot} alone is more than a fair share")
        }
        WhyNot::Floor(SetBy::Slots { together, heaviest }) => {
            format!("{together} of the {heaviest} heaviest slots have to share a node")
        }
        WhyNot::NotWorth(to, slots) => format!(
            "{} was found for it alone, by moving {}",
            ratio(*to),
            counted(*slots as u64, "slot")
        ),
        WhyNot::NoPlacement(proof) => no_placement(proof),
        WhyNot::NotFound => "no better placement was found within the search".into(),
    }
}

/// `no placement within maxmemory brings it to 1.10; without maxmemory 1.04 was found`
fn no_placement(proof: &NoPlacement) -> String {
    let within = if proof.has_limits {
        " within maxmemory"
    } else {
        ""
    };
    let beside = if proof.has_others {
        " beside what this plan reaches in the other role"
    } else {
        ""
    };
    let found = proof.found.map_or(String::new(), |(freed, found)| {
        let without = match freed {
            Freed::Limits => "without maxmemory ",
            Freed::Others => "without regard to that ",
            Freed::Nothing => "",
        };
        format!("; {without}{} was found", ratio(found))
    });
    let band = ratio(proof.band);
    format!("no placement{within} brings it to {band}{beside}{found}")
}
