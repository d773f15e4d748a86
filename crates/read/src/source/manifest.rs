//! The manifest of an append-only directory: lists the files with the data the server started from, and with the
//! commands since. Files of earlier rewrites are history.

use std::fs;
use std::path::{Path, PathBuf};

use slotscope_base::error::{Error, Result};

use crate::format::parse::words::words;
use crate::source::{Found, Listed, file, listed};

/// Maximum size of a manifest.
const MAX_BYTES: u64 = 1 << 20;

/// Adds the files listed in a manifest: the base, then the commands in order.
pub(super) fn find(path: &Path, found: &mut Found) -> Result<bool> {
    let is_manifest = path
        .extension()
        .is_some_and(|extension| extension == "manifest");
    let is_short =
        || fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MAX_BYTES);
    if !is_manifest || !is_short() {
        return Ok(false);
    }
    let text = fs::read(path).map_err(|error| Error::io(path, error))?;
    if !is_one(&text) {
        return Ok(false);
    }
    let files = files_of(&text).map_err(|(line, why)| {
        let text = format!("line {line}: {why}; name the .rdb and .incr.aof files themselves");
        Error::bad_file(path, text)
    })?;
    let directory = path.parent().unwrap_or(Path::new(""));
    for name in files {
        let file = listed::in_directory(directory, &name)?;
        if name.ends_with(".base.aof") {
            return Err(Error::bad_file(
                file,
                "it holds the data of a moment as commands, not what clients did; name the .incr.aof files",
            ));
        }
        file::find_listed(&file, Listed::Manifest, None, found)?;
    }
    Ok(true)
}

/// Adds the files listed in a directory's manifest; false if there is none, or several.
pub(super) fn find_in(files: &[PathBuf], found: &mut Found) -> Result<bool> {
    let mut manifests = files.iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.ends_with(b".aof.manifest")
    });
    match (manifests.next(), manifests.next()) {
        (Some(only), None) => find(only, found),
        _ => Ok(false),
    }
}

/// Whether a text is a (possibly damaged) manifest: its first entry has a number and a type.
fn is_one(text: &[u8]) -> bool {
    entries(text).next().is_some_and(|(_, first)| {
        let words = first.split(u8::is_ascii_whitespace);
        let has = |key: &str| {
            words
                .clone()
                .any(|word| word.eq_ignore_ascii_case(key.as_bytes()))
        };
        has("seq") && has("type")
    })
}

/// Non-empty lines without comments, with their numbers.
fn entries(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let texts = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = (1..).zip(texts);
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"))
}

/// The files of a manifest in order, without history; or a line number and what is wrong.
fn files_of(text: &[u8]) -> std::result::Result<Vec<String>, (usize, &'static str)> {
    let mut files = Vec::new();
    for (number, line) in entries(text) {
        files.extend(entry(line).map_err(|reason| (number, reason))?);
    }
    files.sort();
    Ok(files.into_iter().map(|(_, _, name)| name).collect())
}

/// A manifest entry, in the order the server uses: whether it holds commands, its number, its name. `None` for history.
type ManifestEntry = Option<(bool, u64, String)>;

fn entry(line: &[u8]) -> std::result::Result<ManifestEntry, &'static str> {
    let words: Vec<_> = words(line)?
        .into_iter()
        .map(|word| String::from_utf8(word.into_owned()))
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| "a name that is not UTF-8")?;
    let value = |key: &str| {
        let mut pairs = words.chunks_exact(2);
        pairs
            .find(|pair| pair[0].eq_ignore_ascii_case(key))
            .map(|pair| pair[1].as_str())
    };
    let name = value("file").ok_or("an entry without a file")?;
    if !listed::is_base_name(name) {
        return Err("lists a file outside its directory");
    }
    let parsed = value("seq").and_then(|number| number.parse().ok());
    let number = parsed.ok_or("a file without its seq, a number")?;
    match value("type") {
        Some("b") => Ok(Some((false, number, name.to_owned()))),
        Some("i") => Ok(Some((true, number, name.to_owned()))),
        Some("h") => Ok(None),
        _ => Err("the type is to be b, i or h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files used from a directory with these files and this manifest.
    fn read(names: &[&str], manifest: &[u8]) -> Result<Vec<String>> {
        let directory = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(directory.path().join(name), "x\n").unwrap();
        }
        fs::write(directory.path().join("a.aof.manifest"), manifest).unwrap();
        let found = crate::source::find(&[directory.path()])?;
        let names = found.sources.iter().map(|source| source.path().file_name());
        Ok(names
            .map(|name| name.unwrap().to_string_lossy().into_owned())
            .collect())
    }

    #[test]
    fn a_manifest_lists_the_base_and_the_commands_since() {
        for (text, expected) in [
            (
                &b"# a comment\nfile a.2.incr.aof seq 2 type i\nfile a.1.base.rdb seq 1 type b\n\n\
                   SEQ 10 type i file a.10.incr.aof startoffset 4\nfile a.0.incr.aof seq 0 type h\n"[..],
                &["a.1.base.rdb", "a.2.incr.aof", "a.10.incr.aof"][..],
            ),
            (
                b"file \"my \\\"aof\\\".1.incr.aof\" seq 1 type i\nfile 'b c' seq 2 type i\n",
                &["my \"aof\".1.incr.aof", "b c"],
            ),
        ] {
            assert_eq!(read(expected, text).unwrap(), expected);
        }
        for other in [&b""[..], b"user:1\nuser:2\n", b"file a\n", b"\xFF"] {
            let found = read(&["a"], other).unwrap();
            assert_eq!(found, ["a", "a.aof.manifest"], "{}", other.escape_ascii());
        }
    }

    #[test]
    fn a_manifest_that_cannot_be_used_is_refused_at_its_line() {
        const OUTSIDE: &str = "line 2: lists a file outside its directory";
        for (line, what) in [
            ("file ../a.aof seq 1 type i", OUTSIDE),
            ("file \"../a b.aof\" seq 1 type i", OUTSIDE),
            ("file /etc/passwd seq 1 type i", OUTSIDE),
            ("file .. seq 1 type i", OUTSIDE),
            ("file \"a seq 1 type i", "line 2: a quote is not closed"),
            ("file a seq 1 type x", "line 2: the type is to be b, i or h"),
            ("file a seq x type i", "line 2: a file without its seq"),
            ("file a\u{1b} type i", "line 2: a file without its seq"),
            ("seq 1 type i", "line 2: an entry without a file"),
            ("file b seq 1 type i", "no such file"),
        ] {
            let text = format!("file a seq 1 type i\n{line}\n");
            let error = read(&["a"], text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(what) && !error.contains('\x1b'), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_directory_is_refused_and_one_within_is_read() {
        let outside = tempfile::NamedTempFile::new().unwrap();
        for (to, is_read) in [(outside.path(), false), (Path::new("real.aof"), true)] {
            let directory = tempfile::tempdir().unwrap();
            let path = |name| directory.path().join(name);
            fs::write(path("real.aof"), "x\n").unwrap();
            std::os::unix::fs::symlink(to, path("link.aof")).unwrap();
            fs::write(path("a.manifest"), "file link.aof seq 1 type i\n").unwrap();
            let found = crate::source::find(&[path("a.manifest")]);
            let refusal = found.err().map(|error| error.to_string());
            let is_refused = |error: &String| error.contains("a link out of its directory");
            assert_eq!(refusal.as_ref().map(is_refused), (!is_read).then_some(true));
        }
    }
}
