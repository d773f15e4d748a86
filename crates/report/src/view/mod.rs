//! A report as data: sections of text and tables of typed cells. `render` writes them as text, HTML or
//! CSV without knowing their subject; commands build them without knowing the output format.

pub mod advice;
pub mod amounts;
pub mod bins;
pub mod capacity;
pub mod cell;
pub mod distribution;
pub mod extremes;
pub mod forecast;
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
pub use table::{Column, Table, TableBuilder};
pub use time_map::TimeMap;

use slotscope_base::metric::Metric;
use slotscope_base::name::shown;
use slotscope_model::Summary;
use slotscope_model::state::State;

use crate::plot::Figure;

/// The sections of the report in order, with their group in the navigation of the page; each is built if the summary has
/// content for it.
pub(crate) static SECTIONS: &[(Group, MakeSection)] = &[
    (Group::Report, input::filtered),
    (Group::Cluster, verdict::section),
    (Group::Report, input::doubts),
    (Group::Report, input::overview),
    (Group::Cluster, verdict::causes),
    (Group::Cluster, verdict::other_causes),
    (Group::Cluster, verdict::remedies),
    (Group::Cluster, nodes::section),
    (Group::Cluster, nodes::in_full),
    (Group::Cluster, verdict::risks),
    (Group::Keys, keys::hot),
    (Group::Keys, keys::big),
    (Group::Tags, tags::section),
    (Group::Slots, hot_slots::section),
    (Group::Keys, hot_slots::keys_section),
    (Group::Report, logged::slow),
    (Group::Report, logged::large),
    (Group::Cluster, operations::section),
    (Group::Report, extremes::section),
    (Group::Cluster, capacity::section),
    (Group::Slots, slots::map),
    (Group::Slots, slots::hottest),
    (Group::Slots, distribution::slots),
    (Group::Tags, tag_ranks::section),
    (Group::Tags, patterns::patterns),
    (Group::Tags, patterns::prefixes),
    (Group::Slots, slots::spread),
    (Group::Keys, amounts::lengths),
    (Group::Keys, amounts::sizes),
    (Group::Keys, keys::types),
    (Group::Keys, keys::largest),
    (Group::Keys, lifetime::expiry),
    (Group::Keys, lifetime::idle),
    (Group::Keys, lifetime::lfu),
    (Group::Keys, keys::databases),
    (Group::Report, input::files),
    (Group::Report, input::rejected),
    (Group::Report, input::remarks),
];

/// The figures that are PNG files too, with what each shows.
#[cfg(feature = "charts")]
pub(crate) static FIGURES: &[(&str, &str, MakeFigure)] = &[
    (
        "slot-distribution.png",
        "the slots by their load",
        distribution::figure,
    ),
    ("tag-sizes.png", "all tags by rank", tag_ranks::figure),
];

#[cfg(feature = "charts")]
type MakeFigure = fn(&Summary) -> Option<Figure>;
/// Builds a section, if the summary has content for it.
type MakeSection = fn(&Summary) -> Option<Section<'_>>;

/// The actionable sections, few enough lines for a terminal.
static ANSWER: &[MakeSection] = &[
    input::filtered,
    verdict::main_problems,
    input::read,
    verdict::main_steps,
];

/// Sections added after them if the terminal has space.
static BELOW_ANSWER: &[MakeSection] = &[node_bars::bars, extremes::section, verdict::main_risks];

/// The actionable sections for `summary`.
pub fn answer(summary: &Summary) -> Vec<Section<'_>> {
    let made = |makers: &[MakeSection]| makers.iter().filter_map(|make| make(summary)).collect();
    let below = without_keys(made(BELOW_ANSWER), summary).into_iter();
    let mut sections = without_keys(made(ANSWER), summary);
    sections.extend(below.map(|section| section.scoped(Scope::IfItFits)));
    sections
}

/// All sections for `summary`.
pub fn report(summary: &Summary) -> Vec<Section<'_>> {
    let made = SECTIONS.iter().filter_map(|(group, make)| {
        let group = *group;
        make(summary).map(|section| Section { group, ..section })
    });
    without_keys(made.collect(), summary)
}

/// Numbers of keys are unknown where only operations are.
fn without_keys<'s>(mut sections: Vec<Section<'s>>, summary: &Summary) -> Vec<Section<'s>> {
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
    /// The group of its label.
    pub group: Group,
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

/// A group of labels in the navigation of the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Group {
    /// The nodes, and what to do.
    Cluster,
    /// The keys.
    Keys,
    /// Hash tags and names.
    Tags,
    /// The slots.
    Slots,
    /// The report itself.
    #[default]
    Report,
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
