//! report.json: the whole summary, on one line; names in C escapes.

use std::io::{self, Write};

use serde::Serialize;

use crate::summary::Summary;

/// Writes it.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    write_object(summary, out)
}

/// Writes any object on one line.
pub fn write_object(object: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}
