//! The inputs of a command, without files that slotscope itself wrote: a report may be in the same directory as its
//! dumps.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::source;
use slotscope_base::error::{Error, Result};
use slotscope_read::source::Found;
use slotscope_read::source::remote;
use slotscope_read::source::storage_options::StorageOptions;

/// The sources named by `paths`, without report files in directories.
///
/// # Errors
/// As for `source::find`; a directory contains only a report.
pub fn find(paths: &[PathBuf], storage: &StorageOptions) -> Result<Found> {
    let mut inputs = source::find_with(paths, storage).map_err(|error| hinted(error, paths))?;
    let reports = paths
        .iter()
        .filter(|path| path.is_dir() && slotscope_report::is_in(path));
    for directory in reports {
        let before = inputs.sources.len();
        inputs
            .sources
            .retain(|source| !is_of_report(source.path(), directory));
        inputs.passed_over += before - inputs.sources.len();
        if inputs.sources.is_empty() {
            let reason = "holds a report of slotscope and no dump; name a key dump";
            return Err(Error::bad_file(directory.as_path(), reason));
        }
    }
    Ok(inputs)
}

/// Adds a hint to the error, if a server or file is misspelled in a known way.
fn hinted(error: Error, paths: &[PathBuf]) -> Error {
    match error {
        Error::Bad { place, what } if remote::is_server(Path::new(&place)) => {
            let way_out = "slotscope collect URL -o DIR reads its cluster; then name DIR";
            Error::bad(place, what.words(": ").words(way_out))
        }
        Error::Bad { place, .. } if place.starts_with("file://") => {
            let path = place.trim_start_matches("file://").to_owned();
            Error::bad(place, format!("write the path: {path}"))
        }
        Error::Io { place, source } if source.kind() == io::ErrorKind::NotFound => {
            match address(&place, paths) {
                Some(address) => {
                    let reason = format!("no such file; a running server is written as {address}");
                    Error::bad_file(place.as_path(), reason)
                }
                None => Error::Io { place, source },
            }
        }
        error => error,
    }
}

/// The server address that a host without a port may mean; the port may be the next word.
fn address(place: &Path, paths: &[PathBuf]) -> Option<String> {
    let host = place.to_str()?;
    let next = paths.iter().skip_while(|path| *path != place).nth(1);
    let port = next.and_then(|path| path.to_str()?.parse::<u16>().ok());
    let is_host = host == "localhost" || host.parse::<IpAddr>().is_ok();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.:".contains(c);
    match port {
        Some(port) if host.chars().all(is_plain) => Some(format!("redis://{host}:{port}")),
        None if is_host => Some(format!("redis://{host}:6379")),
        _ => None,
    }
}

fn is_of_report(path: &Path, directory: &Path) -> bool {
    let is_output =
        |name: &std::ffi::OsStr| slotscope_report::files().any(|(file, _)| name == file);
    path.parent() == Some(directory) && path.file_name().is_some_and(is_output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_or_a_file_in_another_spelling_is_answered_with_what_to_type() {
        let error = |words: &[&str]| {
            let paths: Vec<PathBuf> = words.iter().map(PathBuf::from).collect();
            find(&paths, &StorageOptions::default())
                .unwrap_err()
                .to_string()
        };
        for (words, said) in [
            (
                &["10.0.0.1"][..],
                "10.0.0.1: no such file; a running server is written as redis://10.0.0.1:6379",
            ),
            (&["cache-1", "7000"], "written as redis://cache-1:7000"),
            (
                &["redis://u:secret@h:1"],
                "redis://h:1: a running server, not a dump: slotscope collect URL -o DIR",
            ),
            (
                &["file:///no/dump.rdb"],
                "file:///no/dump.rdb: write the path: /no/dump.rdb",
            ),
            (
                &["no.keys"],
                "no.keys: no such file or directory; check the spelling",
            ),
        ] {
            assert!(error(words).contains(said), "{}", error(words));
        }
    }
}
