//! Keys in slots that their node does not own, which a collection excludes.

use slotscope_engine::name::Name;
use slotscope_engine::redact::Redaction;
use slotscope_engine::source::collection::manifest::{Manifest, NodeEntry};
use slotscope_engine::text::{counted, ranges};
use slotscope_findings::summary::migration::Migration;

/// Maximum ranges of slots shown.
const RANGES: usize = 8;

/// One sentence per node with leftover keys: their cause, and how to delete them. If redacted, without node names.
pub(crate) fn in_words(
    manifest: &Manifest,
    redaction: Option<&Redaction>,
) -> impl Iterator<Item = String> {
    let nodes = manifest.nodes.iter().filter(|node| node.strays > 0);
    nodes.map(move |node| sentence(node, redaction.is_some()))
}

fn sentence(node: &NodeEntry, is_redacted: bool) -> String {
    let name = if is_redacted {
        "a node".into()
    } else {
        Name::from(node.name.as_str()).to_string()
    };
    let slots = match ranges(&node.stray_slots, RANGES) {
        slots if slots.is_empty() => slots,
        slots => format!(" ({slots})"),
    };
    // `redis-cli --cluster fix` closes open slots; these are not open, and it would not touch them.
    let cure = match Migration::of([node.server.as_deref()].into_iter()) {
        Migration::Valkey => "CLUSTER FLUSHSLOT there deletes them",
        _ => {
            "redis-cli --cluster fix does not see them: delete them by slot as docs/troubleshooting.md shows"
        }
    };
    format!(
        "{name} holds {} of slots that it does not own{slots}, left out: a resharding that was cut off, or a failover during \
         one, left them behind. They take memory and no client reads them; {cure}",
        counted(node.strays, "key")
    )
}
