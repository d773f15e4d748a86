//! A page of the manual as text for a terminal: headings in bold at the margin, everything else indented, lines wrapped, tables
//! aligned. Colours are always in it; the stream that it is written to takes them out where they are not wanted.

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table as Grid, presets};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::cli::help::code::Code;

/// The narrowest and the widest page.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=100;
const INDENT: &str = "  ";
const CODE_INDENT: &str = "    ";

/// The page, at most `width` columns wide; only a long word of code is wider.
pub(super) fn rendered(markdown: &str, width: usize) -> String {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let mut page = Page {
        width,
        ..Page::default()
    };
    let text = without_contents(markdown);
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        page.add(event);
    }
    page.out
}

/// The page without its list of links to its own headings: a terminal cannot follow them.
fn without_contents(markdown: &str) -> String {
    let is_link =
        |line: &&str| line.starts_with("- [") && line.contains("](#") && line.ends_with(')');
    let lines = markdown.lines().filter(|line| !is_link(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[derive(Default)]
struct Page {
    width: usize,
    out: String,
    /// The text so far of a paragraph, a heading, an item or a cell.
    text: String,
    /// The number of the next item of each open list; `None` where it has bullets.
    lists: Vec<Option<u64>>,
    /// Where the next paragraph starts an item: its bullet.
    bullet: Option<String>,
    /// The place of a link on the web.
    link: Option<String>,
    table: Option<Vec<Vec<String>>>,
    code: Code,
}

impl Page {
    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) => self.text += &text,
            Event::Code(code) => self.code(&code),
            Event::SoftBreak | Event::HardBreak => self.text.push(' '),
            // Marks of what is generated.
            _ => {}
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } | Tag::Paragraph => self.blank_line(),
            Tag::CodeBlock(kind) => {
                self.blank_line();
                self.code = Code::of(&kind);
            }
            Tag::Table(_) => {
                self.blank_line();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                self.table.get_or_insert_default().push(Vec::new());
            }
            Tag::List(start) => {
                self.end_item();
                if self.lists.is_empty() {
                    self.blank_line();
                }
                self.lists.push(start);
            }
            Tag::Item => {
                let bullet = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => String::from("- "),
                };
                self.bullet = Some(bullet);
            }
            Tag::Strong if self.table.is_none() => self.text += &Style::new().bold().to_string(),
            Tag::Emphasis if self.table.is_none() => {
                self.text += &Style::new().italic().to_string()
            }
            Tag::Link { dest_url, .. } if dest_url.contains("://") => {
                self.link = Some(dest_url.into_string());
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                let style = Style::new().bold();
                let text = std::mem::take(&mut self.text);
                for line in wrapped(&text, self.width) {
                    self.out += &format!("{style}{line}{style:#}\n");
                }
            }
            TagEnd::Paragraph | TagEnd::Item => self.end_item(),
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::CodeBlock => {
                let code = std::mem::take(&mut self.text);
                let room = self.width - CODE_INDENT.len();
                for line in code.lines().flat_map(|line| self.code.fitted(line, room)) {
                    self.out += format!("{CODE_INDENT}{line}").trim_end();
                    self.out.push('\n');
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                let rows = self.table.get_or_insert_default();
                rows.last_mut()
                    .into_iter()
                    .for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Table => self.end_table(),
            TagEnd::Strong | TagEnd::Emphasis if self.table.is_none() => {
                self.text += &Style::new().render_reset().to_string();
            }
            TagEnd::Link => {
                // A whole address would not fit.
                let link = self.link.take().unwrap_or_default();
                if let Some(host) = link.split('/').nth(2) {
                    self.text += &format!(" ({host})");
                }
            }
            _ => {}
        }
    }

    /// A word of a command line: coloured, and in a table, whose cells have no colours, as it is.
    fn code(&mut self, code: &str) {
        let style = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
        match self.table {
            Some(_) => self.text += code,
            None => self.text += &format!("{style}{code}{style:#}"),
        }
    }

    /// Writes the text of a paragraph, or of an item with its bullet.
    fn end_item(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return;
        }
        let outer = INDENT.repeat(self.lists.len().max(1));
        let bullet = self.bullet.take().unwrap_or_default();
        let hanging = if self.lists.is_empty() {
            0
        } else {
            bullet.len().max(2)
        };
        let room = self.width - outer.len() - hanging;
        for (number, line) in wrapped(&text, room).iter().enumerate() {
            let start = if number == 0 { bullet.as_str() } else { "" };
            self.out += &format!("{outer}{start:<hanging$}{line}\n");
        }
    }

    fn end_table(&mut self) {
        let mut rows = self.table.take().unwrap_or_default().into_iter();
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING);
        grid.set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(self.width).unwrap_or(u16::MAX));
        let head = rows.next().unwrap_or_default();
        let has_head = head.iter().any(|cell| !cell.is_empty());
        if has_head {
            grid.set_header(head.iter().map(|cell| head_of(cell)));
        }
        grid.add_rows(rows);
        for line in grid.lines() {
            self.out += format!(" {}", line.trim_end()).trim_end();
            self.out.push('\n');
        }
    }

    /// A blank line, but not as the first, nor between a bullet and its text.
    fn blank_line(&mut self) {
        if !self.out.is_empty() && self.bullet.is_none() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

/// The head of a column; the name of a flag stays as it is typed.
fn head_of(cell: &str) -> String {
    if cell.starts_with("--") {
        cell.to_owned()
    } else {
        cell.to_uppercase()
    }
}

/// Text broken at blanks into lines of at most `width` visible characters; a longer word has a line for itself.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let visible = |word: &str| {
        anstream::adapter::strip_str(word)
            .to_string()
            .chars()
            .count()
    };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let len = visible(word);
        if used > 0 && used + 1 + len > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("never empty");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        *line += word;
        used += len;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(markdown: &str, width: usize) -> String {
        anstream::adapter::strip_str(&rendered(markdown, width)).to_string()
    }

    #[test]
    fn headings_are_at_the_margin_and_all_else_is_indented() {
        let page = "# One\n\n- [Two](#two)\n\nSome *words* of `code`,\nand a [link](x.md), [web](https://w.org/a/b).\n\n\
            ## Two\n\n```sh run\na  b\n```\n\n1. first\n2. second\n   - deeper\n";
        assert_eq!(
            plain(page, 80),
            "One\n\n  Some words of code, and a link, web (w.org).\n\nTwo\n\n    a  b\n\n  1. first\n  \
             2. second\n    - deeper\n"
        );
    }

    #[test]
    fn lines_are_no_wider_than_the_page() {
        let words = "word ".repeat(60);
        let page = format!(
            "# {words}\n\n{words}\n\n- {words}\n\n| a | b |\n|---|---|\n| {words} | {words} |\n"
        );
        for (asked, most) in [(0, 40), (60, 60), (500, 100)] {
            let text = plain(&page, asked);
            assert!(
                text.lines().all(|line| line.chars().count() <= most),
                "{text}"
            );
        }
    }

    #[test]
    fn cells_of_a_table_are_aligned() {
        let page = "| flag | |\n|---|---|\n| `--by` | the metric |\n| `-o` | a **file** |\n";
        assert_eq!(
            plain(page, 80),
            "  FLAG\n  --by  the metric\n  -o    a file\n"
        );
    }

    #[test]
    fn what_is_generated_has_no_marks() {
        assert_eq!(plain("a\n\n<!-- flags -->\n\nb\n", 80), "  a\n\n  b\n");
    }
}
