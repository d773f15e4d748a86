//! Glob patterns with the semantics of SCAN MATCH and KEYS, byte by byte.

use regex::bytes::{Regex, RegexBuilder};

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Glob(Regex);

impl Glob {
    /// Compiles a pattern; every text is valid.
    pub fn new(pattern: &[u8]) -> Self {
        let (mut text, mut rest) = (String::from("^"), pattern);
        while let [first, tail @ ..] = rest {
            rest = tail;
            match (first, tail) {
                (b'*', _) if text.ends_with(".*") => {}
                (b'*', _) => text.push_str(".*"),
                (b'?', _) => text.push('.'),
                (b'[', _) => rest = set(tail, &mut text),
                (b'\\', [escaped, tail @ ..]) => {
                    text += &literal(*escaped);
                    rest = tail;
                }
                _ => text += &literal(*first),
            }
        }
        // In servers a single star matches the empty key, and several do not.
        if pattern.len() > 1 && pattern.iter().all(|byte| *byte == b'*') {
            text.push('.');
        }
        let regex = RegexBuilder::new(&format!("{text}$"))
            .unicode(false)
            .dot_matches_new_line(true)
            .size_limit(usize::MAX)
            .build();
        Glob(regex.expect("literals, sets and stars are valid"))
    }

    /// Whether all of `key` matches.
    pub fn matches(&self, key: &[u8]) -> bool {
        self.0.is_match(key)
    }
}

fn literal(byte: u8) -> String {
    format!(r"\x{byte:02X}")
}

/// Writes the set after a `[`; returns the rest of the pattern. As in servers, an unclosed set ends with the pattern.
fn set<'p>(mut rest: &'p [u8], text: &mut String) -> &'p [u8] {
    let not = rest.first() == Some(&b'^');
    rest = &rest[usize::from(not)..];
    let mut ranges = String::new();
    loop {
        let (first, last, len) = match rest {
            [b'\\', escaped, ..] => (*escaped, *escaped, 2),
            [b']', ..] | [] => break,
            [first, b'-', last, ..] => (*first.min(last), *first.max(last), 3),
            [byte, ..] => (*byte, *byte, 1),
        };
        ranges += &format!("{}-{}", literal(first), literal(last));
        rest = &rest[len..];
    }
    *text += &match (ranges.is_empty(), not) {
        (true, false) => r"[^\x00-\xFF]".into(),
        (true, true) => ".".into(),
        (false, false) => format!("[{ranges}]"),
        (false, true) => format!("[^{ranges}]"),
    };
    rest.strip_prefix(b"]").unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_those_of_a_server() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("user:*", &["user:", "user:1:2"], &["user", "auser:1"]),
            ("h?llo", &["hello", "hallo"], &["hllo", "heello"]),
            ("h[ae]llo", &["hello", "hallo"], &["hillo"]),
            ("h[^e]llo", &["hallo"], &["hello", "hllo"]),
            ("h[b-a]llo", &["hallo", "hbllo"], &["hcllo"]),
            (r"h\*llo", &["h*llo"], &["hello"]),
            (r"[\]]", &["]"], &["\\", "["]),
            ("[a-]", &["a", "`", "]"], &["b", "-"]),
            ("[abc", &["a", "c"], &["[abc", "d"]),
            ("[^", &["a"], &["ab"]),
            ("[", &[], &["[", "a"]),
            ("\\", &["\\"], &["a"]),
            ("*a*b", &["ab", "xaxbxb"], &["ba", "abx"]),
            ("*", &["", "a"], &[]),
            ("**", &["a"], &[""]),
            ("", &[""], &["a"]),
        ];
        for (pattern, yes, no) in cases {
            let glob = Glob::new(pattern.as_bytes());
            for key in *yes {
                assert!(glob.matches(key.as_bytes()), "{pattern} {key}");
            }
            for key in *no {
                assert!(!glob.matches(key.as_bytes()), "{pattern} {key}");
            }
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let glob = Glob::new("a*".repeat(60).as_bytes());
        assert!(!glob.matches(&[b'b'; 60_000]));
        let glob = Glob::new(("*a".repeat(30) + "b").as_bytes());
        assert!(!glob.matches(&[b'a'; 10_000]));
    }
}
