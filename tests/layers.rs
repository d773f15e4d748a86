//! The architecture, checked: which module may use which, how long files are, how they begin.
//! A new arrow is a new entry in `MAY_USE`, made on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the crates that are one structure: the program and the library, and the part of it that counts.
const ROOTS: &[&str] = &["src", "crates/core/src"];

/// A module, or a file at one of the roots, and what it may use in addition to itself and `EVERYWHERE`. Tests inside
/// src/ may use anything.
const MAY_USE: &[(&str, &[&str])] = &[
    ("name", &[]),
    ("ansi", &[]),
    ("secret", &[]),
    ("metric", &["error"]),
    ("redact", &["error", "name"]),
    ("calendar", &[]),
    // Text spells names and amounts of metrics.
    ("text", &["calendar", "name", "metric"]),
    ("hash", &[]),
    // The commands of a server: which words are keys.
    ("command", &[]),
    ("error", &["name"]),
    ("source", &[]),
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
        &["format::batch", "pattern", "slot", "source::block"],
    ),
    ("scan", &["source", "format", "simd", "slot", "tally"]),
    (
        "analysis",
        &[
            "collect::manifest",
            "source",
            "format",
            "slot",
            "tally",
            "scan",
            "topology",
            "summary",
            "remedies",
        ],
    ),
    // A report from parts: the counts travel, and what is said of the inputs with them.
    (
        "partial",
        &[
            "analysis",
            "collect::manifest",
            "format",
            "scan",
            "slot::policy",
            "source",
            "summary",
            "tally",
            "topology",
        ],
    ),
    // Every remedy is carried out, not asserted.
    (
        "remedies",
        &["plan", "summary", "slot", "tally", "topology"],
    ),
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
        ],
    ),
    (
        "fanout",
        &[
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
    ("dump", &["format::rdb", "format::table::key_spelling"]),
    (
        "collect",
        &[
            // Rows are those of `dump`, in a directory that is put in place as a whole.
            "dump",
            "format::table::key_spelling",
            "report::directory",
            "report::view",
            "slot",
            // collect.json is an input too: its form is defined with the sources.
            "source::collection::manifest",
            "topology::ranges",
        ],
    ),
    ("find_tag", &["slot", "source::small_file", "topology"]),
    // Nodes without ids are those that share most slots.
    ("diff", &["summary", "slot", "report", "topology"]),
    // Names of neighbouring reports are compared as those of two.
    ("trend", &["diff", "report", "summary"]),
    (
        "timeline",
        &[
            "analysis",
            "format::batch",
            // Counts of servers over time.
            "format::slot_stats",
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
            "report",
            "scan",
            "slot",
            "source",
            "summary",
            "tally",
        ],
    ),
    ("keyslot", &["slot", "tally", "topology"]),
    (
        "report",
        &[
            "summary",
            "topology",
            "slot",
            "diff",
            "trend",
            "whatif",
            "wording",
            "displayed_in_words",
            // No output replaces an input.
            "source::identity",
        ],
    ),
    ("cli", &[ANYTHING]),
    ("main", &["slotscope"]),
    // What lib.rs offers at the root and in `extend`.
    (
        "lib",
        &[
            "command", "format", "hashslot", "pattern", "remedies", "scan", "simd", "slot",
            "source", "summary", "tally", "topology", "wording",
        ],
    ),
];

/// In place of the modules that a module may use: all of them.
const ANYTHING: &str = "*";

/// What every other module may use.
const EVERYWHERE: &[&str] = &[
    "ansi", "calendar", "error", "metric", "name", "text", "hash", "redact", "secret",
];

/// Lines a file may have, and lines that half of the files stay under.
const LONGEST: usize = 500;
const MEDIAN: usize = 200;

/// Marks of unfinished code.
const UNFINISHED: &[&str] = &["todo!", "unimplemented!", "#[allow(", "#![allow("];

/// The paths that `code` takes from the root of the crate, `use` groups spelled out: `slot::kernel::best`.
/// `depth` is how many `super::` lead from the file to that root. The crate that counts has its modules there too.
fn paths_from_root(code: &str, depth: usize) -> Vec<String> {
    let code: Vec<&str> = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let mut paths = Vec::new();
    let supers = "super::".repeat(depth);
    for root in ["crate::", "slotscope_core::", "slotscope::", &supers]
        .into_iter()
        .filter(|root| !root.is_empty())
    {
        for (at, _) in code.match_indices(root) {
            // `other_crate::` and the tail of a longer chain of `super::` begin elsewhere.
            let is_tail = code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
            let target = &code[at + root.len()..];
            if !is_tail && !target.starts_with("super::") {
                spell_out(
                    if root == "slotscope::" {
                        "slotscope"
                    } else {
                        ""
                    },
                    target,
                    &mut paths,
                );
            }
        }
    }
    paths
}

/// Appends the paths at the start of `tree`, `a::{b, c::d}` or `a::b`, each after `before`; returns what follows.
fn spell_out<'a>(before: &str, tree: &'a str, paths: &mut Vec<String>) -> &'a str {
    let tree = tree.trim_start();
    if let Some(mut rest) = tree.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            let after = spell_out(before, rest, paths);
            if after.len() == rest.len() {
                return after.trim_start().strip_prefix('}').unwrap_or(after);
            }
            // `as other_name` ends the path as a comma does.
            rest = &after[after.find([',', '}']).unwrap_or(after.len())..];
        }
    }
    let end = tree
        .find(|c: char| !c.is_alphanumeric() && !"_*".contains(c))
        .unwrap_or(tree.len());
    let (word, rest) = tree.split_at(end);
    let path = if before.is_empty() {
        word.to_owned()
    } else {
        format!("{before}::{word}")
    };
    // `::<` of a generic argument is no step of the path.
    match rest
        .strip_prefix("::")
        .filter(|next| !word.is_empty() && !next.starts_with('<'))
    {
        Some(next) => spell_out(&path, next, paths),
        None => {
            paths.extend((!word.is_empty()).then_some(path));
            rest
        }
    }
}

