//! The name of a dump without format extensions.

use std::ffi::OsStr;
use std::path::PathBuf;

/// Extensions of dumps.
const EXTENSIONS: [&str; 16] = [
    "keys", "txt", "csv", "tsv", "json", "jsonl", "ndjson", "log", "out", "dump", "rdb", "gz",
    "zst", "zstd", "lz4", "resp",
];

/// The name of a file without its extensions.
pub fn stem(file_name: &OsStr) -> PathBuf {
    let mut name = PathBuf::from(file_name);
    while name.extension().is_some_and(|extension| {
        EXTENSIONS
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    }) {
        name.set_extension("");
    }
    name
}
