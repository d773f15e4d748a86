//! Reads a pattern: `{{` is a brace, a blank one blank or more, two blanks two or more, `\t` one TAB.

use slotscope_base::batch::{Number, Word};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::format::line::field::{Atom, Field, Literal, Written};
use crate::format::line::{Pattern, Token};
use crate::format::parse::size::size;
use crate::format::table::columns::Role;
use crate::format::table::units::Unit;

/// The names of fields.
const FIELDS: [(&str, Option<Role>); 10] = [
    ("key", Some(Role::Key)),
    ("size", Some(Role::Weight(Metric::Bytes))),
    ("ops", Some(Role::Weight(Metric::Ops))),
    ("ttl", Some(Role::Number(Number::Expiry))),
    ("type", Some(Role::Word(Word::Type))),
    ("db", Some(Role::Number(Number::Database))),
    ("elements", Some(Role::Number(Number::Elements))),
    ("idle", Some(Role::Number(Number::Idle))),
    ("lfu", Some(Role::Number(Number::Lfu))),
    ("_", None),
];

/// A part of a pattern, and the column where it starts.
type Placed = (usize, Token);

impl Pattern {
    /// The pattern that is written as `text`.
    ///
    /// # Errors
    /// The column, and what is wrong there.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let mut tokens = tokens(text)?;
        check(&tokens)?;
        let is_key = |(_, token): &Placed| matches!(token, Token::Field(field) if field.role == Some(Role::Key));
        let Some(at) = tokens.iter().position(is_key) else {
            return Err("no {key} in it: '{key} {size}', say".into());
        };
        note_words(&mut tokens);
        note_units(&mut tokens)?;
        let bare = |tokens: Vec<Placed>| tokens.into_iter().map(|(_, token)| token).collect();
        let right = tokens.split_off(at + 1);
        let key = match tokens.pop() {
            Some((_, Token::Field(field))) => field.written,
            _ => Written::Plain,
        };
        Ok(Pattern {
            text: text.into(),
            left: bare(tokens),
            key,
            right: bare(right),
        })
    }
}

/// A text as it is written in a pattern.
pub fn literal(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '{' => written += "{{",
            '}' => written += "}}",
            '\\' => written += r"\\",
            '\t' => written += r"\t",
            letter => written.push(letter),
        }
    }
    written
}

/// A pattern without the words between its fields, which may be content.
pub fn without_words(pattern: &str) -> String {
    let mut text = String::new();
    let mut is_field = false;
    for letter in pattern.chars() {
        is_field = match letter {
            '{' => !is_field,
            '}' => false,
            _ => is_field,
        };
        let is_word = !is_field && (letter.is_alphanumeric() || !letter.is_ascii());
        match is_word {
            true if text.ends_with('\u{2026}') => {}
            true => text.push('\u{2026}'),
            false => text.push(letter),
        }
    }
    text
}

fn error<T>(column: usize, why: impl AsRef<str>) -> Result<T, String> {
    Err(format!("column {}: {}", column + 1, why.as_ref()))
}

