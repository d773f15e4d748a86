//! Hash policies: which part of a key a cluster hashes.
//!
//! `oss` is the rule of Redis and Valkey (`hashed_part`), and the only one with a kernel pass. `enterprise` is the
//! standard policy of Redis Enterprise and Redis Cloud: from the last `{` that has a `}` after it to the last `}`,
//! where an empty tag is a tag. `regex:` is their custom policy: the group `tag` of the first matching pattern.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{CaptureLocations, Regex, RegexBuilder};

use crate::batch::Spans;
use crate::block::Padded;
use crate::error::{Error, Result};
use crate::name::Name;

/// Maximum patterns of a custom policy, as in Redis Enterprise.
const MAX_PATTERNS: usize = 32;

/// The prefix of a pattern on the command line.
const REGEX: &str = "regex:";

/// The rule for the hashed part of a key.
#[derive(Debug, Clone, Default)]
pub enum Policy {
    /// Redis and Valkey Cluster.
    #[default]
    Oss,
    /// Redis Enterprise and Redis Cloud, standard.
    Enterprise,
    /// Redis Enterprise and Redis Cloud, custom: the first matching pattern decides.
    Patterns(Vec<Pattern>),
}

/// One pattern of a custom policy.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As the user wrote it.
    text: String,
    regex: Regex,
    /// The number of its group `tag`.
    tag: usize,
}

impl Policy {
    /// The policy given by the values of `--policy`; the default if there are none.
    ///
    /// ```
    /// use slotscope_base::slot::policy::Policy;
    /// let policy = Policy::parse(&["regex:/user-.*:(?<tag>.+)/"])?;
    /// assert_eq!(policy.slot(b"user-session:1234"), policy.slot(b"user-profile:1234"));
    /// assert_eq!(policy.slot(b"session:1234"), None);
    /// # Ok::<(), slotscope_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// An unknown name, two policies, more than 32 patterns, or an invalid pattern.
    pub fn parse(values: &[impl AsRef<str>]) -> Result<Policy> {
        let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
        let patterns: Vec<&str> = values
            .iter()
            .filter_map(|value| value.strip_prefix(REGEX))
            .collect();
        match values.as_slice() {
            [] | ["oss"] => Ok(Policy::Oss),
            ["enterprise"] => Ok(Policy::Enterprise),
            _ if patterns.len() > MAX_PATTERNS => Err(Error::option(
                "policy",
                "",
                format!(
                    "{} patterns; a custom policy has at most 32",
                    patterns.len()
                ),
            )),
            _ if patterns.len() == values.len() => patterns
                .into_iter()
                .map(Pattern::new)
                .collect::<Result<_>>()
                .map(Policy::Patterns),
            [value] => Err(Error::option(
                "policy",
                Name::from(*value),
                "no such policy; there are: oss, enterprise, regex:PATTERN (with a group named tag: regex:user-(?<tag>.+))",
            )),
            _ => Err(Error::option(
                "policy",
                "",
                "a cluster has one policy; only regex:PATTERN may be repeated",
            )),
        }
    }

    /// Whether it is the rule of Redis and Valkey.
    pub fn is_oss(&self) -> bool {
        matches!(self, Policy::Oss)
    }

    /// The hashed part of `key` as byte offsets; `None` if no pattern matches.
    pub fn hashed_part(&self, key: &[u8]) -> Option<Range<usize>> {
        match self {
            Policy::Oss => Some(crate::slot::hashed_part(key)),
            Policy::Enterprise => Some(enterprise_tag(key).unwrap_or(0..key.len())),
            Policy::Patterns(patterns) => patterns
                .iter()
                .find_map(|pattern| pattern.tag(key, &mut pattern.locations())),
        }
    }

    /// The position of the hash tag of `key`, if any: the hashed part, unless it is the whole key.
    pub fn tag(&self, key: &[u8]) -> Option<Range<usize>> {
        self.hashed_part(key).filter(|part| *part != (0..key.len()))
    }

    /// The hash slot of `key`; `None` if no pattern matches.
    pub fn slot(&self, key: &[u8]) -> Option<u16> {
        self.hashed_part(key)
            .map(|part| crate::slot::slot_of_part(&key[part]))
    }

    /// Writes the hashed part of each key to `parts`. Keys without one get an empty part, and their indices are
    /// returned. Byte by byte: only `oss` has a faster way.
    pub fn hashed_spans(&self, base: Padded<'_>, keys: &Spans, parts: &mut Spans) -> Vec<u32> {
        let mut misfits = Vec::new();
        let mut patterns: Vec<_> = self
            .patterns()
            .iter()
            .map(|pattern| (pattern, pattern.locations()))
            .collect();
        parts.clear();
        for i in 0..keys.len() {
            let key = keys.get(base, i);
            let part = match self {
                Policy::Patterns(_) => patterns
                    .iter_mut()
                    .find_map(|(pattern, places)| pattern.tag(key, places)),
                _ => self.hashed_part(key),
            };
            if part.is_none() {
                misfits.push(i as u32);
            }
            let part = part.unwrap_or(0..0);
            parts.push(
                keys.start[i] + part.start as u32,
                keys.start[i] + part.end as u32,
            );
        }
        misfits
    }

