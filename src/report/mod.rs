//! Stage 6, REPORT: a `Summary` comes in, files and terminal text go out. One file an output, one line in `OUTPUTS`.

pub mod chart;

use std::io::{self, Write};

use crate::summary::Summary;

/// A file of the output directory.
pub struct Output {
    /// Its name.
    pub file: &'static str,
    /// Writes it.
    pub write: fn(&Summary, &mut dyn Write) -> io::Result<()>,
}
