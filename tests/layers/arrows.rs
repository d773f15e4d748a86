//! Which module may use which. A new arrow is a new entry in `MAY_USE`, made on purpose.

use crate::paths::{paths_from_root, tested};

/// A module, or a file at one of the roots, and what it may use in addition to itself and `EVERYWHERE`. Tests inside
/// src/ may use anything.
const MAY_USE: &[(&str, &[&str])] = &[
    ("name", &[]),
    ("ansi", &[]),
    ("secret", &[]),
    ("metric", &["error"]),
    ("sentence", &["name"]),
    ("redact", &["error", "name", "sentence"]),
    ("calendar", &[]),
    ("file_identity", &[]),
    // Text spells names and amounts of metrics.
    ("text", &["calendar", "name", "metric"]),
    ("node_labels", &["name"]),
    ("hash", &[]),
    // The commands of a server: which words are keys.
    ("command", &[]),
    ("error", &["name", "sentence"]),
    // A manifest is written in words as redis-cli reads them.
    ("source", &["format::parse::words"]),
    // Passes over blocks with the vectors of a kernel.
    ("simd", &["source::block"]),
    ("pattern", &["format::batch", "source::block"]),
    (
        "format",
        &[
            // Captures are commands.
            "command",
            "simd",
            "source::block",
            "source::boundary",
            // Binary dumps are walked, most of their bytes passed over.
            "source::forward",
        ],
    ),
    ("slot", &["format::batch", "source::block"]),
    (
        "tally",
        &[
            // Which operations only read.
            "command",
            "format::batch",
            "pattern",
            "slot",
            "source::block",
        ],
    ),
    ("scan", &["source", "format", "simd", "slot", "tally"]),
    (
        "analysis",
        &[
            // The versions of the servers decide which commands steps have.
            "plan::migration",
            "source",
            "format",
            "slot",
            "tally",
            "scan",
            "topology",
            "summary",
            "steps",
        ],
    ),
    // What is asked: values, and next to each what is built from it for the front door.
    (
        "spec",
        &[
            "analysis",
            "collect::manifest",
            "format",
            "scan",
            "slot",
            "source",
            "topology",
        ],
    ),
    // A report from parts: the counts travel, and what is said of the inputs with them.
    (
        "partial",
        &[
            "analysis",
            "format",
            "scan",
            "slot::policy",
            "spec",
            "source",
            "summary",
            "tally",
            "topology",
        ],
    ),
    // Every step is computed on the loads that the steps before it leave.
    ("steps", &["plan", "summary", "slot", "tally", "topology"]),
    ("topology", &["slot", "source::small_file"]),
    (
        "summary",
        &["command", "tally", "topology", "pattern", "slot"],
    ),
    // The sentences of findings, by which these serialize.
    ("wording", &["summary", "topology"]),
    ("plan", &["summary", "topology", "slot", "report"]),
    (
        "whatif",
        &[
            "summary",
            "tally",
            "topology",
            "slot",
            "format::batch",
            "source::block",
            // What nodes come to once slots are moved: a split helps where they can be level.
            "plan",
            "report",
            "wording",
            DISPLAYED,
        ],
    ),
    (
        "fanout",
        &[
            // Where batches are kept.
            "advise::batches",
            "pattern",
            "summary",
            "tally",
            "topology",
            "slot",
            "format::batch",
            "format::capture::monitor_line",
            "format::capture::whole_commands",
            "format::parse",
            "command",
            "source::block",
            "report",
        ],
    ),
    // Which tags names and batches ask for; names are counted like keys, and rules tried as whatif does.
    (
        "advise",
        &[
            "analysis",
            "report::view",
            "scan",
            "slot",
            "tally",
            "whatif::rules",
        ],
    ),
    (
        "lint",
        &[
            "report::view",
            "summary",
            "tally",
            "slot",
            "topology",
            "format::batch",
            "source::block",
            "source::small_file",
        ],
    ),
    // The reader of tables has the columns, by which it knows how keys are spelled there.
    (
        "dump",
        &["format::rdb", "format::table::key_spelling", "output"],
    ),
    (
        "collect",
        &[
            "format::table::key_spelling",
            "output",
            "slot",
            // collect.json is an input too: its form is defined with the sources.
            "source::collection::manifest",
            "source::collection::servers",
            "topology::node_line",
            "topology::seen_lines",
        ],
    ),
    ("find_tag", &["slot", "source::small_file", "topology"]),
    // Nodes without ids are those that share most slots.
    (
        "diff",
        &[
            "summary", "slot", "report", "topology", "wording", DISPLAYED,
        ],
    ),
    // Names of neighbouring reports are compared as those of two.
    (
        "trend",
        &["diff", "output", "report", "summary", "wording", DISPLAYED],
    ),
    (
        "timeline",
        &[
            "analysis",
            "format::batch",
            // An append-only directory has an RDB file, without times.
            "format::Format",
            "format::rdb",
            // Counts of servers over time.
            "format::slot_stats",
            "output",
            "pattern",
            "report",
            "scan",
            "slot",
            "summary",
            "tally",
            "topology",
        ],
    ),
    ("generate", &[]),
    (
        "bench",
        &[
            "analysis",
            "format::batch",
            "generate",
            "output",
            "report",
            "scan",
            "slot",
            "source",
            "summary",
            "tally",
        ],
    ),
    ("keyslot", &["slot", "tally", "topology"]),
    // Files on their way to their places, and what they may replace.
    ("output", &[]),
    // What counts and judges, and no command.
    (
        "report",
        &["output", "slot", "summary", "topology", "wording"],
    ),
    ("cli", &[ANYTHING]),
    ("main", &["slotscope"]),
    // What lib.rs offers at the root and in `extend`.
    (
        "lib",
        &[
            "command", "format", "hashslot", "pattern", "scan", "simd", "slot", "steps", "source",
            "summary", "tally", "topology", "wording",
        ],
    ),
];

