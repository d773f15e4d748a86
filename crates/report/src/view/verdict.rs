//! The answer: what is wrong, why, what to do about it, and what else is a risk. The terminal, the page and Markdown show
//! the same findings and steps in the same order.

use slotscope_engine::text::{and_more, counted};
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::cause::{Cause, CauseKind};
use slotscope_findings::summary::finding::Finding;
use slotscope_findings::summary::role_verdict::RoleVerdict;
use slotscope_findings::summary::state::{Role, State};
use slotscope_findings::summary::step::{After, RoleAfter, Step};
use slotscope_findings::summary::verdict::Verdict;
use slotscope_findings::wording::verdict::{cause_in_words, ratio};

use crate::view::steps::{StepRow, StepTable};
use crate::view::{Block, Cell, Column, Scope, Section, Table, Value};

/// Risks that are shown; report.json has all.
const ALL_RISKS: usize = 10;
/// Risks that are shown where space is short.
const RISKS: usize = 3;
/// The number of an alternative.
const OR: &str = "or";
/// Problems that are shown where space is short.
const PROBLEMS: usize = 3;
/// A cause that adds less than this is left out, except for chance among units that there are.
const NOTHING: f64 = 0.0005;

/// The first lines of the report: every problem with its word, and the facts about roles without one.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    Some(problems_up_to(&summary.verdict, usize::MAX))
}

/// The same where space is short.
pub(crate) fn main_problems(summary: &Summary) -> Option<Section<'_>> {
    Some(problems_up_to(&summary.verdict, PROBLEMS))
}

fn problems_up_to(verdict: &Verdict, most: usize) -> Section<'_> {
    let section = Section::untitled().scoped(Scope::Overview);
    let first = Block::Verdict(
        verdict.state,
        verdict.word.clone(),
        verdict.sentence.to_string(),
    );
    let others = verdict.problems().skip(1).map(|found| {
        let state = found.state.unwrap_or_default();
        Block::Verdict(state, found.word().into(), found.sentence.to_string())
    });
    let more = verdict.problems().count().saturating_sub(most);
    section
        .with(first)
        .with_all(others.take(most - 1))
        .with_all((more > 0).then(|| Block::Line(and_more(more))))
        .with_all(notes(verdict).map(Block::Line))
}

/// Facts about roles that are not a problem, beside the one that the first line is about.
pub(crate) fn notes(verdict: &Verdict) -> impl Iterator<Item = String> + '_ {
    let first = verdict.sentence.to_string();
    let is_told = move |role: &&RoleVerdict| {
        role.state.is_uneven()
            || matches!(role.state, State::Suspicious | State::Empty)
            || role.sentence.to_string() == first
    };
    let others = verdict.roles.iter().filter(move |role| !is_told(role));
    others.map(|role| format!("{}: {}", role.name(), role.sentence))
}

/// Why the fullest node of the first problem is above its fair share.
pub(crate) fn causes(summary: &Summary) -> Option<Section<'_>> {
    causes_of(summary, uneven(&summary.verdict).next()?)
}

/// The same of the second one.
pub(crate) fn other_causes(summary: &Summary) -> Option<Section<'_>> {
    causes_of(summary, uneven(&summary.verdict).nth(1)?)
}

/// The uneven roles in the order of their findings.
fn uneven(verdict: &Verdict) -> impl Iterator<Item = &RoleVerdict> {
    let role = |found: &Finding| {
        let mut roles = verdict.roles.iter();
        roles.find(|role| role.state.is_uneven() && found.metric == Some(role.metric))
    };
    verdict.problems().filter_map(role)
}

