//! Several files without a topology: if they do not count as one node each, the report gives the reason.

use slotscope::slot::slot;
use testkit::prelude::*;

fn notes(files: &[Vec<String>], flags: &str) -> (String, Value) {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("dumps")).unwrap();
    for (at, keys) in files.iter().enumerate() {
        scratch.file(&format!("dumps/part-{at}"), keys.join("\n") + "\n");
    }
    let report = scratch.report(&format!("analyze --json dumps {flags}"));
    (
        report["input"]["notes"].to_string(),
        report["nodes"]["source"].clone(),
    )
}

#[test]
fn files_that_are_not_nodes_are_said_not_to_be_and_why() {
    let keys: Vec<String> = (0..30_000).map(|i| format!("session:{i}")).collect();
    let taken = "not taken as a node each";
    let parts: Vec<Vec<String>> = keys.chunks(10_000).map(<[String]>::to_vec).collect();
    let (same, source) = notes(&parts, "");
    assert_eq!(source, "assumed even 3");
    same.says("the 3 files are not taken as a node each: ")
        .says("slots");
    let (few, _) = notes(&[vec!["a".into()], vec!["b".into()]], "");
    few.says(taken).says("too few keys to tell");
    notes(&parts, "--nodes 3").0.lacks(taken);
    notes(&parts[..1], "").0.lacks(taken);
    let (first, second) = keys
        .into_iter()
        .partition(|key| slot(key.as_bytes()) < 8192);
    let (nodes, source) = notes(&[first, second], "");
    assert_eq!(source, "one node a file");
    nodes.lacks(taken);
}