/// The macro by which a finding is displayed in its words.
const DISPLAYED: &str = "displayed_in_words";

/// In place of the modules that a module may use: all of them.
const ANYTHING: &str = "*";

/// What every other module may use.
const EVERYWHERE: &[&str] = &[
    "ansi",
    "calendar",
    "error",
    "file_identity",
    "metric",
    "name",
    "node_labels",
    "text",
    "hash",
    "redact",
    "sentence",
    "secret",
];

/// The arrows of module `module` that the table does not have; `code` is one of its files.
pub fn forbidden(module: &str, code: &str, depth: usize) -> Vec<String> {
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
        return vec![format!("module {module} has no row in MAY_USE")];
    };
    let everywhere = if EVERYWHERE.contains(&module) {
        &[]
    } else {
        EVERYWHERE
    };
    let may_use = |path: &str| {
        let mut targets = allowed
            .iter()
            .chain(everywhere)
            .chain(std::iter::once(&module));
        targets.any(|target| {
            *target == ANYTHING || path == *target || path.starts_with(&format!("{target}::"))
        })
    };
    paths_from_root(&tested(code), depth)
        .into_iter()
        .filter(|path| !may_use(path))
        .map(|path| format!("{module} -> {path}"))
        .collect()
}

#[test]
fn an_arrow_that_is_not_in_the_table_is_found_however_it_is_written() {
    for (planted, found) in [
        ("use crate::tally::slots;", "slot -> tally::slots"),
        ("use crate::{error::Error, scan};", "slot -> scan"),
        (
            "use crate::{\n    format::{batch::{self, Spans}, lines as l, csv},\n    name::Name,\n};",
            "slot -> format::lines slot -> format::csv",
        ),
        ("pub(crate) use crate::report::*;", "slot -> report::*"),
        (
            "fn f() -> usize { crate::summary::f::<u8>() }",
            "slot -> summary::f",
        ),
        ("use super::super::plan::moves;", "slot -> plan::moves"),
        ("use slotscope::report;", "slot -> slotscope::report"),
        ("use slotscope_engine::scan::Scan;", "slot -> scan::Scan"),
        ("use crate::Topology;", "slot -> Topology"),
    ] {
        assert_eq!(forbidden("slot", planted, 2).join(" "), found, "{planted}");
    }
    assert_eq!(
        forbidden("nowhere", "", 1),
        ["module nowhere has no row in MAY_USE"]
    );
    assert_eq!(
        forbidden("name", "use crate::error::Error;", 1),
        ["name -> error::Error"]
    );
    assert_eq!(
        forbidden("topology", "use super::report;", 1),
        ["topology -> report"]
    );
}

#[test]
fn what_the_table_has_and_what_is_no_arrow_passes() {
    for fine in [
        "use crate::format::batch::{KeyBatch, Spans};\nuse crate::slot::kernel as k;",
        "use crate::{error::{Error, Result}, name::Name, hash::hash};",
        "use super::kernel;\nuse super::super::slot::SLOTS;",
        "// see crate::report\n/// [`crate::report`]",
        "use my_crate::report;\nuse std::fmt;",
        "#[cfg(test)]\nmod tests { use crate::report::json; }",
    ] {
        assert_eq!(forbidden("slot", fine, 2), Vec::<String>::new(), "{fine}");
    }
}
