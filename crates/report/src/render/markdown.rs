//! GitHub-flavoured Markdown, for issues, pull requests and job summaries. All text is escaped: a name can neither end
//! a cell nor become markup, HTML, a link or a mention.

use std::io::{self, Write};

use slotscope_engine::metric::Metric;
use slotscope_engine::text::and_more;

use crate::render::text::{slot_map, time_map};
use crate::view::amounts::quantiles;
use crate::view::{Block, Cell, Scope, Section, StepTable, Table, Value};

/// Maximum characters of a name in a cell.
const NAME: usize = 120;

/// Width of the slot map, which is a code block.
const MAP_WIDTH: usize = 80;

/// Writes `sections` with at most `rows` rows per table; `rest` tells where to find the others.
///
/// # Errors
/// `out` cannot be written.
pub fn write(
    sections: &[Section<'_>],
    rows: usize,
    rest: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = Page {
        rows,
        rest,
        out,
        before: "",
    };
    sections
        .iter()
        .filter(|section| section.scope != Scope::Page)
        .try_for_each(|section| page.section(section))
}

struct Page<'a> {
    rows: usize,
    rest: &'a str,
    out: &'a mut dyn Write,
    /// The separator before the next block.
    before: &'static str,
}

impl Page<'_> {
    fn section(&mut self, section: &Section<'_>) -> io::Result<()> {
        if !section.title.is_empty() {
            self.block(&format!("### {}", escaped(&section.title, Place::Text)))?;
        }
        section.blocks.iter().try_for_each(|block| match block {
            Block::Verdict(_, word, sentence) => {
                self.block(&format!("## {word}\n\n{}", escaped(sentence, Place::Text)))
            }
            Block::Steps(steps) => self.steps(steps),
            Block::Paragraph(text) | Block::Line(text) => self.block(&escaped(text, Place::Text)),
            Block::Command(command) => self.code(command),
            Block::Table(table) | Block::Prefixes(table, ..) => self.table(table),
            Block::Quantiles(metric, of) => {
                self.block(&escaped(&quantiles(*metric, of), Place::Text))
            }
            Block::SlotMap(metric, loads) => self.slot_map(*metric, loads),
            Block::Curve(_) | Block::Schemes(_) | Block::Expiring(_) | Block::Distribution(_) => {
                Ok(())
            }
            Block::TimeMap(map) => {
                let (rows, legend) = time_map::lines(map, MAP_WIDTH);
                self.code(&rows.join("\n"))?;
                self.block(&escaped(&legend, Place::Text))
            }
        })
    }

    fn block(&mut self, text: &str) -> io::Result<()> {
        writeln!(
            self.out,
            "{}{text}",
            std::mem::replace(&mut self.before, "\n")
        )
    }

    /// A code block: its fence is longer than any run of backticks inside.
    fn code(&mut self, text: &str) -> io::Result<()> {
        let fence = "`".repeat(longest_run_of_backticks(text).max(2) + 1);
        self.block(&format!("{fence}text\n{}\n{fence}", text.trim_end()))
    }

    fn table(&mut self, table: &Table<'_>) -> io::Result<()> {
        if table.rows.is_empty() {
            return Ok(());
        }
        let columns = table.for_people();
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        };
        let titles = columns.iter().map(|at| &table.columns[*at].title);
        let head = line(
            &mut titles.map(|title| escaped(title.as_deref().unwrap_or_default(), Place::Cell)),
        );
        let rule = |at: &usize| {
            if table.columns[*at].is_number {
                "---:"
            } else {
                "---"
            }
        };
        let rule = line(&mut columns.iter().map(|at| rule(at).to_owned()));
        let mut lines = vec![head, rule];
        let shown = table.shown(self.rows);
        for row in &table.rows[..shown] {
            lines.push(line(&mut columns.iter().map(|at| cell(&row[*at]))));
        }
        self.block(&lines.join("\n"))?;
        match table.rows.len() - shown {
            0 => Ok(()),
            more => self.block(&escaped(
                &format!("... {}{}", and_more(more), self.rest),
                Place::Text,
            )),
        }
    }

    /// A table of steps, followed by their commands.
    fn steps(&mut self, steps: &StepTable) -> io::Result<()> {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let heads = ["", "step"].into_iter().map(String::from);
        let heads: Vec<String> = heads
            .chain(steps.heads.iter().map(|head| escaped(head, Place::Cell)))
            .collect();
        let rule = ["---:", "---"].into_iter().map(String::from);
        let rule = rule
            .chain(steps.heads.iter().map(|_| "---:".into()))
            .collect();
        let rows = steps.rows.iter().map(|row| {
            let first = [row.number.clone(), escaped(&row.what, Place::Cell)];
            let turns = row.turns.iter();
            let turns =
                turns.map(|turn| turn.as_ref().map(|turn| turn.with("→")).unwrap_or_default());
            line(first.into_iter().chain(turns).collect())
        });
        let lines: Vec<String> = [line(heads), line(rule)].into_iter().chain(rows).collect();
        self.block(&lines.join("\n"))?;
        let commands = steps.rows.iter().filter_map(|row| row.command.as_ref());
        let commands: Vec<&str> = commands.map(String::as_str).collect();
        if !commands.is_empty() {
            self.code(&commands.join("\n"))?;
        }
        steps
            .left
            .iter()
            .try_for_each(|left| self.block(&escaped(left, Place::Text)))
    }

    fn slot_map(&mut self, metric: Metric, loads: &[u64]) -> io::Result<()> {
        let (rows, legend) = slot_map::lines(metric, loads, MAP_WIDTH);
        self.code(&rows.join("\n"))?;
        self.block(&escaped(&legend, Place::Text))
    }
}

