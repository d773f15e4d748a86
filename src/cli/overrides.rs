//! Settings of a caller in addition to flags: the words that they were parsed from, sources that are not paths, and where
//! progress goes.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use slotscope_engine::source::Source;

use crate::pipeline::reading::OnProgress;

/// Not on the command line: a caller sets it on parsed flags.
#[derive(Clone, Default)]
pub struct Overrides {
    /// The command as the report shows it: the program's name and its arguments.
    pub words: Vec<OsString>,
    /// Sources that are read after those of the flags.
    pub sources: Vec<Arc<dyn Source>>,
    /// Called in place of the progress bars.
    pub on_progress: Option<OnProgress>,
}

impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.sources).finish()
    }
}
