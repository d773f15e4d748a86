//! The answer: how uneven the nodes are, why, what to do about it, and what else is a risk. The terminal, the page and
//! Markdown show the same findings in the same order.

use crate::report::view::{Block, Cell, Column, Scope, Section, Table, Value};
use crate::summary::Summary;
use crate::summary::cause::{Cause, CauseKind, State};
use crate::summary::remedy::Remedy;
use crate::summary::risk::Risk;
use crate::summary::verdict::{MetricVerdict, Verdict};
use crate::text::and_more;
use crate::wording::remedy::result;
use crate::wording::verdict::cause_in_words;

/// Remedies that are shown.
const REMEDIES: usize = 3;
/// Risks that are shown; report.json has all.
const ALL_RISKS: usize = 10;
/// Risks that are shown where space is short.
const RISKS: usize = 3;
/// A cause that adds less than this is left out, but for chance among units that there are.
const NOTHING: f64 = 0.0005;

/// The state in one word.
pub fn word(state: State) -> &'static str {
    match state {
        State::Empty => "Empty",
        State::Suspicious => "Suspicious",
        State::Balanced => "Balanced",
        State::Watch => "Watch",
        State::Skewed => "Skewed",
    }
}

/// The first lines of the report: the verdict, and what other metrics say.
pub fn section(summary: &Summary) -> Option<Section<'_>> {
    let verdict = &summary.verdict;
    let first = Block::Verdict(verdict.state, verdict.sentence.to_string());
    let section = Section::untitled().scoped(Scope::Overview).with(first);
    Some(section.with_all(others(verdict).map(Block::Line)))
}

/// What the other metrics say, where they say something else: operations, or the better of keys and bytes.
pub fn others(verdict: &Verdict) -> impl Iterator<Item = String> + '_ {
    let is_other =
        |found: &&MetricVerdict| found.metric != verdict.metric && !is_silent(found.state);
    verdict.by_metric.iter().filter(is_other).map(|found| {
        let word = match found.metric {
            metric if metric.is_of_use() && found.state.is_uneven() => {
                format!("HOT by {}", metric.title())
            }
            metric => format!("By {}", metric.title()),
        };
        format!("{word}: {}", found.sentence)
    })
}

/// Whether a verdict says nothing that the main one does not: nothing is there, or the input is not what it should be.
fn is_silent(state: State) -> bool {
    matches!(state, State::Suspicious | State::Empty)
}

/// Why the fullest node is above its fair share.
pub fn causes(summary: &Summary) -> Option<Section<'_>> {
    let found = summary.verdict.worst()?;
    let fullest = found.fullest.as_ref()?;
    let is_shown = |cause: &&Cause| {
        let is_chance = cause.kind == CauseKind::Chance && cause.units != Some(0);
        cause.excess.abs() >= NOTHING || is_chance
    };
    let rows = found.causes.iter().filter(is_shown).map(|cause| {
        vec![
            Cell::text(cause_in_words(cause, found.metric)),
            Value::Change(cause.excess).into(),
            Cell::of(cause.max_over_mean_without, |ratio| Cell::ratio(ratio, 3)),
        ]
    });
    let columns = vec![
        Column::words("what").flexible(),
        Column::number("fair shares")
            .hint("what it adds to the node's load; all add up to its excess"),
        Column::number("without it")
            .hint("the fullest node in fair shares, were this spread over all slots"),
    ];
    let table = Table::new(columns, rows);
    let nodes = &summary.nodes.list;
    let node = nodes.iter().find(|node| node.id == fullest.node)?;
    let title = format!(
        "Why {} has {:.3} times its fair share",
        node.name(),
        fullest.max_over_mean
    );
    let section = Section::titled(title)
        .anchored("causes", "Why")
        .table(table);
    found.state.is_uneven().then_some(section)
}

/// What to do: one line and one command for each remedy, or what else helps.
pub fn steps(summary: &Summary) -> Vec<(String, Option<String>)> {
    let Some(found) = summary
        .verdict
        .worst()
        .filter(|found| found.state.is_uneven())
    else {
        let what = match summary.verdict.state {
            _ if summary.has_only_extremes() => {
                "Name dumps of the primaries as well: then slots, tags and nodes are judged, and these keys are marked in the tables."
            }
            State::Empty => {
                "Check that the dump is the right file and that its format was detected; --format help lists all formats."
            }
            State::Suspicious => {
                "Take the dump again from every primary, and give the topology of the same moment with --topology."
            }
            _ => "Nothing today. Look again when the data has grown or the key names change.",
        };
        return vec![(what.into(), None)];
    };
    if found.remedies.is_empty() {
        let what = "No move of slots and no split of a listed tag or key evens the nodes out; look at the fullest slots below.";
        return vec![(what.into(), None)];
    }
    let step = |remedy: &Remedy| {
        let command = remedy.command.as_ref().map(ToString::to_string);
        (result(remedy, found.metric), command)
    };
    found.remedies.iter().take(REMEDIES).map(step).collect()
}

/// The same as a section.
pub fn remedies(summary: &Summary) -> Option<Section<'_>> {
    let section = Section::titled("What to do").scoped(Scope::Overview);
    let blocks = steps(summary)
        .into_iter()
        .flat_map(|(what, command)| [Some(Block::Line(what)), command.map(Block::Command)]);
    Some(section.with_all(blocks.flatten()))
}

/// What is a risk however even the nodes are.
pub fn risks(summary: &Summary) -> Option<Section<'_>> {
    risks_up_to(summary, ALL_RISKS, |_, _| true)
}

/// The same where space is short: the worst risk of each key and tag.
pub fn main_risks(summary: &Summary) -> Option<Section<'_>> {
    risks_up_to(summary, RISKS, |risk, before| {
        risk.name.is_none() || before.iter().all(|other| other.name != risk.name)
    })
}

/// At most `most` of the risks that `chosen` takes, which gets each with those before it.
fn risks_up_to(
    summary: &Summary,
    most: usize,
    chosen: impl Fn(&Risk, &[Risk]) -> bool,
) -> Option<Section<'_>> {
    let risks = &summary.verdict.risks;
    let shown: Vec<Block<'_>> = (0..risks.len())
        .filter(|at| chosen(&risks[*at], &risks[..*at]))
        .take(most)
        .map(|at| Block::Line(risks[at].sentence.to_string()))
        .collect();
    let more = risks.len() - shown.len();
    let more = (more > 0).then(|| Block::Line(and_more(more)));
    let section = Section::titled("Risks").anchored("risks", "Risks");
    (!risks.is_empty()).then(|| section.with_all(shown.into_iter().chain(more)))
}