    fn patterns(&self) -> &[Pattern] {
        match self {
            Policy::Patterns(patterns) => patterns,
            _ => &[],
        }
    }
}

/// As on the command line, patterns separated by commas; not escaped.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Oss => f.write_str("oss"),
            Policy::Enterprise => f.write_str("enterprise"),
            Policy::Patterns(patterns) => {
                let texts: Vec<_> = patterns
                    .iter()
                    .map(|pattern| format!("{REGEX}{}", pattern.text))
                    .collect();
                f.write_str(&texts.join(", "))
            }
        }
    }
}

/// The tag by the standard policy of Redis Enterprise, `.*{(?<tag>.*)}.*`: from the last `{` that has a `}` after it to
/// the last `}`; may be empty.
pub fn enterprise_tag(key: &[u8]) -> Option<Range<usize>> {
    let close = memchr::memrchr(b'}', key)?;
    let open = memchr::memrchr(b'{', &key[..close])?;
    Some(open + 1..close)
}

impl Pattern {
    fn new(text: &str) -> Result<Pattern> {
        let place = || format!("--policy \"regex:{}\"", Name::from(text));
        let body = text
            .strip_prefix('/')
            .and_then(|text| text.strip_suffix('/'))
            .unwrap_or(text);
        let regex = compile(&format!("^(?:{})$", literal_braces(body)))
            .map_err(|reason| Error::bad(place(), reason))?;
        match regex.capture_names().position(|name| name == Some("tag")) {
            Some(tag) => Ok(Pattern {
                text: text.into(),
                regex,
                tag,
            }),
            None => Err(Error::bad(
                place(),
                "has no group named tag; mark what is hashed: regex:user-.*:(?<tag>.+)",
            )),
        }
    }

    fn locations(&self) -> CaptureLocations {
        self.regex.capture_locations()
    }

    /// The position of the group `tag`, if the pattern matches all of `key` and the group participates.
    fn tag(&self, key: &[u8], places: &mut CaptureLocations) -> Option<Range<usize>> {
        self.regex.captures_read(places, key)?;
        places.get(self.tag).map(|(start, end)| start..end)
    }
}

/// Compiles a regular expression over bytes, where `.` matches any byte and `{` may be literal.
///
/// # Errors
/// Why it is invalid. Look-around and back-references are not supported, as they take unbounded time.
pub fn compile_over_bytes(pattern: &str) -> std::result::Result<Regex, String> {
    compile(&literal_braces(pattern))
}

fn compile(pattern: &str) -> std::result::Result<Regex, String> {
    let built = RegexBuilder::new(pattern)
        .unicode(false)
        .dot_matches_new_line(true)
        .build();
    built.map_err(|error| reason(&error))
}

/// The last line of the regex crate's message: the others show the pattern, which may have been rewritten.
pub fn reason(error: &regex::Error) -> String {
    let message = error.to_string();
    let last = message.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").trim().to_owned()
}

/// Possible operators of a pattern, and escapes, names of classes and quantifiers, which stay as they are. A bracket at the
/// start of a class is one of its characters.
static TOKENS: LazyLock<regex::Regex> = LazyLock::new(|| {
    let kept = r"\\[xuUpP]\{[^}]*\}|\\.|\[:[a-z^]*:\]|\{[0-9]+(?:,[0-9]*)?\}";
    regex::Regex::new(&format!("(?s){kept}|\\[\\^?\\]|[\\[\\]{{&~]")).expect("a valid pattern")
});

