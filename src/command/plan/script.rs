//! A plan as a script.

use std::io::{self, Write};

use super::Commands;
use crate::advice::plan::outcome::{Node, Outcome};

/// Writes it.
pub fn write(_: Commands, outcome: &Outcome, _: &[Node], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {} slots move", outcome.slots_moved)
}
