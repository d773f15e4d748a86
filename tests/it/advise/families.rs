//! One definition of names: the families of the advice are the patterns of the report.

use std::collections::BTreeMap;
use testkit::env::cases;
use testkit::prelude::*;

/// The keys of each row of a list, by pattern.
fn rows(list: &Value) -> BTreeMap<String, u64> {
    let rows = list.list().iter();
    // Longer names are not judged, nor are bytes that are not text.
    let is_judged = |row: &&Value| {
        let pattern = row["pattern"].text();
        pattern.len() <= 512 && pattern != "<id>"
    };
    let row = |row: &Value| {
        let pattern = row["pattern"].text().to_owned();
        (pattern, row["keys"].whole())
    };
    let rows = rows.filter(is_judged).map(row);
    rows.filter(|(pattern, _)| pattern != "(other names)")
        .collect()
}

/// Compares both lists for a dump; returns the number of patterns.
fn assert_one_idea(scratch: &Scratch, dump: &str) -> usize {
    let patterns = &scratch.report(&format!("analyze {dump} --json --nodes 6"))["patterns"];
    let advice = scratch.report(&format!("advise {dump} --json --nodes 6"));
    let families = rows(&advice["families"]);
    let listed = rows(&patterns["top"]);
    assert_eq!(patterns["coarseness"], 0, "{dump}");
    for (pattern, keys) in &listed {
        assert_eq!(families.get(pattern), Some(keys), "{dump}: {pattern}");
    }
    let is_all = patterns["max_error"] == 0;
    assert!(!is_all || listed.len() == families.len(), "{dump}");
    listed.len()
}

#[test]
fn families_of_the_advice_are_the_patterns_of_the_report() {
    let scratch = Scratch::new();
    for sample in std::fs::read_dir(root().join("samples")).unwrap() {
        let path = sample.unwrap().path();
        if path
            .extension()
            .is_some_and(|kind| kind == "keys" || kind == "zst")
        {
            assert_one_idea(&scratch, path.to_str().unwrap());
        }
    }
    let profiles = ["commerce", "uniform", "hot-tag", "tagged", "zipf-tail"];
    let dumps = cases("FAMILIES_CASES", 50);
    for (at, profile) in profiles.into_iter().cycle().take(dumps).enumerate() {
        let keys = ["3000", "20k"][at / profiles.len() % 2];
        let line = format!("generate --profile {profile} --keys {keys} --seed {at}");
        scratch.file("dump.keys", scratch.text(&line));
        assert_one_idea(&scratch, "dump.keys");
    }
}

#[test]
fn ids_that_words_and_digits_hide_are_the_same_in_both() {
    let word = |i: usize| {
        let letter = |place: u32| char::from(b'a' + (i / 26usize.pow(place) % 26) as u8);
        (0..4).map(letter).collect::<String>()
    };
    let lines = (0..400).map(|i| {
        let (hosts, days) = (i % 40, 1 + i % 28);
        let nanoid = format!(
            "{}_{i}-{}X",
            word(i * 7919),
            word(i * 104_729).to_uppercase()
        );
        let keys = [
            format!("host{hosts}:{i}:2026-11-{days:02}"),
            format!("user:{}:profile", word(i)),
            format!("{{t{}}}:doc:{i}", i % 7),
            format!("vid:{nanoid}:n"),
            format!("rl:10.0.{}.{}:1717269{i:03}", i % 200, i % 9),
            format!("v{}:x:{i}", 1 + i % 2),
            format!("s:{:08x}", i * 40_503 + 3),
        ];
        keys.join("\n")
    });
    let scratch = Scratch::with("dump.keys", lines.collect::<Vec<_>>().join("\n"));
    assert!(assert_one_idea(&scratch, "dump.keys") > 8);
}
