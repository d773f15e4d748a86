//! Text for a terminal. Tables fit its width, and prose is limited to a readable line length.

pub mod slot_map;
mod table;
pub mod time_map;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use slotscope_base::name::ISOLATION;
use slotscope_base::text::and_more;
use slotscope_model::state::State;

use crate::view::{Block, Scope, Section, StepTable};

/// Minimum and maximum width of tables.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;

/// Width of a change in the table of steps, of a step's number, and minimum width of its sentence next to changes.
const TURN: usize = 16;
const STEP: usize = 3;
const LEAST_ROOM: usize = 40;

/// Maximum width of prose.
const PROSE: usize = 120;

/// How much is shown.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Width of the terminal in columns.
    pub width: usize,
    /// Height of the terminal in lines, if it is one.
    pub height: Option<usize>,
    /// Maximum rows of a table.
    pub rows: usize,
    /// Where to find further rows, printed after "... and 12 more".
    pub rest: &'a str,
    /// Whether names in tables are never truncated, however long lines get.
    pub whole_names: bool,
}

/// Writes `sections`. The output always contains colours; the stream it goes to strips them if not wanted.
///
/// # Errors
/// `out` cannot be written.
pub fn write(sections: &[Section<'_>], page: Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let width = page.width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let mut writer = Writer {
        page: Page { width, ..page },
        out: Vec::new(),
        is_started: false,
        is_in_problems: false,
    };
    let mut lines = 0;
    for section in sections
        .iter()
        .filter(|section| section.scope != Scope::Page)
    {
        writer.out.clear();
        writer.section(section)?;
        let own_lines = writer.out.iter().filter(|byte| **byte == b'\n').count();
        let fits = page.height.is_none_or(|height| lines + own_lines <= height);
        if section.scope != Scope::IfItFits || fits {
            lines += own_lines;
            out.write_all(&writer.out)?;
        }
    }
    Ok(())
}

struct Writer<'a> {
    page: Page<'a>,
    /// The lines of the current section.
    out: Vec<u8>,
    is_started: bool,
    is_in_problems: bool,
}

