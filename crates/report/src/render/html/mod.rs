//! report.html: one self-contained file. The templates in this folder hold its markup; tables work without the script,
//! which adds the slot map, sorting and filters.
//!
//! Names are hostile: askama escapes them in text and `embed` in data, and the script only ever sets `textContent`.
//! Should one slip through anyway, the content security policy in the page's head allows only the one script with the
//! given hash, and no fetching.

mod cards;
mod embed;
mod facts;
mod figure;
mod heat_map;
mod nav;
mod risks;
mod section;
pub mod sections;
mod spell;
mod steps;
mod table;
mod words;

use std::io::{self, Write};
use std::sync::LazyLock;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use slotscope_base::text::grouped;
use slotscope_model::Summary;

use crate::palette;
use crate::render::html::facts::Fact;
use crate::render::html::section::{Context, MANUAL, Section};
use crate::view::{self, Scope, verdict};

/// Maximum size of the page in bytes, whatever the dump.
pub const MAX_BYTES: usize = 1_500_000;

/// Maximum warnings, notes and early ends shown.
const LISTED: usize = 20;

static STYLE: LazyLock<String> = LazyLock::new(|| {
    palette::css()
        + concat!(
            include_str!("page.css"),
            include_str!("parts.css"),
            include_str!("index.css")
        )
});
const SCRIPT: &str = concat!(
    include_str!("page.js"),
    include_str!("tables.js"),
    include_str!("slots.js"),
    include_str!("slots_panel.js"),
    include_str!("search.js"),
    include_str!("links.js")
);

#[derive(Template)]
#[template(
    path = "page.html",
    config = "src/render/html/askama.toml",
    whitespace = "minimize"
)]
struct Page<'a> {
    policy: String,
    style: &'static str,
    script: &'static str,
    data: String,
    summary: &'a Summary,
    title: String,
    /// The age of the input and the time of analysis.
    made: String,
    word: String,
    /// The note on keys excluded by a filter.
    filter: Option<String>,
    /// A card for each of the first problems.
    cards: Vec<String>,
    others: Vec<String>,
    /// Facts about roles without a problem.
    known: Vec<String>,
    facts: Vec<Fact>,
    /// How texts were read.
    readings: Vec<String>,
    warnings: Vec<String>,
    notes: Vec<String>,
    steps: Option<Section>,
    sections: Vec<Section>,
    /// Indices of sections, grouped into rows of the page.
    rows: Vec<Vec<usize>>,
    /// Those that are initially collapsed.
    details: Vec<Vec<usize>>,
    how: Vec<(&'static str, String)>,
    /// The navigation: groups by name, each with its anchors and their labels.
    groups: Vec<(&'static str, Vec<(&'static str, &'static str)>)>,
    /// The manual page that explains the verdict.
    manual: String,
}

/// Writes it.
///
/// # Errors
/// `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let page = Page::of(summary)
        .and_then(|page| page.render())
        .map_err(io::Error::other)?;
    out.write_all(page.as_bytes())
}

impl<'a> Page<'a> {
    fn of(summary: &'a Summary) -> askama::Result<Self> {
        let (verdict, input) = (&summary.verdict, &summary.input);
        let metrics: Vec<_> = summary
            .slots
            .loads
            .iter()
            .map(|(metric, _)| metric)
            .collect();
        let context = Context {
            metrics: &metrics,
            nodes: summary.nodes.owning().count(),
            rows: summary.rows,
        };
        let mut sections = sections(summary, context)?;
        let steps = sections
            .iter()
            .position(|section| section.id == "steps")
            .map(|at| sections.remove(at));
        let [details, rows] = [true, false].map(|is_detail| rows(&sections, is_detail));
        let mut stops = input.incomplete.iter().map(|stop| {
            format!(
                "{}: not read beyond byte {}: {}",
                spell::cut(&stop.file),
                grouped(stop.byte),
                stop.reason
            )
        });
        let listed = |texts: &mut dyn Iterator<Item = String>| {
            texts
                .take(LISTED)
                .map(|text| spell::sentence(&text))
                .collect()
        };
        let stops: Vec<String> = listed(&mut stops);
        let (cards, others) = cards::render(verdict, &stops)?;
        let groups = nav::groups(&sections, input);
        Ok(Page {
            groups,
            policy: policy(SCRIPT, &STYLE),
            style: &STYLE,
            script: SCRIPT,
            data: embed::data(summary),
            summary,
            title: title(summary),
            made: facts::made(summary),
            word: verdict.word.clone(),
            filter: view::input::left_out(summary).map(|text| spell::sentence(&text)),
            cards,
            others: listed(&mut others.into_iter()),
            known: listed(&mut verdict::notes(verdict)),
            facts: facts::facts(summary),
            readings: listed(&mut view::input::readings(summary).into_iter()),
            warnings: listed(&mut input.warnings.iter().map(ToString::to_string)),
            notes: listed(&mut input.notes.iter().cloned()),
            steps,
            rows,
            details,
            sections,
            how: facts::how(summary),
            manual: format!("{MANUAL}verdict.md"),
        })
    }
}

/// The subject of the report.
fn title(summary: &Summary) -> String {
    match (&summary.run.title, summary.input.files.first()) {
        (Some(title), _) => spell::cut(title),
        (None, Some(file)) => spell::cut(&file.name),
        (None, None) => "no input".into(),
    }
}

/// The sections of the page.
fn sections(summary: &Summary, context: Context<'_>) -> askama::Result<Vec<Section>> {
    let report = view::report(summary);
    let sections = report
        .iter()
        .filter(|section| section.scope != Scope::Overview);
    let section = |section: &view::Section<'_>| {
        let made = Section::of(section, context)?;
        match made.id {
            "risks" => Ok(made.replaced(risks::render(summary)?)),
            _ => Ok(made),
        }
    };
    sections.map(section).collect()
}

/// The indices of `sections` that are details or not, with narrow neighbours grouped.
fn rows(sections: &[Section], is_detail: bool) -> Vec<Vec<usize>> {
    let is_wanted = |at: &usize| sections[*at].is_detail == is_detail;
    let places: Vec<usize> = (0..sections.len()).filter(is_wanted).collect();
    places
        .chunk_by(|a, b| sections[*a].is_narrow && sections[*b].is_narrow)
        .map(<[usize]>::to_vec)
        .collect()
}

/// The content security policy: nothing is fetched, only the one script runs, and text never becomes markup.
fn policy(script: &str, style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(script),
        hash(style)
    )
}

#[cfg(test)]
mod tests;
