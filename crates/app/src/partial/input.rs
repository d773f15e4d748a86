//! An input as known to all parts: its name, its size, and evidence that it is unchanged.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::source;
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_read::source::Source;
use slotscope_read::source::identity::ObjectIdentity;
use slotscope_read::source::storage_options::StorageOptions;

use crate::pipeline::inputs;

/// An input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name as given by the user.
    pub name: Name,
    /// Its size, if it allows random access.
    pub bytes: Option<u64>,
    /// Its stored size, compressed or not, if known.
    pub stored_bytes: Option<u64>,
    /// A modification stamp, which changes with the input.
    pub version: Option<String>,
    /// The version of an object.
    pub object: Option<ObjectIdentity>,
    /// The number of chunks that different processes may read.
    pub chunks: u64,
}

impl Input {
    /// The input that `source` is.
    pub(crate) fn of(source: &dyn Source, chunks: u64) -> Self {
        Input {
            name: Name::from(source.path()),
            bytes: source.size_bytes(),
            stored_bytes: source.facts().stored_bytes,
            version: source.facts().version.clone(),
            object: source.facts().object.clone(),
            chunks,
        }
    }

    /// The path given by the user.
    pub fn path(&self) -> PathBuf {
        inputs::path_of(&self.name)
    }

    /// The corresponding source.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn source(&self, storage: &StorageOptions) -> Result<Box<dyn Source>> {
        let mut sources = source::find_with(&[self.path()], storage)?.sources;
        match (sources.pop(), sources.is_empty()) {
            (Some(source), true) => Ok(source),
            _ => Err(Error::bad(
                self.name.to_string(),
                "is a directory, and was a file where the other parts were counted",
            )),
        }
    }

    /// Bytes to read, if known.
    pub(crate) fn weight(&self) -> u64 {
        self.bytes.or(self.stored_bytes).unwrap_or(0)
    }

    /// Fails if a source differs from the plan.
    ///
    /// # Errors
    /// It differs.
    pub(crate) fn check(&self, source: &dyn Source) -> Result<()> {
        let as_named = Input {
            name: self.name.clone(),
            ..Input::of(source, self.chunks)
        };
        if as_named == *self {
            Ok(())
        } else {
            Err(changed(&self.name))
        }
    }
}

/// The error for an input that differs from the plan.
pub(crate) fn changed(name: &Name) -> Error {
    Error::bad(
        name.to_string(),
        "has another size or time than where the other parts were counted; count all parts of one copy of the dumps, \
         copied with their times (cp -p, rsync -t)",
    )
}
