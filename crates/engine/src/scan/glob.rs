//! Glob patterns with the semantics of SCAN MATCH and KEYS, byte by byte.

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    parts: Vec<Part>,
    /// Whether the pattern is a single star: in servers only that one matches the empty key, not `**`.
    is_star: bool,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Any bytes.
    Star,
    /// Any one byte.
    One,
    /// Exactly this byte.
    Byte(u8),
    /// One byte inside these ranges, or outside if negated.
    Set { ranges: Vec<(u8, u8)>, not: bool },
}

impl Part {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Part::Star => false,
            Part::One => true,
            Part::Byte(wanted) => *wanted == byte,
            Part::Set { ranges, not } => {
                ranges
                    .iter()
                    .any(|(first, last)| (*first..=*last).contains(&byte))
                    != *not
            }
        }
    }
}

impl Glob {
    /// Compiles a pattern; every text is valid.
    pub fn new(pattern: &[u8]) -> Self {
        let (mut parts, mut rest) = (Vec::new(), pattern);
        while let [first, tail @ ..] = rest {
            rest = tail;
            match (first, tail) {
                (b'*', _) if parts.last() == Some(&Part::Star) => {}
                (b'*', _) => parts.push(Part::Star),
                (b'?', _) => parts.push(Part::One),
                (b'[', _) => {
                    let (set, tail) = set(tail);
                    parts.push(set);
                    rest = tail;
                }
                (b'\\', [escaped, tail @ ..]) => {
                    parts.push(Part::Byte(*escaped));
                    rest = tail;
                }
                _ => parts.push(Part::Byte(*first)),
            }
        }
        let is_star = pattern == b"*";
        Glob { parts, is_star }
    }

    /// Whether all of `key` matches. A mismatch backtracks to the last star only, so the time is at most the product of
    /// both lengths.
    pub fn matches(&self, key: &[u8]) -> bool {
        if key.is_empty() {
            return self.is_star || self.parts.is_empty();
        }
        let (mut part, mut at) = (0, 0);
        let mut last_star = None;
        while at < key.len() {
            match self.parts.get(part) {
                Some(Part::Star) => {
                    last_star = Some((part, at));
                    part += 1;
                    continue;
                }
                Some(piece) if piece.takes(key[at]) => {
                    (part, at) = (part + 1, at + 1);
                    continue;
                }
                _ => {}
            }
            let Some((star, from)) = last_star else {
                return false;
            };
            last_star = Some((star, from + 1));
            (part, at) = (star + 1, from + 1);
        }
        self.parts[part..].iter().all(|part| *part == Part::Star)
    }
}

/// The set after a `[`, and the rest of the pattern. As in servers, an unclosed set ends with the pattern.
fn set(mut rest: &[u8]) -> (Part, &[u8]) {
    let not = rest.first() == Some(&b'^');
    rest = &rest[usize::from(not)..];
    let mut ranges = Vec::new();
    loop {
        let (first, last, len) = match rest {
            [b'\\', escaped, ..] => (*escaped, *escaped, 2),
            [b']', tail @ ..] => return (Part::Set { ranges, not }, tail),
            [] => return (Part::Set { ranges, not }, rest),
            [first, b'-', last, ..] => (*first.min(last), *first.max(last), 3),
            [byte, ..] => (*byte, *byte, 1),
        };
        ranges.push((first, last));
        rest = &rest[len..];
    }
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
