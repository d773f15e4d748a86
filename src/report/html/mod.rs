//! report.html: a `Summary` comes in, one file that asks for nothing else goes out. The templates beside this file say
//! what stands where; tables are there without the script, which adds the slot map, sorting and filters.
//!
//! Names are hostile: askama escapes them in text and `embed` in data, and the script only ever sets `textContent`.
//! Should one slip through all the same, the policy in the page's head runs nothing but the one script that is named
//! by its hash, and fetches nothing.

mod embed;
mod histogram;
mod sections;
mod spell;
mod table;
mod tree;
mod words;

use std::io::{self, Write};

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::units::{bytes, counted, grouped, percent};
use crate::metric::Metric;
use crate::summary::Summary;
use crate::summary::patterns::Kinds;
use crate::summary::quantiles::Quantiles;
use histogram::Histogram;
use sections::shortened;
use table::Table;
use tree::Branch;

/// The page is never larger, whatever the dump, in bytes.
pub const MAX_BYTES: usize = 1_500_000;

/// Bytes of the tree of prefixes.
const TREE: usize = 80_000;
/// Warnings, notes and breaks that are shown.
const LISTED: usize = 20;

const STYLE: &str = concat!(include_str!("page.css"), include_str!("parts.css"));
const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("tables.js"), include_str!("slots.js"));

#[derive(Template)]
#[template(path = "page.html", config = "src/report/html/askama.toml", whitespace = "minimize")]
struct Page<'a> {
    policy: String,
    style: &'static str,
    script: &'static str,
    data: String,
    summary: &'a Summary,
    title: String,
    word: &'static str,
    class: &'static str,
    sentence: String,
    meaning: &'static str,
    next_steps: Vec<String>,
    facts: Vec<Fact>,
    warnings: Vec<String>,
    notes: Vec<String>,
    other: Vec<(String, String)>,
    metrics: Vec<Metric>,
    nodes: Table,
    unowned: String,
    causes: Table,
    node_counts: Table,
    hottest: Table,
    spread: String,
    tags: Option<Table>,
    tags_note: String,
    prefixes: Vec<Branch>,
    prefixes_left_out: usize,
    patterns: Option<Table>,
    patterns_note: String,
    prefixes_note: String,
    keys: Option<Table>,
    types: Option<Table>,
    databases: Option<Table>,
    no_expiry: String,
    amounts: Vec<Histogram>,
    capacity: Option<Table>,
    files: Table,
    rejected: Option<Table>,
    rejected_note: String,
    how: Vec<(&'static str, String)>,
}

/// A number that stands out.
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
    let page = Page::of(summary).render().map_err(io::Error::other)?;
    out.write_all(page.as_bytes())
}

