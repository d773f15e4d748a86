//! Load by the CPU time of processes, if servers do not count it by slot.

use super::hot::{load, shop};
use testkit::prelude::*;

#[test]
fn a_collection_has_its_hot_process_as_a_finding() {
    let scratch = shop(load([0.1, 0.16, 0.4].map(Some), &[])).written();
    let found = scratch.report("analyze shop --json");
    let first = &found["verdict"]["findings"][0];
    assert_eq!(first["id"], "skew/load/node2/", "{first:#}");
    let share = &found["nodes"]["list"][2]["over_share"]["load"];
    first.has(json!({"metric": "cpu", "state": "skewed", "limit_use": 0.4, "value": share}));
    scratch
        .prose("analyze shop --no-files")
        .says("HOT 10.0.0.3 uses 1.82× its share of CPU time, 40.0% of a core")
        .says("1 find the hot slots and keys: MONITOR for a few seconds names them");
    let limited = words("analyze shop --no-files --fail-on 'verdict >= skewed'");
    assert_eq!(code(&scratch.run(&limited)), 1);
    let full = scratch.run("analyze shop --no-files --full");
    let mut heads = stdout(&full).lines().filter(|line| line.contains("× fair"));
    let is_of_both = |head: &str| head.contains("memory × fair") && head.contains("load × fair");
    assert!(heads.next().is_some_and(is_of_both), "{}", stdout(&full));
}

#[test]
fn processes_that_are_even_idle_or_not_known_are_not_a_finding() {
    for cpu in [
        [Some(0.3), Some(0.3), Some(0.34)],
        [Some(0.005), Some(0.005), Some(0.019)],
        [Some(0.1), None, Some(0.4)],
    ] {
        let scratch = shop(load(cpu, &[])).written();
        let found = scratch.report("analyze shop --json");
        assert_eq!(found["verdict"]["state"], "balanced", "{cpu:?}");
    }
}
