//! Checks the architecture: dependencies between modules, the length of files and their beginning.

mod arrows;
mod circles;
mod form;
mod paths;

use std::fs;
use std::path::{Path, PathBuf};

use circles::circles;
use testkit::files::below;

use form::{MEDIAN, complaints, of_form};

/// The roots of the crates that form one structure.
const ROOTS: &[&str] = &[
    "src",
    "crates/advisor/src",
    "crates/app/src",
    "crates/collect/src",
    "crates/base/src",
    "crates/count/src",
    "crates/detect/src",
    "crates/read/src",
    "crates/findings/src",
    "crates/hashslot/src",
    "crates/live/src",
    "crates/names/src",
    "crates/history/src",
    "crates/parts/src",
    "crates/keyname/src",
    "crates/model/src",
    "crates/moves/src",
    "crates/objects/src",
    "crates/planner/src",
    "crates/report/src",
    "crates/topology/src",
];

/// Every .rs file under `folder`, with its text.
fn files_under(folder: &Path) -> Vec<(PathBuf, String)> {
    let files = below(folder, "rs").into_iter();
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap());
    files.map(read).collect()
}

#[test]
fn every_arrow_and_every_file_keeps_to_the_architecture() {
    let mut lengths = Vec::new();
    for root in ROOTS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        let files: Vec<(PathBuf, String)> = files_under(&folder)
            .into_iter()
            .map(|(path, code)| (path.strip_prefix(&folder).unwrap().to_owned(), code))
            .collect();
        let wrong: Vec<String> = files
            .iter()
            .flat_map(|(path, code)| complaints(root, path, code))
            .collect();
        assert!(wrong.is_empty(), "{root}\n{}\n", wrong.join("\n"));
        let circles = circles(&files);
        assert!(
            circles.is_empty(),
            "{root}: files that use each other: {circles:?}"
        );
        lengths.extend(files.iter().map(|(_, code)| code.lines().count()));
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(
        median <= MEDIAN,
        "half of the files have {median} lines or more"
    );
}

#[test]
fn the_tests_and_the_small_crates_keep_to_the_same_form() {
    let folders = ["tests", "crates/canvas"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = folders.map(|folder| files_under(&root.join(folder)));
    let complaints = files.iter().flatten().flat_map(|(path, code)| {
        let complaints = of_form(code).into_iter();
        complaints.map(|complaint| format!("{}: {complaint}", path.display()))
    });
    let complaints: Vec<String> = complaints.collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
