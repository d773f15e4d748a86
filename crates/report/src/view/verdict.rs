//! The answer: what is wrong, why, what to do, and what other risks there are. Terminal and page show the same
//! findings and steps in the same order.

use slotscope_base::text::{and_more, counted};
use slotscope_model::Summary;
use slotscope_model::cause::{Cause, CauseKind};
use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::State;
use slotscope_model::step::{After, Left, Requested, Step};
use slotscope_model::verdict::Verdict;
use slotscope_model::words::{cause_in_words, ratio, times};

use crate::view::steps::{StepRow, StepTable, Turn};
use crate::view::{Block, Cell, Column, Scope, Section, Table, Value};

/// Maximum risks shown; report.json has all.
const ALL_RISKS: usize = 10;
/// Maximum risks shown if space is short.
const RISKS: usize = 3;
/// The "number" of an alternative.
const OR: &str = "or";
/// Maximum problems shown if space is short.
const PROBLEMS: usize = 3;
/// A cause that adds less than this is omitted, except for chance among existing units.
const NOTHING: f64 = 0.005;

/// The first lines of the report: every problem with its word, and facts about roles without problems.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    Some(problems_up_to(&summary.verdict, usize::MAX))
}

/// The main problems, if space is short.
pub(crate) fn main_problems(summary: &Summary) -> Option<Section<'_>> {
    Some(problems_up_to(&summary.verdict, PROBLEMS))
}

fn problems_up_to(verdict: &Verdict, most: usize) -> Section<'_> {
    let section = Section::untitled().scoped(Scope::Overview);
    let first = Block::Verdict(
        verdict.state,
        verdict.word.clone(),
        verdict.sentence.clone(),
    );
    let others = verdict.problems().skip(1).map(|finding| {
        let state = finding.state.unwrap_or_default();
        Block::Verdict(state, finding.word().into(), finding.sentence.clone())
    });
    let hidden = verdict.problems().count().saturating_sub(most);
    section
        .with(first)
        .with_all(others.take(most - 1))
        .with_all((hidden > 0).then(|| Block::Line(and_more(hidden))))
        .with_all(notes(verdict).map(Block::Line))
}

/// Facts about roles without problems, apart from the headline's role.
pub(crate) fn notes(verdict: &Verdict) -> impl Iterator<Item = String> + '_ {
    let first = verdict.sentence.clone();
    let is_told = move |role: &&RoleVerdict| {
        role.state.is_uneven()
            || matches!(role.state, State::Suspicious | State::Empty)
            || role.sentence == first
    };
    let others = verdict.roles.iter().filter(move |role| !is_told(role));
    others.map(|role| format!("{}: {}", role.called(), role.sentence))
}

/// Why the fullest node of the first uneven role is above its fair share.
pub(crate) fn causes(summary: &Summary) -> Option<Section<'_>> {
    causes_of(summary, uneven(&summary.verdict).next()?)
}

/// Why the fullest node of the second uneven role is above its fair share.
pub(crate) fn other_causes(summary: &Summary) -> Option<Section<'_>> {
    causes_of(summary, uneven(&summary.verdict).nth(1)?)
}

/// The uneven roles, in the order of findings.
fn uneven(verdict: &Verdict) -> impl Iterator<Item = &RoleVerdict> {
    let role = |finding: &Finding| {
        let mut roles = verdict.roles.iter();
        roles.find(|role| role.state.is_uneven() && finding.metric == Some(role.metric))
    };
    verdict.problems().filter_map(role)
}

fn causes_of<'a>(summary: &'a Summary, verdict: &'a RoleVerdict) -> Option<Section<'a>> {
    let fullest = verdict.fullest.as_ref()?;
    let node = summary.nodes.get(&fullest.node)?;
    let title = format!(
        "Why {} {} {} its share of {}",
        node.label(),
        verdict.metric.verb(),
        times(fullest.max_over_mean),
        verdict.metric.noun()
    );
    let section = Section::titled(title).scoped(Scope::Overview);
    Some(section.table(causes_table(verdict, "what")))
}

