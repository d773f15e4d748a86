//! `capacity`: shards over time with a valid uncertainty, growth by assumption, numbers of shards; incomparable reports are refused,
//! and no file makes it panic.

mod forecast;
mod found;
mod grown;
mod outputs;
mod questions;
mod refused;

use testkit::history::run;
use testkit::prelude::*;

/// The JSON of a review, in which a shard is full at its limit.
fn review(scratch: &Scratch, reports: &[String], flags: &str) -> Value {
    let flags = format!("--json --full-at 100 {flags}");
    report(&run(scratch, reports, &words(&flags)))
}

/// The shard of that name.
fn shard<'v>(review: &'v Value, node: &str) -> &'v Value {
    let mut shards = review["shards"].list().iter();
    let found = shards.find(|shard| shard["node"] == node);
    found.unwrap_or_else(|| panic!("no {node} in {review}"))
}