impl Writer<'_> {
    fn section(&mut self, section: &Section<'_>) -> io::Result<()> {
        if !section.title.is_empty() {
            self.heading(&section.title)?;
        }
        let mut is_under_heading = !section.title.is_empty();
        for block in &section.blocks {
            match block {
                Block::Verdict(state, word, sentence) => self.verdict(*state, word, sentence)?,
                Block::Steps(table) => self.steps(table)?,
                Block::Paragraph(text) => {
                    self.blank_line()?;
                    self.lines("", text)?;
                }
                Block::Line(text) => self.lines("  ", text)?,
                Block::Command(text) => self.command(text)?,
                Block::Table(table) if table.rows.is_empty() => {}
                Block::Table(table) => {
                    if !is_under_heading {
                        self.blank_line()?;
                    }
                    let shown = table.shown(self.page.rows);
                    table::write(table, shown, self.page, &mut self.out)?;
                    self.hidden_rows(table.rows.len() - shown)?;
                }
                Block::SlotMap(metric, loads) => {
                    let (rows, legend) = slot_map::lines(*metric, loads, self.page.width);
                    rows.iter()
                        .try_for_each(|row| writeln!(self.out, "{row}"))?;
                    self.lines("  ", &legend)?;
                }
                // Figures exist only on pages; treat them as absent.
                Block::Figure(_) => continue,
                Block::TimeMap(map) => {
                    let (rows, legend) = time_map::lines(map, self.page.width);
                    rows.iter()
                        .try_for_each(|row| writeln!(self.out, "{row}"))?;
                    self.lines("  ", &legend)?;
                }
            }
            is_under_heading = matches!(block, Block::Line(_)) && is_under_heading;
            self.is_in_problems &= matches!(block, Block::Verdict(..));
        }
        Ok(())
    }

    /// The verdict as one coloured word with its sentence.
    fn verdict(&mut self, state: State, word: &str, sentence: &str) -> io::Result<()> {
        // Problems follow each other without blank lines.
        if !std::mem::replace(&mut self.is_in_problems, true) {
            self.blank_line()?;
        }
        let color = match state {
            State::Empty | State::Unjudged | State::Watch => AnsiColor::Yellow,
            State::Suspicious => AnsiColor::Magenta,
            State::Balanced => AnsiColor::Green,
            State::Skewed | State::Limit | State::Down => AnsiColor::Red,
        };
        let style = Style::new().bold().fg_color(Some(color.into()));
        let lines = wrapped(&format!("{word}  {sentence}"), self.prose());
        for (number, line) in lines.iter().enumerate() {
            match line.strip_prefix(word).filter(|_| number == 0) {
                Some(rest) => writeln!(self.out, "{style}{word}{style:#}{rest}")?,
                None => writeln!(self.out, "{line}")?,
            }
        }
        Ok(())
    }

    fn heading(&mut self, text: &str) -> io::Result<()> {
        self.blank_line()?;
        let style = Style::new().bold();
        wrapped(text, self.prose())
            .iter()
            .try_for_each(|line| writeln!(self.out, "{style}{line}{style:#}"))
    }

    /// Steps with their changes on the right, or below on narrow terminals, and with their commands below.
    fn steps(&mut self, table: &StepTable) -> io::Result<()> {
        let wide = self.prose().saturating_sub(TURN * table.heads.len() + STEP);
        let is_wide = wide >= LEAST_ROOM;
        let room = if is_wide { wide } else { self.prose() - STEP };
        let cells = |cells: &mut dyn Iterator<Item = String>| {
            cells
                .map(|cell| format!("{cell:>TURN$}"))
                .collect::<String>()
        };
        if is_wide && !table.heads.is_empty() {
            let heads = cells(&mut table.heads.iter().cloned());
            writeln!(self.out, "{:1$}{heads}", "", room + STEP)?;
        }
        for row in &table.rows {
            let turns = || {
                row.turns
                    .iter()
                    .map(|turn| turn.as_ref().map(|turn| turn.with("->")))
            };
            let beside = cells(&mut turns().map(Option::unwrap_or_default));
            for (at, line) in wrapped(&row.what, room).iter().enumerate() {
                let (number, beside) = match at {
                    0 if is_wide => (&*row.number, &*beside),
                    0 => (&*row.number, ""),
                    _ => ("", ""),
                };
                let pad = room.saturating_sub(shown_chars(line));
                let text = format!("{number:>2} {line}{:pad$}{beside}", "");
                writeln!(self.out, "{}", text.trim_end())?;
            }
            let pairs = table.heads.iter().zip(turns());
            let below: Vec<String> = pairs
                .filter_map(|(head, turn)| Some(format!("{head} {}", turn?)))
                .collect();
            if !is_wide && !below.is_empty() {
                self.lines("   ", &below.join(", "))?;
            }
            if let Some(command) = &row.command {
                self.command(command)?;
            }
        }
        table
            .left
            .iter()
            .try_for_each(|left| self.lines("   ", left))
    }

    /// A command, continued on the next line on narrow terminals.
    fn command(&mut self, text: &str) -> io::Result<()> {
        let mut indent = "    ";
        let mut line = String::new();
        let mut words = shell_words(text).peekable();
        while let Some(word) = words.next() {
            // A flag stays with its value.
            let value = words
                .peek()
                .filter(|next| word.starts_with('-') && !next.starts_with('-'));
            let len = word.len() + value.map_or(0, |value| 1 + value.len());
            // Leave space for the backslash.
            let is_full = indent.len() + line.len() + 1 + len + 2 > self.page.width;
            if is_full && !line.is_empty() {
                writeln!(self.out, "{indent}{line} \\")?;
                (indent, line) = ("      ", String::new());
            }
            line += if line.is_empty() { "" } else { " " };
            line += word;
        }
        writeln!(self.out, "{indent}{line}")
    }

    fn lines(&mut self, indent: &str, text: &str) -> io::Result<()> {
        wrapped(text, self.prose() - indent.len())
            .iter()
            .try_for_each(|line| writeln!(self.out, "{indent}{line}"))
    }

    fn hidden_rows(&mut self, count: usize) -> io::Result<()> {
        match count {
            0 => Ok(()),
            count => self.lines("  ", &format!("... {}{}", and_more(count), self.page.rest)),
        }
    }

    /// A blank line, except at the start.
    fn blank_line(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_started, true) {
            writeln!(self.out)
        } else {
            Ok(())
        }
    }

    fn prose(&self) -> usize {
        self.page.width.min(PROSE)
    }
}

