//! `-u URI` as in redis-cli: servers are inputs here, so the flag is dropped and the URL kept.

use std::ffi::OsString;
use std::path::Path;

use crate::source::remote;

/// Removes each `-u` followed by a server URL from `words`. After `--`, all words are inputs.
pub(super) fn without(mut words: Vec<OsString>) -> Vec<OsString> {
    let mut at = 0;
    while at + 1 < words.len() && words[at] != "--" {
        let next = &words[at + 1];
        let is_url = next.to_str().is_some_and(|next| next.contains("://"));
        if words[at] == "-u" && is_url && remote::is_server(Path::new(next)) {
            words.remove(at);
        }
        at += 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(words: &str) -> String {
        let words = without(words.split(' ').map(OsString::from).collect());
        words.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn a_url_needs_no_flag() {
        for (given, expected) in [
            (
                "slotscope collect -u redis://h:1 -o out",
                "slotscope collect redis://h:1 -o out",
            ),
            (
                "slotscope analyze -u rediss://h --json -u h:7000",
                "slotscope analyze rediss://h --json -u h:7000",
            ),
            ("slotscope analyze -u", "slotscope analyze -u"),
            (
                "slotscope analyze -u dump.rdb",
                "slotscope analyze -u dump.rdb",
            ),
            (
                "slotscope analyze -- -u redis://h",
                "slotscope analyze -- -u redis://h",
            ),
        ] {
            assert_eq!(left(given), expected);
        }
    }
}
