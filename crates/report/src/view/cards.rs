//! Problems as cards: what is wrong, why, and the steps that address it. The page shows one per problem.

use slotscope_findings::summary::Summary;
use slotscope_findings::summary::finding::{Finding, FindingKind};
use slotscope_findings::summary::role_verdict::RoleVerdict;
use slotscope_findings::summary::state::{Role, State};
use slotscope_findings::summary::step::Step;
use slotscope_findings::summary::verdict::Verdict;
use slotscope_findings::wording::verdict::ratio as ratio_in_words;

use crate::view::steps::COMMAND;
use crate::view::verdict::causes_table;
use crate::view::{Cell, Column, Table};

/// A problem, or the statement that there is none.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    /// Its severity as a state.
    pub state: State,
    /// The role concerned.
    pub role: Option<Role>,
    /// The word for its state.
    pub word: String,
    /// The problem as a sentence.
    pub sentence: String,
    /// The parts of the node's excess over its fair share; absent if that is not the problem.
    pub why: Option<Table<'static>>,
    /// The steps that address it.
    pub steps: Vec<CardStep>,
}

/// A step that addresses a problem; its command is in the table of steps.
#[derive(Debug, Clone)]
pub(crate) struct CardStep {
    /// Its number in that table.
    pub number: usize,
    /// The step as a sentence.
    pub sentence: String,
    /// Whether there is a command to copy.
    pub has_command: bool,
}

/// A card for every problem, most urgent first; if there are none, one that says so.
pub(crate) fn cards(summary: &Summary) -> Vec<Card> {
    let verdict = &summary.verdict;
    let cards: Vec<Card> = verdict
        .problems()
        .map(|finding| card(verdict, finding))
        .collect();
    if cards.is_empty() {
        vec![no_problem(verdict)]
    } else {
        cards
    }
}

fn card(verdict: &Verdict, finding: &Finding) -> Card {
    Card {
        state: finding.state.unwrap_or_default(),
        role: finding.role,
        word: finding.word().into(),
        sentence: finding.sentence.clone(),
        why: unevenness(verdict, finding).map(why),
        steps: steps(verdict, finding),
    }
}

fn steps(verdict: &Verdict, finding: &Finding) -> Vec<CardStep> {
    let places = finding.steps.iter();
    let steps = places.filter_map(|at| Some((at + 1, verdict.steps.get(*at)?)));
    let step = |(number, step): (usize, &Step)| CardStep {
        number,
        sentence: step.sentence.clone(),
        has_command: step
            .command
            .as_ref()
            .is_some_and(|command| command.to_string().len() <= COMMAND),
    };
    steps.map(step).collect()
}

fn no_problem(verdict: &Verdict) -> Card {
    Card {
        state: verdict.state,
        role: None,
        word: verdict.word.clone(),
        sentence: verdict.sentence.clone(),
        why: None,
        steps: Vec::new(),
    }
}

/// The causes under self-explanatory titles, as a card has no space for explanations.
fn why(verdict: &RoleVerdict) -> Table<'static> {
    let columns = [
        Column::words("what").titled("why").flexible(),
        Column::number("fair shares").titled("adds"),
        Column::number("without it"),
    ];
    let without = |ratio| Cell::text(format!("{} ×", ratio_in_words(ratio)));
    causes_table(verdict, columns, without)
}

/// The role whose causes explain a finding: its own role, if its node is above its fair share. A skew in the same role
/// has its own card with them.
fn unevenness<'a>(verdict: &'a Verdict, finding: &Finding) -> Option<&'a RoleVerdict> {
    let is_skew = |finding: &Finding| finding.kind == FindingKind::Skew;
    let mut problems = verdict.problems();
    if !is_skew(finding) && problems.any(|problem| is_skew(problem) && problem.role == finding.role)
    {
        return None;
    }
    let mut roles = verdict.roles.iter();
    let role = roles.find(|role| {
        finding.metric == Some(role.metric) || finding.role.is_some() && finding.role == role.role
    })?;
    let fullest = role.fullest.as_ref()?;
    let is_its_node = finding.node.is_none() || finding.node.as_ref() == Some(&fullest.node);
    let is_above = fullest.max_over_mean > role.bands.lower && !role.causes.is_empty();
    (is_its_node && is_above).then_some(role)
}
