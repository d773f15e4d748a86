//! A cluster whose report once asked for more changes than necessary.

use super::parity::{Case, analyzed, ratio};
use super::scene::{even_ends, lines_of};
use testkit::prelude::*;

#[test]
fn the_hot_tag_and_the_hot_key_are_split_and_nothing_else() {
    let dump = tag_and_key();
    let listing = lines_of(&even_ends(24));
    let case = Case::new(("tag-and-key.csv", dump.as_bytes()), &listing, &[]);
    let report = analyzed(&case, "cluster.nodes");
    let steps = &report["verdict"]["steps"];
    let sentence = steps.find("kind", "split")["sentence"].text();
    sentence.says("{flash}").says("counter:visits");
    let mut loads = steps
        .list()
        .iter()
        .filter_map(|step| ratio(&step["after"]["load"]));
    let load = loads.next_back().unwrap();
    assert!(load <= 1.12, "{load}");
    // No other tag is split.
    steps.to_string().lacks(" more ");
}

/// A hot tag with 1.5 shares of the operations, a hot key with 1.4, and 60 carts with 6%.
fn tag_and_key() -> String {
    let mut rows: Vec<(String, u64)> = (0..6000).map(|at| (format!("u:{at}"), 40)).collect();
    let share = 6000.0 * 40.0 / (24.0 - 1.5 - 1.4 - 3.6);
    for cart in 0..60 {
        let keys = ["a", "b", "c"];
        let name = |key| format!("cart:{{{}}}:{key}", 7 * cart + 3);
        rows.extend(keys.map(|key| (name(key), (0.02 * share) as u64)));
    }
    rows.extend((0..20).map(|at| (format!("{{flash}}:{at}"), (0.075 * share) as u64)));
    rows.push(("counter:visits".into(), (1.4 * share) as u64));
    let rows = rows.iter().map(|(key, ops)| format!("{key},100,{ops}\n"));
    rows.fold("key,size,ops\n".into(), |text, row| text + &row)
}