fn tokens(text: &str) -> Result<Vec<Placed>, String> {
    let mut tokens: Vec<Placed> = Vec::new();
    let mut letters = text.chars().enumerate().peekable();
    while let Some((column, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        match letter {
            '{' if next != Some('{') => {
                let inside: String = letters
                    .by_ref()
                    .map(|(_, letter)| letter)
                    .take_while(|letter| *letter != '}')
                    .collect();
                let length = inside.chars().count();
                if text.chars().nth(column + length + 1) != Some('}') {
                    return error(column, "{ without } after it; write {{ for a brace");
                }
                tokens.push((column, Token::Field(field(column, &inside)?)));
            }
            '}' if next != Some('}') => {
                return error(column, "} without { before it; write }} for a brace");
            }
            ' ' => push(&mut tokens, column, Atom::Blanks(1)),
            '\\' => {
                let byte = match next {
                    Some('t') => '\t',
                    Some('\\') => '\\',
                    Some('n') => return error(column, "\\n: a pattern is of one line"),
                    _ => return error(column, "\\ is followed by t or \\"),
                };
                letters.next();
                push_letter(&mut tokens, column, byte);
            }
            letter => {
                if matches!(letter, '{' | '}') {
                    letters.next();
                }
                push_letter(&mut tokens, column, letter);
            }
        }
    }
    // A line is read without the blanks around it.
    trim(&mut tokens);
    Ok(tokens)
}

fn push_letter(tokens: &mut Vec<Placed>, column: usize, letter: char) {
    push(tokens, column, Atom::Bytes(letter.to_string().into_bytes()));
}

fn push(tokens: &mut Vec<Placed>, column: usize, atom: Atom) {
    if !matches!(tokens.last(), Some((_, Token::Literal(_)))) {
        tokens.push((column, Token::Literal(Literal::default())));
    }
    if let Some((_, Token::Literal(Literal(atoms)))) = tokens.last_mut() {
        match (atoms.last_mut(), atom) {
            (Some(Atom::Blanks(least)), Atom::Blanks(more)) => *least += more,
            // A TAB beside blanks is one of them.
            (Some(Atom::Blanks(least)), Atom::Bytes(more)) if more == b"\t" => *least += 1,
            (Some(Atom::Bytes(bytes)), Atom::Blanks(more)) if bytes.ends_with(b"\t") => {
                bytes.pop();
                atoms.retain(|atom| !matches!(atom, Atom::Bytes(bytes) if bytes.is_empty()));
                atoms.push(Atom::Blanks(more + 1));
            }
            (Some(Atom::Bytes(bytes)), Atom::Bytes(more)) => bytes.extend(more),
            (_, atom) => atoms.push(atom),
        }
    }
}

fn trim(tokens: &mut Vec<Placed>) {
    if let Some((_, Token::Literal(Literal(atoms)))) = tokens.first_mut()
        && matches!(atoms.first(), Some(Atom::Blanks(_)))
    {
        atoms.remove(0);
    }
    if let Some((_, Token::Literal(Literal(atoms)))) = tokens.last_mut()
        && matches!(atoms.last(), Some(Atom::Blanks(_)))
    {
        atoms.pop();
    }
    tokens
        .retain(|(_, token)| !matches!(token, Token::Literal(Literal(atoms)) if atoms.is_empty()));
}

fn field(column: usize, inside: &str) -> Result<Field, String> {
    let (name, modifiers) = inside.split_once(':').unwrap_or((inside, ""));
    let Some((_, role)) = FIELDS.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        return error(
            column,
            format!(
                "no field is called \"{}\"; there are {}",
                Name::from(name).short(30),
                names.join(", ")
            ),
        );
    };
    let mut field = Field::of(*role, Written::Plain);
    let mut has_commas = false;
    for modifier in modifiers.split(',').filter(|modifier| !modifier.is_empty()) {
        let width = modifier
            .strip_prefix('w')
            .and_then(|digits| digits.parse().ok());
        match (modifier, width) {
            ("csv", _) => field.written = Written::Csv,
            ("q", _) => field.written = Written::Quoted,
            ("md", _) => field.written = Written::Markdown,
            (_, Some(width @ 1..=4096)) => field.written = Written::Wide(width),
            ("kb", _) => field.unit = Unit::Kib,
            ("mb", _) => field.unit = Unit::Mib,
            ("gb", _) => field.unit = Unit::Gib,
            ("ms", _) => field.unit = Unit::MillisecondsLeft,
            ("comma", _) if *role == Some(Role::of(Metric::Bytes)) => has_commas = true,
            ("comma", _) => return error(column, "comma is for {size}"),
            _ => {
                return error(
                    column,
                    format!(
                        "nothing is called \"{}\" after the colon; there are q (in quotes), csv, md (Markdown), w12 (12 characters wide), kb, mb, gb, comma (before fractions) and ms",
                        Name::from(modifier).short(30)
                    ),
                );
            }
        }
    }
    if has_commas {
        field.unit = field.unit.with_commas();
    }
    Ok(field)
}

/// Refuses a field that is there twice, and two without anything between.
fn check(tokens: &[Placed]) -> Result<(), String> {
    for (at, (column, token)) in tokens.iter().enumerate() {
        let Token::Field(field) = token else {
            continue;
        };
        let before = &tokens[..at];
        let is_same =
            |(_, other): &Placed| matches!(other, Token::Field(other) if other.role == field.role);
        if field.role.is_some() && before.iter().any(is_same) {
            return error(
                *column,
                "this field is in the pattern twice; {_} is for what is not read",
            );
        }
        if let Some((_, Token::Field(other))) = before.last()
            && !matches!(other.written, Written::Wide(_))
        {
            return error(
                *column,
                "nothing between two fields tells where the first ends; {key:w30} is 30 characters wide",
            );
        }
    }
    check_csv(tokens)
}

