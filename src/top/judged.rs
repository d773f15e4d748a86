//! The verdict of `analyze` on the last seconds: the first lines, and how each shard stands in it. Both come from one summary, so
//! that rows, colours and the first line agree.

use slotscope_collect::live::Snapshot;
use slotscope_collect::work;
use slotscope_engine::ansi;
use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;
use slotscope_engine::text::percent;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::nodes::NodeLoad;
use slotscope_findings::summary::standing::{ProcessLoad, Standing, by_processes};
use slotscope_findings::summary::state::{Role, State};
use slotscope_findings::summary::verdict as judgement;
use slotscope_report::render::text;
use slotscope_report::view::{self, Block};

use crate::exporter::judged::{pairs, summary};
use crate::top::rows::{Cluster, Health, Shard};
use crate::top::screen::Verdict;
use crate::top::written;

/// A first line: its state, the word that it is shown with, and its sentence.
type Problem = (State, String, String);

/// The report that `w` writes.
const PAGE: text::Page<'_> = text::Page {
    width: written::WIDTH,
    height: None,
    rows: written::ROWS,
    rest: "",
    whole_names: true,
};

/// Judges the time between two readings, and notes in the rows how each shard stands. `words` name the cluster in commands.
///
/// # Errors
/// There is no verdict: the list of nodes cannot be used, or no primary answered twice.
pub(super) fn judge(
    first: &Snapshot,
    last: &Snapshot,
    words: &[String],
    cluster: &mut Cluster,
) -> Result<Verdict> {
    let summary = summary(first, last, words)?;
    let problems = summary.verdict.problems().count();
    for shard in &mut cluster.shards {
        let mut nodes = summary.nodes.list.iter();
        if let Some(node) = nodes.find(|node| node.id.0 == shard.id.as_bytes()) {
            shard.memory_share = node.over_share.memory;
            shard.load_share = node.over_share.load;
            shard.note(summary.verdict.standing(node), node, problems);
        }
    }
    let is_by_slot = summary.verdict.role(Role::Load).is_some();
    let of_processes = if is_by_slot {
        None
    } else {
        by_process(first, last, &summary.verdict, cluster)
    };
    verdict(&summary, of_processes)
}

/// The first lines that `analyze` would print, and one more.
fn verdict(summary: &Summary, more: Option<Problem>) -> Result<Verdict> {
    let mut sections = view::answer(summary);
    let blocks = sections.iter_mut().map(|section| &mut section.blocks);
    let mut problems = blocks.filter(|blocks| blocks.iter().any(|block| state(block).is_some()));
    if let (Some(blocks), Some(more)) = (problems.next(), more) {
        add(blocks, more);
    }
    let line = |block: &Block<'_>| match block {
        Block::Verdict(state, word, sentence) => Some((*state, word.clone(), sentence.clone())),
        _ => None,
    };
    let mut made = Vec::new();
    text::write(&sections, PAGE, &mut made).map_err(|error| Error::io("report", error))?;
    let blocks = sections.iter().flat_map(|section| &section.blocks);
    Ok(Verdict {
        lines: blocks.filter_map(line).collect(),
        text: ansi::stripped(&String::from_utf8_lossy(&made)),
    })
}

/// Adds a problem of load before those that are not more urgent, in place of the line that all is well.
fn add(blocks: &mut Vec<Block<'_>>, (of, word, sentence): Problem) {
    blocks.retain(|block| state(block).is_none_or(|state| state >= State::Watch));
    let is_less = |block: &Block<'_>| state(block).is_none_or(|state| state <= of);
    let at = blocks.iter().position(is_less).unwrap_or(blocks.len());
    blocks.insert(at, Block::Verdict(of, word, sentence));
}

fn state(block: &Block<'_>) -> Option<State> {
    match block {
        Block::Verdict(state, ..) => Some(*state),
        _ => None,
    }
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
            urgency: urgency(2 * (problems - place), share),
            ..self.health
        };
    }
}

/// Problems before shares: these count for less than one. Ranks of the verdict are even.
fn urgency(rank: usize, share: Option<f64>) -> f64 {
    rank as f64 + share.map_or(0.0, |share| share / (1.0 + share))
}

/// Servers that do not count CPU time by slot are judged by that of their processes, as load is before memory of the same
/// state; the line for the busiest shard that has no more urgent problem.
fn by_process(
    first: &Snapshot,
    last: &Snapshot,
    verdict: &judgement::Verdict,
    cluster: &mut Cluster,
) -> Option<Problem> {
    let work = pairs(first, last)
        .into_iter()
        .map(|[before, after]| work::between(before, after));
    let work: Vec<_> = work.collect();
    let cpu: Vec<Option<f64>> = work.iter().map(|work| work.cpu).collect();
    let loads = by_processes(&cpu);
    let mut worst = None;
    for (work, load) in work.iter().zip(loads) {
        let mut shards = cluster.shards.iter_mut();
        let shard = shards.find(|shard| Some(&shard.id) == work.id.as_ref());
        let (Some(shard), Some(ProcessLoad { over_share, state })) = (shard, load) else {
            continue;
        };
        shard.load_share = Some(over_share);
        let Health {
            state: own, role, ..
        } = shard.health;
        let is_said = role == Some(Role::Load) || own.is_some_and(|own| own > state);
        if !state.is_uneven() || is_said {
            continue;
        }
        let less = verdict
            .problems()
            .filter(|found| found.state <= Some(state));
        let less = less.count();
        shard.health = Health {
            state: Some(state),
            role: Some(Role::Load),
            urgency: urgency(2 * less + 1, Some(over_share)),
            ..shard.health
        };
        if worst.is_none_or(|(_, share, _, _)| over_share > share) {
            worst = Some((state, over_share, &work.name, work.cpu.unwrap_or(0.0)));
        }
    }
    worst.map(|(state, over_share, name, cpu)| {
        let sentence = format!(
            "{} holds {over_share:.2} times its fair share of the CPU time, {} of a core",
            Name::from(name.as_str()),
            percent(cpu)
        );
        (state, state.word(Some(Role::Load)).to_owned(), sentence)
    })
}
