//! A report's part about its input.

use std::path::{Path, PathBuf};

use slotscope_base::lfu::{self, LfuRule};
use slotscope_base::name::Name;
use slotscope_base::redact::{Redaction, spelled};
use slotscope_base::sentence::Sentence;
use slotscope_base::slot::policy::Policy;
use slotscope_base::text::{counted, grouped, list, shell_word, short};
use slotscope_count::scan;
use slotscope_count::scan::filter::Filter;
use slotscope_count::scan::{Scanned, SeenInput};
use slotscope_detect::FORMATS;
use slotscope_model::coverage::{Lack, Lacking};
use slotscope_model::state::Role;
use slotscope_model::{
    FileFacts, Filtered, FirstKey, Incomplete, InputFacts, ObjectFacts, RejectedLine, Sizes,
    Summary, UnreadableValues,
};
use slotscope_read::format::{Format, Lost, Notice, ReadStats, Told};

use crate::pipeline::inputs::{File, Inputs};
use crate::pipeline::reading::Reading;
use crate::pipeline::{captured, collected, rejected};

/// Facts about sources just scanned.
pub fn of_reading<T>(reading: &Reading, scanned: &Scanned<T>) -> InputFacts {
    InputFacts {
        filter: filtered(reading.options.only.filter.as_deref(), scanned, true),
        ..of_inputs(&Inputs::of(reading, scanned), scanned, None)
    }
}

/// Facts about inputs: files, rejected rows, unreadable places, collections, and notes on formats and skipped files. With a
/// redaction, sentences contain no names; files do.
pub(crate) fn of_inputs<T>(
    inputs: &Inputs,
    scanned: &Scanned<T>,
    redaction: Option<&Redaction>,
) -> InputFacts {
    let (files, lines) = (&inputs.files, &inputs.lines);
    let path = |index: usize| files[index].path.as_path();
    let name = |index: usize| Name::from(path(index));
    let file = |(index, seen): (usize, &SeenInput)| FileFacts {
        name: name(index),
        format: seen.format.into(),
        shape: seen
            .told
            .as_ref()
            .map_or(String::new(), |told| told.shape.clone()),
        line: told_of(seen, |told| told.line.clone()),
        line_by: told_of(seen, |told| told.line_by),
        first: told_of(seen, |told| told.first.clone()).map(|(mut key, size)| {
            key.0.truncate(LONGEST);
            FirstKey { key, size }
        }),
        bytes: seen.bytes,
        keys: seen.seen.keys,
        is_capture: captured::is_capture(seen) || is_tail_of_aof(&files[index].path),
        captured: None,
        left_out: seen.seen.left_out(),
        in_cluster: seen.seen.count(Notice::InCluster) > 0,
        written: seen
            .seen
            .written_ms
            .filter(|_| !is_base_of_aof(&files[index].path))
            .map(|at| at / 1000),
        object: files[index].object.as_ref().map(|object| ObjectFacts {
            size_bytes: object.size_bytes,
            etag: object.etag.as_deref().map(Name::from),
            answered_by: object.answered_by.as_deref().map(Name::from),
        }),
    };
    let stop = |stop: &scan::Incomplete| Incomplete {
        file: name(stop.input),
        byte: stop.byte,
        reason: spelled(&stop.reason, redaction),
    };
    let mut seen = ReadStats::default();
    for input in &scanned.inputs {
        seen += input.seen.clone();
    }
    let is_read = |format: &&&dyn Format| {
        let mut inputs = scanned.inputs.iter();
        inputs.any(|input| input.format == format.name())
    };
    let limits = FORMATS
        .iter()
        .filter(is_read)
        .filter_map(|format| format.note());
    let led = |file: &File| {
        let host = file.object.as_ref()?.answered_by.as_deref()?;
        let start = Sentence::from("a redirect led away from ").name(file.path.as_path());
        let sentence = start.words(": what was read is from ").name(host);
        Some(spelled(&sentence, redaction))
    };
    // Warnings contain names that are not redacted later.
    let shown = |index: usize| match redaction {
        Some(redaction) => redaction.name(&name(index)),
        None => name(index),
    };
    let mut notes = seen.notes();
    let sentences_of = |part: fn(&Told) -> Option<&Sentence>| {
        let inputs = scanned.inputs.iter().enumerate();
        let sentences = inputs.filter_map(|(input, seen)| {
            let sentence = part(seen.told.as_deref()?)?;
            Some((input, spelled(sentence, redaction)))
        });
        grouped_by_sentence(&sentences.collect::<Vec<_>>(), &shown)
    };
    let of_notes = sentences_of(|told| told.note.as_ref());
    notes.extend(of_notes.into_iter().map(|(_, line)| line));
    let readings = sentences_of(|told| told.warning.as_ref());
    let mut warnings: Vec<String> = readings.into_iter().map(|(_, line)| line).collect();
    warnings.extend(another_shape(scanned, &shown));
    warnings.extend(seen.warnings());
    let unreadable_values = rejected::unreadable(path, lines, scanned, redaction);
    warnings.extend(unreadable_values.iter().filter_map(of_no_load));
    notes.extend(files.iter().filter_map(led));
    notes.extend(limits.map(String::from));
    let of_unread = |(index, seen): (usize, &SeenInput)| {
        let unread = seen.told.as_deref()?.unread.clone()?;
        Some(unread_column(unread, &name(index), redaction))
    };
    let lacks = scanned
        .inputs
        .iter()
        .enumerate()
        .filter_map(of_unread)
        .collect();
    let mut input = InputFacts {
        files: scanned.inputs.iter().enumerate().map(file).collect(),
        bytes_read: scanned.inputs.iter().map(|input| input.bytes).sum(),
        rejected: rejected::located(path, lines, &scanned.rejects),
        unreadable_values,
        written: seen.written_ms.map(|at| at / 1000),
        sizes: sizes(&seen),
        error_lines: seen.count(Notice::ErrorReply),
        incomplete: scanned.incomplete.iter().map(stop).collect(),
        lacks,
        warnings,
        notes,
        ..InputFacts::default()
    };
    collected::remark(&inputs.collections, redaction, &mut input);
    if inputs.passed_over > 0 {
        let items = counted(inputs.passed_over as u64, "item");
        let remark = "in a directory of dumps, passed over: directories, which are not searched deeper, and files of an earlier report";
        input.notes.push(format!("{items} {remark}"));
    }
    if !inputs.left_out.is_empty() {
        let remark = "left out, as servers leave them next to their dumps: logs, unfinished files, and dumps of replicas";
        let shown = |path: &PathBuf| {
            let name = Name::from(path.as_path());
            redaction.map_or(name.clone(), |redaction| redaction.name(&name))
        };
        let names = inputs.left_out.iter().map(shown);
        input
            .notes
            .push(format!("{remark}: {}", list(names, NAMED)));
    }
    input
}

