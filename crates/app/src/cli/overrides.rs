//! Settings of a library caller besides flags: the words that were parsed, sources that are not paths, and progress
//! reporting.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use slotscope_read::source::Source;

use crate::pipeline::reading::OnProgress;

/// Settings that are not on the command line: a caller sets them on parsed flags.
#[derive(Clone, Default)]
pub struct Overrides {
    /// The command as shown in the report: the program's name and its arguments.
    pub words: Vec<OsString>,
    /// Sources read after those given by flags.
    pub sources: Vec<Arc<dyn Source>>,
    /// Called instead of showing progress bars.
    pub on_progress: Option<OnProgress>,
}

impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.sources).finish()
    }
}
