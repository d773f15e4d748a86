//! A report as data: sections of text and tables whose cells keep their type. `report/render/` writes them as text,
//! HTML, CSV or Markdown without knowing what they are about; commands build them without knowing the form.

pub mod advice;
pub mod amounts;
pub mod capacity;
pub mod cards;
pub mod cell;
pub mod curve;
pub mod distribution;
pub mod expiring;
pub mod extremes;
pub(crate) mod flame;
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
pub mod tags;
pub mod time_map;
pub mod verdict;

use crate::view::advice::schemes::SchemeChart;
pub use cell::{Bar, Cell, Value};
pub use curve::Curve;
pub use distribution::Distribution;
pub use expiring::Expiring;
pub use flame::Flame;
pub use heat::Heat;
pub(crate) use steps::StepTable;
pub use table::{Column, Table};
pub use time_map::TimeMap;

use slotscope_engine::metric::Metric;
use slotscope_engine::name::shown;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::patterns::Prefix;
use slotscope_findings::summary::quantiles::Quantiles;
use slotscope_findings::summary::state::State;

/// The sections of the report in their order, each made where the summary has something for it.
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
    node_bars::node_counts,
    slots::map,
    slots::hottest,
    distribution::slots,
    tags::sizes,
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

/// The sections to act on, in so few lines that a terminal shows them at once.
static ANSWER: &[fn(&Summary) -> Option<Section<'_>>] = &[
    input::filtered,
    verdict::main_problems,
    input::read,
    verdict::main_steps,
];

/// The sections after them on a terminal that has room.
static BELOW_ANSWER: &[fn(&Summary) -> Option<Section<'_>>] =
    &[node_bars::bars, extremes::section, verdict::main_risks];

/// The sections of the report of `summary` that one acts on.
pub fn answer(summary: &Summary) -> Vec<Section<'_>> {
    let below = sections_of(BELOW_ANSWER, summary).into_iter();
    let mut sections = sections_of(ANSWER, summary);
    sections.extend(below.map(|section| section.scoped(Scope::IfItFits)));
    sections
}

/// The sections of the report of `summary`.
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
            if let Block::Table(table) | Block::Prefixes(table, ..) = block {
                table.hide_unknown_keys();
            }
        }
    }
    sections
}

/// A part of a report: a heading and its blocks.
#[derive(Debug, Clone, Default)]
pub struct Section<'a> {
    /// Its anchor in a page, which the parts of the section are named after; empty where nothing refers to it.
    pub id: &'static str,
    /// Its name in the page's navigation; empty where it is not listed there.
    pub label: &'static str,
    /// Its heading; empty if it has none.
    pub title: String,
    /// The blocks under the heading, in order.
    pub blocks: Vec<Block<'a>>,
    /// The reports that have it.
    pub scope: Scope,
    /// Whether it is small enough to share a row of a page with its neighbour.
    pub is_narrow: bool,
    /// Whether a page keeps it closed until the reader asks for it.
    pub is_detail: bool,
    /// The page of the manual that explains it, and what that page is about.
    pub manual: Option<(&'static str, &'static str)>,
}

/// The reports that have a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// All.
    #[default]
    Everywhere,
    /// The overview: text and Markdown. The page says the same in its own place.
    Overview,
    /// The page.
    Page,
    /// A terminal that has room for all of it.
    IfItFits,
}

/// A part of a section.
#[derive(Debug, Clone)]
pub enum Block<'a> {
    /// A problem, or that there is none: its state, the word that it is shown with, and its sentence.
    Verdict(State, String, String),
    /// A paragraph.
    Paragraph(String),
    /// A line that belongs to the block above it.
    Line(String),
    /// A command to copy; it is never wrapped.
    Command(String),
    /// The steps.
    Steps(StepTable),
    /// A table.
    Table(Table<'a>),
    /// Prefixes as a table, or as a tree where the reader can open and close its branches.
    Prefixes(Table<'a>, &'a [Prefix], Metric),
    /// A metric by prefix and pattern as nested boxes; the tables have the numbers.
    Flame(Flame),
    /// How often which amount of a metric comes, as quantiles or as a picture.
    Quantiles(Metric, &'a Quantiles),
    /// The load of every slot as a map.
    SlotMap(Metric, &'a [u64]),
    /// Amounts over time as a picture; tables have the numbers.
    Curve(Curve),
    /// How many hold how much, as a picture beside what chance would give.
    Distribution(Distribution),
    /// Expiry over time, as a picture.
    Expiring(Expiring),
    /// Operations by time and slot as a map.
    TimeMap(TimeMap),
    /// Schemes of hash tags as a picture; a table has the numbers.
    Schemes(SchemeChart),
}

impl<'a> Section<'a> {
    /// A section without a heading.
    pub fn untitled() -> Self {
        Section::default()
    }

    /// A section with a heading.
    pub fn titled(title: impl Into<String>) -> Self {
        Section {
            title: shown(title),
            ..Section::default()
        }
    }

    /// The same with an anchor and a name in the navigation.
    pub fn anchored(self, id: &'static str, label: &'static str) -> Self {
        Section { id, label, ..self }
    }

    /// The same for some reports only.
    pub fn scoped(self, scope: Scope) -> Self {
        Section { scope, ..self }
    }

    /// The same, small enough to share a row of a page.
    pub fn narrow(self) -> Self {
        Section {
            is_narrow: true,
            ..self
        }
    }

    /// The same, closed in a page until the reader asks for it.
    pub fn detail(self) -> Self {
        Section {
            is_detail: true,
            ..self
        }
    }

    /// The same, explained by `page` of the manual, which is about `what`.
    pub fn explained(self, page: &'static str, what: &'static str) -> Self {
        Section {
            manual: Some((page, what)),
            ..self
        }
    }

    /// The same with one more block.
    pub fn with(mut self, block: Block<'a>) -> Self {
        self.blocks.push(block);
        self
    }

    /// The same with a paragraph.
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.with(Block::Paragraph(shown(text)))
    }

    /// The same with a line under the block above it.
    pub fn line(self, text: impl Into<String>) -> Self {
        self.with(Block::Line(shown(text)))
    }

    /// The same with more blocks.
    pub fn with_all(mut self, blocks: impl IntoIterator<Item = Block<'a>>) -> Self {
        self.blocks.extend(blocks);
        self
    }

    /// The same with a table.
    pub fn table(self, table: Table<'a>) -> Self {
        self.with(Block::Table(table))
    }
}
