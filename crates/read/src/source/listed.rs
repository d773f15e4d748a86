//! Files of a directory that is read as one: they must be in it, whatever their names and links say.

use std::fs;
use std::path::{Path, PathBuf};

use slotscope_base::error::{Error, Result};

/// Whether a name is a plain file name, by the servers' rule for their manifests.
pub(super) fn is_base_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

/// The file with this name in the directory.
///
/// # Errors
/// The file is a link out of the directory.
pub fn in_directory(directory: &Path, name: &str) -> Result<PathBuf> {
    let file = directory.join(name);
    let directory = if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    };
    // A missing file is reported when it is opened.
    let (Ok(real), Ok(within)) = (fs::canonicalize(&file), fs::canonicalize(directory)) else {
        return Ok(file);
    };
    if real.starts_with(within) {
        Ok(file)
    } else {
        Err(Error::bad_file(
            file,
            "is a link out of its directory; copy the file there, or name it yourself",
        ))
    }
}
