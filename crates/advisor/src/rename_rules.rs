//! A scheme as rules: REGEX => TEMPLATE for `whatif --retag`, and the parts that code joins to a name.

use slotscope_keyname::parts::JOINERS;

use crate::family::Family;
use crate::field_kinds::FieldKind;
use crate::scheme::Choice;
use crate::spelling::Renaming;

/// The renaming of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenameRule {
    /// REGEX => TEMPLATE: REGEX matches today's names from start to end, `$1` and so on are their fields.
    pub text: String,
    /// The template with variables for the fields.
    pub parts: Vec<NamePart>,
}

/// A part of a name as code builds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePart {
    /// Constant text.
    Text(String),
    /// A variable, after the word before the field: `user_id`.
    Field(String),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    /// A field, counted from 0.
    Field(usize),
}

/// Number of fields of a rule that match any letters and digits.
pub(crate) fn generality(rule: &str) -> usize {
    rule.matches(ANY).count() + rule.matches("([^").count()
}

/// Letters and digits.
const ANY: &str = r"[0-9A-Za-z\x80-\xff]+";

/// The rule for a family that changes; `None` if its pattern is not text or braces split one of its words.
pub(crate) fn rename_rule(renaming: &Renaming, number: u32, family: &Family) -> Option<RenameRule> {
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
    let parts = template_parts(str::from_utf8(&template).ok()?);
    let kinds: Vec<FieldKind> = family.values().map(|field| family.kinds[field]).collect();
    Some(RenameRule {
        text: format!("^{regex}$ => {}", spelled(&parts)),
        parts: named(parts, &kinds),
    })
}

/// Parses a template whose fields are `${1}` and whose dollar signs are doubled.
fn template_parts(template: &str) -> Vec<TemplatePart> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        text += before;
        let group = after
            .strip_prefix('{')
            .and_then(|group| group.split_once('}'))
            .and_then(|(number, after)| {
                Some((number.parse::<usize>().ok()?.checked_sub(1)?, after))
            });
        rest = match group {
            Some((field, after)) => {
                if !text.is_empty() {
                    parts.push(TemplatePart::Text(std::mem::take(&mut text)));
                }
                parts.push(TemplatePart::Field(field));
                after
            }
            None => {
                text.push('$');
                after.strip_prefix('$').unwrap_or(after)
            }
        };
    }
    text += rest;
    if !text.is_empty() {
        parts.push(TemplatePart::Text(text));
    }
    parts
}

/// The template for these parts: `$1` for a field, `${1}` if a digit follows.
fn spelled(parts: &[TemplatePart]) -> String {
    let mut template = String::new();
    for (at, part) in parts.iter().enumerate() {
        let next = parts.get(at + 1);
        let is_before_digit = matches!(next, Some(TemplatePart::Text(text)) if text.starts_with(|next: char| next.is_ascii_digit()));
        template += &match part {
            TemplatePart::Text(text) => text.replace('$', "$$"),
            TemplatePart::Field(field) if is_before_digit => format!("${{{}}}", field + 1),
            TemplatePart::Field(field) => format!("${}", field + 1),
        };
    }
    template
}

/// The parts with variables for the fields, named after the word before them in the new name.
fn named(parts: Vec<TemplatePart>, kinds: &[FieldKind]) -> Vec<NamePart> {
    let mut names: Vec<(usize, String)> = Vec::new();
    let mut named = Vec::new();
    for part in parts {
        named.push(match part {
            TemplatePart::Text(text) => NamePart::Text(text),
            TemplatePart::Field(field) => {
                let known = names.iter().find(|(known, _)| *known == field);
                let name = known.map(|(_, name)| name.clone()).unwrap_or_else(|| {
                    let name = unused(&variable(named.last(), kinds[field]), &names);
                    names.push((field, name.clone()));
                    name
                });
                NamePart::Field(name)
            }
        });
    }
    named
}

/// The name of a variable: `user_id` after `user:`, `id` without a word before it.
fn variable(before: Option<&NamePart>, kind: FieldKind) -> String {
    let noun = match kind {
        FieldKind::Date => "date",
        FieldKind::Address => "ip",
        _ => "id",
    };
    let Some(NamePart::Text(text)) = before else {
        return noun.to_owned();
    };
    let is_part = |c: char| c.is_alphanumeric();
    let text = text.trim_end_matches(|c| !is_part(c));
    let word = text.rsplit(|c| !is_part(c)).next().unwrap_or_default();
    let is_plain = word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.is_ascii();
    if is_plain {
        format!("{}{}_{noun}", word[..1].to_ascii_lowercase(), &word[1..])
    } else {
        noun.to_owned()
    }
}

/// A name not used for another field.
fn unused(name: &str, names: &[(usize, String)]) -> String {
    let is_taken = |name: &str| names.iter().any(|(_, taken)| taken == name);
    let mut free = name.to_owned();
    for number in 2.. {
        if !is_taken(&free) {
            break;
        }
        free = format!("{name}{number}");
    }
    free
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
    let of = match family.kinds[field] {
        FieldKind::Number => "[0-9]+",
        FieldKind::Date => "[0-9]+(?:[-/][0-9]+)*",
        FieldKind::Hex => ANY,
        FieldKind::Uuid => "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
        FieldKind::Address => r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}",
        FieldKind::Segment => return format!("({})", segment_regex(family, token)),
        FieldKind::Word | FieldKind::Id => ANY,
    };
    format!("({of})")
}

/// Anything up to the delimiter next to the segment; an id with joiners ends only with its segment.
fn segment_regex(family: &Family, token: usize) -> String {
    let before = family.tokens[token].separator.last();
    let after = family.tokens.get(token + 1);
    let after = after.map_or(family.tail.first(), |next| next.separator.first());
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
    fn groups_are_as_short_as_they_may_be() {
        for (long, short) in [
            ("cart:{user:${1}}:items", "cart:{user:$1}:items"),
            ("${1}7:${2}x", "${1}7:$2x"),
            ("$${user:${1}}", "$${user:$1}"),
            ("cost$$:${1}", "cost$$:$1"),
        ] {
            assert_eq!(spelled(&template_parts(long)), short);
        }
        assert_eq!(escaped("a.b|é"), r"a\.b\|\xc3\xa9");
        assert_eq!(escaped("a<b>"), r"a\x3cb\x3e");
    }

    #[test]
    fn code_joins_texts_and_variables_of_their_own_names() {
        let variables = |template: &str| {
            let parts = named(template_parts(template), &[FieldKind::Number; 3]);
            let field = |part| match part {
                NamePart::Field(name) => Some(name),
                NamePart::Text(_) => None,
            };
            let names: Vec<String> = parts.into_iter().filter_map(field).collect();
            names.join(" ")
        };
        for (template, names) in [
            ("cart:{user:${1}}:items", "user_id"),
            ("order:{User:${2}}:${1}:head:$$${3}", "user_id id head_id"),
            ("{a:${1}:${2}}:x:${2}", "a_id id id"),
            ("${1}:7up:${2}:caf\u{e9}:${3}", "id id2 id3"),
        ] {
            let found = variables(template);
            assert_eq!(found, names, "{template}");
        }
        let parts = named(template_parts("x$$:${1}"), &[FieldKind::Date]);
        let (text, field) = ("x$:".to_owned(), "x_date".to_owned());
        assert_eq!(parts, [NamePart::Text(text), NamePart::Field(field)]);
    }
}
