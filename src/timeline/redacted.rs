//! Redaction of a timeline: names of keys, tags, nodes and files.

use slotscope_engine::redact::{Redact, Redaction};
use slotscope_topology::Topology;

use crate::timeline::{Burst, Timeline};

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

/// Its sentences contain no names, and its nodes are already redacted.
impl Redact for Timeline {
    fn redact(&mut self, redaction: &Redaction) {
        let Timeline {
            schema: _,
            by: _,
            ops: _,
            bucket_secs: _,
            buckets: _,
            slots: _,
            nodes: _,
            tags,
            bursts,
            more_bursts: _,
            untimed: _,
            rejected,
            incomplete,
            notes,
        } = self;
        for tag in tags.iter_mut().flatten() {
            tag.tag.redact(redaction);
        }
        bursts.redact(redaction);
        rejected.redact(redaction);
        incomplete.redact(redaction);
        notes.push(redaction.note());
    }
}

impl Redact for Burst {
    fn redact(&mut self, redaction: &Redaction) {
        let Burst {
            tag,
            key,
            slot: _,
            node: _,
            from: _,
            to: _,
            ops: _,
            share: _,
            rate: _,
            usual_rate: _,
            times_usual: _,
        } = self;
        tag.redact(redaction);
        key.redact(redaction);
    }
}
