//! What is said in a report about its input and about the run.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::command::reading::Reader;
use crate::format::{FORMATS, Format};
use crate::name::Name;
use crate::scan::{Scanned, SeenInput};
use crate::slot::policy::Policy;
use crate::source::Input;
use crate::source::file::line_of;
use crate::summary::balance::tidy;
use crate::summary::{FileFacts, Incomplete, InputFacts, Rejected, RejectedLine, Run, Summary};
use crate::tally::rejects::Reject;

/// What was read, and what is to be said about it.
pub fn input_facts<T>(inputs: &[Input], scanned: &Scanned<T>) -> InputFacts {
    let name = |index: usize| Name::from(inputs[index].path());
    let file = |(index, seen): (usize, &SeenInput)| FileFacts {
        name: name(index),
        format: seen.format,
        bytes: seen.bytes,
        keys: seen.seen.keys,
    };
    let stop = |stop: &crate::scan::Incomplete| Incomplete {
        file: name(stop.input),
        byte: stop.byte,
        reason: stop.reason.clone(),
    };
    let rejected = |line: &Reject| RejectedLine {
        file: name(line.input as usize),
        line: line_of(&inputs[line.input as usize], line.byte),
        byte: line.byte,
        reason: line.reason.clone(),
    };
    let seen =
        scanned.inputs.iter().map(|input| input.seen).fold(Default::default(), |mut sum: crate::format::Seen, seen| {
            sum += seen;
            sum
        });
    let mut notes = seen.notes();
    let read = |format: &&&dyn Format| scanned.inputs.iter().any(|input| input.format == format.name());
    notes.extend(FORMATS.iter().filter(read).filter_map(|format| format.note()).map(String::from));
    InputFacts {
        files: scanned.inputs.iter().enumerate().map(file).collect(),
        bytes_read: scanned.inputs.iter().map(|input| input.bytes).sum(),
        rejected: Rejected {
            count: scanned.rejects.count,
            first: scanned.rejects.first.iter().map(rejected).collect(),
        },
        incomplete: scanned.incomplete.iter().map(stop).collect(),
        warnings: seen.warnings(),
        notes,
        ..InputFacts::default()
    }
}

/// Says the hash policy where it is not the usual one.
pub fn policy_note(policy: &Policy) -> Option<String> {
    let text = Name::from(policy.to_string().as_str());
    let what = format!(
        "hashed by --policy {text}: slots and tags are those of that policy, not of CLUSTER KEYSLOT; what the tables of \
         prefixes and patterns call tagged is what stands in braces"
    );
    (!policy.is_oss()).then_some(what)
}

/// How the report was made.
pub fn run_facts(reader: &Reader, started: (Instant, SystemTime), passes: u32, summary: &Summary) -> Run {
    let elapsed_secs = started.0.elapsed().as_secs_f64();
    let rate = |count: f64| tidy(count / elapsed_secs.max(1e-9));
    Run {
        version: env!("CARGO_PKG_VERSION").into(),
        command: command_line(),
        started: started.1.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        elapsed_secs: tidy(elapsed_secs),
        threads: reader.threads(),
        kernel: reader.kernel.name.into(),
        passes,
        bytes_per_sec: rate(summary.input.bytes_read as f64 * f64::from(passes)),
        keys_per_sec: rate(summary.input.keys as f64),
        peak_rss_bytes: peak_rss_bytes(),
    }
}

/// What was typed, with blanks between.
fn command_line() -> Name {
    let words = std::env::args_os().enumerate().map(|(i, word)| match i {
        // However long the path to the program is.
        0 => b"slotscope".to_vec(),
        _ => word.into_encoded_bytes(),
    });
    Name(words.collect::<Vec<_>>().join(&b' '))
}

/// The most memory that was resident, where the system says it (Linux).
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
