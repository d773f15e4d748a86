//! Steps, each in one sentence in the imperative.

use slotscope_engine::name::Name;
use slotscope_engine::text::{bytes, counted, grouped, list, percent, short};
use slotscope_planner::lower_bound::SetBy;
use slotscope_planner::why_not::WhyNot;

use crate::summary::step::{LeftText, StepText};
use crate::wording::InWords;
use crate::wording::finding::about;
use crate::wording::verdict::{NAMES, ratio, times, unit};

impl InWords for StepText {
    fn in_words(&self) -> String {
        match self {
            StepText::BringBack(nodes) => {
                format!("bring {} back", list(nodes.iter().map(short), NAMES))
            }
            StepText::FailOver(nodes) => format!(
                "if {} cannot be brought back, promote the replica with the highest offset (TAKEOVER without a majority)",
                list(nodes.iter().map(short), NAMES)
            ),
            StepText::FindFailure => {
                "compare CLUSTER NODES of all primaries: the listing has neither a failed primary nor a slot without an owner"
                    .into()
            }
            StepText::AssignSlots(slots) => {
                format!("assign the {} without an owner", counted(u64::from(*slots), "slot"))
            }
            StepText::EndMove(slots) => match slots.as_slice() {
                [slot] => format!("slot {slot} is half-migrated: if no migration is running, fix it"),
                _ => format!(
                    "{} are half-migrated: if no migration is running, fix them",
                    counted(slots.len() as u64, "slot")
                ),
            },
            StepText::TakeAgain => {
                "take the dump again from every primary, with the topology of the same moment, then run this again".into()
            }
            StepText::FindKey { slot, likely, keys } => {
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
                    [name] if *keys > 1 => {
                        format!("; of its {} the largest is {name}", counted(*keys, "key"))
                    }
                    names => format!("; of its {}: {}", counted(*keys, "key"), names.join(", ")),
                };
                let pronoun = if slot.is_some() { "it" } else { "them" };
                format!("{search}: MONITOR for a few seconds names {pronoun}{largest}")
            }
            StepText::Expire(pattern, part, size) => format!(
                "give keys of {} a TTL or delete some: {} of them have none; all of them are {}",
                short(pattern),
                percent(*part),
                bytes(*size)
            ),
            StepText::Buffers(size) => format!(
                "look at client buffers and the replication backlog: {} that are not keys",
                bytes(*size)
            ),
            StepText::RaiseLimit(None) => "raise maxmemory, where the host has room".into(),
            StepText::RaiseLimit(Some(service)) => {
                format!("scale up to a larger node type of {service}")
            }
            StepText::RaiseTo { node, to, slot } => {
                let why = slot.map_or(String::new(), |(slot, needed)| {
                    format!("; moving does not help: slot {slot} needs about {} on any node", bytes(needed))
                });
                let to = bytes(*to);
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
            StepText::Move {
                slots,
                keys,
                bytes: size,
            } => {
                let amount = match (size, keys) {
                    (Some(size), _) => format!(", {}", bytes(*size)),
                    (None, Some(keys)) => format!(", {}", counted(*keys, "key")),
                    (None, None) => String::new(),
                };
                format!("move {}{amount}", counted(*slots, "slot"))
            }
            StepText::Relieve {
                slots,
                bytes: size,
                fullest: [before, after],
            } => format!(
                "now: move slot{} {}, {}: the fullest node goes from {} to {} of its maxmemory",
                if slots.len() == 1 { "" } else { "s" },
                list(slots.iter(), NAMES),
                bytes(*size),
                percent(*before),
                percent(*after)
            ),
            StepText::EvenOut { slots, bytes: size } => format!(
                "later: even out: move {}, {}",
                counted(*slots, "slot"),
                bytes(*size)
            ),
            StepText::Meant => {
                "if the nodes are meant to own different numbers of slots: say so with --weight".into()
            }
            StepText::SlotRanges { shards } => format!(
                "restore a backup into {} with other ranges of slots (loses writes since the backup and changes the endpoint)",
                counted(*shards, "shard")
            ),
            StepText::Split {
                units,
                then_move,
                is_written,
            } => {
                let no_cache = match (is_written, units.len()) {
                    (false, _) => "",
                    (true, 1) => "; a cache does not help: it is mostly written",
                    (true, _) => "; a cache does not help: the first is mostly written",
                };
                let moves = then_move.map_or(String::new(), |slots| {
                    format!(", then move {}", counted(slots, "slot"))
                });
                format!("split {}{moves} (in the application{no_cache})", pieces(units))
            }
            StepText::Untag(tag) => format!(
                "take the braces of {{{}}} out of the key names: nearly all keys have it (in the application)",
                short(tag)
            ),
            StepText::ChooseTags {
                tags,
                patterns,
                keys,
            } => {
                let change = match tags.as_slice() {
                    [] => String::from("take the braces off"),
                    tags => format!("choose other hash tags: {} in", list(tags.iter(), NAMES)),
                };
                format!(
                    "{change} {}, {} (in the application)",
                    counted(*patterns, "pattern"),
                    counted(*keys, "key")
                )
            }
            StepText::FinerTags => {
                "put a finer part of those names in braces (in the application)".into()
            }
            StepText::RenameTags(count) => format!(
                "rename the {} so that they spread (in the application)",
                counted(*count, "hash tag")
            ),
            StepText::Cache {
                name,
                is_tag,
                reads,
                has_replicas,
            } => {
                let reads = match reads {
                    Some(reads) => format!("{} of its operations are reads", percent(*reads)),
                    None => "if it is mostly read; MONITOR shows it".into(),
                };
                let or = if *has_replicas {
                    ", or read it from replicas"
                } else {
                    ""
                };
                format!(
                    "now: cache {} in the client{or} ({reads})",
                    unit(name, *is_tag)
                )
            }
            StepText::AddNodes { count, most } => {
                let most = most.map_or(String::new(), |most| {
                    format!(
                        "; on more than {} the heaviest slot alone exceeds a fair share",
                        grouped(most)
                    )
                });
                let count = if *count == 1 {
                    "a primary".into()
                } else {
                    format!("{} primaries", grouped(*count))
                };
                format!("add {count}, then move slots{most}")
            }
            StepText::Empty(node) => format!("empty {} instead", short(node)),
            StepText::Forget(node) => {
                format!("forget {} instead: it has no slots", short(node))
            }
        }
    }
}

