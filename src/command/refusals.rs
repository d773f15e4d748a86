//! Lines that are no keys, as reports and errors tell of them: with their file and line.

use crate::error::{Error, Result};
use crate::name::Name;
use crate::source::Input;
use crate::source::file::line_of;
use crate::summary::sentence::grouped;
use crate::summary::{Rejected, RejectedLine};
use crate::tally::rejects::{Reject, Rejects};

/// The first of them, and how many there are.
pub fn of(inputs: &[Input], rejects: &Rejects) -> Rejected {
    let line = |reject: &Reject| RejectedLine {
        file: Name::from(inputs[reject.input as usize].path()),
        line: line_of(&inputs[reject.input as usize], reject.byte),
        byte: reject.byte,
        reason: reject.reason.clone(),
    };
    Rejected { count: rejects.count, first: rejects.first.iter().map(line).collect() }
}

/// Makes the first of them an error where the user is strict.
///
/// # Errors
/// There is one.
pub fn check_strict(strict: bool, inputs: &[Input], rejects: &Rejects) -> Result<()> {
    match of(inputs, rejects).first.first().filter(|_| strict) {
        None => Ok(()),
        Some(first) => {
            let line = first.line.map_or(String::new(), |line| format!("line {line} "));
            let place = format!("{}: {line}(byte {})", first.file, first.byte);
            Err(Error::bad(place, format!("{}; such lines in all: {}", first.reason, grouped(rejects.count))))
        }
    }
}
