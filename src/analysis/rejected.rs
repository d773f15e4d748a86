//! Rejected rows, located by file and line, for reports and errors.

use crate::error::{Error, Result};
use crate::name::Name;
use crate::source::Source;
use crate::source::chunk::line_of;
use crate::summary::{Rejected, RejectedLine};
use crate::tally::rejects::{Reject, Rejects};
use crate::text::grouped;

/// The first of them, and how many there are.
pub fn of(inputs: &[Box<dyn Source>], rejects: &Rejects) -> Rejected {
    let line = |reject: &Reject| RejectedLine {
        file: Name::from(inputs[reject.input as usize].path()),
        line: line_of(&*inputs[reject.input as usize], reject.byte),
        byte: reject.byte,
        reason: reject.reason.clone(),
    };
    Rejected {
        count: rejects.count,
        first: rejects.first.iter().map(line).collect(),
    }
}

/// Makes the first of them an error where `strict`.
///
/// # Errors
/// There is one.
pub fn check_strict(strict: bool, sources: &[Box<dyn Source>], rejects: &Rejects) -> Result<()> {
    let Some(first) = rejects.first.first().filter(|_| strict) else {
        return Ok(());
    };
    let source = &*sources[first.input as usize];
    let line = line_of(source, first.byte).map_or(String::new(), |line| format!("line {line} "));
    let file = Name::from(source.path());
    Err(Error::bad(
        format!("{file}: {line}(byte {})", first.byte),
        format!(
            "{}; such lines in all: {}",
            first.reason,
            grouped(rejects.count)
        ),
    ))
}
