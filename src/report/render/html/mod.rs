//! report.html: one file that loads nothing else. The templates in this folder hold its markup; tables are there
//! without the script, which adds the slot map, sorting and filters.
//!
//! Names are hostile: askama escapes them in text and `embed` in data, and the script only ever sets `textContent`.
//! Should one slip through all the same, the policy in the page's head runs nothing but the one script that is named
//! by its hash, and fetches nothing.

mod curve;
mod embed;
mod heat_map;
mod histogram;
mod section;
pub mod sections;
mod spell;
mod table;
mod tree;
mod words;

use std::io::{self, Write};
use std::sync::LazyLock;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::report::palette;
use crate::report::render::html::section::{Context, Section};
use crate::report::render::html::spell::{TEXT, unbroken};
use crate::report::view::{self, Scope, verdict};
use crate::summary::{Dumped, Summary};
use crate::text::{bytes, counted, grouped, percent, time, truncated};

/// The page is never larger, whatever the dump, in bytes.
pub const MAX_BYTES: usize = 1_500_000;

/// Warnings, notes and breaks that are shown.
const LISTED: usize = 20;

static STYLE: LazyLock<String> =
    LazyLock::new(|| palette::css() + concat!(include_str!("page.css"), include_str!("parts.css")));
const SCRIPT: &str = concat!(
    include_str!("page.js"),
    include_str!("tables.js"),
    include_str!("slots.js")
);

#[derive(Template)]
#[template(
    path = "page.html",
    config = "src/report/render/html/askama.toml",
    whitespace = "minimize"
)]
struct Page<'a> {
    policy: String,
    style: &'static str,
    script: &'static str,
    data: String,
    summary: &'a Summary,
    title: String,
    /// When the dump was taken and when it was analyzed.
    made: String,
    word: String,
    class: &'static str,
    sentence: String,
    meaning: &'static str,
    steps: Vec<(String, Option<String>)>,
    facts: Vec<Fact>,
    /// Where reading ended early.
    stops: Vec<String>,
    warnings: Vec<String>,
    notes: Vec<String>,
    other: Vec<String>,
    sections: Vec<Section>,
    /// Sections by their place, those that share a row of the page together.
    rows: Vec<Vec<usize>>,
    how: Vec<(&'static str, String)>,
}

/// A highlighted number.
struct Fact {
    name: &'static str,
    text: String,
    value: String,
    words: &'static str,
}

/// Writes it.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let page = Page::of(summary)
        .and_then(|page| page.unbroken().render())
        .map_err(io::Error::other)?;
    out.write_all(page.as_bytes())
}

impl<'a> Page<'a> {
    /// The same with sentences in which numbers keep their unit on the line.
    fn unbroken(mut self) -> Self {
        let texts = [
            &mut self.stops,
            &mut self.warnings,
            &mut self.notes,
            &mut self.other,
        ];
        let texts = texts.into_iter().flatten();
        let steps = self.steps.iter_mut().map(|(what, _)| what);
        let all = texts.chain(steps).chain([&mut self.sentence]);
        all.for_each(|text| *text = unbroken(text));
        self
    }

    fn of(summary: &'a Summary) -> askama::Result<Self> {
        let (found, input) = (&summary.verdict, &summary.input);
        let metrics: Vec<_> = summary
            .slots
            .loads
            .iter()
            .map(|(metric, _)| metric)
            .collect();
        let context = Context {
            metrics: &metrics,
            rows: summary.rows,
        };
        let sections = view::report(summary);
        let sections = sections
            .iter()
            .filter(|section| section.scope != Scope::Overview)
            .map(|section| Section::of(section, context))
            .collect::<askama::Result<Vec<_>>>()?;
        let mut stops = input.incomplete.iter().map(|stop| {
            format!(
                "{}: not read beyond byte {}: {}",
                spell::cut(&stop.file),
                grouped(stop.byte),
                stop.reason
            )
        });
        let listed = |texts: &mut dyn Iterator<Item = String>| {
            texts.take(LISTED).map(|text| shortened(&text)).collect()
        };
        Ok(Page {
            policy: policy(SCRIPT, &STYLE),
            style: &STYLE,
            script: SCRIPT,
            data: embed::data(summary),
            summary,
            title: match (&summary.run.title, input.files.first()) {
                (Some(title), _) => spell::cut(title),
                (None, Some(file)) => spell::cut(&file.name),
                (None, None) => "no input".into(),
            },
            made: made(summary),
            word: found.word.clone(),
            class: words::class(found.state),
            sentence: shortened(&found.sentence.to_string()),
            meaning: words::meaning(found),
            steps: steps(summary),
            facts: facts(summary),
            stops: listed(&mut stops),
            warnings: listed(&mut input.warnings.iter().map(ToString::to_string)),
            notes: listed(&mut input.notes.iter().cloned()),
            other: listed(&mut verdict::others(found)),
            rows: rows(&sections),
            sections,
            how: how(summary),
        })
    }
}

