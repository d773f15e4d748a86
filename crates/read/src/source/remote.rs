//! Arguments that name a server, or a network location unsupported by this build: the error suggests a command.

use std::path::Path;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;

use crate::source::Found;

/// URL schemes of cloud stores, and of the web.
const STORES: [&str; 6] = ["s3", "s3a", "gs", "az", "abfs", "abfss"];
const WEB: [&str; 2] = ["http", "https"];
/// URL schemes of servers.
const SERVERS: [&str; 5] = ["redis", "rediss", "valkey", "valkeys", "unix"];

const LIVE: &str = "a running server, not a dump";
const CLOUD: &str = "a place on the network, which only builds with the feature cloud read, as released binaries and wheels are; \
                     otherwise download it (aws s3 cp, gcloud storage cp, azcopy copy, curl -fsS), then name the file";
const OTHER: &str = "a URL, and slotscope reads files: download it, then name the file";

/// Refuses arguments that name a network location and are not local files.
///
/// # Errors
/// The error for a place on the network, with a suggested command.
pub(crate) fn find(path: &Path, _: &mut Found) -> Result<bool> {
    match path.to_str().filter(|_| !path.exists()).and_then(refusal) {
        None => Ok(false),
        Some((place, reason)) => Err(Error::bad(place, reason)),
    }
}

/// Whether an argument names a server, and no file.
pub fn is_server(path: &Path) -> bool {
    let text = path.to_str().filter(|_| !path.exists());
    text.is_some_and(|text| match split(text) {
        Some((scheme, _)) => is_of_server(scheme),
        None => is_address(text),
    })
}

/// Whether an argument names several objects of a store.
pub fn are_objects(path: &Path) -> bool {
    let text = path.to_str().filter(|_| !path.exists());
    text.and_then(split).is_some_and(|(scheme, rest)| {
        let are_several = rest.ends_with('/') || rest.contains(['*', '?', '[']);
        is_one(&STORES, scheme) && (are_several || !rest.contains('/'))
    })
}

/// An argument without URL password and query string, which may contain a signature.
pub fn without_password(text: &str) -> String {
    match split(text) {
        Some((scheme, rest)) if scheme.to_ascii_lowercase().starts_with("http") => {
            let place = shown(scheme, rest).split(['?', '#']).next();
            format!("{scheme}://{}", place.unwrap_or_default())
        }
        Some((scheme, rest)) => format!("{scheme}://{}", shown(scheme, rest)),
        None => text.to_owned(),
    }
}

/// The scheme of a URL, and the rest.
fn split(text: &str) -> Option<(&str, &str)> {
    text.split_once("://").filter(|(scheme, _)| is_word(scheme))
}

/// The part of a URL after the scheme and any credentials, starting at the host. A server's password may contain a slash,
/// an object's path an @. Azure has a container before the @.
fn shown<'r>(scheme: &str, rest: &'r str) -> &'r str {
    if scheme.to_ascii_lowercase().starts_with("abfs") {
        return rest;
    }
    let host = if is_of_server(scheme) {
        rest
    } else {
        rest.split('/').next().unwrap_or_default()
    };
    &rest[host.rfind('@').map_or(0, |at| at + 1)..]
}

/// The place named by `text`, without any password, and what to do.
fn refusal(text: &str) -> Option<(String, String)> {
    if let Some((scheme, rest)) = split(text) {
        let place = format!("{scheme}://{}", Name::from(shown(scheme, rest)));
        let reason = match () {
            () if is_of_server(scheme) => LIVE,
            () if is_one(&STORES, scheme) || is_one(&WEB, scheme) => CLOUD,
            () => OTHER,
        };
        return Some((place, reason.to_owned()));
    }
    if let Some((scheme, rest)) = text.split_once(":/").filter(|parts| is_of_server(parts.0)) {
        let path = if scheme.eq_ignore_ascii_case("unix") {
            "/"
        } else {
            ""
        };
        let host = Name::from(shown(scheme, rest));
        let url = format!("{scheme}://{path}{host}");
        let reason = format!("no such file; a running server is written as {url}");
        return Some((format!("{scheme}:/{host}"), reason));
    }
    is_address(text).then(|| (text.to_owned(), LIVE.to_owned()))
}

fn is_of_server(scheme: &str) -> bool {
    is_one(&SERVERS, scheme)
}

fn is_one(names: &[&str], scheme: &str) -> bool {
    names.iter().any(|name| scheme.eq_ignore_ascii_case(name))
}

/// Whether it is a host and a port.
fn is_address(text: &str) -> bool {
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    text.rsplit_once(':').is_some_and(|(host, port)| {
        port.parse::<u16>().is_ok() && !host.is_empty() && host.bytes().all(is_host)
    })
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
        const SERVER: &str = "a running server";
        for (text, place, what) in [
            ("10.0.0.1:6379", "10.0.0.1:6379", SERVER),
            ("[::1]:7000", "[::1]:7000", SERVER),
            ("redis://u:se/cr@et@h:1/0", "redis://h:1/0", SERVER),
            ("unix:///run/r.sock", "unix:///run/r.sock", SERVER),
            ("S3://bucket/a.keys", "S3://bucket/a.keys", "aws s3 cp"),
            ("https://h/a@b", "https://h/a@b", "curl -fsS"),
            ("https://u:secret@h/a@b", "https://h/a@b", "curl -fsS"),
            ("ftp://h/\u{1b}", "ftp://h/\\x1b", "download it"),
            ("redis:/u:se/cr@et@h:1", "redis:/h:1", "as redis://h:1"),
            ("unix:/r.sock", "unix:/r.sock", "as unix:///r.sock"),
        ] {
            let (found, said) = refusal(text).unwrap();
            assert_eq!(found, place);
            assert!(said.contains(what), "{said}");
            assert_eq!(is_server(Path::new(text)), what == SERVER, "{text}");
        }
        for (text, shown) in [
            ("redis://u:se/cr@et@h:1", "redis://h:1"),
            ("a b@c", "a b@c"),
            ("https://u:p@h/d.csv?X-Amz-Signature=s#x", "https://h/d.csv"),
            (
                "abfss://c@a.dfs.core.windows.net/d",
                "abfss://c@a.dfs.core.windows.net/d",
            ),
        ] {
            assert_eq!(without_password(text), shown);
        }
    }

    #[test]
    fn a_prefix_and_a_pattern_are_several_objects() {
        for text in ["s3://b", "s3://b/", "gs://b/d/", "az://c/d*.csv"] {
            assert!(are_objects(Path::new(text)), "{text}");
        }
        for text in ["s3://b/d.csv", "https://h/d/", "redis://h/", "dumps/"] {
            assert!(!are_objects(Path::new(text)), "{text}");
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
            assert!(!is_server(Path::new(path)), "{path}");
        }
    }
}