/// The text of a cell: names are code spans, where GitHub interprets neither markup nor links nor mentions.
fn cell(cell: &Cell<'_>) -> String {
    let text = cell.spelled(NAME);
    match cell.value {
        Value::Name(_) | Value::Tag(_) | Value::Node(..) => code_span(&text, Place::Cell),
        _ if cell.is_number() => text,
        Value::Named(ref named) => {
            let named = named.iter();
            let named =
                named.map(|(name, amount)| format!("{} {amount}", code_span(name, Place::Cell)));
            named.collect::<Vec<_>>().join(", ")
        }
        _ => escaped(&text, Place::Cell),
    }
}

/// The context of a text.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In a paragraph or a heading.
    Text,
    /// A table cell, which a `|` ends even inside code, unless preceded by an odd number of backslashes; the C escapes
    /// of names never end with an odd number.
    Cell,
}

/// `text` verbatim, as a code span.
fn code_span(text: &str, place: Place) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run_of_backticks(text) + 1);
    // A space on both sides is stripped by GitHub, and separates a backtick from the fence.
    let space = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    let text = match place {
        Place::Text => text.to_owned(),
        Place::Cell => text.replace('|', r"\|"),
    };
    format!("{fence}{space}{text}{space}{fence}")
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A sentence without markup: any word that could be markup, or that GitHub turns into a mention, reference, emoji or
/// link, becomes a code span, which can still be copied. Names are such words where it matters.
fn escaped(text: &str, place: Place) -> String {
    let words = text.split_whitespace().enumerate();
    let words = words.map(|(at, word)| {
        let start = word.find(|c| c != '(').unwrap_or(0);
        let end = word
            .trim_end_matches([',', ';', ')', ':', '.', '?'])
            .len()
            .max(start);
        let (before, inner, after) = (&word[..start], &word[start..end], &word[end..]);
        let is_list =
            at == 0 && (word.starts_with(['-', '+', '=', '#', '>']) || is_number_of_a_list(word));
        if is_list {
            code_span(word, place)
        } else if is_plain(inner) {
            word.to_owned()
        } else {
            format!("{before}{}{after}", code_span(inner, place))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a word is interpreted literally. Times of day contain a colon, but are not emoji.
fn is_plain(word: &str) -> bool {
    const MARKUP: &str = "<>&|\\`*_{}[]~!$^#@\"";
    let is_time = word.chars().all(|c| c.is_ascii_digit() || c == ':');
    let has_markup = word.contains(|c| MARKUP.contains(c) || char::is_control(c));
    let is_link = word.to_ascii_lowercase().contains("www");
    !has_markup && !is_link && (is_time || !word.contains(':'))
}

/// Whether a word would start a numbered list at the beginning of a paragraph.
fn is_number_of_a_list(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']);
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Column;
    use slotscope_engine::name::Name;

    fn markdown(sections: &[Section<'_>]) -> String {
        let mut out = Vec::new();
        write(sections, 10, " (--top)", &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Names that are markup in some context.
    const HOSTILE: &[&str] = &[
        "a|b",
        "a\\|b",
        "|",
        "`code`",
        "``",
        "`",
        " a ",
        "<img src=x onerror=alert(1)>",
        "</td></table><script>alert(1)</script>",
        "[link](https://evil.example)",
        "![image](https://evil.example/x.png)",
        "https://evil.example",
        "www.evil.example",
        "@someone",
        "someone@evil.example",
        "#1",
        "user:key:1",
        "line\nbreak\r\n# heading",
        "*a* _b_ ~~c~~ $d$",
        "&lt;b&gt;",
        "[^1]: note",
        "- item",
        "1. item",
        "--- | ---",
    ];

    /// The cells of a row as GitHub splits them: at every `|` not preceded by an odd number of backslashes.
    fn cells(row: &str) -> Vec<String> {
        let mut cells = vec![String::new()];
        let mut is_escaped = false;
        for c in row.chars() {
            match c {
                '|' if !is_escaped => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
            is_escaped = c == '\\' && !is_escaped;
        }
        cells
    }

    /// The text of a code span in a cell.
    fn code(cell: &str) -> String {
        let cell = cell.trim_matches(' ');
        let fence = cell.len() - cell.trim_start_matches('`').len();
        let inner = &cell[fence..cell.len() - fence];
        assert!(fence > 0 && cell.ends_with(&cell[..fence]), "{cell}");
        let runs = inner.split(|c| c != '`').map(str::len);
        assert!(runs.into_iter().all(|run| run != fence), "{cell}");
        let padded = inner.len() > 2 && inner.starts_with(' ') && inner.ends_with(' ');
        let inner = if padded {
            &inner[1..inner.len() - 1]
        } else {
            inner
        };
        inner.replace(r"\|", "|")
    }

    #[test]
    fn no_name_leaves_its_cell() {
        for hostile in HOSTILE {
            let name = Name::from(*hostile);
            let rows = [vec![Cell::name(&name), Cell::tag(&name), Cell::count(7u64)]];
            let columns = ["key", "tag"].map(Column::words).into_iter();
            let columns = columns.chain([Column::number("keys")]).collect();
            let text = markdown(&[Section::untitled().table(Table::new(columns, rows))]);
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(lines.len(), 3, "{text}");
            assert_eq!(lines[1], "| --- | --- | ---: |");
            let row = cells(lines[2]);
            assert_eq!(row.len(), 5, "{text}");
            assert_eq!(code(&row[1]), name.to_string());
            assert_eq!(code(&row[2]), format!("{{{name}}}"));
            assert_eq!(row[3], " 7 ");
        }
    }

    /// A paragraph without its code spans: each ends at the next run of equally many backticks.
    fn without_code(paragraph: &str) -> String {
        let (mut outside, mut rest) = (String::new(), paragraph);
        while let Some(start) = rest.find('`') {
            outside.push_str(&rest[..start]);
            rest = &rest[start..];
            let fence = rest.len() - rest.trim_start_matches('`').len();
            let mut at = fence;
            loop {
                at += rest[at..].find('`').expect("a code span ends");
                let run = rest[at..].len() - rest[at..].trim_start_matches('`').len();
                at += run;
                if run == fence {
                    break;
                }
            }
            rest = &rest[at..];
        }
        outside + rest
    }

    #[test]
    fn a_name_in_a_sentence_can_be_copied_and_words_stay_as_they_are() {
        let sentence =
            "shop-3 does 3.24× its share, because of hash tag {a:b_c} (2.62×), at 19:47:00 UTC";
        assert_eq!(
            escaped(sentence, Place::Text),
            "shop-3 does 3.24× its share, because of hash tag `{a:b_c}` (2.62×), at 19:47:00 UTC"
        );
    }

    #[test]
    fn no_name_in_a_sentence_is_markup_a_link_or_a_mention() {
        for hostile in HOSTILE {
            for sentence in [
                format!("the tag {{{hostile}}} is heavy"),
                hostile.to_string(),
            ] {
                let text = markdown(&[Section::titled(&sentence).paragraph(&sentence)]);
                assert_eq!(text.lines().count(), 3, "{text}");
                // A colon before a blank starts nothing.
                let outside = without_code(text.lines().last().unwrap()).replace(": ", "");
                let active = "<>|`*_[]{}!~$@#:\u{2060}";
                assert!(
                    !outside.contains(|c| active.contains(c)),
                    "{outside}: {text}"
                );
                assert!(!outside.contains("www."), "{text}");
                assert!(!outside.starts_with(['-', '1']), "{text}");
            }
        }
    }

    #[test]
    fn a_long_table_says_where_the_rest_is_and_a_command_can_be_copied() {
        let rows = (0..12u64).map(|n| vec![Cell::count(n)]);
        let table = Table::new(vec![Column::number("n")], rows);
        let section = Section::titled("Rows")
            .table(table)
            .with(Block::Command(String::from("echo ```")));
        let text = markdown(&[section]);
        assert!(
            text.starts_with("### Rows\n\n| n |\n| ---: |\n| 0 |\n"),
            "{text}"
        );
        assert!(text.contains("\n... and 2 more (--top)\n"), "{text}");
        assert!(text.ends_with("\n````text\necho ```\n````\n"), "{text}");
    }
}
