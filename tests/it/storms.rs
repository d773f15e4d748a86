//! Keys that expire together: a risk with pattern, node and time while it is still to come, and the load that
//! disappears within an hour.

use slotscope::slot::slot;
use testkit::prelude::*;
use testkit::rdb::Snapshot;

const WRITTEN: u64 = 1_790_000_000;

/// An RDB file with the keys of some slots; each expires this many seconds after the file was written, or never.
fn rdb(keys: &[(String, Option<u64>)], slots: impl Fn(u16) -> bool) -> Vec<u8> {
    let file = Snapshot {
        written: Some(WRITTEN as u32),
        headers: false,
    };
    let own = keys.iter().filter(|(key, _)| slots(slot(key.as_bytes())));
    file.of(own.map(|(key, after)| (key, after.map(|after| 1000 * (WRITTEN + after)))))
}

/// The report on two nodes with 10,000 sessions that live for one to two hours, and 3,000 keys that expire together, in
/// slots of the first node.
fn analyzed(after: u64) -> Value {
    let sessions = (0..10_000).map(|i| (format!("session:{i}"), Some(600 + i * 37 % 7200)));
    let on_first = |key: &String| slot(key.as_bytes()) < 8192;
    let pages = (0..).map(|i| format!("page:{i}")).filter(on_first);
    let pages = pages.take(3000).map(|page| (page, Some(after)));
    let keys: Vec<_> = sessions.chain(pages).collect();
    let scratch = Scratch::with("one.rdb", rdb(&keys, |slot| slot < 8192));
    scratch.file("two.rdb", rdb(&keys, |slot| slot >= 8192));
    scratch.report("analyze one.rdb two.rdb --json")
}

fn risks(report: &Value) -> Vec<&Value> {
    let found = report["verdict"]["findings"].list().iter();
    found.filter(|found| found["kind"] == "expiry").collect()
}

#[test]
fn a_storm_that_is_to_come_is_a_risk_with_pattern_node_and_time() {
    let found = analyzed(7200);
    let risks = risks(&found);
    assert_eq!(risks.len(), 1, "{risks:?}");
    risks[0].has(json!({"pattern": "page:<n>", "node": "one"}));
    let sentence = risks[0]["sentence"].text();
    sentence
        .says("2 hours after the dump")
        .says("page:<n> on one");
    assert_eq!(found["expiry"]["storms"][0]["after"], 7200);
}

#[test]
fn a_storm_of_the_past_and_one_that_is_usual_are_no_risk() {
    for after in [60, 480] {
        let found = analyzed(after);
        assert!(risks(&found).is_empty(), "{after}: {:?}", risks(&found));
        assert!(found["expiry"]["fullest"]["keys"].whole() >= 3000);
    }
}

#[test]
fn what_leaves_within_an_hour_is_said_by_node_and_pattern() {
    let found = analyzed(1800);
    let leaving = &found["expiry"]["leaving"];
    let all = leaving["keys"].whole() as f64;
    // The sessions of 600 to 3600 out of 7200 seconds, and the pages.
    near(all, 7167.0, 100.0);
    let share = |parts: &str, name: &str| leaving[parts].find("name", name)["share"].float();
    // A sample of 4,096: three standard deviations are 0.024.
    near(share("patterns", "page:<n>"), 3000.0 / all, 0.024);
    near(
        share("nodes", "one"),
        (3000.0 + (all - 3000.0) / 2.0) / all,
        0.024,
    );
}
