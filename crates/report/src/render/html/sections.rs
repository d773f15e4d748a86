//! A page with arbitrary sections, for commands other than `analyze`. It shares the style, tables and policy of
//! report.html.

use std::io::{self, Write};
use std::sync::LazyLock;

use askama::Template;

use slotscope_base::metric::Metric;

use crate::palette;
use crate::render::html::section::{Context, Section};
use crate::render::html::spell::sentence;
use crate::render::html::{LISTED, policy};
use crate::view::{self, Scope};

static STYLE: LazyLock<String> = LazyLock::new(|| {
    let style = concat!(
        include_str!("page.css"),
        include_str!("parts.css"),
        include_str!("heat_map.css")
    );
    palette::css() + style
});
const SCRIPT: &str = concat!(
    include_str!("page.js"),
    include_str!("tables.js"),
    include_str!("heat_map.js"),
    include_str!("links.js")
);

#[derive(Template)]
#[template(
    path = "sections.html",
    config = "src/render/html/askama.toml",
    whitespace = "minimize"
)]
struct Page {
    policy: String,
    style: &'static str,
    script: &'static str,
    title: String,
    sentence: String,
    sections: Vec<Section>,
    notes: Vec<String>,
}

/// The parts around the sections.
pub struct Frame<'a> {
    /// The subject of the page.
    pub title: &'a str,
    /// The finding as a sentence.
    pub sentence: &'a str,
    /// Its limitations.
    pub notes: &'a [String],
    /// Rows of a table initially visible.
    pub rows: usize,
}

/// Writes a page with `sections`, except those only for the overview.
///
/// # Errors
/// `out` cannot be written.
pub fn write(
    frame: &Frame<'_>,
    sections: &[view::Section<'_>],
    out: &mut dyn Write,
) -> io::Result<()> {
    let context = Context {
        metrics: &[Metric::Keys],
        nodes: 0,
        rows: frame.rows,
    };
    let shown = sections
        .iter()
        .filter(|section| section.scope != Scope::Overview);
    let sections = shown.map(|section| Section::of(section, context));
    let page = Page {
        policy: policy(SCRIPT, &STYLE),
        style: &STYLE,
        script: SCRIPT,
        title: sentence(frame.title),
        sentence: sentence(frame.sentence),
        sections: sections
            .collect::<askama::Result<_>>()
            .map_err(io::Error::other)?,
        notes: frame
            .notes
            .iter()
            .take(LISTED)
            .map(|note| sentence(note))
            .collect(),
    };
    out.write_all(page.render().map_err(io::Error::other)?.as_bytes())
}
