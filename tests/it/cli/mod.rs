//! The program as a user meets it: exit codes, streams, and the state of the disk afterwards.

mod flags;
mod inputs;
mod outputs;
mod streams;

use std::process::{Child, Command, Stdio};

/// A run that waits on an open standard input.
fn waiting(mut command: Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}
