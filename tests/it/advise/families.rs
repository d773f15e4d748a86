//! One definition of names: the families of the advice are the patterns of the report.

use std::collections::BTreeMap;
use std::path::Path;

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
    let found = scratch.run(&["analyze", dump, "--no-files", "--json", "--nodes", "6"]);
    let patterns = report(&found)["patterns"].clone();
    let advice = scratch.run(&["advise", dump, "--json", "--nodes", "6"]);
    let families = rows(&report(&advice)["families"]);
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
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    for sample in [
        "commerce.keys",
        "crlf.keys",
        "hot-tag.keys",
        "nasty.keys",
        "seed-examples.keys",
        "shop.csv.zst",
        "tagged-zipf.keys",
        "uniform.keys",
    ] {
        assert_one_idea(&scratch, samples.join(sample).to_str().unwrap());
    }
    let profiles = ["commerce", "uniform", "hot-tag", "tagged", "zipf-tail"];
    for (at, profile) in profiles.into_iter().cycle().take(20).enumerate() {
        let (seed, keys) = (at.to_string(), ["3000", "20k"][at % 2]);
        let words = ["generate", "--profile", profile, "--keys", keys, "--seed"];
        let dump = scratch.run(&[&words[..], &[&seed]].concat());
        assert_eq!(code(&dump), 0);
        scratch.file("dump.keys", stdout(&dump));
        assert_one_idea(&scratch, "dump.keys");
    }
}

#[test]
fn ids_that_words_and_digits_hide_are_the_same_in_both() {
    let scratch = Scratch::new();
    let word = |i: usize| {
        let letter = |place: u32| char::from(b'a' + (i / 26usize.pow(place) % 26) as u8);
        (0..4).map(letter).collect::<String>()
    };
    let nanoid = |i: usize| {
        format!(
            "{}_{i}-{}X",
            word(i * 7919),
            word(i * 104_729).to_uppercase()
        )
    };
    let lines = (0..400).map(|i| {
        let (hosts, days) = (i % 40, 1 + i % 28);
        [
            format!("host{hosts}:{i}:2026-11-{days:02}"),
            format!("user:{}:profile", word(i)),
            format!("{{t{}}}:doc:{i}", i % 7),
            format!("vid:{}:n", nanoid(i)),
            format!("rl:10.0.{}.{}:1717269{i:03}", i % 200, i % 9),
            format!("v{}:x:{i}", 1 + i % 2),
            format!("s:{:08x}", i * 40_503 + 3),
        ]
        .join("\n")
    });
    scratch.file("dump.keys", lines.collect::<Vec<_>>().join("\n"));
    assert!(assert_one_idea(&scratch, "dump.keys") > 8);
}
