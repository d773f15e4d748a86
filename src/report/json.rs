//! report.json: the whole summary, on one line; names in C escapes.

use std::io::{self, Write};

use crate::summary::Summary;

/// Writes it.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, summary)?;
    out.write_all(b"\n")
}