fn causes_of<'a>(summary: &'a Summary, found: &'a RoleVerdict) -> Option<Section<'a>> {
    let fullest = found.fullest.as_ref()?;
    let nodes = &summary.nodes.list;
    let node = nodes.iter().find(|node| node.id == fullest.node)?;
    let title = format!(
        "Why {} holds {:.3} times its fair share of {}",
        node.label(),
        fullest.max_over_mean,
        found.metric.of_what()
    );
    let section = Section::titled(title).scoped(Scope::Overview);
    let columns = [
        Column::words("what").flexible(),
        Column::number("fair shares")
            .hint("what it adds to the node's load; all add up to its excess"),
        Column::number("without it")
            .hint("the fullest node in fair shares, were this spread over all slots"),
    ];
    let without = |ratio| Cell::ratio(ratio, 3);
    Some(section.table(causes_table(found, columns, without)))
}

/// The load of the fullest node of a role above its fair share, cause by cause: the cause, its part, and the fullest
/// node without it, as `without_it` writes the ratio.
pub(crate) fn causes_table(
    found: &RoleVerdict,
    [what, adds, without]: [Column; 3],
    without_it: impl Fn(f64) -> Cell<'static>,
) -> Table<'static> {
    let is_shown = |cause: &&Cause| {
        let is_chance = cause.kind == CauseKind::Chance && cause.units != Some(0);
        cause.excess.abs() >= NOTHING || is_chance
    };
    let causes: Vec<&Cause> = found.causes.iter().filter(is_shown).collect();
    let largest = causes.iter().map(|cause| cause.excess.abs());
    let largest = largest.fold(NOTHING, f64::max);
    Table::of(causes)
        .column(what, |cause| {
            Cell::text(cause_in_words(cause, found.metric))
        })
        .column(adds, |cause| {
            let excess = Cell::from(Value::Change(cause.excess));
            excess.with_load_bar(cause.excess.max(0.0) / largest)
        })
        .column(without, |cause| {
            Cell::of(cause.max_over_mean_without, &without_it)
        })
        .build()
}

/// The advice if there are no steps.
fn nothing(summary: &Summary) -> &'static str {
    match summary.verdict.state {
        _ if summary.has_only_extremes() => {
            "Name dumps of the primaries as well: then slots, tags and nodes are judged, and these keys are marked in the tables."
        }
        State::Empty => {
            "Check that the dump is the right file and that its format was detected; --format help lists all formats."
        }
        State::Balanced => {
            "Nothing today. Look again when the data has grown or the key names change."
        }
        State::Unjudged => {
            "Nothing can be said yet. Give a dump of all primaries with sizes, or a longer capture of all of them."
        }
        _ if summary.verdict.is_by_processes() => {
            "Which slots are to blame is not known: --load counts by slot on Redis 8.2 and Valkey 8, and with --monitor it finds hot slots, tags and keys on any server."
        }
        _ => {
            "No move of slots and no split of a listed tag or key evens the nodes out; look at the fullest slots below."
        }
    }
}

