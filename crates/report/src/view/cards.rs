//! Problems as cards: what is wrong, why, and which steps are for it. The page shows one a problem.

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

/// A problem, or that there is none.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    /// How bad it is.
    pub state: State,
    /// The role that it is in.
    pub role: Option<Role>,
    /// Its word.
    pub word: String,
    /// The problem.
    pub sentence: String,
    /// The load of the node above its fair share, by cause; absent if that is not the problem.
    pub why: Option<Table<'static>>,
    /// The steps that are for it.
    pub steps: Vec<CardStep>,
}

/// A step that is for a problem; the table of the steps has its command.
#[derive(Debug, Clone)]
pub(crate) struct CardStep {
    /// Its number in that table.
    pub number: usize,
    /// The step.
    pub sentence: String,
    /// Whether there is a command to copy.
    pub has_command: bool,
}

/// A card for every problem, the most urgent first; one that says so where there is none.
pub(crate) fn cards(summary: &Summary) -> Vec<Card> {
    let verdict = &summary.verdict;
    let cards: Vec<Card> = verdict
        .problems()
        .map(|found| card(verdict, found))
        .collect();
    if cards.is_empty() {
        vec![no_problem(verdict)]
    } else {
        cards
    }
}

fn card(verdict: &Verdict, found: &Finding) -> Card {
    Card {
        state: found.state.unwrap_or_default(),
        role: found.role,
        word: found.word().into(),
        sentence: found.sentence.to_string(),
        why: unevenness(verdict, found).map(why),
        steps: steps(verdict, found),
    }
}

fn steps(verdict: &Verdict, found: &Finding) -> Vec<CardStep> {
    let places = found.steps.iter();
    let steps = places.filter_map(|at| Some((at + 1, verdict.steps.get(*at)?)));
    let step = |(number, step): (usize, &Step)| CardStep {
        number,
        sentence: step.sentence.to_string(),
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
        sentence: verdict.sentence.to_string(),
        why: None,
        steps: Vec::new(),
    }
}

/// The causes under heads that need no explanation, for which a card has no room.
fn why(found: &RoleVerdict) -> Table<'static> {
    let columns = [
        Column::words("what").titled("why").flexible(),
        Column::number("fair shares").titled("adds"),
        Column::number("without it"),
    ];
    let without = |ratio| Cell::text(format!("{} ×", ratio_in_words(ratio)));
    causes_table(found, columns, without)
}

/// The role whose causes explain a finding: that it is about, where its node is above its fair share. A skew in the same
/// role has a card of its own with them.
fn unevenness<'a>(verdict: &'a Verdict, found: &Finding) -> Option<&'a RoleVerdict> {
    let is_skew = |found: &Finding| found.kind == FindingKind::Skew;
    let mut problems = verdict.problems();
    if !is_skew(found) && problems.any(|other| is_skew(other) && other.role == found.role) {
        return None;
    }
    let mut roles = verdict.roles.iter();
    let role = roles.find(|role| {
        found.metric == Some(role.metric) || found.role.is_some() && found.role == role.role
    })?;
    let fullest = role.fullest.as_ref()?;
    let is_its_node = found.node.is_none() || found.node.as_ref() == Some(&fullest.node);
    let is_above = fullest.max_over_mean > role.bands.lower && !role.causes.is_empty();
    (is_its_node && is_above).then_some(role)
}
