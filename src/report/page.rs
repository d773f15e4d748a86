//! Text for the terminal that keeps within a width: headings, paragraphs, lines, and what is said of every input.

use std::io::{self, Write};

use anstyle::Style;

use super::terminal::layout::wrapped;
use super::units::grouped;
use crate::summary::{Incomplete, Rejected};

/// A page of so many columns.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Columns.
    pub width: usize,
}

impl Page {
    /// A page for a terminal of `width` columns: not too narrow for tables, not too wide for eyes.
    pub fn of(width: usize) -> Self {
        Page { width: width.clamp(40, 120) }
    }

    /// A blank line, then bold text.
    pub fn heading(self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        let style = Style::new().bold();
        writeln!(out)?;
        wrapped(text, self.width).iter().try_for_each(|line| writeln!(out, "{style}{line}{style:#}"))
    }

    /// A blank line, then text.
    pub fn paragraph(self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        writeln!(out)?;
        wrapped(text, self.width).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// Text a little to the right.
    pub fn line(self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        wrapped(text, self.width - 2).iter().try_for_each(|line| writeln!(out, "  {line}"))
    }

    /// Where inputs could not be read to their end.
    pub fn incomplete(self, out: &mut dyn Write, stops: &[Incomplete]) -> io::Result<()> {
        let text =
            |stop: &Incomplete| format!("incomplete: {}: byte {}: {}", stop.file, grouped(stop.byte), stop.reason);
        stops.iter().try_for_each(|stop| self.paragraph(out, &text(stop)))
    }

    /// How many lines were rejected as no `what`, and the first of them.
    pub fn rejected(self, out: &mut dyn Write, what: &str, rejected: &Rejected) -> io::Result<()> {
        if rejected.count == 0 {
            return Ok(());
        }
        self.paragraph(out, &format!("warning: lines that are no {what}: {}", grouped(rejected.count)))?;
        rejected.first.iter().try_for_each(|line| {
            let place = line.line.map_or(format!("byte {}", line.byte), |number| format!("line {number}"));
            self.line(out, &format!("{}: {place}: {}", line.file, line.reason))
        })
    }
}
