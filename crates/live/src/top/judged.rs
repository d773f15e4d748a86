//! The verdict of `analyze` on the last seconds: its first lines, and the standing of each shard. Both come from one
//! summary, so that rows, colours and headline agree.

use slotscope_app::pipeline::running::summary;
use slotscope_base::error::Result;
use slotscope_collect::live::Snapshot;
use slotscope_collect::work;
use slotscope_model::Summary;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::standing::Standing;
use slotscope_report::view::{self, Block};

use crate::top::rows::{Cluster, Health, Shard};
use crate::top::screen::Verdict;

/// Judges the time between two readings, and adds each shard's standing to its row.
///
/// # Errors
/// There is no verdict: the node listing is unusable, or no primary answered twice.
pub(super) fn judge(first: &Snapshot, last: &Snapshot, cluster: &mut Cluster) -> Result<Verdict> {
    let summary = summary(first, last)?;
    let problems = summary.verdict.problems().count();
    for shard in &mut cluster.shards {
        // CPU time, load and the sentence are of the same seconds.
        if let (Some(before), Some(now)) = (first.reading(&shard.id), last.reading(&shard.id)) {
            shard.work.cpu = work::between(before, now).cpu;
        }
        let mut nodes = summary.nodes.list.iter();
        if let Some(node) = nodes.find(|node| node.id.0 == shard.id.as_bytes()) {
            shard.memory_share = node.over_share.memory;
            shard.load_share = node.over_share.load;
            shard.note(summary.verdict.standing(node), node, problems);
        }
    }
    Ok(verdict(&summary))
}

/// The first lines of `analyze`.
fn verdict(summary: &Summary) -> Verdict {
    let line = |block: &Block<'_>| match block {
        Block::Verdict(state, word, sentence) => Some((*state, word.clone(), sentence.clone())),
        _ => None,
    };
    let sections = view::answer(summary);
    let blocks = sections.iter().flat_map(|section| &section.blocks);
    blocks.filter_map(line).collect()
}

impl Shard {
    fn note(&mut self, standing: Option<Standing>, node: &NodeLoad, problems: usize) {
        let Some(Standing { place, state, role }) = standing.filter(|_| !self.health.is_silent)
        else {
            return;
        };
        let share = role.and_then(|role| node.over_share.of(role));
        self.health = Health {
            state: Some(state),
            role,
            // Problems come before shares, which count for less than one.
            urgency: (problems - place) as f64 + share.map_or(0.0, |share| share / (1.0 + share)),
            ..self.health
        };
    }
}
