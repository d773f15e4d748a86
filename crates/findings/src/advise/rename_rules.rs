//! A scheme as rules: REGEX => TEMPLATE for `whatif --retag`, and what code writes in place of a name.

use crate::advise::families::{Family, FieldKind};
use crate::advise::scheme::Choice;
use crate::advise::spelling::Renaming;

/// How a family is renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenameRule {
    /// What names of today match, from end to end.
    pub regex: String,
    /// What they become: `$1` and so on are their fields.
    pub template: String,
}

impl RenameRule {
    /// How many of its fields take any letters and digits.
    pub(crate) fn generality(&self) -> usize {
        self.regex.matches(ANY).count()
    }
}

/// Letters and digits.
const ANY: &str = r"[0-9A-Za-z\x80-\xff]+";

/// The rule of a family that changes; none where its pattern is no text, or braces split a word of it.
pub(crate) fn rename_rule(renaming: &Renaming, number: u32, family: &Family) -> Option<RenameRule> {
    let choice = renaming.scheme.get(number);
    if choice == Choice::Keep {
        return None;
    }
    let (bare, spans) = with_fields(
        family,
        |at| format!("${{{}}}", at + 1),
        |literal| literal.replace('$', "$$"),
    )?;
    let mut template = Vec::new();
    renaming.spelling.rename(
        number,
        family,
        choice,
        bare.as_bytes(),
        &|at| spans[at],
        &mut template,
    );
    let (mut regex, spans) = with_fields(family, |at| field_regex(family, at), escaped)?;
    if family.braces.is_some() {
        let (open, close) = brace_positions(family, &regex, &spans)?;
        regex.insert_str(close, r"\}");
        regex.insert_str(open, r"\{");
    }
    Some(RenameRule {
        regex: format!("^{regex}$"),
        template: short_groups(str::from_utf8(&template).ok()?),
    })
}

/// `$1` in place of `${1}` where no digit follows.
fn short_groups(template: &str) -> String {
    let mut short = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        short += &rest[..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            // A dollar sign of the name.
            short += "$";
            rest = after;
            continue;
        }
        let group = rest
            .strip_prefix('{')
            .and_then(|group| group.split_once('}'));
        match group {
            Some((number, after)) if !after.starts_with(|next: char| next.is_ascii_digit()) => {
                short += number;
                rest = after;
            }
            _ => {}
        }
    }
    short + rest
}

/// The pattern with other texts for its fields and its literals, and where its tokens are.
fn with_fields(
    family: &Family,
    field: impl Fn(usize) -> String,
    literal: impl Fn(&str) -> String,
) -> Option<(String, Vec<(usize, usize)>)> {
    let (mut text, mut spans, mut fields) = (String::new(), Vec::new(), 0);
    for token in &family.tokens {
        text += &literal(str::from_utf8(&token.separator).ok()?);
        let start = text.len();
        match &token.literal {
            Some(word) => text += &literal(str::from_utf8(word).ok()?),
            None => {
                text += &field(fields);
                fields += 1;
            }
        }
        spans.push((start, text.len()));
    }
    text += &literal(str::from_utf8(&family.tail).ok()?);
    Some((text, spans))
}

/// Where the braces are in the regular expression: after so many bytes of a separator, which are escaped there.
fn brace_positions(
    family: &Family,
    regex: &str,
    spans: &[(usize, usize)],
) -> Option<(usize, usize)> {
    let braces = family.braces?;
    let at = |tokens: u8, bytes: u16| {
        let end = usize::from(tokens)
            .checked_sub(1)
            .map_or(0, |last| spans[last].1);
        let separator = family
            .tokens
            .get(usize::from(tokens))
            .map_or(&family.tail, |token| &token.separator);
        let before = separator.get(..usize::from(bytes))?;
        let position = end + escaped(str::from_utf8(before).ok()?).len();
        regex.is_char_boundary(position).then_some(position)
    };
    Some((
        at(braces.open.tokens, braces.open.bytes)?,
        at(braces.close.tokens, braces.close.bytes)?,
    ))
}

fn field_regex(family: &Family, field: usize) -> String {
    let token = family.fields[field];
    // Letters, then digits: the letters end where the digits begin.
    let is_before_digits = family.fields.get(field + 1) == Some(&(token + 1))
        && family.tokens[token + 1].separator.is_empty();
    let of = match family.kinds[field] {
        FieldKind::Number => "[0-9]+",
        FieldKind::Date => "[0-9]+(?:[-/][0-9]+)*",
        FieldKind::Hex => ANY,
        FieldKind::Uuid => "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
        FieldKind::Address => r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}",
        FieldKind::Word if is_before_digits => "[A-Za-z]+",
        FieldKind::Word | FieldKind::Id => ANY,
    };
    format!("({of})")
}

/// A text that a regular expression takes as it is, byte by byte.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            _ if byte.is_ascii_alphanumeric() || b"_:-/".contains(&byte) => {
                escaped.push(char::from(byte))
            }
            b' '..=b'~' => escaped.extend(['\\', char::from(byte)]),
            _ => escaped += &format!("\\x{byte:02x}"),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_short_as_they_may_be() {
        for (long, short) in [
            ("cart:{user:${1}}:items", "cart:{user:$1}:items"),
            ("${1}7:${2}x", "${1}7:$2x"),
            ("$${user:${1}}", "$${user:$1}"),
            ("cost$$:${1}", "cost$$:$1"),
        ] {
            assert_eq!(short_groups(long), short);
        }
        assert_eq!(escaped("a.b|é"), r"a\.b\|\xc3\xa9");
    }
}
