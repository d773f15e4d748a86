//! The program as a user meets it: exit codes, streams, and the state of the disk afterwards.

mod flags;
mod inputs;
mod outputs;
mod streams;

use std::process::{Child, Command, Stdio};

/// A run that waits for standard input, its standard input still open.
fn waiting(mut command: Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}
