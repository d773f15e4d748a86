//! The manifest of an append-only directory: which files hold the data that the server started from, and the commands
//! since. Files of earlier rewrites are history.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::name::Name;
use crate::source::{Found, file};

/// The longest manifest that is read.
const MAX_BYTES: u64 = 1 << 20;

/// Adds the files that a manifest lists: the base, then the commands since in their order.
pub fn find(path: &Path, found: &mut Found) -> Result<bool> {
    let is_manifest = path
        .extension()
        .is_some_and(|extension| extension == "manifest");
    let is_short = || fs::metadata(path).is_ok_and(|of| of.is_file() && of.len() <= MAX_BYTES);
    if !is_manifest || !is_short() {
        return Ok(false);
    }
    let text = fs::read(path).map_err(|error| Error::io(path, error))?;
    let Some(listed) = listed(&text) else {
        return Ok(false);
    };
    let directory = path.parent().unwrap_or(Path::new(""));
    for name in listed {
        let file = directory.join(name);
        if name.ends_with(".base.aof") {
            return Err(Error::bad(
                Name::from(file.as_path()).to_string(),
                "it holds the data of a moment as commands, not what clients did; name the .incr.aof files",
            ));
        }
        file::find(&file, found)?;
    }
    Ok(true)
}

/// Adds the files that the manifest in a directory lists; false where there is none, or several.
pub fn find_in(files: &[PathBuf], found: &mut Found) -> Result<bool> {
    let mut manifests = files.iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.ends_with(b".aof.manifest")
    });
    match (manifests.next(), manifests.next()) {
        (Some(only), None) => find(only, found),
        _ => Ok(false),
    }
}

/// The files of a manifest that are not history, in their order; `None` where it is none.
fn listed(text: &[u8]) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut files = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_ascii_whitespace();
        let (mut name, mut number, mut kind) = (None, None, None);
        while let (Some(key), Some(value)) = (words.next(), words.next()) {
            match key {
                "file" => name = Some(value),
                "seq" => number = value.parse::<u64>().ok(),
                "type" => kind = Some(value),
                _ => {}
            }
        }
        // Names with odd characters are in quotes, and none leaves the directory.
        let name = name.filter(|name| !name.contains(['/', '"', '\\']))?;
        match kind? {
            "b" => files.push((0, 0, name)),
            "i" => files.push((1, number?, name)),
            "h" => {}
            _ => return None,
        }
    }
    files.sort();
    (!files.is_empty()).then(|| files.into_iter().map(|(_, _, name)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_lists_the_base_and_the_commands_since() {
        let text = b"# a comment\nfile a.2.incr.aof seq 2 type i\nfile a.1.base.rdb seq 1 type b\n\
            seq 10 type i file a.10.incr.aof startoffset 4\nfile a.0.incr.aof seq 0 type h\n";
        let expected = ["a.1.base.rdb", "a.2.incr.aof", "a.10.incr.aof"];
        assert_eq!(listed(text).unwrap(), expected);
        for other in [
            &b""[..],
            b"user:1\nuser:2\n",
            b"file ../a.aof seq 1 type i\n",
            b"file \"a b\" seq 1 type i\n",
            b"file a seq 1 type x\n",
            b"file a seq x type i\n",
            b"\xFF",
        ] {
            assert_eq!(listed(other), None, "{}", other.escape_ascii());
        }
    }
}
