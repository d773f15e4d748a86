//! A cluster whose report once asked for more changes than necessary.

use super::parity::{Case, analyzed, ratio};
use super::scene::{even_ends, lines_of};
use testkit::prelude::*;

/// The tags and keys of the splitting step, and the load ratio after all steps.
fn split(report: &Value) -> (Vec<String>, f64) {
    let steps = report["verdict"]["steps"].list();
    let split = steps.iter().find(|step| step["kind"] == "split").unwrap();
    let sentence = split["sentence"].text();
    let names = ["{flash}", "counter:visits"];
    let names = names.iter().filter(|name| sentence.contains(**name));
    let mut loads = steps
        .iter()
        .filter_map(|step| ratio(&step["after"]["load"]));
    (
        names.map(|name| (*name).to_owned()).collect(),
        loads.next_back().unwrap(),
    )
}

#[test]
fn the_hot_tag_and_the_hot_key_are_split_and_nothing_else() {
    let dump = tag_and_key();
    let case = Case::new(
        ("tag-and-key.csv", dump.as_bytes()),
        &lines_of(&even_ends(24)),
        &[],
    );
    let report = analyzed(&case, "cluster.nodes");
    let (names, load) = split(&report);
    assert_eq!(names, ["{flash}", "counter:visits"], "{report}");
    assert!(load <= 1.12, "{load}");
    let text = report["verdict"]["steps"].to_string();
    assert!(!text.contains(" more "), "no other tag is split: {text}");
}

/// A hot tag with 1.5 shares of the operations, a hot key with 1.4, and 60 carts with 6%.
fn tag_and_key() -> String {
    let mut rows: Vec<(String, u64)> = (0..6000).map(|at| (format!("u:{at}"), 40)).collect();
    let share = 6000.0 * 40.0 / (24.0 - 1.5 - 1.4 - 3.6);
    for cart in 0..60 {
        let keys = ["a", "b", "c"];
        rows.extend(keys.map(|key| {
            (
                format!("cart:{{{}}}:{key}", 7 * cart + 3),
                (0.02 * share) as u64,
            )
        }));
    }
    rows.extend((0..20).map(|at| (format!("{{flash}}:{at}"), (0.075 * share) as u64)));
    rows.push(("counter:visits".into(), (1.4 * share) as u64));
    let rows = rows.iter().map(|(key, ops)| format!("{key},100,{ops}\n"));
    rows.fold("key,size,ops\n".into(), |text, row| text + &row)
}