/// The code of a file without its tests, and without comments.
fn tested(code: &str) -> String {
    let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = code.lines().map(|line| match line.trim_start() {
        comment if comment.starts_with("//") => "",
        _ => line,
    });
    code.collect::<Vec<_>>().join("\n")
}

/// String literals of three words or more: summary/ holds numbers and names, and wording/ the sentences.
fn prose(code: &str) -> Vec<String> {
    let code = tested(code).replace("\\\"", "");
    let literals = code.split('"').skip(1).step_by(2);
    let is_word = |word: &&str| word.contains(char::is_alphabetic);
    literals
        .filter(|literal| literal.split_whitespace().filter(is_word).count() >= 3)
        .map(String::from)
        .collect()
}

/// The name of the module in a file: `summary::model` of summary/model/mod.rs.
fn module_of(path: &Path) -> String {
    let parts: Vec<_> = path
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .filter(|part| part != "mod" && part != "lib" && part != "main")
        .collect();
    parts.join("::")
}

/// Files that use each other in a circle, each circle once. A file may use what its folder's mod.rs defines for all of
/// them, and that mod.rs the file.
fn circles(files: &[(PathBuf, String)]) -> Vec<Vec<String>> {
    let arrows: BTreeMap<String, BTreeSet<String>> = {
        let modules: BTreeSet<String> = files.iter().map(|(path, _)| module_of(path)).collect();
        let arrows = files.iter().map(|(path, code)| {
            let module = module_of(path);
            let depth = module.split("::").count();
            let targets = paths_from_root(&tested(code), depth).into_iter();
            let file_of = |path: String| {
                let mut target = path.as_str();
                while !modules.contains(target) {
                    target = target.rsplit_once("::")?.0;
                }
                Some(target.to_owned())
            };
            let is_around = |target: &String| module.starts_with(&format!("{target}::"));
            let targets = targets
                .filter_map(file_of)
                .filter(|target| *target != module && !is_around(target))
                .collect();
            (module, targets)
        });
        arrows.collect()
    };
    let reached_from = |start: &String| {
        let mut reached = BTreeSet::new();
        let mut next = vec![start];
        while let Some(module) = next.pop() {
            let targets = arrows.get(module).into_iter().flatten();
            next.extend(targets.filter(|target| reached.insert((*target).clone())));
        }
        reached
    };
    let reached: BTreeMap<&String, _> = arrows
        .keys()
        .map(|module| (module, reached_from(module)))
        .collect();
    let circle = |module: &&String| -> Vec<String> {
        let back = |other: &&String| reached.get(other).is_some_and(|of| of.contains(*module));
        reached[*module].iter().filter(back).cloned().collect()
    };
    let circles: BTreeSet<Vec<String>> = arrows.keys().map(|module| circle(&module)).collect();
    circles
        .into_iter()
        .filter(|circle| !circle.is_empty())
        .collect()
}