/// Escapes each `{` that does not open a quantifier, and whatever only this crate treats as an operator in a class, so
/// that a pattern has its PCRE meaning.
fn literal_braces(pattern: &str) -> Cow<'_, str> {
    let mut in_class = false;
    TOKENS.replace_all(pattern, |token: &regex::Captures<'_>| {
        let token = &token[0];
        if ["[]", "[^]"].contains(&token) {
            in_class = !in_class;
            let bracket = if in_class { ']' } else { '[' };
            return token.replace(bracket, &format!("\\{bracket}"));
        }
        let is_literal = match token {
            "{" => true,
            "[" => std::mem::replace(&mut in_class, true),
            "&" | "~" => in_class,
            _ => false,
        };
        in_class &= token != "]";
        format!("{}{token}", if is_literal { r"\" } else { "" })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part<'k>(policy: &[&str], key: &'k [u8]) -> Option<&'k [u8]> {
        Policy::parse(policy)
            .unwrap()
            .hashed_part(key)
            .map(|part| &key[part])
    }

    #[test]
    fn one_key_has_the_slots_that_the_documents_give() {
        let key = b"a{'1':{'i32':1}}";
        assert_eq!(Policy::Oss.slot(key), Some(5540));
        assert_eq!(Policy::Enterprise.slot(key), Some(12350));
    }

    #[test]
    fn enterprise_takes_the_last_pair_and_keeps_an_empty_tag() {
        let hashed = |key| part(&["enterprise"], key).unwrap();
        for (key, expected) in [
            (&b"{user}::{10086}"[..], &b"10086"[..]),
            (b"foo{{bar}}zap", b"bar}"),
            (b"foo{}{bar}", b"bar"),
            (b"{a}b{c", b"a"),
            (b"a}b{c", b"a}b{c"),
            (b"\xff{\n\x00}\n", b"\n\x00"),
            (b"x{}", b""),
            (b"", b""),
        ] {
            assert_eq!(hashed(key), expected, "{}", key.escape_ascii());
        }
        assert_eq!(Policy::Enterprise.slot(b"x{}"), Some(0));
        assert_eq!(Policy::Enterprise.tag(b"x{}"), Some(2..2));
        assert_eq!(Policy::Enterprise.tag(b"plain"), None);
    }

    #[test]
    fn the_first_pattern_that_matches_the_whole_key_decides() {
        let two = &["regex:/user-.*:(?<tag>.+)/", "regex:(?<tag>[^:]+):.*"][..];
        for (policy, key, hashed) in [
            (two, &b"user-session:1234"[..], Some(&b"1234"[..])),
            (two, b"order:7:items", Some(b"order")),
            (two, b"xuser-session:1234", Some(b"xuser-session")),
            (two, b"plain", None),
            (
                &["regex:k\n\\x00.(?<tag>.*)"],
                b"k\n\x00\xff\n\xfe",
                Some(b"\n\xfe"),
            ),
            // A brace that opens no quantifier is a literal.
            (
                &[r"regex:.*{(?<tag>.*)}.*"],
                b"a{'1':{'i32':1}}",
                Some(b"'i32':1}"),
            ),
            (&[r"regex:x{2,3}{a,}(?<tag>.)"], b"xxx{a,}t", Some(b"t")),
            (
                &[r"regex:x{2}{,3}(?<tag>[{[}&&]+)"],
                b"xx{,3}{[}&",
                Some(b"{[}&"),
            ),
            (
                &[r"regex:\x{7b}\{[]{a](?<tag>[[:digit:]]{2})"],
                b"{{]12",
                Some(b"12"),
            ),
            (&[r"regex:[]&&a]+(?<tag>.)"], b"]&ax", Some(b"x")),
            (&[r"regex:[][](?<tag>.+)"], b"[x", Some(b"x")),
            (&[r"regex:[[](?<tag>.+)"], b"[x", Some(b"x")),
        ] {
            assert_eq!(part(policy, key), hashed, "{policy:?}");
        }
    }

    #[test]
    fn what_cannot_be_a_policy_is_refused_by_its_name() {
        let look_around = "\"regex:(?=x)(?<tag>.)\": look-around";
        let unknown = "\"Redis\\x1b[1m\": no such policy; there are: oss";
        for (policy, why) in [
            (&["regex:(?=x)(?<tag>.)"][..], look_around),
            (&[r"regex:(?<tag>.)\1"], r"(?<tag>.)\\1"),
            (&[r"regex:(?<tag>.)\1"], "back"),
            (&["regex:(?<tag>a"], "unclosed group"),
            (&["regex:a.*"], "no group named tag"),
            (&["Redis\x1b[1m"], unknown),
            (
                &["oss", "regex:(?<tag>.)"],
                "only regex:PATTERN may be repeated",
            ),
            (&["regex:(?<tag>.)"; 33], "at most 32"),
        ] {
            let refused = Policy::parse(policy).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
        assert!(Policy::parse(&["regex:(?<tag>.)"; 32]).is_ok());
    }

    proptest! {
        #[test]
        fn the_hashed_part_lies_in_the_key_whatever_the_policy(key: Vec<u8>, text in "[{}a\\[\\]x:0-9,&~^\\\\]{0,12}") {
            let mut policies = vec![Policy::Oss, Policy::Enterprise];
            policies.extend(Policy::parse(&[format!("regex:(?<tag>{text}).*")]));
            for policy in policies {
                let part = policy.hashed_part(&key);
                prop_assert!(part.is_none_or(|part| part.start <= part.end && part.end <= key.len()));
            }
        }

        #[test]
        fn enterprise_is_what_its_documented_pattern_says(key in "[{}ab]{0,10}") {
            let documented = ["regex:.*{(?<tag>.*)}.*", "regex:(?<tag>.*)"];
            prop_assert_eq!(part(&["enterprise"], key.as_bytes()), part(&documented, key.as_bytes()));
        }
    }
}
