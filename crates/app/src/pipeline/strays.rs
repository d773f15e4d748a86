//! Keys in slots that their node does not own, which a collection excludes.

use slotscope_base::name::Name;
use slotscope_base::redact::Redaction;
use slotscope_base::text::{counted, ranges};
use slotscope_findings::summary::migration::Migration;
use slotscope_read::source::collection::manifest::{Manifest, NodeEntry};
use slotscope_read::source::collection::servers::ServerEntry;

/// Maximum ranges of slots shown.
const RANGES: usize = 8;

/// One sentence per node with leftover keys: their cause, and how to delete them. If redacted, without node names. Where their
/// slots are not known, they may be keys of their owner.
pub fn in_words(
    manifest: &Manifest,
    redaction: Option<&Redaction>,
) -> impl Iterator<Item = String> {
    let has_strays = |node: &&NodeEntry| node.strays > 0 && !node.stray_slots.is_empty();
    let nodes = manifest.nodes.iter().filter(has_strays);
    nodes.map(move |node| sentence(manifest, node, redaction.is_some()))
}

fn sentence(manifest: &Manifest, node: &NodeEntry, is_redacted: bool) -> String {
    let shown = |name: &str| {
        if is_redacted {
            "a node".into()
        } else {
            Name::from(name).to_string()
        }
    };
    // A replica has the keys of its primary, and deletes none.
    let is_primary = |server: &&ServerEntry| server.id.is_some() && server.id == node.primary;
    let primary = manifest.servers.iter().find(is_primary);
    let name = shown(primary.map_or(&node.name, |primary| &primary.name));
    let moved = manifest.slots_moved.iter().chain(&manifest.slots_open);
    let has_moved = moved.into_iter().any(|(first, last)| {
        let mut strays = node.stray_slots.iter();
        strays.any(|(from, to)| first <= to && from <= last)
    });
    // `redis-cli --cluster fix` closes open slots; these are not open, and it would not touch them.
    let cure = match Migration::of([node.server.as_deref()].into_iter()) {
        _ if has_moved || primary.is_none() && node.primary.is_some() => {
            "slots moved while it was read: collect again before you delete any".into()
        }
        Migration::Valkey => format!(
            "while CLUSTER NODES there shows another owner of the slot, CLUSTER FLUSHSLOT at {name} deletes them, and on their \
             owner it deletes live keys"
        ),
        _ => format!(
            "redis-cli --cluster fix does not see them: while CLUSTER NODES shows another owner of the slot, delete them by \
             slot at {name} as docs/troubleshooting.md shows"
        ),
    };
    format!(
        "{name} holds {} of slots that it does not own ({}), left out: a resharding that was cut off, or a failover during \
         one, left them behind. They take memory and no client reads them; {cure}",
        counted(node.strays, "key"),
        ranges(&node.stray_slots, RANGES)
    )
}
