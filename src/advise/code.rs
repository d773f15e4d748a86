//! code.txt: an expression for each name that changes, in the languages of most clients.

use slotscope_advisor::findings::AdviseFindings;
use slotscope_advisor::rename_rules::NamePart;

/// A language.
struct Language {
    name: &'static str,
    expression: fn(&[NamePart]) -> String,
}

const LANGUAGES: [Language; 4] = [
    Language {
        name: "Python",
        expression: python,
    },
    Language {
        name: "Java",
        expression: java,
    },
    Language {
        name: "Go",
        expression: go,
    },
    Language {
        name: "JavaScript",
        expression: javascript,
    },
];

/// The expressions of all names that change.
pub(super) fn text(findings: &AdviseFindings) -> String {
    let mut text =
        String::from("Key names with the recommended hash tags, as slotscope advise found them.\n");
    for family in &findings.families {
        let Some(becomes) = family.becomes.as_ref().filter(|_| !family.parts.is_empty()) else {
            continue;
        };
        text += &format!("\n{} -> {becomes}\n", family.pattern);
        for language in LANGUAGES {
            let expression = (language.expression)(&family.parts);
            text += &format!("  {:<10}  {expression}\n", language.name);
        }
    }
    text
}

fn python(parts: &[NamePart]) -> String {
    let part = |part: &NamePart| match part {
        NamePart::Field(name) => format!("{{{name}}}"),
        NamePart::Text(text) => literal(text, |c| match c {
            '{' | '}' => Some(format!("{c}{c}")),
            '"' => Some("\\\"".into()),
            _ => wide(c),
        }),
    };
    format!("f\"{}\"", parts.iter().map(part).collect::<String>())
}

fn java(parts: &[NamePart]) -> String {
    let part = |part: &NamePart| match part {
        NamePart::Field(name) => camel(name),
        NamePart::Text(text) => {
            let text = literal(text, |c| match c {
                '"' => Some("\\\"".into()),
                // The compiler replaces \u before it sees where a string ends.
                _ if c.is_ascii_control() => Some(format!("\\{:03o}", u32::from(c))),
                _ => units(c),
            });
            format!("\"{text}\"")
        }
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    // Two numbers would be added up where neither is next to a text.
    let has_text = parts.iter().take(2).any(|part| part.starts_with('"'));
    let lead = if has_text { "" } else { "\"\" + " };
    lead.to_owned() + &parts.join(" + ")
}

fn go(parts: &[NamePart]) -> String {
    let part = |part: &NamePart| match part {
        NamePart::Field(_) => String::from("%v"),
        NamePart::Text(text) => literal(text, |c| match c {
            '"' => Some("\\\"".into()),
            '%' => Some("%%".into()),
            _ => wide(c),
        }),
    };
    let format: String = parts.iter().map(part).collect();
    let field = |part: &NamePart| match part {
        NamePart::Field(name) => format!(", {}", camel(name)),
        NamePart::Text(_) => String::new(),
    };
    let fields: String = parts.iter().map(field).collect();
    format!("fmt.Sprintf(\"{format}\"{fields})")
}

fn javascript(parts: &[NamePart]) -> String {
    let part = |part: &NamePart| match part {
        NamePart::Field(name) => format!("${{{}}}", camel(name)),
        NamePart::Text(text) => literal(text, |c| match c {
            '`' | '$' => Some(format!("\\{c}")),
            _ => units(c),
        }),
    };
    format!("`{}`", parts.iter().map(part).collect::<String>())
}

/// A text in a literal: backslashes are doubled, and `escaped` spells other characters that do not stand for themselves.
fn literal(text: &str, escaped: impl Fn(char) -> Option<String>) -> String {
    let spelled = |c: char| match c {
        '\\' => String::from("\\\\"),
        c => escaped(c).unwrap_or_else(|| c.to_string()),
    };
    text.chars().map(spelled).collect()
}

fn is_plain(c: char) -> bool {
    c == ' ' || c.is_ascii_graphic()
}

/// Characters by their code points.
fn wide(c: char) -> Option<String> {
    let code = u32::from(c);
    let escape = match code {
        ..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    };
    (!is_plain(c)).then_some(escape)
}

/// Characters by their units of UTF-16.
fn units(c: char) -> Option<String> {
    let units = c.encode_utf16(&mut [0; 2]).to_vec();
    let escape = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
    (!is_plain(c)).then_some(escape)
}

/// `user_id` as `userId`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    let rest = words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]);
    rest.fold(first, |name, word| name + &word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expressions(parts: &[NamePart]) -> [String; 4] {
        LANGUAGES.map(|language| (language.expression)(parts))
    }

    fn text(text: &str) -> NamePart {
        NamePart::Text(text.to_owned())
    }

    fn field(name: &str) -> NamePart {
        NamePart::Field(name.to_owned())
    }

    #[test]
    fn a_name_is_an_expression_in_each_language() {
        let parts = [text("cart:{user:"), field("user_id"), text("}:items")];
        assert_eq!(
            expressions(&parts),
            [
                "f\"cart:{{user:{user_id}}}:items\"",
                "\"cart:{user:\" + userId + \"}:items\"",
                "fmt.Sprintf(\"cart:{user:%v}:items\", userId)",
                "`cart:{user:${userId}}:items`",
            ]
        );
    }

    #[test]
    fn numbers_are_joined_and_not_added_up() {
        let [_, of_two, ..] = expressions(&[field("id"), field("id2"), text(":x")]);
        let [_, of_one, ..] = expressions(&[field("id")]);
        assert_eq!(of_two, r#""" + id + id2 + ":x""#);
        assert_eq!(of_one, r#""" + id"#);
    }

    #[test]
    fn no_text_ends_its_literal() {
        let parts = [
            field("id"),
            text("\"`${x}%s\\\n\u{e9}\u{1f600}"),
            field("id2"),
        ];
        assert_eq!(
            expressions(&parts),
            [
                r#"f"{id}\"`${{x}}%s\\\u000a\u00e9\U0001f600{id2}""#,
                r#"id + "\"`${x}%s\\\012\u00e9\ud83d\ude00" + id2"#,
                r#"fmt.Sprintf("%v\"`${x}%%s\\\u000a\u00e9\U0001f600%v", id, id2)"#,
                r#"`${id}"\`\${x}%s\\\u000a\u00e9\ud83d\ude00${id2}`"#,
            ]
        );
    }
}
