//! The flags of several commands, the inputs that they name, and how results are printed; `command` is the seam between the
//! program and its commands.

pub mod by;
pub mod capacity_args;
pub mod collect_bar;
pub mod command;
pub mod input;
pub mod inputs;
pub mod judging;
pub mod limits;
pub mod live;
pub mod load_args;
pub mod overrides;
pub mod printing;
pub mod progress;
pub mod reading;
pub mod report_file;
pub mod service;
pub mod values;

use std::io::Write;
use std::sync::Arc;

use slotscope_base::error::Result;
use slotscope_base::name::{Name, shown};
use slotscope_base::redact::Redaction;
use slotscope_model::Incomplete;

pub use crate::cli::command::{Command, Ending, Output, Run};

/// Prints a line to standard error, ignoring failures.
pub fn say(message: &str) {
    let lines: Vec<String> = message.lines().map(shown).collect();
    drop(writeln!(
        std::io::stderr(),
        "slotscope: {}",
        lines.join("\n")
    ));
}

/// Prints what is at a place of an input to standard error.
pub fn say_at(file: &Name, byte: u64, what: &str) {
    say(&format!("{file}: byte {byte}: {what}"));
}

/// The same for the end of what could be read of it.
pub fn say_stop(stop: &Incomplete) {
    say_at(&stop.file, stop.byte, &stop.reason);
}

/// Calls `run` with the redaction, if any; redacts its error, too.
pub fn redacted<R>(
    is_redacted: bool,
    run: impl FnOnce(Option<Arc<Redaction>>) -> Result<R>,
) -> Result<R> {
    let keyed = || Redaction::from_environment().map(Arc::new);
    let redaction = is_redacted.then(keyed).transpose()?;
    run(redaction.clone()).map_err(|error| match redaction {
        Some(redaction) => redaction.error(error),
        None => error,
    })
}
