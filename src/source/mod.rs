//! Stage 1, BYTES: what the user named comes in, inputs that can be read go out; `file` and `stream` fill
//! the blocks.

pub mod block;
pub mod cut;
pub mod decompress;
pub mod file;
pub mod stream;

use std::fs::{self, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::{Error, Result};

/// The longest line that is read, in bytes; a Redis key may be longer, a key that somebody meant is not.
pub const MAX_LINE: usize = 64 << 20;

/// One input, not open yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A regular file: read in parallel, as often as needed.
    File {
        /// Its path as the user named it.
        path: PathBuf,
        /// What it was when it was found.
        state: FileState,
    },
    /// Bytes in memory, read like a file.
    Memory {
        /// What reports call it.
        path: PathBuf,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// A pipe, a device, standard input or anything compressed: read once, from front to back.
    Stream {
        /// Its path; `-` is standard input.
        path: PathBuf,
    },
}

/// What tells whether a file is still the same: its length, when it was written, and which file it is.
#[derive(Debug, Clone, PartialEq)]
pub struct FileState {
    /// Length in bytes.
    pub bytes: u64,
    modified: Option<SystemTime>,
    identity: (u64, u64),
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let identity = (0, 0);
        FileState { bytes: metadata.len(), modified: metadata.modified().ok(), identity }
    }
}

impl Input {
    /// The path as the user named it; `-` is standard input.
    pub fn path(&self) -> &Path {
        match self {
            Input::File { path, .. } | Input::Memory { path, .. } | Input::Stream { path } => path,
        }
    }

    /// Length in bytes, where it is known before reading.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Input::File { state, .. } => Some(state.bytes),
            Input::Memory { bytes, .. } => Some(bytes.len() as u64),
            Input::Stream { .. } => None,
        }
    }

    /// Bytes in memory as an input; reports call it `name`.
    pub fn memory(name: &str, bytes: &[u8]) -> Input {
        Input::Memory { path: name.into(), bytes: bytes.into() }
    }
}

/// What the paths of the user name.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// Entries of directories that are no files, and are passed over: directories, pipes, broken links.
    pub passed_over: usize,
}

/// The inputs that `paths` name: files as they are, directories as every file in them, `-` as standard input.
///
/// # Errors
/// A path that is not there or may not be read, and a directory without files.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let Found { mut inputs, mut passed_over } = Found::default();
    for path in paths {
        if path.as_os_str() == "-" {
            if inputs.iter().any(|input: &Input| input.path() == path) {
                return Err(Error::bad("-", "standard input is named twice; it can be read only once"));
            }
            inputs.push(Input::Stream { path: path.clone() });
        } else if fs::metadata(path).map_err(|error| Error::io(path, error))?.is_dir() {
            let (files, others) = files_in(path)?;
            passed_over += others;
            for file in files {
                inputs.push(input_at(file)?);
            }
        } else {
            inputs.push(input_at(path.clone())?);
        }
    }
    Ok(Found { inputs, passed_over })
}

/// The regular files of a directory that are not hidden, in the byte order of their names, and how many other entries
/// it has.
fn files_in(directory: &Path) -> Result<(Vec<PathBuf>, usize)> {
    let failed = |error| Error::io(directory, error);
    let (mut files, mut others) = (Vec::new(), 0);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file()) {
            true => files.push(entry.path()),
            false => others += 1,
        }
    }
    if files.is_empty() {
        return Err(Error::bad(
            crate::name::Name::from(directory).to_string(),
            "a directory without files; name a key dump or the directory that holds them (it is not searched deeper)",
        ));
    }
    files.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    Ok((files, others))
}

/// A path as an input; opening it here makes an unreadable file fail before anything is written.
fn input_at(path: PathBuf) -> Result<Input> {
    let failed = |error| Error::io(&path, error);
    let metadata = fs::metadata(&path).map_err(failed)?;
    if !metadata.is_file() {
        return Ok(Input::Stream { path });
    }
    let mut file = fs::File::open(&path).map_err(failed)?;
    // Files of the kernel's own (/proc) say zero bytes and hold some: a stream shows what is in them.
    let mut head = Vec::new();
    file.by_ref().take(decompress::MAGIC as u64).read_to_end(&mut head).map_err(failed)?;
    match (metadata.len() == 0 && !head.is_empty()) || decompress::Form::of(&head).is_some() {
        true => Ok(Input::Stream { path }),
        false => Ok(Input::File { state: FileState::of(&metadata), path }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_its_visible_files_in_byte_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.keys", "a.keys", "B.keys", ".hidden"] {
            fs::write(dir.path().join(name), "k\n").unwrap();
        }
        fs::create_dir(dir.path().join("deeper")).unwrap();
        let Found { inputs, passed_over } = find(&[dir.path().to_path_buf()]).unwrap();
        assert_eq!(passed_over, 1);
        let names: Vec<_> = inputs.iter().map(|input| input.path().file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["B.keys", "a.keys", "b.keys"]);
    }

    #[test]
    fn a_directory_without_files_is_an_error_with_a_way_out() {
        let dir = tempfile::tempdir().unwrap();
        let message = find(&[dir.path().to_path_buf()]).unwrap_err().to_string();
        assert!(message.contains("a directory without files; name a key dump"), "{message}");
    }

    #[test]
    fn standard_input_can_be_named_once() {
        assert_eq!(find(&["-".into()]).unwrap().inputs, [Input::Stream { path: "-".into() }]);
        assert!(find(&["-".into(), "-".into()]).unwrap_err().to_string().contains("named twice"));
    }
}
