//! The advice in a report: with captures among the inputs of `analyze`, and with a step against a coarse tag that fills
//! a node.

use std::fmt::Write as _;

use testkit::prelude::*;

/// Objects in one tag, and a capture that reads them in threes.
fn common(command: &str) -> Scratch {
    let scratch = Scratch::new();
    let names: String = (0..6000)
        .map(|object| format!("{{common}}:obj:{object}\n"))
        .collect();
    scratch.file("keys", names);
    scratch.file("node.monitor", capture(command, 300));
    scratch
}

fn capture(command: &str, batches: u32) -> String {
    let mut lines = String::from("OK\n");
    for i in 0..batches {
        let objects = [7 * i % 6000, 13 * i % 6000, 29 * i % 6000];
        let keys = objects.map(|object| format!("\"{{common}}:obj:{object}\""));
        let keys = keys.join(" ");
        writeln!(lines, "1700000000.{i:06} [0 127.0.0.1:5] {command} {keys}").unwrap();
    }
    lines
}

fn analyzed(scratch: &Scratch, more: &[&str]) -> Value {
    let args = ["analyze", "keys", "node.monitor", "--nodes", "6", "--json"];
    scratch.report(&[&args[..], more].concat())
}

#[test]
fn a_coarse_tag_is_a_step_that_names_the_scheme_and_comes_to_what_whatif_says() {
    let scratch = common("\"MGET\"");
    let found = analyzed(&scratch, &[]);
    // One change cures both roles.
    let steps = &found["verdict"]["steps"];
    assert_eq!(steps.each("kind"), json!(["choose_tags"]));
    let step = &steps[0];
    let sentence = "take the braces off 1 pattern, 6,000 keys (in the application)";
    step.has(json!({"sentence": sentence}));
    assert_eq!(step["findings"].list().len(), 2);
    let rule = found["advice"]["rules"][0].text();
    for (role, by) in [("memory", "keys"), ("load", "ops")] {
        let line = format!("whatif keys node.monitor --nodes 6 --by {by} --retag '{rule}' --json");
        let after = scratch.report(&line)["after"]["nodes"]["max_over_mean"].float();
        near(after, step["after"][role]["max_over_mean"].float(), 0.001);
    }
}

#[test]
fn counts_of_servers_by_slot_beside_them_are_no_names_to_advise_on() {
    let scratch = common("\"MGET\"");
    let line = |second: u64, cpu: u64| {
        let slots = json!([[7, {"key-count": 40, "cpu-usec": cpu}]]);
        let time = format!("2026-11-22T10:00:{second:02}Z");
        json!({"time": time, "node": "10.0.0.1:1", "slots": slots}).to_string() + "\n"
    };
    scratch.file("slot-stats.json", line(0, 9) + &line(9, 90));
    let found = analyzed(&scratch, &["slot-stats.json"]);
    assert!(found["advice"]["rules"][0].is_string(), "{found:#}");
}

#[test]
fn a_tag_that_scripts_need_is_not_taken_away() {
    let scratch = common("\"EVAL\" \"return 1\" \"3\"");
    let found = analyzed(&scratch, &[]);
    assert_eq!(found["advice"]["why"], "must_stay_together");
    let kinds = found["verdict"]["steps"].each("kind").to_string();
    kinds.lacks("untag").lacks("choose_tags");
}

#[test]
fn the_page_has_the_schemes_and_a_redacted_one_has_no_name() {
    let scratch = common("\"MGET\"");
    let analyze = "analyze keys node.monitor --nodes 6";
    scratch
        .text(&format!("{analyze} --out out --full"))
        .says("Hash tags to choose");
    let page = scratch.read("out/report.html");
    page.says("id=\"choose-tags\"")
        .says("take the braces off")
        .says("href=\"#choose-tags\"");
    scratch.run(&format!("{analyze} --out hidden --redact"));
    for file in ["report.html", "report.json"] {
        let text = scratch.read(format!("hidden/{file}"));
        text.lacks("common").lacks("id=\"choose-tags\"");
    }
}

#[test]
fn too_few_batches_and_counts_of_slots_have_no_advice() {
    let scratch = common("\"MGET\"");
    assert!(analyzed(&scratch, &["--only", "slots"])["advice"].is_null());
    assert!(analyzed(&scratch, &["--match", "*"])["advice"].is_null());
    scratch.file("node.monitor", capture("\"MGET\"", 99));
    assert!(analyzed(&scratch, &[])["advice"].is_null());
}
