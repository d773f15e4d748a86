//! The inputs that arguments name: those of the engine and, with the feature `cloud`, places on the network.

use std::path::Path;

pub use slotscope_engine::source::*;

use crate::error::Result;
use crate::source::storage_options::StorageOptions;

const OBJECTS: &[Find] = &[
    #[cfg(feature = "cloud")]
    slotscope_objects::find,
];

/// The sources that `paths` name: files as they are, directories as every file in them, `-` as standard input, and places
/// on the network.
///
/// # Errors
/// A path that does not exist or may not be read, and a directory without files.
pub fn find(paths: &[impl AsRef<Path>]) -> Result<Found> {
    find_with(paths, &StorageOptions::default())
}

/// As `find`, with options for places on the network.
///
/// # Errors
/// As `find`; a place on the network that cannot be read.
pub fn find_with(paths: &[impl AsRef<Path>], options: &StorageOptions) -> Result<Found> {
    find_among(OBJECTS, paths, options)
}
