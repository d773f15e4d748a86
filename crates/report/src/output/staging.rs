//! Files and directories under temporary hidden names.

use std::path::{Path, PathBuf};

use slotscope_engine::error::Result;

use crate::output::replace::{self, Staged, Written};
use crate::output::unfinished;

/// Files not yet in place; if dropped unfinished, the folder is removed with its content.
#[derive(Default)]
pub(super) struct Staging {
    /// In the order they are put in place.
    pub entries: Vec<Staged>,
    /// Directories created for them.
    pub made: Vec<PathBuf>,
}

impl Staging {
    /// Adds the file at `temporary`, to be moved to `target`.
    pub(super) fn add(&mut self, target: &Path, temporary: &Path) {
        self.entries.push(Staged {
            target: target.to_path_buf(),
            temporary: temporary.to_path_buf(),
        });
    }

    /// Puts all entries in place together, skipping those `written` without content.
    ///
    /// # Errors
    /// An entry cannot be put in place; all are then restored.
    pub(super) fn publish(mut self, written: impl IntoIterator<Item = Written>) -> Result<()> {
        // An interrupt waits for this lock, so it finds nothing in place, or everything.
        unfinished::locked(|paths| {
            replace::all(self.entries.iter().zip(written))?;
            paths.retain(|path| !self.has(path));
            self.entries.clear();
            self.made.clear();
            unfinished::published();
            Ok(())
        })
    }

    fn has(&self, path: &Path) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|staged| path.starts_with(&staged.temporary))
            || self.made.iter().any(|made| made == path)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        unfinished::discard(|path| self.has(path));
    }
}
