//! report.html: a `Summary` comes in, one page that needs nothing else goes out. Words and tables are in the page itself;
//! its script draws the slot map and sorts. Nothing in it makes a request, nothing in a name is markup.

mod data;
mod sections;
mod table;
mod words;

use std::io::{self, Write};

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::summary::Summary;
use sections::Spread;
use table::{Branch, Table};

/// A page is never larger.
const MAX_BYTES: usize = 1_500_000;
/// Rows of a table: as many of these as the page has room for.
const ROWS: [usize; 6] = [1000, 500, 250, 120, 50, 20];

const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// The page.
#[derive(Template)]
#[template(path = "page.html", config = "src/report/html/askama.toml")]
struct Page {
    policy: String,
    version: String,
    css: &'static str,
    js: &'static str,
    verdict: String,
    source: String,
    sentence: String,
    meaning: &'static str,
    /// Metric, verdict, sentence.
    others: Vec<(&'static str, String, String)>,
    facts: Vec<(&'static str, String)>,
    /// Kind, text.
    remarks: Vec<(&'static str, String)>,
    sections: Vec<(&'static str, &'static str)>,
    nodes: Table,
    causes: Option<Table>,
    tables: Vec<Table>,
    by: &'static str,
    tree: Vec<Branch>,
    tree_note: Option<String>,
    spreads: Vec<Spread>,
    made: Vec<(&'static str, String)>,
    data: String,
}

/// Writes the page, with as many rows as it has room for.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut page = String::new();
    for rows in ROWS {
        page = sections::page(summary, rows).render().map_err(io::Error::other)?;
        if page.len() <= MAX_BYTES {
            break;
        }
    }
    out.write_all(page.as_bytes())
}

/// Only the script and the style of this file run: they are named by their hashes. Nothing is fetched.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(JS),
        hash(CSS)
    )
}