/// The number of visible characters of a line.
fn shown_chars(line: &str) -> usize {
    line.chars().filter(|c| !ISOLATION.contains(c)).count()
}

/// The words of a command; blanks in quotes do not separate words.
pub(crate) fn shell_words(command: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    command.split(move |c| {
        is_quoted ^= c == '\'' && !is_escaped;
        is_escaped = c == '\\' && !is_quoted && !is_escaped;
        c == ' ' && !is_quoted
    })
}

/// Wraps text between words into lines of at most `width` characters; longer words are broken.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut room = width;
    for word in text.split_inclusive(' ') {
        let len = word.trim_end().chars().count();
        if len > room && room < width {
            lines.push(String::new());
            room = width;
        }
        for c in word.chars() {
            if room == 0 && c != ' ' {
                lines.push(String::new());
                room = width;
            }
            lines.last_mut().expect("never empty").push(c);
            room = room.saturating_sub(1);
        }
    }
    lines
        .iter()
        .map(|line| line.trim_end().to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::steps::StepRow;
    use crate::view::{Cell, Column, Table};

    fn text(sections: &[Section<'_>], width: usize) -> String {
        let mut out = Vec::new();
        let page = Page {
            width,
            height: None,
            rows: 2,
            rest: " (--top)",
            whole_names: false,
        };
        write(sections, page, &mut out).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn a_flag_of_a_command_stays_with_its_value() {
        let row = StepRow {
            number: "1".into(),
            what: "raise it".into(),
            turns: Vec::new(),
            command: Some(
                "redis-cli -h cache-1.example.com -p 6379 CONFIG SET maxmemory 1gb".into(),
            ),
        };
        let steps = StepTable::new(Vec::new(), vec![row], Vec::new());
        let sections = [Section::untitled().with(Block::Steps(steps))];
        let shown = text(&sections, 40);
        let lines: Vec<&str> = shown.lines().map(str::trim_start).collect();
        assert_eq!(
            lines,
            [
                "1 raise it",
                "redis-cli -h cache-1.example.com \\",
                "-p 6379 CONFIG SET maxmemory 1gb"
            ]
        );
    }

    #[test]
    fn lines_are_broken_between_words_and_never_wider_than_asked() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrapped("", 10), [""]);
    }

    #[test]
    fn blocks_are_separated_and_a_cut_table_says_where_the_rest_is() {
        let table = Table::new(
            vec![Column::number("n")],
            (1..=4u64).map(|n| vec![Cell::count(n)]),
        );
        let sections = [
            Section::untitled().with(Block::Verdict(State::Watch, "WATCH".into(), "why".into())),
            Section::titled("Head").table(table.clone()).line("a line"),
            Section::titled("Left out")
                .scoped(Scope::Page)
                .line("of the overview"),
            Section::untitled().table(table).paragraph("a paragraph"),
        ];
        assert_eq!(
            text(&sections, 80),
            "WATCH  why\n\nHead\n  n\n  1\n  2\n  ... and 2 more (--top)\n  a line\n\n  n\n  1\n  2\n  \
             ... and 2 more (--top)\n\na paragraph\n"
        );
    }

    #[test]
    fn prose_keeps_within_the_width_and_is_never_too_long_to_read() {
        let section = [Section::titled("word ".repeat(60)).line("word ".repeat(60))];
        for (width, most) in [(1, 40), (72, 72), (500, PROSE)] {
            let text = text(&section, width);
            assert!(text.lines().all(|line| line.len() <= most), "{text}");
        }
    }
}