/// The places of `sections`, narrow neighbours together.
fn rows(sections: &[Section]) -> Vec<Vec<usize>> {
    let places: Vec<usize> = (0..sections.len()).collect();
    places
        .chunk_by(|a, b| sections[*a].is_narrow && sections[*b].is_narrow)
        .map(<[usize]>::to_vec)
        .collect()
}

/// A sentence may quote what it is about.
fn shortened(text: &str) -> String {
    truncated(text, TEXT)
}

/// Nothing is fetched, nothing runs but the one script, and no text is ever made into markup.
fn policy(script: &str, style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(script),
        hash(style)
    )
}

fn facts(summary: &Summary) -> Vec<Fact> {
    let by = summary.verdict.metric();
    let found = summary.verdict.headline();
    let balance = summary.nodes.balance.get(by);
    let ratio = |name, ratio: Option<f64>, words| {
        ratio.map(|ratio| {
            let text = if ratio < 99.95 {
                format!("{ratio:.2} ×")
            } else {
                format!("{} ×", grouped(ratio.round() as u64))
            };
            Fact {
                name,
                text,
                value: ratio.to_string(),
                words,
            }
        })
    };
    let keys = summary.input.keys;
    let tags = summary.tags.as_ref().map(|tags| Fact {
        name: "tags.distinct",
        text: spell::short_count(tags.distinct),
        value: tags.distinct.to_string(),
        words: if tags.distinct_error > 0.0 {
            "distinct hash tags, about"
        } else {
            "distinct hash tags"
        },
    });
    let usable = found
        .filter(|found| found.judged)
        .and_then(|found| found.usable_capacity)
        .map(|part| Fact {
            name: "verdict.usable_capacity",
            text: percent(part),
            value: part.to_string(),
            words: "of the cluster can be used before its fullest node is full",
        });
    // Of captures alone the keys are not known.
    let only_operations = summary.operations.as_ref();
    let only_operations = only_operations.filter(|_| summary.has_only_operations());
    let (name, read, words) = match only_operations {
        Some(operations) => ("operations.ops", operations.ops, "operations were read"),
        None => ("input.keys", keys, "keys were read"),
    };
    let keys = Fact {
        name,
        text: spell::short_count(read),
        value: read.to_string(),
        words,
    };
    let fullest = ratio(
        "nodes.max_over_mean",
        balance.and_then(|b| b.max_over_mean),
        "fair share on the fullest node",
    );
    let nodes = Fact {
        name: "nodes.count",
        text: summary.nodes.owning().count().to_string(),
        value: summary.nodes.owning().count().to_string(),
        words: "primaries own slots",
    };
    [fullest, usable, Some(keys), Some(nodes), tags]
        .into_iter()
        .flatten()
        .collect()
}

/// When the dump was written, as far as its files say it, and when it was analyzed.
fn made(summary: &Summary) -> String {
    let analyzed = format!("analyzed {}", time(summary.run.started));
    match summary.dumped() {
        Some(Dumped { first, last }) if first == last => {
            format!("dump of {} · {analyzed}", time(first))
        }
        Some(Dumped { first, last }) => {
            let [first, last] = [first, last].map(time);
            format!("dumps of {first} to {last} · {analyzed}")
        }
        None => analyzed,
    }
}

/// What to do, a line and a command each.
fn steps(summary: &Summary) -> Vec<(String, Option<String>)> {
    let shown = |(what, command): (String, Option<String>)| {
        (shortened(&what), command.map(|command| shortened(&command)))
    };
    verdict::steps(summary).into_iter().map(shown).collect()
}

/// How the report was made: all that differs between two runs is here.
fn how(summary: &Summary) -> Vec<(&'static str, String)> {
    let run = &summary.run;
    let mut how = vec![
        ("command", shortened(&run.command.to_string())),
        ("slotscope", run.version.clone()),
        ("started", time(run.started)),
        ("took", format!("{:.3} s", run.elapsed_secs)),
        ("threads", run.threads.to_string()),
        ("kernel", run.kernel.clone()),
        ("input read", counted(run.passes.into(), "time")),
        ("keys a second", spell::short_count(run.keys_per_sec as u64)),
        ("input a second", bytes(run.bytes_per_sec as u64)),
    ];
    how.extend(
        run.peak_rss_bytes
            .map(|peak| ("memory at most", bytes(peak))),
    );
    how
}

#[cfg(test)]
mod tests;
