//! Sentences on nodes that were not seen.

use slotscope_base::name::Name;
use slotscope_base::text::{counted, grouped, list, short};
use slotscope_model::coverage::Seen;
use slotscope_model::measure::Measure;
use slotscope_model::state::Role;
use slotscope_model::words::NAMES;

/// Slots that are in none of the replies that were read.
pub(crate) fn slots_of_no_reply(slots: u32) -> String {
    format!(
        "{} are in none of the replies: not all primaries were read",
        counted(slots.into(), "slot")
    )
}

/// Commands that are in no slot, where no file names the node.
pub(crate) fn commands_of_no_node(keyless: u64, all: u64) -> String {
    format!(
        "{} of {} have no key, and no file is named after the node that ran them (7001.monitor)",
        grouped(keyless),
        counted(all, "command")
    )
}

/// The nodes of a role that were not seen whole, of `owning`.
pub(crate) fn unseen(nodes: &[(Name, Seen)], owning: usize, measure: Measure) -> String {
    let names = |is_so: &dyn Fn(Seen) -> bool| -> Vec<Name> {
        let nodes = nodes.iter().filter(|(_, seen)| is_so(*seen));
        nodes.map(|(node, _)| node.clone()).collect()
    };
    let of = |nodes: &[Name]| list(nodes.iter().map(short), NAMES);
    let mut parts = Vec::new();
    let nothing = names(&|seen| seen == Seen::Nothing);
    if !nothing.is_empty() {
        let was = if nothing.len() == 1 { "was" } else { "were" };
        let read = match measure.role() {
            Role::Memory => "read",
            Role::Load => "captured",
        };
        let nodes = counted(owning as u64, "node");
        parts.push(format!("{} of {nodes} {was} not {read}", of(&nothing)));
    }
    let partly = |seen: &(Name, Seen)| match seen.1 {
        Seen::Slots { read, owned } => Some((short(&seen.0), read, owned)),
        _ => None,
    };
    let mut slots = nodes.iter().filter_map(partly);
    if let Some((node, read, owned)) = slots.next() {
        let more = match slots.count() {
            0 => String::new(),
            more => format!(", and only some of {}", counted(more as u64, "other node")),
        };
        parts.push(format!(
            "only {} of {} of {node} were read{more}",
            grouped(read.into()),
            counted(owned.into(), "slot")
        ));
    }
    let time = names(&|seen| seen == Seen::Time);
    if !time.is_empty() {
        parts.push(format!(
            "the counters of {} started anew, or are of slots that came or went",
            of(&time)
        ));
    }
    parts.join(", ")
}
