//! Remarks on an input, printed at the end by every command that reads one.

use std::fmt::Display;

use slotscope_base::text::{counted, grouped};
use slotscope_model::{Incomplete, Rejected};

use crate::view::{Block, Section};

/// Where inputs ended early.
pub fn incomplete<'a>(stops: &[Incomplete]) -> impl Iterator<Item = Block<'a>> {
    stops.iter().map(stop).map(Block::Paragraph)
}

/// Where an input ended early.
pub fn stop(stop: &Incomplete) -> String {
    let Incomplete { file, byte, reason } = stop;
    format!("incomplete: {file}: byte {}: {reason}", grouped(*byte))
}

/// A formatted warning.
pub fn warning(text: &impl Display) -> String {
    format!("warning: {text}")
}

/// A formatted note.
pub(crate) fn note(text: &String) -> String {
    format!("note: {text}")
}

/// The number of lines rejected for lack of a `part`, and the first few.
pub fn rejected<'a>(part: &str, rejected: &Rejected) -> Vec<Block<'a>> {
    if rejected.count == 0 {
        return Vec::new();
    }
    let lines = counted(rejected.count, "line");
    let mut blocks = vec![Block::Paragraph(format!("warning: {lines} without {part}"))];
    blocks.extend(rejected.first.iter().map(|line| {
        let place = line.line.map_or(format!("byte {}", line.byte), |number| {
            format!("line {number}")
        });
        Block::Line(format!("{}: {place}: {}", line.file, line.reason))
    }));
    blocks
}

/// Warnings, then notes, one paragraph each.
pub fn remarks<'a>(warnings: &[impl Display], notes: &[String]) -> Vec<Block<'a>> {
    let warnings = warnings.iter().map(warning);
    let notes = notes.iter().map(note);
    warnings.chain(notes).map(Block::Paragraph).collect()
}

/// A section without a title, with these blocks.
pub fn section(blocks: impl IntoIterator<Item = Block<'static>>) -> Section<'static> {
    Section {
        blocks: blocks.into_iter().collect(),
        ..Section::untitled()
    }
}
