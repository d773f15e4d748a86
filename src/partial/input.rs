//! An input as all parts know it: its name, its size, and the evidence that it is unchanged.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::source;
use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;
use slotscope_engine::source::Source;
use slotscope_engine::source::identity::ObjectIdentity;
use slotscope_engine::source::storage_options::StorageOptions;

use crate::pipeline::inputs;

/// An input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name as the user gave it.
    pub name: Name,
    /// Its bytes, where it can be read at any place.
    pub bytes: Option<u64>,
    /// Its bytes as they are stored, compressed or not, where that is known.
    pub stored_bytes: Option<u64>,
    /// When it was written: another where the input is.
    pub version: Option<String>,
    /// The version of an object.
    pub object: Option<ObjectIdentity>,
    /// How many chunks of it may be read by different processes.
    pub chunks: u64,
}

impl Input {
    /// The input that `source` is.
    pub(crate) fn of(source: &dyn Source, chunks: u64) -> Self {
        Input {
            name: Name::from(source.path()),
            bytes: source.size_bytes(),
            stored_bytes: source.stored_bytes(),
            version: source.version(),
            object: source.object().cloned(),
            chunks,
        }
    }

    /// The path that the user named it by.
    pub fn path(&self) -> PathBuf {
        inputs::path_of(&self.name)
    }

    /// The source that it is.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn source(&self, storage: &StorageOptions) -> Result<Box<dyn Source>> {
        let mut found = source::find_with(&[self.path()], storage)?.sources;
        match (found.pop(), found.is_empty()) {
            (Some(source), true) => Ok(source),
            _ => Err(Error::bad(
                self.name.to_string(),
                "is a directory, and was a file where the other parts were counted",
            )),
        }
    }

    /// Bytes that are read of it, as far as they are known.
    pub(crate) fn weight(&self) -> u64 {
        self.bytes.or(self.stored_bytes).unwrap_or(0)
    }

    /// Refuses a source that differs from the plan.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn check(&self, source: &dyn Source) -> Result<()> {
        let found = Input::of(source, self.chunks);
        let as_named = Input {
            name: self.name.clone(),
            ..found
        };
        if as_named == *self {
            Ok(())
        } else {
            Err(changed(&self.name))
        }
    }
}

/// An input that differs from the plan.
pub fn changed(name: &Name) -> Error {
    Error::bad(
        name.to_string(),
        "has another size or time than where the other parts were counted; count all parts of one copy of the dumps, \
         copied with their times (cp -p, rsync -t)",
    )
}