/// Refuses cells of CSV with anything but one character between all of them.
fn check_csv(tokens: &[Placed]) -> Result<(), String> {
    let is_csv =
        |token: &Token| matches!(token, Token::Field(field) if field.written == Written::Csv);
    let byte = Token::byte;
    let between = tokens.iter().find_map(|(_, token)| byte(token));
    let is_cell = |(_, token): &&Placed| {
        is_csv(token) || byte(token).is_some_and(|byte| Some(byte) == between)
    };
    let has_csv = tokens.iter().any(|(_, token)| is_csv(token));
    match tokens.iter().find(|token| has_csv && !is_cell(token)) {
        Some((column, _)) => error(
            *column,
            "where a field is csv, all are, with the same character between all of them",
        ),
        None => Ok(()),
    }
}

/// Notes which fields are single words: those beside one blank and nothing else, of a kind that is short.
fn note_words(tokens: &mut [Placed]) {
    let is_blank = |token: Option<&Placed>| matches!(token, Some((_, Token::Literal(literal))) if literal.0 == [Atom::Blanks(1)]);
    for at in 0..tokens.len() {
        let is_beside = is_blank(tokens.get(at + 1)) || at > 0 && is_blank(tokens.get(at - 1));
        if let (_, Token::Field(field)) = &mut tokens[at] {
            field.is_word = is_beside
                && matches!(
                    field.role,
                    None | Some(Role::Word(_) | Role::Number(Number::Expiry))
                );
        }
    }
}

/// Notes the unit of sizes that the text after them says: `{size} kb`.
fn note_units(tokens: &mut [Placed]) -> Result<(), String> {
    for at in 1..tokens.len() {
        let (before, rest) = tokens.split_at_mut(at);
        let (Some((column, Token::Field(field))), Some((_, Token::Literal(literal)))) =
            (before.last_mut(), rest.first())
        else {
            continue;
        };
        let has_commas = field.unit == Unit::One.with_commas();
        let is_size =
            field.role == Some(Role::of(Metric::Bytes)) && (has_commas || field.unit == Unit::One);
        let Some(unit) = literal.first_word().filter(|_| is_size) else {
            continue;
        };
        field.unit = match size(&[b"1 ", unit].concat()) {
            None | Some(1) => Unit::One,
            Some(0x400) => Unit::Kib,
            Some(0x10_0000) => Unit::Mib,
            Some(0x4000_0000) => Unit::Gib,
            Some(_) => {
                let why = "a size is read with the unit after it: leave that out of the text";
                return error(*column, why);
            }
        };
        if has_commas {
            field.unit = field.unit.with_commas();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_cannot_be_read_is_refused_with_its_column() {
        for (text, why) in [
            ("{size}", "no {key} in it"),
            (
                "{key} {kee}",
                "column 7: no field is called \"kee\"; there are key, size",
            ),
            (
                "{key} {key}",
                "column 7: this field is in the pattern twice",
            ),
            ("{key}{size}", "column 6: nothing between two fields"),
            ("{key} {size", "column 7: { without }"),
            ("{{u}:{key}", "column 4: } without {"),
            ("{key:x}", "column 1: nothing is called \"x\""),
            ("{key} {ttl:comma}", "column 7: comma is for {size}"),
            ("{key:csv} {size:csv}", "column 10: where a field is csv"),
            ("{key:csv},{size}", "column 11: where a field is csv"),
            ("{key} {size} tb", "column 7: a size is read with the unit"),
            (r"{key}\n{size}", "column 6: \\n: a pattern is of one line"),
            (r"{key}\s{size}", "column 6: \\ is followed by t"),
            ("", "no {key} in it"),
        ] {
            let error = Pattern::parse(text).unwrap_err();
            assert!(error.starts_with(why), "{text}: {error}");
        }
        for mixed in [r"{key} \t {size}", r"{key}\t  {size}", r"{key}   {size}"] {
            let tokens = Pattern::parse(mixed).unwrap().right;
            assert_eq!(
                tokens[0],
                Token::Literal(Literal(vec![Atom::Blanks(3)])),
                "{mixed}"
            );
        }
        for text in [
            "{key}",
            "{_} {_} {key}",
            "{{{key}}} {size}",
            "{key:w5}{size}",
            r"a\\\tb{key}",
        ] {
            assert_eq!(
                Pattern::parse(text).map(|pattern| pattern.text),
                Ok(text.into())
            );
        }
    }
}