impl<'a> Page<'a> {
    fn of(summary: &'a Summary) -> Self {
        let (skew, rows) = (&summary.skew, summary.rows);
        let input = &summary.input;
        let prefixes = summary.prefixes.as_ref().map_or(&[][..], |prefixes| &prefixes.top);
        let (branches, shown) = tree::trees(prefixes, skew.by, TREE);
        let stops = input.incomplete.iter().map(|stop| {
            format!("{}: not read beyond byte {}: {}", spell::cut(&stop.file), grouped(stop.byte), stop.reason)
        });
        let listed =
            |texts: &mut dyn Iterator<Item = String>| texts.take(LISTED).map(|text| shortened(&text)).collect();
        Page {
            policy: policy(),
            style: STYLE,
            script: SCRIPT,
            data: embed::data(summary),
            summary,
            title: input.files.first().map_or_else(|| "no input".into(), |file| spell::cut(&file.name)),
            word: words::word(skew.verdict),
            class: words::class(skew.verdict),
            sentence: capital(&shortened(&skew.sentence)),
            meaning: words::meaning(skew.verdict),
            next_steps: words::next_steps(summary),
            facts: facts(summary),
            warnings: listed(&mut stops.chain(input.warnings.iter().cloned())),
            notes: listed(&mut input.notes.iter().cloned()),
            other: skew.other.iter().map(|other| (other.by.name().into(), shortened(&other.sentence))).collect(),
            metrics: summary.slots.loads.iter().map(|(metric, _)| metric).collect(),
            nodes: sections::nodes(summary).seen_to(rows),
            unowned: unowned(summary),
            causes: sections::causes(summary),
            node_counts: sections::node_counts(summary),
            hottest: sections::hottest(summary).seen_to(rows),
            spread: spread(summary),
            tags: sections::tags(summary).map(|tags| tags.seen_to(rows)),
            tags_note: tags_note(summary),
            prefixes_left_out: prefixes.len() - shown,
            prefixes: branches,
            patterns: sections::patterns(summary).map(|patterns| patterns.seen_to(rows)),
            patterns_note: summary.patterns.as_ref().map(|patterns| kinds_note(patterns, skew.by)).unwrap_or_default(),
            prefixes_note: summary.prefixes.as_ref().map(|prefixes| kinds_note(prefixes, skew.by)).unwrap_or_default(),
            keys: sections::keys(summary).map(|keys| keys.seen_to(rows)),
            types: sections::types(summary).map(|types| types.seen_to(rows)),
            databases: sections::databases(summary).map(|databases| databases.seen_to(rows)),
            no_expiry: no_expiry(summary),
            amounts: amounts(summary),
            capacity: sections::capacity(summary).map(|capacity| capacity.seen_to(rows)),
            files: sections::files(summary).seen_to(rows),
            rejected: (input.rejected.count > 0).then(|| sections::rejected(summary)),
            rejected_note: format!("{} that are no keys", counted(input.rejected.count, "line")),
            how: how(summary),
        }
    }
}

/// Nothing is fetched, nothing runs but the one script, and no text is ever made into markup.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn facts(summary: &Summary) -> Vec<Fact> {
    let skew = &summary.skew;
    let balance = summary.nodes.balance.get(skew.by);
    let slots = summary.slots.stats.get(skew.by);
    let ratio = |name, ratio: Option<f64>, words| {
        ratio.map(|ratio| {
            let text =
                if ratio < 99.95 { format!("{ratio:.2} ×") } else { format!("{} ×", grouped(ratio.round() as u64)) };
            Fact { name, text, value: ratio.to_string(), words }
        })
    };
    let keys = summary.input.keys;
    let tags = summary.tags.as_ref().map(|tags| Fact {
        name: "tags.distinct",
        text: spell::short_count(tags.distinct),
        value: tags.distinct.to_string(),
        words: if tags.distinct_error > 0.0 { "distinct hash tags, about" } else { "distinct hash tags" },
    });
    let units = skew.n_eff.map(|units| Fact {
        name: "skew.n_eff",
        text: spell::short_count(units.round() as u64),
        value: units.to_string(),
        words: "independent units that the load behaves like",
    });
    let usable = skew.usable_capacity.map(|part| Fact {
        name: "skew.usable_capacity",
        text: percent(part),
        value: part.to_string(),
        words: "of the cluster can be used before one node is full",
    });
    let keys =
        Fact { name: "input.keys", text: spell::short_count(keys), value: keys.to_string(), words: "keys were read" };
    let fullest =
        ratio("nodes.max_over_mean", balance.and_then(|b| b.max_over_mean), "its fair share is on the fullest node");
    let hottest = ratio("slots.max_over_mean", slots.and_then(|b| b.max_over_mean), "the mean is in the hottest slot");
    [Some(keys), fullest, usable, hottest, units, tags].into_iter().flatten().collect()
}

fn unowned(summary: &Summary) -> String {
    let unowned = &summary.nodes.unowned;
    match unowned.slots {
        0 => String::new(),
        slots => format!(
            "{} belong to no node; they hold {}.",
            counted(slots.into(), "slot"),
            counted(unowned.load.keys, "key")
        ),
    }
}