/// The steps as a table: a line, a command and every role after it.
pub(crate) fn step_table(summary: &Summary) -> Option<StepTable> {
    let verdict = &summary.verdict;
    if verdict.steps.is_empty() && verdict.left.is_empty() {
        return None;
    }
    let judged: Vec<&RoleVerdict> = verdict
        .roles
        .iter()
        .filter(|role| role.fullest.is_some())
        .collect();
    let has_ratios = !matches!(verdict.state, State::Down | State::Suspicious);
    let judged: Vec<&RoleVerdict> = judged.into_iter().filter(|_| has_ratios).collect();
    let after = |after: &After| {
        let of =
            |role: &&RoleVerdict| of_role(after, role.role).map(|after| ratio(after.max_over_mean));
        judged.iter().map(of).collect()
    };
    // Where slots go to other nodes than today's, all ratios are those over the nodes to come.
    let requested = verdict
        .steps
        .iter()
        .filter_map(|step| step.request.as_ref());
    let requested = requested.into_iter().find(|request| request.changes_nodes);
    let today = StepRow {
        number: None,
        what: match requested {
            Some(request) => format!("today, of {}", counted(request.nodes as u64, "node")),
            None => "today".into(),
        },
        ratios: match requested {
            Some(request) => after(&request.before),
            None => judged
                .iter()
                .map(|role| role.max_over_mean().map(ratio))
                .collect(),
        },
        command: None,
    };
    let row = |number: Option<String>, step: &Step| {
        let until = step
            .until
            .map_or(String::new(), |until| format!(" until step {}", until + 1));
        let about = if step.estimated && !judged.is_empty() {
            " (about)"
        } else {
            ""
        };
        let lifted = step.request.iter().flat_map(|request| &request.lifted);
        let lifted: Vec<&str> = lifted.map(String::as_str).collect();
        let lifted = match lifted.as_slice() {
            [] => String::new(),
            lifted => format!(" (maxmemory before even {})", lifted.join(" and ")),
        };
        StepRow {
            number,
            what: format!("{}{until}{about}{lifted}", step.sentence),
            ratios: after(&step.after),
            command: step.command.as_ref().map(ToString::to_string),
        }
    };
    let steps = verdict.steps.iter().enumerate().flat_map(|(at, step)| {
        let own = row(Some((at + 1).to_string()), step);
        let others = step.alternatives.iter();
        let others = others.map(|step| row(Some(OR.into()), step));
        std::iter::once(own).chain(others).collect::<Vec<_>>()
    });
    let today = has_ratios.then_some(today);
    Some(StepTable {
        heads: judged.iter().map(|role| head(role)).collect(),
        rows: today.into_iter().chain(steps).collect(),
        left: verdict
            .left
            .iter()
            .map(|left| {
                let units = left.units.iter().map(slotscope_engine::text::short);
                let units: Vec<String> = units.collect();
                let units = if units.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", units.join(", "))
                };
                format!(
                    "left: {} at {}: {}{units}",
                    left.role,
                    ratio(left.max_over_mean),
                    left.reason
                )
            })
            .collect(),
    })
}

fn head(role: &RoleVerdict) -> String {
    role.metric.head().into()
}

fn of_role(after: &After, role: Option<Role>) -> Option<RoleAfter> {
    match role {
        Some(Role::Memory) => after.memory,
        Some(Role::Load) => after.load,
        None => after.keys,
    }
}

/// The steps, as a section.
pub fn remedies(summary: &Summary) -> Option<Section<'_>> {
    let section = Section::titled("What to do").anchored("steps", "What to do");
    Some(match step_table(summary) {
        Some(table) => section
            .explained("commands/plan.md", "how slots are moved")
            .with(Block::Steps(table)),
        None => section
            .explained("verdict.md", "what the verdict means")
            .line(nothing(summary)),
    })
}

/// The same without the alternatives.
pub(crate) fn main_steps(summary: &Summary) -> Option<Section<'_>> {
    let mut section = remedies(summary)?;
    for block in &mut section.blocks {
        if let Block::Steps(table) = block {
            let is_step = |row: &StepRow| row.number.as_deref() != Some(OR);
            table.rows.retain(is_step);
        }
    }
    Some(section)
}

/// The risks, however even the nodes are.
pub(crate) fn risks(summary: &Summary) -> Option<Section<'_>> {
    risks_up_to(summary, ALL_RISKS)
}

/// The same where space is short.
pub(crate) fn main_risks(summary: &Summary) -> Option<Section<'_>> {
    risks_up_to(summary, RISKS)
}

/// Risks that a report has room for, and how many more there are.
pub(crate) fn shown_risks(verdict: &Verdict) -> (Vec<&Finding>, usize) {
    let risks: Vec<&Finding> = verdict.risks().take(ALL_RISKS).collect();
    let more = verdict.risks().count() - risks.len();
    (risks, more)
}

fn risks_up_to(summary: &Summary, most: usize) -> Option<Section<'_>> {
    let risks: Vec<&Finding> = summary.verdict.risks().collect();
    let shown = risks.iter().take(most);
    let shown = shown.map(|risk| Block::Line(risk.sentence.to_string()));
    let more = risks.len().saturating_sub(most);
    let more = (more > 0).then(|| Block::Line(and_more(more)));
    let section = Section::titled("Risks").anchored("risks", "Risks");
    (!risks.is_empty()).then(|| section.with_all(shown.chain(more)))
}
