//! Where the files of a report go.

use std::path::PathBuf;

use slotscope_read::source::stem::stem;

/// The name of a report: that of the first input, without extensions.
pub(super) fn report_name(input: Option<&PathBuf>) -> PathBuf {
    let whole = match input {
        Some(path) if path.to_str().is_some_and(|text| text.contains("://")) => {
            // Drop glob characters, and the signature in a URL.
            let text = path.to_str().unwrap_or_default();
            PathBuf::from(text.split(['*', '?', '[', '#']).next().unwrap_or_default())
        }
        Some(path) if path.as_os_str() != "-" => {
            path.canonicalize().unwrap_or_else(|_| path.clone())
        }
        _ => PathBuf::from("stdin"),
    };
    let name = stem(whole.file_name().unwrap_or("keys".as_ref()));
    // The rest of `...keys` would be a path elsewhere.
    if name
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .all(|byte| *byte == b'.')
    {
        PathBuf::from("keys")
    } else if GENERIC.iter().any(|generic| name.as_os_str() == *generic)
        && let Some(directory) = input.and_then(|path| path.parent()?.file_name())
    {
        let mut whole = directory.to_owned();
        whole.push("-");
        whole.push(name);
        PathBuf::from(whole)
    } else {
        name
    }
}

/// Dump names shared by all nodes: their directory tells them apart.
const GENERIC: [&str; 3] = ["dump", "appendonly", "keys"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_named_after_what_the_user_named_first() {
        let name = |path: &str| {
            report_name(Some(&PathBuf::from(path)))
                .to_str()
                .unwrap()
                .to_string()
        };
        assert_eq!(name("dumps/node-1.keys.gz"), "node-1");
        assert_eq!(name("dumps/10.0.0.1-6379.keys"), "10.0.0.1-6379");
        assert_eq!(name("dumps/"), "dumps");
        assert_eq!(name("s3://bucket/dumps/*.csv.gz"), "dumps");
        assert_eq!(name("s3://bucket/"), "bucket");
        assert_eq!(name("https://u:p@h/d.csv?sig=s/x"), "d");
        assert_eq!(name(".hidden"), ".hidden");
        assert_eq!(name("-"), "stdin");
        assert_eq!((name("...keys"), name("/")), ("keys".into(), "keys".into()));
        assert_eq!(report_name(None), PathBuf::from("stdin"));
    }
}
