//! Redaction of a timeline: names of keys, tags, nodes and files.

use slotscope_base::redact::{Redact, Redaction};
use slotscope_topology::Topology;

use crate::timeline::Timeline;

/// The nodes with redacted names.
pub(super) fn topology(
    redaction: Option<&Redaction>,
    topology: Option<Topology>,
) -> Option<Topology> {
    let renamed = |topology: Topology| match redaction {
        // The names of an even split are made up.
        Some(redaction) if !topology.is_even() => topology.renamed(|name| redaction.text(name)),
        _ => topology,
    };
    topology.map(renamed)
}

/// Hides the names in a timeline whose nodes are already redacted; its sentences contain none.
pub(super) fn hide(timeline: &mut Timeline, redaction: &Redaction) {
    for tag in timeline.tags.iter_mut().flatten() {
        tag.tag.redact(redaction);
    }
    for burst in &mut timeline.bursts {
        burst.tag.redact(redaction);
        burst.key.redact(redaction);
    }
    timeline.rejected.redact(redaction);
    timeline.incomplete.redact(redaction);
    timeline.notes.push(redaction.note());
}
