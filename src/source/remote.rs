//! Arguments that name a server or a place on the network: nothing is read from there, and what to type instead is said.

use std::path::Path;

use crate::error::{Error, Result};
use crate::name::Name;
use crate::source::Found;

/// Places by the start of their URLs, and what to type.
const SCHEMES: &[(&str, &str, &str)] = &[
    (
        "redis",
        LIVE,
        "redis-cli -u URL --no-raw --scan > DUMP, then name DUMP",
    ),
    (
        "rediss",
        LIVE,
        "redis-cli -u URL --no-raw --scan > DUMP, then name DUMP",
    ),
    (
        "valkey",
        LIVE,
        "valkey-cli -u URL --no-raw --scan > DUMP, then name DUMP",
    ),
    (
        "valkeys",
        LIVE,
        "valkey-cli -u URL --no-raw --scan > DUMP, then name DUMP",
    ),
    (
        "unix",
        LIVE,
        "redis-cli -s SOCKET --no-raw --scan > DUMP, then name DUMP",
    ),
    ("s3", OBJECT, "aws s3 cp URL - | slotscope analyze -"),
    ("gs", OBJECT, "gcloud storage cat URL | slotscope analyze -"),
    (
        "az",
        OBJECT,
        "az storage blob download --container-name CONTAINER --name NAME --file DUMP, then name DUMP",
    ),
    ("http", PAGE, "curl -fsS URL | slotscope analyze -"),
    ("https", PAGE, "curl -fsS URL | slotscope analyze -"),
];

const LIVE: &str = "a live server, and slotscope reads dumps";
const OBJECT: &str = "an object of a cloud store, and slotscope reads files";
const PAGE: &str = "a web address, and slotscope reads files";
const OTHER: &str = "a URL, and slotscope reads files: download it, then name the file";

/// Refuses what names a place on the network and is no file here.
pub fn find(path: &Path, _: &mut Found) -> Result<bool> {
    match path.to_str().filter(|_| !path.exists()).and_then(refusal) {
        None => Ok(false),
        Some((place, what)) => Err(Error::bad(place, what)),
    }
}

/// The place that `text` names, without any password, and what to do.
fn refusal(text: &str) -> Option<(String, String)> {
    if let Some((scheme, rest)) = text.split_once("://").filter(|(scheme, _)| is_word(scheme)) {
        let host = rest.split('/').next().unwrap_or_default();
        let secret = host.rfind('@').map_or(0, |at| at + 1);
        let place = format!("{}://{}", scheme, Name::from(&rest[secret..]));
        let known = SCHEMES
            .iter()
            .find(|(name, ..)| scheme.eq_ignore_ascii_case(name));
        let what = known.map_or(OTHER.to_owned(), |(_, what, way_out)| {
            format!("{what}: {way_out}")
        });
        return Some((place, what));
    }
    let (host, port) = text.rsplit_once(':')?;
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let is_address = port.parse::<u16>().is_ok() && !host.is_empty() && host.bytes().all(is_host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let what = format!(
        "{LIVE}: redis-cli -h {host} -p {port} --no-raw --scan > {host}-{port}.keys, then name that file"
    );
    is_address.then(|| (text.to_owned(), what))
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_urls_are_named_with_what_to_type() {
        for (text, place, what) in [
            (
                "10.0.0.1:6379",
                "10.0.0.1:6379",
                "redis-cli -h 10.0.0.1 -p 6379 --no-raw",
            ),
            ("[::1]:7000", "[::1]:7000", "redis-cli -h ::1 -p 7000 "),
            (
                "redis://u:secret@h:1/0",
                "redis://h:1/0",
                "redis-cli -u URL",
            ),
            (
                "S3://bucket/a.keys",
                "S3://bucket/a.keys",
                "aws s3 cp URL -",
            ),
            ("https://h/a@b", "https://h/a@b", "curl -fsS URL"),
            ("ftp://h/\u{1b}", "ftp://h/\\x1b", "download it"),
        ] {
            let (found, said) = refusal(text).unwrap();
            assert_eq!(found, place);
            assert!(said.contains(what), "{said}");
        }
    }

    #[test]
    fn a_path_is_no_server() {
        for path in [
            "dump.keys",
            "a:b",
            "user:70000",
            ":1",
            "dir/a:1",
            "a b:1",
            "://x",
            "c:\\x",
        ] {
            assert_eq!(refusal(path), None, "{path}");
        }
    }
}
