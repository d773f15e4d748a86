//! Patterns for object names, as in a shell: `*` and `?` match within a folder, `**` across folders, `[a-c]` one
//! character.

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

/// Whether the pattern matches all of `name`, in time proportional to the product of the lengths.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern = pieces(pattern);
    // `ends[i]`: whether the first `i` pieces match the part of the name read so far.
    let mut ends = vec![false; pattern.len() + 1];
    ends[0] = true;
    pass_over_stars(&pattern, &mut ends);
    for c in name.chars() {
        let mut next = vec![false; ends.len()];
        for (at, piece) in pattern.iter().enumerate().filter(|(at, _)| ends[*at]) {
            match piece {
                Piece::Folders => next[at] = true,
                Piece::Star => next[at] |= c != '/',
                piece => next[at + 1] |= piece.takes(c),
            }
        }
        pass_over_stars(&pattern, &mut next);
        ends = next;
    }
    ends[pattern.len()]
}

/// A piece of a pattern.
enum Piece {
    One(char),
    Any,
    Star,
    Folders,
    /// Ranges of characters, and whether they are negated.
    Set(Vec<(char, char)>, bool),
}

impl Piece {
    /// Whether it matches the single character `c`.
    fn takes(&self, c: char) -> bool {
        match self {
            Piece::One(only) => c == *only,
            Piece::Any => c != '/',
            Piece::Set(ranges, others) => {
                c != '/' && others ^ ranges.iter().any(|(from, to)| (*from..=*to).contains(&c))
            }
            Piece::Star | Piece::Folders => false,
        }
    }
}

/// A star may match the empty string.
fn pass_over_stars(pattern: &[Piece], ends: &mut [bool]) {
    for (at, piece) in pattern.iter().enumerate() {
        ends[at + 1] |= ends[at] && matches!(piece, Piece::Star | Piece::Folders);
    }
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let (piece, len) = match c {
            '*' if rest.starts_with("**") => (Piece::Folders, 2),
            '*' => (Piece::Star, 1),
            '?' => (Piece::Any, 1),
            '[' => set(rest).unwrap_or((Piece::One('['), 1)),
            c => (Piece::One(c), c.len_utf8()),
        };
        pieces.push(piece);
        rest = &rest[len..];
    }
    pieces
}

/// The set at the start of `text`, and its length; `None` if it is not closed.
fn set(text: &str) -> Option<(Piece, usize)> {
    // A bracket at the very start of a set is a literal.
    let first = text[1..].starts_with(['!', '^']);
    let from = 1 + usize::from(first);
    let skip = text[from..].chars().next()?.len_utf8();
    let end = from + skip + text[from + skip..].find(']')?;
    let chars: Vec<char> = text[from..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let is_range = chars.get(at + 1) == Some(&'-') && at + 2 < chars.len();
        let last = if is_range { at + 2 } else { at };
        ranges.push((chars[at], chars[last]));
        at = last + 1;
    }
    Some((Piece::Set(ranges, first), end + 1))
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
            ("a.c", "abc", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_are_no_trap() {
        let pattern = "*a".repeat(200);
        assert!(!matches(
            &pattern,
            &"a".repeat(5000).replace("aaaaa", "aaaab")
        ));
    }

    #[test]
    fn what_is_listed_is_what_comes_before_the_first_wildcard() {
        assert_eq!(fixed_part("a/b/c*.csv"), "a/b/");
        assert_eq!(fixed_part("*.csv"), "");
        assert!(is_deep("a/*/c.csv") && is_deep("a/**") && !is_deep("a/b/c*"));
    }
}
