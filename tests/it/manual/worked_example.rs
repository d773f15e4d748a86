//! The figures of the worked example in docs/statistics.md follow from its formulas.

use crate::docs::{bash, blocks, scratch};
use crate::manual::page;
use testkit::prelude::*;

/// The fullest node's share of the slots in the example, and the keys of its hash tag.
const SLOTS_OF_THE_FIRST: f64 = 6554.0;
const TAGGED: f64 = 1500.0;

#[test]
fn the_figures_of_the_worked_example_follow_from_the_formulas() {
    let scratch = scratch();
    let mut blocks = blocks(&page("statistics.md")).into_iter();
    let is_it = |(info, script): &(String, String)| {
        info.starts_with("sh run") && script.contains("shop.nodes")
    };
    let (_, example) = blocks.find(is_it).unwrap();
    succeeded(bash(&example, &scratch));
    let line = "slotscope analyze shop.keys --topology shop.nodes --json";
    let output = bash(line, &scratch);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();

    // Recounted from the keys.
    let keys = scratch.read("shop.keys");
    let all = keys.lines().count() as f64;
    let slots = keys.lines().map(|key| hashslot::slot(key.as_bytes()));
    let load = slots
        .filter(|slot| f64::from(*slot) < SLOTS_OF_THE_FIRST)
        .count() as f64;
    let tagged = keys.lines().filter(|key| key.contains("{sale}")).count() as f64;
    assert_eq!(tagged, TAGGED);

    let (nodes, part) = (3.0, SLOTS_OF_THE_FIRST / 16384.0);
    let factor = load * nodes / all;
    let slots = nodes * part - 1.0;
    let tag = (1.0 - part) * TAGGED * nodes / all;
    let rest = factor - 1.0 - slots - tag;
    let untagged = all - TAGGED;
    let sigma = ((1.0 - part) / (part * untagged)).sqrt();
    let units = all * all / (untagged + TAGGED * TAGGED);

    let text = page("statistics.md");
    for figure in [
        format!("= {factor:.3} |"),
        format!("= {slots:+.3} |"),
        format!("= {tag:+.3} |"),
        format!("= {rest:.3} |"),
        format!("= {sigma:.3} |"),
        format!("= {:.1}% |", 100.0 / factor),
        format!("= {units:.1} |"),
        format!("= {} |", (all / TAGGED).floor()),
    ] {
        text.says(&figure);
    }

    let verdict = &report["verdict"]["roles"][0];
    let excess = |kind: &str| verdict["causes"].find("kind", kind)["excess"].float();
    for (reported, computed) in [
        (verdict["fullest"]["max_over_mean"].float(), factor),
        (excess("slots"), slots),
        (excess("tag"), tag),
        (excess("chance"), rest),
        (verdict["n_eff"].float(), units),
        (verdict["usable_capacity"].float(), 1.0 / factor),
    ] {
        near(reported, computed, 1e-6);
    }
}
