//! Rejected rows, located by file and line, for reports and errors.

use std::collections::BTreeMap;
use std::path::Path;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::redact::{Redaction, spelled};
use slotscope_base::sentence::Sentence;
use slotscope_base::text::grouped;
use slotscope_count::scan::Scanned;
use slotscope_count::tally::rejects::{Reject, Rejects};
use slotscope_model::{Rejected, RejectedLine, UnreadableValues};
use slotscope_read::format::Lost;
use slotscope_read::source::Source;
use slotscope_read::source::line_number::line_of;

/// The number of rejected rows, with the first few.
pub fn of(inputs: &[Box<dyn Source>], rejects: &Rejects) -> Rejected {
    let path = |input: usize| inputs[input].path();
    located(path, &lines_of(inputs, places(rejects)), rejects)
}

/// The line numbers of rows, by input number and byte of the row.
pub(crate) type Lines = BTreeMap<(usize, u64), u64>;

/// The line numbers of the first rejected rows and of the first unreadable values, for inputs that can be reread.
pub(crate) fn lines<T>(inputs: &[Box<dyn Source>], scanned: &Scanned<T>) -> Lines {
    let unreadable = scanned.inputs.iter().enumerate().flat_map(|(input, seen)| {
        let values = seen.seen.unreadable();
        values.map(move |(_, first)| (input, first.byte))
    });
    lines_of(inputs, places(&scanned.rejects).chain(unreadable))
}

fn places(rejects: &Rejects) -> impl Iterator<Item = (usize, u64)> {
    let first = rejects.first.iter();
    first.map(|reject| (reject.input as usize, reject.byte))
}

fn lines_of(inputs: &[Box<dyn Source>], places: impl Iterator<Item = (usize, u64)>) -> Lines {
    places
        .filter_map(|(input, byte)| Some(((input, byte), line_of(&*inputs[input], byte)?)))
        .collect()
}

/// Unreadable values over all inputs.
pub(crate) fn unreadable<'p, T>(
    path: impl Fn(usize) -> &'p Path,
    lines: &Lines,
    scanned: &Scanned<T>,
    redaction: Option<&Redaction>,
) -> Vec<UnreadableValues> {
    let values = |role: Lost| {
        let inputs = scanned.inputs.iter().enumerate();
        let places: Vec<_> = inputs
            .filter_map(|(input, seen)| {
                Some((
                    input,
                    seen.seen.unreadable().find(|(value, _)| *value == role)?.1,
                ))
            })
            .collect();
        let (input, first) = *places.first()?;
        let text = Sentence::default().excerpt(&first.text);
        Some(UnreadableValues {
            role,
            count: places.iter().map(|(_, unreadable)| unreadable.count).sum(),
            first: RejectedLine {
                file: Name::from(path(input)),
                line: lines.get(&(input, first.byte)).copied(),
                byte: first.byte,
                reason: spelled(&text, redaction),
            },
        })
    };
    Lost::ALL.into_iter().filter_map(values).collect()
}

/// Like `of`, for inputs at these paths with known line numbers. File names are kept.
pub(crate) fn located<'p>(
    path: impl Fn(usize) -> &'p Path,
    lines: &Lines,
    rejects: &Rejects,
) -> Rejected {
    let line = |reject: &Reject| RejectedLine {
        file: Name::from(path(reject.input as usize)),
        line: lines.get(&(reject.input as usize, reject.byte)).copied(),
        byte: reject.byte,
        reason: reject.reason.clone(),
    };
    Rejected {
        count: rejects.count,
        first: rejects.first.iter().map(line).collect(),
    }
}

/// Fails if more than half of an input's rows are rejected: it is not a dump in this format.
///
/// # Errors
/// There is such an input.
pub(crate) fn check_most<'p, T>(
    path: impl Fn(usize) -> &'p Path,
    line: impl Fn(&Reject) -> Option<u64>,
    scanned: &Scanned<T>,
) -> Result<()> {
    let seen = scanned.inputs.iter().map(|input| &input.seen);
    let Some((index, seen)) = seen
        .enumerate()
        .find(|(_, seen)| seen.rejected > seen.rows())
    else {
        return Ok(());
    };
    let mut rejects = scanned.rejects.first.iter();
    let reject = rejects.find(|reject| reject.input as usize == index);
    let first = reject.map(|reject| {
        let at = place(line(reject), reject.byte);
        format!(", the first at {at}: {}", reject.reason)
    });
    let reason = format!(
        "{} of {} rows are not keys{}; is it a dump in another format (--format help lists them)?",
        grouped(seen.rejected),
        grouped(seen.rejected + seen.rows()),
        first.unwrap_or_default()
    );
    Err(Error::bad_file(path(index), reason))
}

/// The place of a row in its input.
fn place(line: Option<u64>, byte: u64) -> String {
    let line = line.map_or(String::new(), |line| format!("line {line} "));
    format!("{line}(byte {byte})")
}

/// With `strict`, turns the first rejected row into an error.
///
/// # Errors
/// There is a rejected row.
pub fn check_strict(strict: bool, sources: &[Box<dyn Source>], rejects: &Rejects) -> Result<()> {
    if strict {
        check_strict_of(|input| &*sources[input as usize], rejects)
    } else {
        Ok(())
    }
}

/// With `strict`, turns the first unreadable value into an error.
///
/// # Errors
/// There is an unreadable value.
pub(crate) fn check_readable<T>(
    strict: bool,
    sources: &[Box<dyn Source>],
    scanned: &Scanned<T>,
) -> Result<()> {
    let inputs = scanned.inputs.iter().zip(sources).filter(|_| strict);
    let mut lost = inputs.flat_map(|(input, source)| {
        let values = input
            .seen
            .unreadable()
            .filter(|(role, _)| *role != Lost::Command);
        values.map(move |(role, first)| (source, role, first))
    });
    let Some((source, role, first)) = lost.next() else {
        return Ok(());
    };
    let at = place(line_of(&**source, first.byte), first.byte);
    let place = format!("{}: {at}", Name::from(source.path()));
    let text = Sentence::from(format!("no {}: ", role.name(1)));
    Err(Error::bad(place, text.excerpt(&first.text)))
}

/// Turns the first rejected row into an error, wherever its input is.
///
/// # Errors
/// There is a rejected row.
pub(crate) fn check_strict_of<'s>(
    source: impl FnOnce(u32) -> &'s dyn Source,
    rejects: &Rejects,
) -> Result<()> {
    let Some(first) = rejects.first.first() else {
        return Ok(());
    };
    let source = source(first.input);
    let (file, at) = (
        Name::from(source.path()),
        place(line_of(source, first.byte), first.byte),
    );
    let (reason, count) = (&first.reason, grouped(rejects.count));
    Err(Error::bad(
        format!("{file}: {at}"),
        format!("{reason}; such lines in all: {count}"),
    ))
}
