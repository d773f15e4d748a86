//! Several files without a topology: if they do not count as one node each, the report gives the reason.

use slotscope::slot::slot;
use testkit::prelude::*;

fn notes(files: &[Vec<String>], flags: &[&str]) -> (String, Value) {
    let scratch = Scratch::new();
    let names: Vec<String> = (0..files.len()).map(|i| format!("part-{i}")).collect();
    for (name, keys) in names.iter().zip(files) {
        scratch.file(name, keys.join("\n") + "\n");
    }
    let names = names.iter().map(String::as_str);
    let args: Vec<&str> = ["analyze", "--json"]
        .into_iter()
        .chain(names)
        .chain(flags.iter().copied())
        .collect();
    let report = scratch.report(&args);
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
    let (same, source) = notes(&parts, &[]);
    assert_eq!(source, "assumed even 3");
    same.says("the 3 files are not taken as a node each: ")
        .says("slots");
    let (few, _) = notes(&[vec!["a".into()], vec!["b".into()]], &[]);
    assert_contains(&few, &[taken, "too few keys to tell"]);
    let (named, _) = notes(&parts, &["--nodes", "3"]);
    assert!(!named.contains(taken), "{named}");
    let (alone, _) = notes(&parts[..1], &[]);
    assert!(!alone.contains(taken), "{alone}");
    let of_node = |first: bool| {
        keys.iter()
            .filter(|key| (slot(key.as_bytes()) < 8192) == first)
            .cloned()
            .collect()
    };
    let (nodes, source) = notes(&[of_node(true), of_node(false)], &[]);
    assert_eq!(source, "one node a file");
    assert!(!nodes.contains(taken), "{nodes}");
}