/// How uneven the slots are, beside what chance would make them.
fn spread(summary: &Summary) -> String {
    let by = summary.skew.by;
    let Some(stats) = summary.slots.stats.get(by) else { return String::new() };
    let expected = summary.slots.expected.as_ref().and_then(|expected| expected.get(by));
    let number = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.3}"));
    let beside = |value: Option<f64>| value.map(|value| format!(" (a perfect hash: {value:.3})")).unwrap_or_default();
    format!(
        "Coefficient of variation {}{}, Gini {}{}; the hottest slot holds {} {}, half of the slots at most {}; {} are empty.",
        number(stats.cv),
        beside(expected.map(|expected| expected.cv)),
        number(stats.gini),
        beside(expected.and_then(|expected| expected.gini)),
        grouped(stats.max),
        by.name(),
        grouped(stats.p50),
        grouped(stats.empty as u64),
    )
}

fn tags_note(summary: &Summary) -> String {
    let Some(tags) = &summary.tags else { return String::new() };
    let share = percent(tags.tagged_keys as f64 / summary.input.keys.max(1) as f64);
    let most = amount(tags.max_error, summary.skew.by);
    let certain = match (tags.exact, tags.max_error) {
        (true, 0) => "All counts are exact.".into(),
        (true, _) => format!("Counts are exact; no tag that is not listed holds more than {most}."),
        (false, _) => format!(
            "Counts are lower bounds; the column “more” says by how many keys at most, and no tag that is not listed holds more than {most}."
        ),
    };
    format!("{} ({share}) have a hash tag. {certain}", counted(tags.tagged_keys, "key"))
}

fn kinds_note<R>(kinds: &Kinds<R>, by: Metric) -> String {
    if kinds.exact && kinds.max_error == 0 {
        return "All counts are exact.".into();
    }
    let counts = if kinds.exact { "exact" } else { "lower bounds: there are too many to count each" };
    format!("Counts are {counts}; none that is not listed holds more than {}.", amount(kinds.max_error, by))
}

/// An amount of a metric in words.
fn amount(amount: u64, by: Metric) -> String {
    match by {
        Metric::Keys => counted(amount, "key"),
        Metric::Bytes => bytes(amount),
        Metric::Ops => counted(amount, "operation"),
    }
}

fn no_expiry(summary: &Summary) -> String {
    summary.no_expiry.map(|keys| format!("{} never expire.", counted(keys, "key"))).unwrap_or_default()
}

fn amounts(summary: &Summary) -> Vec<Histogram> {
    let told = |amounts: &&Quantiles| amounts.count > 0;
    let lengths = summary
        .lengths
        .as_ref()
        .filter(told)
        .map(|lengths| Histogram::of("lengths", "Key lengths in bytes", lengths, grouped));
    let sizes = summary.sizes.as_ref().filter(told).map(|sizes| Histogram::of("sizes", "Sizes", sizes, bytes));
    let of_tags = summary.tag_sizes.as_ref().map(|sizes| {
        let sampled = sizes.sampled.map(|tags| format!(" (a sample of {} tags)", grouped(tags))).unwrap_or_default();
        Histogram::of("tag-sizes", &format!("Keys of a hash tag{sampled}"), &sizes.keys, grouped)
    });
    lengths.into_iter().chain(sizes).chain(of_tags).collect()
}

/// How the report was made: all that differs between two runs is here.
fn how(summary: &Summary) -> Vec<(&'static str, String)> {
    let run = &summary.run;
    let mut how = vec![
        ("command", shortened(&run.command.to_string())),
        ("slotscope", run.version.clone()),
        ("started", spell::time(run.started)),
        ("took", format!("{:.3} s", run.elapsed_secs)),
        ("threads", run.threads.to_string()),
        ("kernel", run.kernel.clone()),
        ("input read", counted(run.passes.into(), "time")),
        ("keys a second", spell::short_count(run.keys_per_sec as u64)),
        ("input a second", bytes(run.bytes_per_sec as u64)),
    ];
    how.extend(run.peak_rss_bytes.map(|peak| ("memory at most", bytes(peak))));
    how
}

#[cfg(test)]
mod tests;
