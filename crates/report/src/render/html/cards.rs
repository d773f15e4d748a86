//! The top of the page: a card for every problem, with its word, sentence, causes and steps.

use askama::{Result, Template};

use crate::render::html::spell::sentence;
use crate::render::html::table::Table;
use crate::render::html::words;
use crate::view::cards;

/// Maximum problems with a card; others are listed below.
const CARDS: usize = 4;

/// A card.
#[derive(Template)]
#[template(
    path = "card.html",
    config = "src/render/html/askama.toml",
    whitespace = "minimize"
)]
struct Card {
    /// Its index; the first card is the heading of the page.
    place: usize,
    class: &'static str,
    word: String,
    sentence: String,
    /// Where reading ended early, shown next to the first sentence.
    stops: Vec<String>,
    meaning: &'static str,
    /// The causes as a table.
    why: String,
    steps: Vec<cards::CardStep>,
}

/// The cards as HTML, and the problems without a card. `stops` tell where reading ended early.
pub(super) fn render(
    mut problems: Vec<cards::Card>,
    stops: &[String],
) -> Result<(Vec<String>, Vec<String>)> {
    let rest = problems.split_off(problems.len().min(CARDS));
    let others = rest
        .iter()
        .map(|card| sentence(&format!("{}: {}", card.word, card.sentence)));
    let cards = problems.into_iter().enumerate().map(|(place, card)| {
        let steps = card.steps.into_iter().map(|step| cards::CardStep {
            sentence: sentence(&step.sentence),
            ..step
        });
        let table = card.why.as_ref().filter(|table| !table.rows.is_empty());
        let why = table.map(|table| Table::of(WHY[place], table, usize::MAX).render());
        Card {
            place,
            stops: if place == 0 {
                stops.to_vec()
            } else {
                Vec::new()
            },
            class: words::class(card.state),
            meaning: words::meaning(card.state, card.role),
            word: card.word,
            sentence: sentence(&card.sentence),
            why: why.transpose()?.unwrap_or_default(),
            steps: steps.collect(),
        }
        .render()
    });
    Ok((cards.collect::<Result<_>>()?, others.collect()))
}

/// The ids of the cards' tables.
const WHY: [&str; CARDS] = ["finding-0", "finding-1", "finding-2", "finding-3"];