/// A part of the description of an input's shape.
fn told_of<T>(seen: &SeenInput, part: impl Fn(&Told) -> Option<T>) -> Option<T> {
    seen.told.as_deref().and_then(part)
}

/// Maximum number of files named in a note.
const NAMED: usize = 3;

/// Maximum bytes of a key in a report.
const LONGEST: usize = 512;

/// The warning for unreadable values that affect neither memory nor load.
fn of_no_load(values: &UnreadableValues) -> Option<String> {
    let RejectedLine { line, reason, .. } = &values.first;
    let line = line.map_or(String::new(), |line| format!(", line {}", grouped(line)));
    let noun = values.role.name(values.count);
    let count = grouped(values.count);
    match values.role {
        Lost::Size | Lost::Operations => None,
        Lost::Command => Some(format!(
            "the first command with an unknown name: {reason}{line}"
        )),
        _ => Some(format!(
            "{count} {noun} could not be read, the first: {reason}{line}"
        )),
    }
}

/// Each sentence once, with its first input: after the name of the file, or the number of files if there are several.
fn grouped_by_sentence(
    sentences: &[(usize, String)],
    name: &dyn Fn(usize) -> Name,
) -> Vec<(usize, String)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (input, sentence) in sentences {
        match groups.iter_mut().find(|(known, _)| known == sentence) {
            Some((_, inputs)) => inputs.push(*input),
            None => groups.push((sentence, vec![*input])),
        }
    }
    let line = |(sentence, inputs): (&str, Vec<usize>)| match inputs.as_slice() {
        [only] => (*only, format!("{}: {sentence}", name(*only))),
        inputs => {
            let files = counted(inputs.len() as u64, "file");
            (inputs[0], format!("{files}: {sentence}"))
        }
    };
    groups.into_iter().map(line).collect()
}

