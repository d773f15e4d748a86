//! The inputs named by arguments: those of the engine and, with the feature `cloud`, network locations.

use std::path::Path;

pub use slotscope_read::source::*;

use crate::source::storage_options::StorageOptions;
use slotscope_base::error::Result;

const OBJECTS: &[Find] = &[
    #[cfg(feature = "cloud")]
    slotscope_objects::find,
];

/// The sources named by `paths`: files, directories (every file in them), `-` for standard input, and network
/// locations.
///
/// # Errors
/// A path does not exist or is not readable, or a directory has no files.
pub fn find(paths: &[impl AsRef<Path>]) -> Result<Found> {
    find_with(paths, &StorageOptions::default())
}

/// Like `find`, with options for network locations.
///
/// # Errors
/// As for `find`, or a network location cannot be read.
pub fn find_with(paths: &[impl AsRef<Path>], options: &StorageOptions) -> Result<Found> {
    find_among(OBJECTS, paths, options)
}
