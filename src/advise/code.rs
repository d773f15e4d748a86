//! code.txt: a template for each name that changes, with variables for its fields.

use slotscope_advisor::findings::AdviseFindings;
use slotscope_advisor::rename_rules::NamePart;

/// The templates of all names that change.
pub(super) fn text(findings: &AdviseFindings) -> String {
    let mut text = String::from(
        "Key names with the recommended hash tags, as slotscope advise found them: ${...} is a variable, $$ a dollar sign.\n",
    );
    for family in &findings.families {
        let becomes = family.becomes.as_ref();
        if let Some(becomes) = becomes.filter(|_| !family.parts.is_empty()) {
            let template = template(&family.parts);
            text += &format!("\n{} -> {becomes}\n  {template}\n", family.pattern);
        }
    }
    text
}

/// A name as a one-line ASCII template: other characters are escaped as in most languages.
fn template(parts: &[NamePart]) -> String {
    let is_plain = |c: char| c == ' ' || c.is_ascii_graphic();
    let spelled = |c: char| match c {
        '\\' => String::from("\\\\"),
        '$' => String::from("$$"),
        c if is_plain(c) => c.to_string(),
        c if u32::from(c) <= 0xffff => format!("\\u{:04x}", u32::from(c)),
        c => format!("\\U{:08x}", u32::from(c)),
    };
    let part = |part: &NamePart| match part {
        NamePart::Field(name) => format!("${{{name}}}"),
        NamePart::Text(text) => text.chars().map(spelled).collect(),
    };
    parts.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_template_on_one_line() {
        let text = |text: &str| NamePart::Text(text.to_owned());
        let field = |name: &str| NamePart::Field(name.to_owned());
        let parts = [text("cart:{user:"), field("user_id"), text("}:items")];
        assert_eq!(template(&parts), "cart:{user:${user_id}}:items");
        let parts = [field("id"), text("\"${x}\\\n\u{e9}\u{1f600}")];
        let expected = "${id}\"$${x}\\\\\\u000a\\u00e9\\U0001f600";
        assert_eq!(template(&parts), expected);
    }
}
