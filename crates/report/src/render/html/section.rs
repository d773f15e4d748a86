//! A section of the page, with its blocks as HTML, whatever its subject.

use askama::{Result, Template};

use slotscope_base::metric::Metric;
use slotscope_base::text::truncated;

use crate::render::html::figure::Figure;
use crate::render::html::heat_map;
use crate::render::html::spell::{SHOWN, sentence, unbroken};
use crate::render::html::steps::Steps;
use crate::render::html::table::Table;
use crate::view::{self, Block};

/// A section.
#[derive(Template)]
#[template(path = "section.html", config = "src/render/html/askama.toml")]
pub(super) struct Section {
    /// Its anchor.
    pub id: &'static str,
    /// Its label in the navigation; empty if not listed.
    pub label: &'static str,
    /// The group of its label.
    pub group: view::Group,
    /// Whether it shares a row of the page with its neighbours.
    pub is_narrow: bool,
    /// Whether it is initially collapsed.
    pub is_detail: bool,
    title: String,
    /// The manual page that explains it, and that page's subject.
    manual: Option<(String, &'static str)>,
    parts: Vec<String>,
}

/// The slot map, drawn by the script.
#[derive(Template)]
#[template(path = "slot_map.html", config = "src/render/html/askama.toml")]
struct SlotMap<'a> {
    metrics: &'a [Metric],
    has_borders: bool,
}

/// With more nodes than this, borders would cover the map.
const BORDERED: usize = 24;
/// Base URL of the manual.
pub(super) const MANUAL: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/");

/// Context shared by the sections of a page.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The metrics of the input.
    pub metrics: &'a [Metric],
    /// The number of nodes with slots.
    pub nodes: usize,
    /// Rows of a table initially visible.
    pub rows: usize,
}

impl Section {
    /// `section` as HTML.
    ///
    /// # Errors
    /// None: templates cannot fail.
    pub(super) fn of(section: &view::Section<'_>, context: Context<'_>) -> Result<Self> {
        let mut tables = 0;
        let parts = section.blocks.iter().map(|block| {
            let place = tables;
            tables += usize::from(matches!(block, Block::Table(_)));
            part(section.id, place, block, context)
        });
        Ok(Section {
            id: section.id,
            label: section.label,
            group: section.group,
            is_narrow: section.is_narrow,
            is_detail: section.is_detail,
            parts: parts.collect::<Result<_>>()?,
            title: unbroken(&truncated(&section.title, SHOWN)),
            manual: section
                .manual
                .map(|(page, topic)| (format!("{MANUAL}{page}"), topic)),
        })
    }

    /// Replaces its whole content.
    pub(super) fn replaced(self, part: String) -> Self {
        let parts = vec![part];
        Section { parts, ..self }
    }
}

fn part(id: &'static str, place: usize, block: &Block<'_>, context: Context<'_>) -> Result<String> {
    match block {
        Block::Verdict(_, word, sentence) => paragraph(&format!("{word}: {sentence}")),
        Block::Steps(steps) => Steps::of(steps).render(),
        Block::Paragraph(text) | Block::Line(text) => paragraph(text),
        Block::Command(command) => Paragraph {
            tag: "pre",
            text: command,
        }
        .render(),
        Block::Table(table) if table.rows.is_empty() => Ok(String::new()),
        Block::Table(table) => Table::of(id, table, context.rows).at(place).render(),
        Block::SlotMap(..) => SlotMap {
            metrics: context.metrics,
            has_borders: context.nodes <= BORDERED,
        }
        .render(),
        Block::Figure(figure) => Figure::of(figure).render(),
        Block::TimeMap(map) => heat_map::render(map),
    }
}

#[derive(Template)]
#[template(source = "<{{ tag }}><bdi>{{ text }}</bdi></{{ tag }}>", ext = "html")]
struct Paragraph<'a> {
    tag: &'static str,
    text: &'a str,
}

fn paragraph(text: &str) -> Result<String> {
    let text = &sentence(text);
    Paragraph { tag: "p", text }.render()
}
