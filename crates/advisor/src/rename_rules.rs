//! A scheme as rules: REGEX => TEMPLATE for `whatif --retag`, where REGEX matches today's names from start to end, and
//! `${1}` and so on are their fields.

use slotscope_keyname::parts::JOINERS;

use crate::family::Family;
use crate::field_kinds::FieldKind;
use crate::scheme::Choice;
use crate::spelling::Renaming;

/// Number of fields of a rule that match any letters and digits.
pub(crate) fn generality(rule: &str) -> usize {
    rule.matches(ANY).count() + rule.matches("([^").count()
}

/// Letters and digits.
const ANY: &str = r"[0-9A-Za-z\x80-\xff]+";

/// The rule for a family that changes; `None` if its pattern is not text or braces split one of its words.
pub(crate) fn rename_rule(renaming: &Renaming, number: u32, family: &Family) -> Option<String> {
    let choice = renaming.scheme.get(number);
    if choice == Choice::Keep {
        return None;
    }
    let (bare, spans) = with_fields(
        family,
        |at, _| format!("${{{}}}", at + 1),
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
    let (mut regex, spans) = with_fields(family, |_, field| field_regex(family, field), escaped)?;
    if family.braces.is_some() {
        let (open, close) = brace_positions(family, &regex, &spans)?;
        regex.insert_str(close, r"\}");
        regex.insert_str(open, r"\{");
    }
    Some(format!("^{regex}$ => {}", str::from_utf8(&template).ok()?))
}

/// The pattern with its values (by number and field) and its literals replaced, and the spans of its tokens.
fn with_fields(
    family: &Family,
    value: impl Fn(usize, usize) -> String,
    literal: impl Fn(&str) -> String,
) -> Option<(String, Vec<(usize, usize)>)> {
    let (mut text, mut spans) = (String::new(), Vec::new());
    let mut values = family.values().enumerate();
    for token in &family.tokens {
        text += &literal(str::from_utf8(&token.separator).ok()?);
        let start = text.len();
        match token.literal() {
            Some(word) => text += &literal(str::from_utf8(word).ok()?),
            None => {
                let (number, field) = values.next()?;
                text += &value(number, field);
            }
        }
        spans.push((start, text.len()));
    }
    text += &literal(str::from_utf8(&family.tail).ok()?);
    Some((text, spans))
}

/// The positions of the braces in the regular expression: after this many bytes of a separator, which are escaped
/// there.
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
    let values = match family.kinds[field] {
        FieldKind::Number => "[0-9]+",
        FieldKind::Date => "[0-9]+(?:[-/][0-9]+)*",
        FieldKind::Hex => ANY,
        FieldKind::Uuid => "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
        FieldKind::Address => r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}",
        FieldKind::Segment => return format!("({})", segment_regex(family, token)),
        FieldKind::Word | FieldKind::Id => ANY,
    };
    format!("({values})")
}

/// Anything up to the delimiter next to the segment; an id with joiners ends only with its segment.
fn segment_regex(family: &Family, token: usize) -> String {
    let before = family.tokens[token].separator.last();
    let next = family.tokens.get(token + 1);
    let after = next.map_or(family.tail.first(), |next| next.separator.first());
    match before.or(after) {
        Some(byte) if !JOINERS.contains(byte) && after.is_none_or(|after| after == byte) => {
            format!("[^{}]+", escaped(&char::from(*byte).to_string()))
        }
        _ => String::from("[^:]+?"),
    }
}

/// A literal for a regular expression, escaped byte by byte.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            _ if byte.is_ascii_alphanumeric() || b"_:-/".contains(&byte) => {
                escaped.push(char::from(byte))
            }
            // `\<` and `\>` are word boundaries.
            b' '..=b'~' if !b"<>".contains(&byte) => escaped.extend(['\\', char::from(byte)]),
            _ => escaped += &format!("\\x{byte:02x}"),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_escaped_byte_by_byte() {
        assert_eq!(escaped("a.b|é"), r"a\.b\|\xc3\xa9");
        assert_eq!(escaped("a<b>"), r"a\x3cb\x3e");
    }
}
