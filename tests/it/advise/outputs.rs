//! The rules of the advice do what it says.

use super::commands::shop;
use testkit::prelude::*;

#[test]
fn whatif_promises_the_same() {
    let scratch = shop();
    let advice = scratch.report("advise keys node.monitor --nodes 6 --json");
    let mut words = vec!["whatif", "keys", "--nodes", "6", "--json"];
    let rules = advice["rules"].list().iter();
    rules.for_each(|rule| words.extend(["--retag", rule.text()]));
    let after = scratch.report(&words);
    let promised = advice["schemes"][0]["max_over_mean"]["n"].float();
    let found = after["after"]["nodes"]["max_over_mean"].float();
    near(found, promised, 1e-5);
}
