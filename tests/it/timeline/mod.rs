//! `timeline`: a planted burst is found with its name, its ends and its share, there are no false positives, and the
//! parts of a capture, their order and the threads do not matter.

mod captures;
mod inputs;
mod outputs;

use testkit::prelude::*;

/// The timeline of inputs in a scratch directory.
fn timeline(scratch: &Scratch, args: &str) -> Value {
    scratch.report(&format!("timeline --json {args}"))
}
