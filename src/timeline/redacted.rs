//! Redaction of a timeline: names of keys, tags, patterns, nodes and files.

use crate::redact::Redaction;
use crate::tally::rejects::Rejects;
use crate::timeline::Timeline;
use crate::topology::Topology;

/// Nodes under other names, where they have any.
pub fn topology(redaction: Option<&Redaction>, topology: Option<Topology>) -> Option<Topology> {
    let renamed = |topology: Topology| match redaction {
        // The names of an even split are made up.
        Some(redaction) if !topology.is_even() => topology.renamed(|name| redaction.text(name)),
        _ => topology,
    };
    topology.map(renamed)
}

/// A timeline under other names; `rejects` has the reasons without what was in the rows.
pub fn timeline(
    redaction: Option<&Redaction>,
    mut timeline: Timeline,
    rejects: &Rejects,
) -> Timeline {
    let Some(redaction) = redaction else {
        return timeline;
    };
    for (line, reject) in timeline.rejected.first.iter_mut().zip(&rejects.first) {
        line.reason.clone_from(&reject.reason);
    }
    let bursts = timeline.bursts.iter_mut();
    let of_bursts = bursts.flat_map(|burst| burst.tag.iter_mut().chain(&mut burst.key));
    let tags = timeline.tags.iter_mut().flatten().map(|tag| &mut tag.tag);
    let rejected = timeline
        .rejected
        .first
        .iter_mut()
        .map(|line| &mut line.file);
    let incomplete = timeline.incomplete.iter_mut().map(|stop| &mut stop.file);
    let names = of_bursts.chain(tags).chain(rejected).chain(incomplete);
    names.for_each(|name| *name = redaction.name(name));
    let patterns = timeline.patterns.iter_mut().flatten();
    let patterns = patterns.map(|of| &mut of.pattern);
    let of_bursts = timeline.bursts.iter_mut();
    let of_bursts = of_bursts.flat_map(|burst| &mut burst.pattern);
    let patterns = patterns.chain(of_bursts);
    patterns.for_each(|pattern| *pattern = redaction.pattern(pattern));
    timeline.notes.push(redaction.note());
    timeline
}
