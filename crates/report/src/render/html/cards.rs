//! The top of the page: a card for every problem, or for the statement that there is none: its word and sentence, why, and
//! the steps that address it.

use askama::{Result, Template};

use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::verdict::Verdict;

use crate::render::html::spell::sentence;
use crate::render::html::table::Table;
use crate::render::html::words;
use crate::view;
use crate::view::steps::COMMAND;
use crate::view::verdict::causes_table;

/// The ids of the cards' tables; other problems are listed below.
const WHY: [&str; 4] = ["finding-0", "finding-1", "finding-2", "finding-3"];

/// A card.
#[derive(Template)]
#[template(
    path = "card.html",
    config = "src/render/html/askama.toml",
    whitespace = "minimize"
)]
struct Card<'a> {
    /// Its index; the first card is the heading of the page.
    place: usize,
    class: &'static str,
    word: &'a str,
    sentence: String,
    /// Where reading ended early, shown next to the first sentence.
    stops: &'a [String],
    meaning: &'static str,
    /// The parts of the node's excess over its fair share; empty if that is not the problem.
    why: String,
    steps: Vec<CardStep>,
}

/// A step that addresses a problem; its command is in the table of steps.
struct CardStep {
    /// Its number in that table.
    number: usize,
    sentence: String,
    has_command: bool,
}

/// The cards as HTML, and the problems without a card. `stops` tell where reading ended early.
pub(super) fn render(verdict: &Verdict, stops: &[String]) -> Result<(Vec<String>, Vec<String>)> {
    let mut cards = Vec::new();
    for (place, finding) in verdict.problems().take(WHY.len()).enumerate() {
        let state = finding.state.unwrap_or_default();
        let why = unevenness(verdict, finding).map(|role| why(WHY[place], role));
        let card = Card {
            place,
            class: words::class(state),
            word: finding.word(),
            sentence: sentence(&finding.sentence),
            stops: if place == 0 { stops } else { &[] },
            meaning: words::meaning(state, finding.role),
            why: why.transpose()?.unwrap_or_default(),
            steps: steps(verdict, finding),
        };
        cards.push(card.render()?);
    }
    if cards.is_empty() {
        let no_problem = Card {
            place: 0,
            class: words::class(verdict.state),
            word: &verdict.word,
            sentence: sentence(&verdict.sentence),
            stops,
            meaning: words::meaning(verdict.state, None),
            why: String::new(),
            steps: Vec::new(),
        };
        cards.push(no_problem.render()?);
    }
    let others = verdict.problems().skip(WHY.len());
    let others = others.map(|other| sentence(&format!("{}: {}", other.word(), other.sentence)));
    Ok((cards, others.collect()))
}

fn steps(verdict: &Verdict, finding: &Finding) -> Vec<CardStep> {
    let places = finding.steps.iter();
    let step = |at: &usize| {
        let step = verdict.steps.get(*at)?;
        let command = step.command.as_ref();
        Some(CardStep {
            number: at + 1,
            sentence: sentence(&step.sentence),
            has_command: command.is_some_and(|command| command.to_string().len() <= COMMAND),
        })
    };
    places.filter_map(step).collect()
}

/// The causes under self-explanatory titles, as a card has no space for explanations.
fn why(id: &'static str, role: &RoleVerdict) -> Result<String> {
    let table: view::Table<'_> = causes_table(role, "why");
    if table.rows.is_empty() {
        return Ok(String::new());
    }
    Table::of(id, &table, usize::MAX).render()
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
