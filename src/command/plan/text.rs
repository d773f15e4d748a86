//! A plan for people.

use std::io::{self, Write};

use crate::advice::plan::outcome::Outcome;

/// Writes it.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} slots move", outcome.slots_moved)
}
