//! The allowed dependencies between modules of a crate, which Cargo cannot express. A new arrow is a new entry, made on
//! purpose.

use crate::paths::{paths_from_root, tested};

/// A module and the modules that it may use besides the leaves, with blanks between; a module without a row uses no
/// other. Tests inside a crate may use anything.
type Row = (&'static str, &'static str);

/// A crate: its root, the modules that each of its modules may use, and its rows. Modules in other crates may use each
/// other freely.
struct Layers {
    root: &'static str,
    leaves: &'static str,
    rows: &'static [Row],
}

const LAYERS: &[Layers] = &[
    Layers {
        root: "crates/base/src",
        leaves: "ansi block calendar error file_identity glob hash host lfu metric name redact secret sentence small_file text LISTED",
        rows: &[
            // Operations are weighed by the times of their commands.
            ("batch", "command::times"),
            ("error", "name sentence"),
            ("metric", "error"),
            ("redact", "error name sentence"),
            ("sentence", "name"),
            ("slot", "batch"),
            ("small_file", "error"),
            // Text spells names and amounts of metrics.
            ("text", "calendar metric name"),
        ],
    },
    Layers {
        root: "crates/read/src",
        leaves: "",
        rows: &[
            // Binary dumps are walked, skipping most of their bytes.
            ("format", "source::boundary source::forward"),
            // A manifest is written in words as redis-cli reads them.
            ("source", "format::parse::words"),
        ],
    },
    Layers {
        root: "crates/detect/src",
        leaves: "",
        rows: &[
            ("by_name", "csv"),
            ("chosen", "by_name csv named"),
            ("csv", "shape"),
            // Keys among other text: the refusal has the pattern that peels them out.
            ("not_a_dump", "shape::peel"),
            ("shape", "not_a_dump"),
        ],
    },
    Layers {
        root: "crates/count/src",
        leaves: "",
        rows: &[("scan", "tally"), ("tally", "pattern")],
    },
    Layers {
        root: "crates/findings/src",
        leaves: "",
        rows: &[
            // The sentences of the findings.
            ("summary", "wording"),
            ("wording", "summary"),
        ],
    },
    Layers {
        root: "crates/moves/src",
        leaves: "wording",
        // Each step is computed on the loads left by the previous ones.
        rows: &[("steps", "plan")],
    },
    Layers {
        root: "crates/report/src",
        leaves: "",
        rows: &[
            ("charts", "output palette plot view"),
            // Pictures as data, which the page and the charts draw.
            ("plot", "palette"),
            ("render", "palette plot view"),
            ("view", "palette plot"),
        ],
    },
    Layers {
        root: "crates/app/src",
        leaves: "",
        rows: &[
            ("cli", ANYTHING),
            // Options: values, and the pipeline inputs built from them.
            ("options", "pipeline"),
            // A report from parts: counts travel together with facts about the inputs.
            ("partial", "options pipeline source"),
            // Options of counting are one struct, shared by all commands.
            ("pipeline", "options::counting source"),
        ],
    },
    // The commands are slices: parts shared by two of them are in a lower crate.
    Layers {
        root: "crates/history/src",
        leaves: "",
        rows: &[
            // Names in adjacent reports are compared like those in two reports.
            ("capacity", "diff"),
            ("cli", ANYTHING),
        ],
    },
    Layers {
        root: "crates/live/src",
        leaves: "",
        rows: &[("cli", ANYTHING)],
    },
    Layers {
        root: "crates/names/src",
        leaves: "",
        rows: &[("cli", ANYTHING)],
    },
    Layers {
        root: "src",
        leaves: "",
        rows: &[("cli", ANYTHING), ("main", "slotscope")],
    },
];

/// Stands for all modules.
const ANYTHING: &str = "*";

/// The arrows in a file of the crate at `root` that are missing from the table; `path` is its module, from the root.
pub(crate) fn forbidden(root: &str, path: &[&str], code: &str) -> Vec<String> {
    let Some(layers) = LAYERS.iter().find(|layers| layers.root == root) else {
        return Vec::new();
    };
    let module = path.first().copied().unwrap_or("lib");
    if module == "lib" {
        return Vec::new();
    }
    let row = layers.rows.iter().find(|(name, _)| *name == module);
    let allowed = row.map_or("", |(_, allowed)| allowed);
    let is_leaf = layers.leaves.split(' ').any(|leaf| leaf == module);
    let leaves = if is_leaf { "" } else { layers.leaves };
    let may_use = |path: &str| {
        let targets = [allowed, leaves, module].join(" ");
        targets.split_whitespace().any(|target| {
            target == ANYTHING || path == target || path.starts_with(&format!("{target}::"))
        })
    };
    paths_from_root(&tested(code), path)
        .into_iter()
        .filter(|path| !may_use(path))
        .map(|path| format!("{module} -> {path}"))
        .collect()
}

const BASE: &str = "crates/base/src";

#[test]
fn an_arrow_that_is_not_in_the_table_is_found_however_it_is_written() {
    for (planted, found) in [
        ("use crate::tally::slots;", "slot -> tally::slots"),
        ("use crate::{error::Error, scan};", "slot -> scan"),
        (
            "use crate::{\n    batch::{self, Spans},\n    format::{lines as l, csv},\n    name::Name,\n};",
            "slot -> format::lines slot -> format::csv",
        ),
        ("pub(crate) use crate::report::*;", "slot -> report::*"),
        (
            "fn f() -> usize { crate::summary::f::<u8>() }",
            "slot -> summary::f",
        ),
        ("use super::super::plan::moves;", "slot -> plan::moves"),
        ("use slotscope::report;", "slot -> slotscope::report"),
        ("use crate::Topology;", "slot -> Topology"),
    ] {
        let arrows = forbidden(BASE, &["slot", "kernel"], planted);
        assert_eq!(arrows.join(" "), found, "{planted}");
    }
    for (module, planted, found) in [
        ("nowhere", "use crate::{name, scan};", "nowhere -> scan"),
        ("name", "use crate::error::Error;", "name -> error::Error"),
        ("slot", "use super::report;", "slot -> report"),
    ] {
        assert_eq!(forbidden(BASE, &[module], planted), [found]);
    }
}

#[test]
fn what_the_table_has_and_what_is_no_arrow_passes() {
    for fine in [
        "use crate::batch::{KeyBatch, Spans};\nuse crate::slot::kernel as k;",
        "use crate::{error::{Error, Result}, name::Name, hash::hash};",
        "use super::kernel;\nuse super::super::slot::SLOTS;",
        "// see crate::report\n/// [`crate::report`]",
        "use my_crate::report;\nuse std::fmt;",
        "#[cfg(test)]\nmod tests { use crate::report::json; }",
    ] {
        assert_eq!(
            forbidden(BASE, &["slot", "kernel"], fine),
            [""; 0],
            "{fine}"
        );
    }
}