/// The parts of the fullest node's excess over its fair share: each cause, what a tag or key holds, what the cause adds, and the
/// fullest node without it.
pub(crate) fn causes_table(verdict: &RoleVerdict, why: &'static str) -> Table<'static> {
    let is_shown = |cause: &&Cause| {
        let is_chance = cause.kind == CauseKind::Chance && cause.units != Some(0);
        cause.excess.abs() >= NOTHING || is_chance
    };
    let causes: Vec<&Cause> = verdict.causes.iter().filter(is_shown).collect();
    let excesses = causes.iter().map(|cause| cause.excess.abs());
    let largest = excesses.fold(NOTHING, f64::max);
    let shares = |ratio| Cell::ratio(ratio, 2);
    Table::of(causes)
        .column(Column::words("what").titled(why).flexible(), |cause| {
            Cell::text(cause_in_words(cause, verdict.metric))
        })
        .column(
            Column::number("× fair").hint("what the tag or key holds, in fair shares of a node"),
            |cause| Cell::of(cause.fair_shares, shares),
        )
        .column(
            Column::number("adds")
                .hint("what it adds to the node's load; all add up to its excess"),
            |cause| {
                let excess = Cell::from(Value::Change(cause.excess));
                excess.with_load_bar(cause.excess.max(0.0) / largest)
            },
        )
        .column(
            Column::number("without it")
                .hint("the fullest node in fair shares, were this spread over all slots"),
            |cause| Cell::of(cause.max_over_mean_without, shares),
        )
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
        State::Suspicious => {
            "Find out how the node lost its keys, and restore them from its last backup; no slots move before that."
        }
        State::Unjudged => {
            "Nothing can be said yet. Give a dump of all primaries with sizes, or a longer capture of all of them."
        }
        _ => {
            "No move of slots and no split of a listed tag or key evens the nodes out; look at the fullest slots below."
        }
    }
}

/// The steps as a table: sentence, command and effect on every role.
pub(crate) fn step_table(summary: &Summary) -> Option<StepTable> {
    let verdict = &summary.verdict;
    if verdict.steps.is_empty() && verdict.left.is_empty() {
        return None;
    }
    let has_ratios = !matches!(verdict.state, State::Down | State::Suspicious);
    let compared = verdict.roles.iter().filter(|role| role.fullest.is_some());
    let judged: Vec<&RoleVerdict> = compared.filter(|_| has_ratios).collect();
    let mut rows = Vec::new();
    let mut now = Ratios::today(&judged);
    for (at, step) in verdict.steps.iter().enumerate() {
        let (row, after) = now.row((at + 1).to_string(), step, &judged, at);
        rows.push(row);
        let others = step.alternatives.iter();
        rows.extend(others.map(|alternative| now.row(OR.into(), alternative, &judged, at).0));
        now = after;
    }
    let heads = judged.iter().map(|role| role.called().into()).collect();
    let left = verdict.left.iter().map(|left| still(verdict, left));
    Some(StepTable::new(heads, rows, left.collect()))
}

/// A problem that no step fixes, and why.
fn still(verdict: &Verdict, left: &Left) -> String {
    let units = left.units.iter();
    let mut named: Vec<String> = units.map(slotscope_base::text::short).collect();
    // A key may be in several rows.
    named.dedup();
    let units = if named.is_empty() {
        String::new()
    } else {
        format!(" ({})", named.join(", "))
    };
    let role = verdict.roles.iter().find(|role| role.name() == left.role);
    format!(
        "left: {} at {}: {}{units}",
        role.map_or(&*left.role, |role| role.called()),
        ratio(left.max_over_mean),
        left.reason
    )
}

/// The fullest node of a role.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// In fair shares, and whether that is an estimate.
    Ratio(f64, bool),
    /// So little is left that no node counts as full.
    Idle,
    /// Not known after a step.
    Unknown,
}

/// That of every judged role.
#[derive(Clone)]
struct Ratios(Vec<Option<Shown>>);

impl Ratios {
    fn today(judged: &[&RoleVerdict]) -> Self {
        let today = judged
            .iter()
            .map(|role| Some(Shown::Ratio(role.max_over_mean()?, false)));
        Ratios(today.collect())
    }

    fn after(after: &After, judged: &[&RoleVerdict], is_estimate: bool) -> Self {
        let ratio = |role: &&RoleVerdict| {
            Some(match after.of(role.role) {
                Some(after) if after.state == State::Unjudged => Shown::Idle,
                Some(after) => Shown::Ratio(after.max_over_mean, is_estimate),
                None => Shown::Unknown,
            })
        };
        Ratios(judged.iter().map(ratio).collect())
    }

    /// The row of a step, given the ratios before it; also returns the ratios after it.
    fn row(
        &self,
        number: String,
        step: &Step,
        judged: &[&RoleVerdict],
        at: usize,
    ) -> (StepRow, Self) {
        // If slots go to added nodes, ratios are over the future nodes.
        let request = step
            .request
            .as_ref()
            .filter(|request| request.changes_nodes);
        let before = match request {
            Some(request) => Ratios::after(&request.before, judged, false),
            None => self.clone(),
        };
        let is_known = step.after != After::default();
        let effects = is_known.then(|| Ratios::after(&step.after, judged, step.estimated));
        let mut after = effects.unwrap_or_else(|| before.clone());
        for (after, before) in after.0.iter_mut().zip(&before.0) {
            // A role that a step does not change stays as well known as it was.
            if let (Some(Shown::Ratio(was, is_estimate)), Some(Shown::Ratio(is, _))) =
                (*before, *after)
                && ratio(was) == ratio(is)
            {
                *after = Some(Shown::Ratio(is, is_estimate));
            }
        }
        let pairs = before.0.iter().zip(&after.0);
        let turns: Vec<Option<Turn>> = pairs
            .map(|pair| match pair {
                (Some(from), Some(to)) if from != to && spelled(*from) != spelled(*to) => {
                    Some(Turn {
                        from: spelled(*from),
                        to: spelled(*to),
                    })
                }
                _ => None,
            })
            .collect();
        let turned = judged.iter().zip(&turns).filter(|(_, turn)| turn.is_some());
        let changed: Vec<&RoleVerdict> = turned.map(|(role, _)| *role).collect();
        let row = StepRow {
            number,
            what: format!("{}{}", step.sentence, notes_on(step, request, &changed, at)),
            turns,
            command: step.command.as_ref().map(ToString::to_string),
        };
        (row, after)
    }
}

