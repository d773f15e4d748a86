//! The sentence begins with the verdicts of both reports, and loads that a report does not know are not taken for none.

use testkit::prelude::*;

use super::{diff, report, tagged};

/// A table of 3,000 keys with sizes and operations, 400 of them with one tag.
fn table() -> String {
    let tag = |key: usize| match key {
        0..400 => String::from("hot"),
        _ => key.to_string(),
    };
    let rows = (0..3000).map(|key| format!("user:{{{}}}:{key},100,2\n", tag(key)));
    format!("key,size,ops\n{}", rows.collect::<String>())
}

#[test]
fn a_node_that_got_full_is_no_success() {
    let scratch = Scratch::new();
    report(&scratch, "skewed", &table(), "--format csv");
    report(&scratch, "full", &table(), "--format csv --maxmemory 110kb");
    for (old, new, first, states) in [
        (
            "skewed",
            "full",
            "SKEWED became FULL; ",
            ["skewed", "limit"],
        ),
        (
            "full",
            "skewed",
            "FULL became SKEWED; ",
            ["limit", "skewed"],
        ),
    ] {
        let found = diff(&scratch, old, new);
        let sentence = found["sentence"].text();
        sentence
            .begins(first)
            .says("; by memory still skewed, the fullest");
        let verdict = &found["verdict"];
        let [before, after] = states;
        assert_eq!(verdict["overall"], json!({"old": before, "new": after}));
        assert_eq!(verdict["state"], json!({"old": "skewed", "new": "skewed"}));
        let words = &verdict["words"];
        let words = ["old", "new"].map(|side| words[side].text());
        assert_eq!(words.join(" became ") + "; ", first);
    }
    let same = diff(&scratch, "full", "full");
    same["sentence"].text().begins("still FULL; ");
}

#[test]
fn a_tag_whose_load_is_not_known_has_not_vanished() {
    let scratch = Scratch::new();
    let series = |second: u32, cpu: u32| {
        format!(
            "{{\"time\":\"2026-11-22T10:00:{second:02}Z\",\"node\":\"h:1\",\"slots\":[[7,{{\"key-count\":1,\"cpu-usec\":{cpu}}}]]}}\n"
        )
    };
    scratch.file("stats.json", series(0, 5) + &series(9, 800));
    let keys = tagged(&[("a", 100), ("b", 30)]);
    report(&scratch, "keys", &keys, "stats.json --by keys");
    report(&scratch, "cpu", &keys, "stats.json --by cpu");
    for (old, new) in [("keys", "cpu"), ("cpu", "keys")] {
        let found = scratch.report(&format!("diff {old} {new} --by cpu --json"));
        for part in ["tags", "prefixes", "patterns"] {
            assert_eq!(found.get(part), None, "{part}");
        }
        let notes = found["notes"].to_string();
        notes.says("names are not compared: both reports have CPU time by slot, not by name");
        notes.says("--by keys compares them");
        // The list by CPU time lacks all tags.
        let found = scratch.report(&format!("diff {old} {new} --by keys --json"));
        let tags = &found["tags"];
        tags.has(json!({"appeared": [], "vanished": [], "grew": [], "shrank": []}));
        found["notes"].to_string().lacks("names are not compared");
    }
}

#[test]
fn a_tag_without_load_in_both_reports_has_not_changed() {
    let scratch = Scratch::new();
    let table = "key,size,ops\nuser:{idle}:1,10,0\nuser:{busy}:1,10,5\nuser:{gone}:1,10,3\n";
    report(&scratch, "keys", table, "--format csv --by keys");
    let (table, _) = table.split_once("user:{gone}").unwrap();
    report(&scratch, "ops", table, "--format csv --by ops");
    let found = scratch.report("diff keys ops --by ops --json");
    let tags = &found["tags"];
    assert_eq!(tags["vanished"].each("name at_least"), json!([["gone", 3]]));
    tags.has(json!({"appeared": [], "grew": [], "shrank": [], "below_the_list": []}));
    let found = scratch.report("diff ops keys --by ops --json");
    assert_eq!(found["tags"]["appeared"].each("name"), json!(["gone"]));
    assert_eq!(found["tags"]["vanished"], json!([]));
}
