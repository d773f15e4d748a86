//! Markdown as GitHub reads it, for issues, pull requests and job summaries. Every text is escaped: a name can neither
//! end a cell nor become markup, HTML, a link or a mention.

use std::io::{self, Write};

use slotscope_engine::metric::Metric;
use slotscope_engine::text::and_more;

use crate::render::text::{slot_map, time_map};
use crate::view::amounts::quantiles;
use crate::view::{Block, Cell, Scope, Section, StepTable, Table, Value};

/// Characters of a name in a cell.
const NAME: usize = 120;

/// Columns of the slot map, which is a block of code.
const MAP_WIDTH: usize = 80;

/// Writes `sections` with at most `rows` rows in a table; `rest` says where the others are.
///
/// # Errors
/// `out` cannot be written to.
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
    /// The separator between the next block and the one before it.
    before: &'static str,
}

impl Page<'_> {
    fn section(&mut self, section: &Section<'_>) -> io::Result<()> {
        if !section.title.is_empty() {
            self.block(&format!("### {}", escaped(&section.title)))?;
        }
        section.blocks.iter().try_for_each(|block| match block {
            Block::Verdict(_, word, sentence) => {
                self.block(&format!("## {word}\n\n{}", escaped(sentence)))
            }
            Block::Steps(steps) => self.steps(steps),
            Block::Paragraph(text) | Block::Line(text) => self.block(&escaped(text)),
            Block::Command(command) => self.code(command),
            Block::Table(table) | Block::Prefixes(table, ..) => self.table(table),
            Block::Quantiles(metric, of) => self.block(&escaped(&quantiles(*metric, of))),
            Block::SlotMap(metric, loads) => self.slot_map(*metric, loads),
            Block::Curve(_) | Block::Flame(_) | Block::Schemes(_) => Ok(()),
            Block::TimeMap(map) => {
                let (rows, legend) = time_map::lines(map, MAP_WIDTH);
                self.code(&rows.join("\n"))?;
                self.block(&escaped(&legend))
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

    /// A block of code: its fence is longer than any run of backticks in it.
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
        let head = line(&mut titles.map(|title| escaped(title.as_deref().unwrap_or_default())));
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
            more => self.block(&escaped(&format!("... {}{}", and_more(more), self.rest))),
        }
    }

    /// A table of steps, then their commands.
    fn steps(&mut self, steps: &StepTable) -> io::Result<()> {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let heads = ["", "step"].into_iter().map(String::from);
        let heads: Vec<String> = heads
            .chain(steps.heads.iter().map(|head| escaped(head)))
            .collect();
        let rule = ["---:", "---"].into_iter().map(String::from);
        let rule = rule
            .chain(steps.heads.iter().map(|_| "---:".into()))
            .collect();
        let rows = steps.rows.iter().map(|row| {
            let first = [row.number.clone().unwrap_or_default(), escaped(&row.what)];
            let ratios = row
                .ratios
                .iter()
                .map(|ratio| ratio.clone().unwrap_or_default());
            line(first.into_iter().chain(ratios).collect())
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
            .try_for_each(|left| self.block(&escaped(left)))
    }

    fn slot_map(&mut self, metric: Metric, loads: &[u64]) -> io::Result<()> {
        let (rows, legend) = slot_map::lines(metric, loads, MAP_WIDTH);
        self.code(&rows.join("\n"))?;
        self.block(&escaped(&legend))
    }
}

/// The text of a cell: a name is a code span, where GitHub finds neither markup nor links nor mentions.
fn cell(cell: &Cell<'_>) -> String {
    let text = cell.spelled(NAME);
    match cell.value {
        Value::Name(_) | Value::Tag(_) | Value::Node(..) => code_span(&text),
        _ if cell.is_number() => text,
        _ => escaped(&text),
    }
}

/// `text` as it is, in a cell. A `|` ends a cell even in code, unless an odd number of backslashes is before it; the C
/// escapes of a name never leave an odd number.
fn code_span(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run_of_backticks(text) + 1);
    // A space on both sides is not part of the code, and parts a backtick from the fence.
    let space = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{fence}{space}{}{space}{fence}", text.replace('|', r"\|"))
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text without any markup. Backslashes and entities are enough for Markdown; GitHub makes mentions, references, emoji
/// and links out of the text that is left, which an invisible word joiner prevents.
fn escaped(text: &str) -> String {
    const WORD_JOINER: char = '\u{2060}';
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text.trim_start().chars().peekable();
    let mut in_www = 0;
    while let Some(c) = rest.next() {
        let is_before_blank = rest.peek().is_none_or(|next| next.is_whitespace());
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' => escaped.push_str("&#124;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '~' | '!' | '$' | '^' | '#' => {
                escaped.extend(['\\', c]);
            }
            // At the start of a paragraph these begin a list or a heading.
            '-' | '+' | '=' if escaped.is_empty() => escaped.extend(['\\', c]),
            '.' | ')' if is_before_blank && escaped.chars().all(|c| c.is_ascii_digit()) => {
                escaped.extend(['\\', c])
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
        in_www = if c.eq_ignore_ascii_case(&'w') {
            in_www + 1
        } else {
            0
        };
        if !is_before_blank && matches!(c, '@' | '#' | ':') || in_www == 3 {
            escaped.push(WORD_JOINER);
        }
    }
    escaped
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

    /// Names that are markup somewhere.
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

    /// The cells of a row as GitHub parts them: at every `|` that no odd number of backslashes is before.
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

    #[test]
    fn no_name_in_a_sentence_is_markup_a_link_or_a_mention() {
        for hostile in HOSTILE {
            for sentence in [
                format!("the tag {{{hostile}}} is heavy"),
                hostile.to_string(),
            ] {
                let text = markdown(&[Section::titled(&sentence).paragraph(&sentence)]);
                assert_eq!(text.lines().count(), 3, "{text}");
                // The entity of a `|` is text.
                let paragraph = text.lines().last().unwrap().replace("&#124;", "");
                assert!(!paragraph.contains(['<', '>', '|']), "{text}");
                for active in ["://", "www.", "@s", "@e", "#1", ":k", "**", "- ", "1. "] {
                    assert!(!paragraph.starts_with(active), "{text}");
                    let is_inside = paragraph.contains(active) && !["- ", "1. "].contains(&active);
                    assert!(!is_inside, "{active}: {text}");
                }
                let plain = paragraph.replace(r"\\", "");
                for (at, c) in
                    plain.match_indices(['`', '*', '_', '[', ']', '{', '}', '!', '~', '$'])
                {
                    assert!(plain[..at].ends_with('\\'), "{c}: {text}");
                }
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