fn spelled(shown: Shown) -> String {
    match shown {
        Shown::Ratio(shown, true) => format!("≈{}", ratio(shown)),
        Shown::Ratio(shown, false) => ratio(shown),
        Shown::Idle => "idle".into(),
        Shown::Unknown => "?".into(),
    }
}

/// Notes on a step next to its sentence: how long it helps, for which nodes, and its effect on roles that it changes
/// without the previous steps.
fn notes_on(
    step: &Step,
    request: Option<&Requested>,
    changed: &[&RoleVerdict],
    at: usize,
) -> String {
    let mut notes = Vec::new();
    notes.extend(request.map(|request| format!("over {}", counted(request.nodes as u64, "node"))));
    notes.extend(step.request.as_ref().and_then(Requested::before_even));
    let differs = |role: &&RoleVerdict| {
        let alone = step.alone.as_ref()?.of(role.role)?.max_over_mean;
        let after = step.after.of(role.role)?.max_over_mean;
        let name = match changed {
            [_] => String::new(),
            _ => format!("{} ", role.called()),
        };
        (ratio(alone) != ratio(after)).then(|| format!("{name}≈{}", ratio(alone)))
    };
    let alone: Vec<String> = changed.iter().filter_map(differs).collect();
    if !alone.is_empty() && at > 0 {
        let before = if at == 1 {
            String::from("after step 1")
        } else {
            format!("after steps 1 to {at}")
        };
        notes.push(format!("{before}; alone {}", alone.join(", ")));
    }
    // A tag that is split is named in the sentence.
    let until = step.until.filter(|_| !step.sentence.starts_with("until "));
    let until = until.map_or(String::new(), |until| format!(" until step {}", until + 1));
    match notes.as_slice() {
        [] => until,
        notes => format!("{until} ({})", notes.join("; ")),
    }
}

/// The steps as a section.
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

/// The steps without alternatives.
pub(crate) fn main_steps(summary: &Summary) -> Option<Section<'_>> {
    let mut section = remedies(summary)?;
    for block in &mut section.blocks {
        if let Block::Steps(table) = block {
            let is_step = |row: &StepRow| row.number != OR;
            table.rows.retain(is_step);
        }
    }
    Some(section)
}

/// The risks, independent of balance.
pub(crate) fn risks(summary: &Summary) -> Option<Section<'_>> {
    risks_up_to(summary, ALL_RISKS)
}

/// The main risks, if space is short.
pub(crate) fn main_risks(summary: &Summary) -> Option<Section<'_>> {
    risks_up_to(summary, RISKS)
}

/// The risks that fit a report, and the number of others.
pub(crate) fn shown_risks(summary: &Summary) -> (Vec<&Finding>, usize) {
    let risks: Vec<&Finding> = dated_risks(summary).take(ALL_RISKS).collect();
    let hidden = dated_risks(summary).count() - risks.len();
    (risks, hidden)
}

/// The risks that are not over yet: keys may have expired before the dump was written.
fn dated_risks(summary: &Summary) -> impl Iterator<Item = &Finding> {
    let storms = summary.expiry.as_ref().map(|expiry| &expiry.storms);
    let is_over = move |finding: &Finding| {
        let mut storms = storms.into_iter().flatten();
        let storm = storms
            .find(|storm| finding.value == Some(storm.share) && finding.pattern == storm.pattern);
        storm.is_some_and(|storm| {
            summary
                .dumped()
                .is_some_and(|dumped| storm.at < dumped.last)
        })
    };
    let risks = summary.verdict.risks();
    risks.filter(move |finding| finding.kind != FindingKind::Expiry || !is_over(finding))
}

fn risks_up_to(summary: &Summary, most: usize) -> Option<Section<'_>> {
    let risks: Vec<&Finding> = dated_risks(summary).collect();
    // A line that says there is one more is as long.
    let most = if risks.len() == most + 1 {
        most + 1
    } else {
        most
    };
    let first = risks.iter().take(most);
    let shown = first.map(|risk| Block::Line(risk.sentence.clone()));
    let hidden = risks.len().saturating_sub(most);
    let more = (hidden > 0).then(|| Block::Line(and_more(hidden)));
    let section = Section::titled("Risks").anchored("risks", "Risks");
    (!risks.is_empty()).then(|| section.with_all(shown.chain(more)))
}
