//! The steps as a table: each with its command to copy, and the effect on every role.

use askama::Template;

use crate::render::html::spell::sentence;
use crate::view;
use crate::view::steps::COMMAND;

/// The steps.
#[derive(Template)]
#[template(path = "steps.html", config = "src/render/html/askama.toml")]
pub(super) struct Steps<'a> {
    heads: &'a [String],
    rows: Vec<Step<'a>>,
    left: Vec<String>,
}

/// A step.
struct Step<'a> {
    number: &'a str,
    /// Whether it is an alternative to the one above.
    is_alternative: bool,
    what: String,
    /// Its effects by column; empty if none or unknown.
    turns: Vec<String>,
    /// The words of its command, none of which is broken across lines.
    command: Vec<String>,
}

impl<'a> Steps<'a> {
    /// The steps of a report.
    pub(super) fn of(table: &'a view::StepTable) -> Self {
        let words = |command: &String| command.split(' ').map(str::to_owned).collect();
        let shown = |command: &&String| command.len() <= COMMAND;
        let rows = table.rows.iter().map(|row| Step {
            number: &row.number,
            is_alternative: row.number == "or",
            what: sentence(&row.what),
            turns: row
                .turns
                .iter()
                .map(|turn| turn.as_ref().map(|turn| turn.with("→")).unwrap_or_default())
                .collect(),
            command: row.command.as_ref().filter(shown).map_or(Vec::new(), words),
        });
        Steps {
            heads: &table.heads,
            rows: rows.collect(),
            left: table.left.iter().map(|left| sentence(left)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(command: String) -> String {
        let row = view::steps::StepRow {
            number: "1".into(),
            what: "move <b>slots</b>".into(),
            turns: vec![
                Some(view::steps::Turn {
                    from: "1.66".into(),
                    to: "≈1.05".into(),
                }),
                None,
            ],
            command: Some(command),
        };
        let table = view::StepTable {
            heads: vec!["memory".into(), "load".into()],
            rows: vec![row],
            left: Vec::new(),
        };
        Steps::of(&table).render().unwrap()
    }

    #[test]
    fn a_command_is_whole_or_not_there() {
        let long = "x".repeat(COMMAND);
        assert!(page(long.clone()).contains(&long));
        let page = page(long + "x");
        assert!(!page.contains("xx") && !page.contains("Copy"), "{page}");
    }

    #[test]
    fn a_row_has_a_cell_for_every_role_and_no_markup_of_names() {
        let page = page("a <b> c".into());
        assert!(page.contains(
            r#"<td class="n" data-head="memory">1.66 → ≈1.05</td><td class="n" data-head="load"></td>"#
        ));
        assert!(!page.contains("<b>"), "{page}");
    }
}
