//! Patterns for object names, as in a shell: `*` and `?` match within a folder, `**` across folders, `[a-c]` one
//! character.

use regex::Regex;

use crate::refusal::Refusal;

/// The part of a pattern before its first wildcard, up to the last slash: every match starts with it.
pub(super) fn fixed_part(pattern: &str) -> &str {
    let wild = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let end = pattern[..wild].rfind('/').map_or(0, |slash| slash + 1);
    &pattern[..end]
}

/// Whether names in folders below the fixed part can match.
pub(super) fn is_deep(pattern: &str) -> bool {
    let rest = &pattern[fixed_part(pattern).len()..];
    rest.contains('/') || rest.contains("**")
}

/// The pattern as a regular expression, which matches in time proportional to the length of a name.
///
/// # Errors
/// The pattern is too long.
pub(super) fn compiled(pattern: &str) -> Result<Regex, Refusal> {
    let mut text = String::from(r"(?s)\A");
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let (piece, len) = match c {
            '*' if rest.starts_with("**") => (".*".into(), 2),
            '*' => ("[^/]*".into(), 1),
            '?' => ("[^/]".into(), 1),
            '[' => set(rest).unwrap_or((r"\[".into(), 1)),
            c => (regex::escape(&rest[..c.len_utf8()]), c.len_utf8()),
        };
        text.push_str(&piece);
        rest = &rest[len..];
    }
    text.push_str(r"\z");
    Regex::new(&text).map_err(|_| "has a pattern that is too long; name a prefix".into())
}

/// The set at the start of `text`, and its length; `None` if it is not closed.
fn set(text: &str) -> Option<(String, usize)> {
    let is_negated = text[1..].starts_with(['!', '^']);
    let from = 1 + usize::from(is_negated);
    // A bracket at the very start of a set is a literal.
    let skip = text[from..].chars().next()?.len_utf8();
    let end = from + skip + text[from + skip..].find(']')?;
    let chars: Vec<char> = text[from..end].chars().collect();
    let spelled = |c: char| format!(r"\x{{{:x}}}", u32::from(c));
    let mut ranges = String::new();
    let mut at = 0;
    while at < chars.len() {
        let is_range = chars.get(at + 1) == Some(&'-') && at + 2 < chars.len();
        let last = if is_range { at + 2 } else { at };
        let (first, last_char) = (chars[at].min(chars[last]), chars[at].max(chars[last]));
        ranges += &format!("{}-{}", spelled(first), spelled(last_char));
        at = last + 1;
    }
    let not = if is_negated { "^" } else { "" };
    Some((format!("[[{not}{ranges}]&&[^/]]"), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("a/*.csv", "a/b.csv", true),
            ("a/*.csv", "a/b/c.csv", false),
            ("a/**.csv", "a/b/c.csv", true),
            ("a/**/c.csv", "a/b/x/c.csv", true),
            ("*", "", true),
            ("?", "é", true),
            ("?", "/", false),
            ("a?", "a", false),
            ("n[0-3].gz", "n2.gz", true),
            ("n[0-3].gz", "n4.gz", false),
            ("n[!0-3].gz", "n4.gz", true),
            ("n[]].gz", "n].gz", true),
            ("n[.gz", "n[.gz", true),
            ("n[!a]", "n/", false),
            ("[^-.][a-]", "x-", true),
            ("a.c", "abc", false),
        ] {
            let is_match = compiled(pattern).unwrap().is_match(name);
            assert_eq!(is_match, expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_are_no_trap() {
        let pattern = compiled(&"*a".repeat(200)).unwrap();
        let name = "a".repeat(5000).replace("aaaaa", "aaaab");
        assert!(!pattern.is_match(&name));
        assert!(compiled(&"?".repeat(1 << 20)).is_err());
    }

    #[test]
    fn what_is_listed_is_what_comes_before_the_first_wildcard() {
        assert_eq!(fixed_part("a/b/c*.csv"), "a/b/");
        assert_eq!(fixed_part("*.csv"), "");
        assert!(is_deep("a/*/c.csv") && is_deep("a/**") && !is_deep("a/b/c*"));
    }
}
