//! `trend`: growth is found with a valid uncertainty, incomparable reports are refused, and no file makes it panic.

mod forecast;
mod found;
mod outputs;
mod refused;

use testkit::prelude::*;
use testkit::trend::run;

fn trend(scratch: &Scratch, reports: &[String], flags: &str) -> Value {
    report(&run(scratch, reports, &words(&format!("--json {flags}"))))
}