/// The arrows of module `module` that the table does not have; `code` is one of its files.
fn forbidden(module: &str, code: &str, depth: usize) -> Vec<String> {
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

/// What is wrong with the file `path`, relative to its root.
fn complaints(path: &Path, code: &str) -> Vec<String> {
    let parts: Vec<String> = path
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let is_root_of_module = matches!(
        parts.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    );
    let mut complaints = Vec::new();
    if parts.last().is_none_or(|name| name != "tests") {
        complaints = forbidden(
            &parts[0],
            code,
            parts.len() - usize::from(is_root_of_module),
        );
    }
    if parts[0] == "summary" {
        let found = prose(code).into_iter();
        complaints.extend(found.map(|text| format!("holds prose: {text:?}")));
    }
    if !code.starts_with("//!") {
        complaints.push(String::from("does not open with a //! line"));
    }
    let lines = code.lines().count();
    if lines > LONGEST {
        complaints.push(format!("has {lines} lines, more than {LONGEST}"));
    }
    complaints.extend(
        UNFINISHED
            .iter()
            .filter(|word| code.contains(**word))
            .map(|word| format!("holds {word}")),
    );
    complaints
        .iter()
        .map(|complaint| format!("{}: {complaint}", path.display()))
        .collect()
}

/// Every .rs file under `folder`, with its text.
fn files_under(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() {
            files.extend(files_under(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let code = fs::read_to_string(&path).unwrap();
            files.push((path, code));
        }
    }
    files
}

#[test]
fn every_arrow_and_every_file_keeps_to_the_architecture() {
    let files: Vec<(PathBuf, String)> = ROOTS
        .iter()
        .flat_map(|root| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
            let relative = |path: &Path| path.strip_prefix(&root).unwrap().to_owned();
            let files = files_under(&root).into_iter();
            files
                .map(|(path, code)| (relative(&path), code))
                .collect::<Vec<_>>()
        })
        .collect();
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|(path, code)| complaints(path, code))
        .collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    let circles = circles(&files);
    assert!(circles.is_empty(), "files that use each other: {circles:?}");
    let mut lengths: Vec<usize> = files.iter().map(|(_, code)| code.lines().count()).collect();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(
        median <= MEDIAN,
        "half of the files have {median} lines or more"
    );
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
        ("use slotscope_core::scan::Scan;", "slot -> scan::Scan"),
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

#[test]
fn a_file_that_is_too_long_unfinished_or_unexplained_is_found() {
    let found = |path: &str, code: &str| complaints(Path::new(path), code).join("; ");
    assert_eq!(found("slot/x.rs", "//! x\nuse super::hashtag;\n"), "");
    assert_eq!(
        found("slot/x.rs", "fn x() {}\n"),
        "slot/x.rs: does not open with a //! line"
    );
    assert_eq!(
        found("slot/x.rs", &"//! x\n".repeat(LONGEST + 1)),
        format!("slot/x.rs: has {} lines, more than {LONGEST}", LONGEST + 1)
    );
    assert_eq!(
        found("slot/x.rs", "//! x\nfn x() { todo!() }\n"),
        "slot/x.rs: holds todo!"
    );
    assert_eq!(
        found("slot/x.rs", "//! x\n#[allow(unused)]\n"),
        "slot/x.rs: holds #[allow("
    );
    assert_eq!(
        found("slot/mod.rs", "//! x\nuse super::scan;\n"),
        "slot/mod.rs: slot -> scan"
    );
    assert_eq!(
        found("slot/kernel/tests.rs", "//! x\nuse crate::scan;\n"),
        ""
    );
    assert_eq!(found("main.rs", "//! x\nuse slotscope::scan;\n"), "");
}

#[test]
fn files_that_use_each_other_are_found_through_any_number_of_others() {
    let file = |path: &str, code: &str| (PathBuf::from(path), String::from(code));
    let mut files = vec![
        file(
            "summary/mod.rs",
            "use crate::summary::a::A;\nuse crate::tally;",
        ),
        file(
            "summary/a.rs",
            "use crate::{summary::b::B, summary::Summary};",
        ),
        file("summary/b.rs", "fn f() { crate::summary::model::c::g() }"),
        file(
            "summary/model/c.rs",
            "// crate::summary::a\nuse crate::tally::T;",
        ),
        file(
            "tally/mod.rs",
            "#[cfg(test)]\nmod tests { use crate::summary::a::A; }",
        ),
    ];
    assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    files[3].1 = String::from("use crate::summary::a::A;");
    let circle = ["summary::a", "summary::b", "summary::model::c"];
    assert_eq!(circles(&files), [circle]);
}

#[test]
fn prose_in_the_findings_is_found() {
    let planted = "fn f() { g(\"node {x} is \\\"full\\\" now\", \"even 3\", \"Option::is_none\") }";
    assert_eq!(prose(planted), ["node {x} is full now"]);
    let fine = "//! \"a sentence in a comment\"\n#[cfg(test)]\nmod tests { \"one of a test\" }";
    assert_eq!(prose(fine), [""; 0]);
    let found = complaints(Path::new("summary/x.rs"), &format!("//! x\n{planted}"));
    assert_eq!(
        found,
        ["summary/x.rs: holds prose: \"node {x} is full now\""]
    );
    assert!(complaints(Path::new("report/x.rs"), &format!("//! x\n{planted}")).is_empty());
}
