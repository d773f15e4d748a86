//! A report as data: sections of text and tables of typed cells. `render` writes them as text, HTML or
//! CSV without knowing their subject; commands build them without knowing the output format.

pub mod advice;
pub mod amounts;
pub mod bins;
pub mod capacity;
pub mod cell;
pub mod distribution;
pub mod extremes;
pub mod heat;
mod hot_slots;
pub mod input;
pub mod keys;
pub mod lifetime;
mod logged;
pub mod node_bars;
pub mod nodes;
pub mod operations;
pub mod patterns;
pub mod remarks;
pub mod slots;
pub mod steps;
pub mod table;
pub mod tag_ranks;
pub mod tags;
pub mod time_map;
pub mod verdict;

pub use cell::{Bar, Cell, Value};
pub use heat::Heat;
pub(crate) use steps::StepTable;
pub use table::{Column, Table};
pub use time_map::TimeMap;

use slotscope_engine::metric::Metric;
use slotscope_engine::name::shown;
use slotscope_model::Summary;
use slotscope_model::state::State;

use crate::plot::Figure;

/// The sections of the report in order; each is built if the summary has content for it.
pub(crate) static SECTIONS: &[fn(&Summary) -> Option<Section<'_>>] = &[
    input::filtered,
    verdict::section,
    input::doubts,
    input::overview,
    verdict::causes,
    verdict::other_causes,
    verdict::remedies,
    nodes::section,
    nodes::in_full,
    verdict::risks,
    keys::hot,
    keys::big,
    tags::section,
    hot_slots::section,
    hot_slots::keys_section,
    logged::slow,
    logged::large,
    operations::section,
    advice::section,
    extremes::section,
    capacity::section,
    slots::map,
    slots::hottest,
    distribution::slots,
    tag_ranks::section,
    patterns::patterns,
    patterns::prefixes,
    slots::spread,
    amounts::lengths,
    amounts::sizes,
    keys::types,
    keys::largest,
    lifetime::expiry,
    lifetime::idle,
    lifetime::lfu,
    keys::databases,
    input::files,
    input::rejected,
    input::remarks,
];

/// The actionable sections, few enough lines for a terminal.
static ANSWER: &[fn(&Summary) -> Option<Section<'_>>] = &[
    input::filtered,
    verdict::main_problems,
    input::read,
    verdict::main_steps,
];

/// Sections added after them if the terminal has space.
static BELOW_ANSWER: &[fn(&Summary) -> Option<Section<'_>>] =
    &[node_bars::bars, extremes::section, verdict::main_risks];

/// The actionable sections for `summary`.
pub fn answer(summary: &Summary) -> Vec<Section<'_>> {
    let below = sections_of(BELOW_ANSWER, summary).into_iter();
    let mut sections = sections_of(ANSWER, summary);
    sections.extend(below.map(|section| section.scoped(Scope::IfItFits)));
    sections
}

/// All sections for `summary`.
pub fn report(summary: &Summary) -> Vec<Section<'_>> {
    sections_of(SECTIONS, summary)
}

fn sections_of<'s>(
    makers: &[fn(&'s Summary) -> Option<Section<'s>>],
    summary: &'s Summary,
) -> Vec<Section<'s>> {
    let mut sections: Vec<_> = makers.iter().filter_map(|make| make(summary)).collect();
    if summary.has_only_operations() {
        for block in sections.iter_mut().flat_map(|section| &mut section.blocks) {
            if let Block::Table(table) = block {
                table.hide_unknown_keys();
            }
        }
    }
    sections
}

/// A part of a report: a title with blocks.
#[derive(Debug, Clone, Default)]
pub struct Section<'a> {
    /// Its anchor in a page, also prefix of the ids in it; empty if nothing refers to it.
    pub id: &'static str,
    /// Its label in the page's navigation; empty if not listed.
    pub label: &'static str,
    /// Its title; empty if it has none.
    pub title: String,
    /// Its blocks, in order.
    pub blocks: Vec<Block<'a>>,
    /// The reports that include it.
    pub scope: Scope,
    /// Whether it is small enough to share a row of a page with its neighbour.
    pub is_narrow: bool,
    /// Whether it is initially collapsed in a page.
    pub is_detail: bool,
    /// The manual page that explains it, and that page's subject.
    pub manual: Option<(&'static str, &'static str)>,
}

/// The reports that include a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// All.
    #[default]
    Everywhere,
    /// The overview, as text. The page has this information elsewhere.
    Overview,
    /// The page.
    Page,
    /// A terminal that has space for all of it.
    IfItFits,
}

/// A part of a section.
#[derive(Debug, Clone)]
pub enum Block<'a> {
    /// A problem, or the statement that there is none: state, word and sentence.
    Verdict(State, String, String),
    /// A paragraph.
    Paragraph(String),
    /// A line belonging to the block above.
    Line(String),
    /// A command to copy, never wrapped.
    Command(String),
    /// The steps.
    Steps(StepTable),
    /// A table.
    Table(Table<'a>),
    /// The load of every slot as a map.
    SlotMap(Metric, &'a [u64]),
    /// A picture of a page; tables have its numbers.
    Figure(Figure),
    /// Operations by time and slot as a map.
    TimeMap(TimeMap),
}

impl<'a> Section<'a> {
    /// A section without a title.
    pub fn untitled() -> Self {
        Section::default()
    }

    /// A section with a title.
    pub fn titled(title: impl Into<String>) -> Self {
        Section {
            title: shown(title),
            ..Section::default()
        }
    }

    /// Sets its anchor, and its label in the navigation.
    pub fn anchored(self, id: &'static str, label: &'static str) -> Self {
        Section { id, label, ..self }
    }

    /// Restricts it to some reports.
    pub fn scoped(self, scope: Scope) -> Self {
        Section { scope, ..self }
    }

    /// Marks it as small enough to share a row of a page.
    pub fn narrow(self) -> Self {
        Section {
            is_narrow: true,
            ..self
        }
    }

    /// Marks it as initially collapsed in a page.
    pub(crate) fn detail(self) -> Self {
        Section {
            is_detail: true,
            ..self
        }
    }

    /// Links to manual page `page`, whose subject is `subject`.
    pub fn explained(self, page: &'static str, subject: &'static str) -> Self {
        Section {
            manual: Some((page, subject)),
            ..self
        }
    }

    /// Adds a block.
    pub fn with(mut self, block: Block<'a>) -> Self {
        self.blocks.push(block);
        self
    }

    /// Adds a paragraph.
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.with(Block::Paragraph(shown(text)))
    }

    /// Adds a line below the previous block.
    pub fn line(self, text: impl Into<String>) -> Self {
        self.with(Block::Line(shown(text)))
    }

    /// Adds blocks.
    pub fn with_all(mut self, blocks: impl IntoIterator<Item = Block<'a>>) -> Self {
        self.blocks.extend(blocks);
        self
    }

    /// Adds a table.
    pub fn table(self, table: Table<'a>) -> Self {
        self.with(Block::Table(table))
    }
}