/// Inputs of raw keys followed by lines of another shape.
fn another_shape<T>(scanned: &Scanned<T>, name: &dyn Fn(usize) -> Name) -> Vec<String> {
    let inputs = scanned.inputs.iter().enumerate();
    let places = inputs.filter_map(|(input, seen)| Some((input, seen.seen.another_from?)));
    let warning = |(input, byte): (usize, u64)| {
        format!(
            "{}: about byte {} lines are of another shape than the first ones, and all were read as raw keys: are these two files in one?",
            name(input),
            grouped(byte)
        )
    };
    places.map(warning).collect()
}

/// Why memory is not judged: a column of numbers beside the keys that nothing was made of.
fn unread_column(name: Name, file: &Name, redaction: Option<&Redaction>) -> Lack {
    let flag = shell_word(&name.to_string());
    let (column, file) = match redaction {
        Some(redaction) => (redaction.name(&name), redaction.name(file)),
        None => (name, file.clone()),
    };
    let flag = if redaction.is_some() {
        "NAME".into()
    } else {
        flag
    };
    Lack {
        of: Lacking::Columns,
        role: Some(Role::Memory),
        sentence: format!(
            "the numbers in the column {} of {} were not read: --size-column {flag} reads them as sizes, --size-column none \
             says that they are none",
            short(&column),
            short(&file)
        ),
    }
}

/// Whether it is the last part of an append-only file, which is empty after a rewrite.
fn is_tail_of_aof(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.ends_with(".incr.aof"))
}

/// Whether an RDB file is the base of an append-only file, with newer commands.
fn is_base_of_aof(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.ends_with(".base.rdb"))
}

/// The keys excluded by a filter.
pub(crate) fn filtered<T>(
    filter: Option<&Filter>,
    scanned: &Scanned<T>,
    with_patterns: bool,
) -> Option<Filtered> {
    let inputs = || scanned.inputs.iter().map(|input| &input.seen);
    let bytes = inputs().map(|seen| seen.filtered_bytes).sum();
    Some(Filtered {
        flags: Name::from(filter?.said(with_patterns).as_str()),
        keys: inputs().map(|seen| seen.count(Notice::Filtered)).sum(),
        operations: inputs()
            .map(|seen| seen.count(Notice::FilteredOperation))
            .sum(),
        bytes: (bytes > 0).then_some(bytes),
    })
}

/// A note on how accesses are estimated, if they are.
pub(crate) fn lfu_note(rule: LfuRule, summary: &Summary) -> Option<String> {
    let LfuRule {
        log_factor,
        decay_minutes,
    } = rule;
    let counters = summary.lfu.as_ref()?.iter();
    let saturated = counters.filter(|row| u64::from(row.counter) >= lfu::SATURATED);
    let keys: u64 = saturated.map(|row| row.load.keys).sum();
    let bound = match keys {
        0 => String::new(),
        keys => format!(
            "; keys with a counter of {} or more have at least {} a minute: {keys}",
            lfu::SATURATED,
            rule.most()
        ),
    };
    Some(format!(
        "accesses are estimated from LFU counters, as a server with lfu-log-factor {log_factor} and lfu-decay-time \
         {decay_minutes} counts{bound}"
    ))
}

/// The meaning of sizes of RDB files, if the same for all.
fn sizes(seen: &ReadStats) -> Option<Sizes> {
    let is_there = |notice| seen.count(notice) > 0;
    let is_memory = is_there(Notice::Estimated) || is_there(Notice::Measured);
    match (is_memory, is_there(Notice::Serialized)) {
        (true, false) => Some(Sizes::Memory),
        (false, true) => Some(Sizes::Serialized),
        _ => None,
    }
}

/// The hash policy, unless it is the default; patterns of a policy may contain parts of names.
pub(crate) fn policy(policy: &Policy, with_patterns: bool) -> Option<Name> {
    let text = match policy {
        Policy::Patterns(_) if !with_patterns => Name::from("regex:..."),
        _ => Name::from(policy.to_string().as_str()),
    };
    (!policy.is_oss()).then_some(text)
}

/// A note on the hash policy.
pub(crate) fn policy_note(policy: &Name) -> String {
    format!(
        "hashed by --policy {policy}: slots and tags are those of that policy, not of CLUSTER KEYSLOT"
    )
}
