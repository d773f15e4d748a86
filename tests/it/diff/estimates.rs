//! Sizes that servers estimated from samples differ from run to run, and prove no change.

use slotscope::source::collection::manifest::example;
use testkit::prelude::*;

use super::{diff, write};

/// The report of a collection with a hash of `elements` and of this size, whose servers estimate sizes above 64 elements.
fn collected(scratch: &Scratch, name: &str, elements: u64, size: u64) {
    let mut manifest = example(&["a.csv"]);
    manifest.cluster = false;
    manifest.nodes[0].keys = 101;
    std::fs::create_dir(scratch.path(&format!("c-{name}"))).unwrap();
    let json = serde_json::to_string(&manifest).unwrap();
    scratch.file(&format!("c-{name}/collect.json"), json);
    let rows: String = (0..100)
        .map(|key| format!("user:{key},string,1,100\n"))
        .collect();
    let hash = format!("catalog:{{all}},hash,{elements},{size}\n");
    let table = format!("key,type,elements,memory\n{hash}{rows}");
    scratch.file(&format!("c-{name}/a.csv"), table);
    let made = scratch.report(&format!("analyze c-{name} --nodes 3 --json"));
    write(scratch, name, &made);
}

#[test]
fn another_estimate_of_the_same_value_is_no_proven_change() {
    let scratch = Scratch::new();
    collected(&scratch, "old", 70_000, 15_000_000);
    collected(&scratch, "new", 70_000, 14_600_000);
    let found = diff(&scratch, "old", "new");
    assert_eq!(found["estimated"], true);
    let notes = found["notes"].to_string();
    notes.says("the servers' estimates from samples");
    let text = scratch.text("diff old new");
    text.says("changed by about").lacks("at least");
    diff(&scratch, "new", "old")["sentence"]
        .text()
        .says("the tag {all} grew most, by about 390.62 KiB");
    let by_keys = scratch.report("diff old new --by keys --json");
    assert_eq!(by_keys["estimated"], false);
}

#[test]
fn sizes_of_small_values_are_exact() {
    let scratch = Scratch::new();
    collected(&scratch, "old", 64, 15_000_000);
    collected(&scratch, "new", 64, 14_600_000);
    let found = diff(&scratch, "old", "new");
    assert_eq!(found["estimated"], false);
    found["notes"].to_string().lacks("estimates");
    scratch.text("diff old new").says("by at least");
}
