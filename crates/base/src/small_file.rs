//! Files read as a whole: listings, rules, reports. A limit keeps a dump given by mistake out of memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// The bytes of a file or pipe, at most `max_bytes`; `too_long` is the error message for a longer one.
///
/// # Errors
/// The file cannot be read, or is too long.
pub fn read(path: &Path, max_bytes: u64, too_long: &str) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    read_from(file, path, max_bytes, too_long)
}

/// Like `read`, from an open file.
///
/// # Errors
/// As for `read`.
pub fn read_from(
    reader: impl Read,
    path: &Path,
    max_bytes: u64,
    too_long: &str,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .take(max_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(path, error))?;
    if bytes.len() as u64 > max_bytes {
        return Err(Error::bad_file(path, too_long));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_refused_beyond_it() {
        let read = |max| read_from(&b"abc"[..], Path::new("f"), max, "too long; shorten it");
        assert_eq!(read(3).unwrap(), b"abc");
        assert_eq!(read(2).unwrap_err().to_string(), "f: too long; shorten it");
    }
}