/// `{flash} and key big into 13 parts each`
fn pieces(units: &[(Name, bool, u32)]) -> String {
    let shown = units.iter().map(|(name, is_tag, _)| unit(name, *is_tag));
    let names = list(shown, NAMES);
    match units {
        [(_, is_tag, parts)] => {
            let kind = if *is_tag { "hash tags" } else { "keys" };
            format!("{names} into {} {kind}", grouped(u64::from(*parts)))
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

impl InWords for LeftText {
    fn in_words(&self) -> String {
        match self {
            LeftText::WhyNot(why) => why.in_words(),
            LeftText::HotSlot(slot) => format!(
                "slot {slot} alone is more than a fair share; MONITOR shows which key it is"
            ),
            LeftText::Pinned { key, block_ms } => format!(
                "key {} stays: moving it blocks its node for {} (--move-big moves it)",
                short(key),
                about(*block_ms)
            ),
            LeftText::UnknownBySlot => {
                "memory by slot is unknown; collect without --slots-only".into()
            }
        }
    }
}

impl InWords for WhyNot {
    fn in_words(&self) -> String {
        match self {
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
            WhyNot::NoPlacement(proof) => {
                let names = list(proof.slots.iter(), NAMES);
                let slot = if proof.slots.len() == 1 {
                    "slot"
                } else {
                    "slots"
                };
                format!(
                    "no placement evens both: {slot} {names} keeps it at {} or more",
                    ratio(proof.least)
                )
            }
            WhyNot::NotWorth(to, slots) => format!(
                "{} would be possible, which is not worth {}",
                ratio(*to),
                counted(*slots as u64, "slot")
            ),
            WhyNot::Limits => "maxmemory of the nodes leaves no better placement".into(),
            WhyNot::OtherRole => "a better placement would make another role worse".into(),
            WhyNot::NotFound => "no placement was found that is worth its moves".into(),
        }
    }
}
