//! Same input, same report: a dump in any format gives one report.json, by file, pipe or compressed, for any read
//! sizes, and on any threads and kernel.
//!
//! `SLOTSCOPE_REPORT_CASES` is the number of dumps. Some are truncated, some are damaged.

use std::io::{self, Read};
use std::sync::Arc;

use slotscope::Analysis;
use slotscope::format::{FORMATS, Format};
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::source::memory::Memory;
use slotscope::source::{Found, Source, SourceFacts, find};
use slotscope::topology::Topology;
use testkit::dumps::{gzip, many_names, spoiled};
use testkit::env::size;
use testkit::forms::{self, NODES};
use testkit::prelude::*;
use testkit::rng::Rng;

/// A source read sequentially, at most `step` bytes at a time.
#[derive(Debug)]
struct Trickle {
    bytes: Arc<[u8]>,
    step: usize,
    facts: SourceFacts,
}

impl Trickle {
    /// That can be reopened, like a compressed file and unlike a pipe, if `again`.
    fn of(bytes: Arc<[u8]>, step: usize, again: bool) -> Self {
        let facts = SourceFacts {
            is_rereadable: again,
            ..SourceFacts::of("dump", None)
        };
        Trickle { bytes, step, facts }
    }
}

struct Stepping(Arc<[u8]>, usize, usize);

impl Read for Stepping {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Stepping(bytes, at, step) = self;
        let len = into.len().min(*step).min(bytes.len() - *at);
        into[..len].copy_from_slice(&bytes[*at..*at + len]);
        *at += len;
        Ok(len)
    }
}

impl Source for Trickle {
    fn facts(&self) -> &SourceFacts {
        &self.facts
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Stepping(self.bytes.clone(), 0, self.step)))
    }
}

/// The outcome of a run: a report or an error.
type Outcome = Result<Value, String>;

/// The way in which a dump is read.
struct How {
    format: Option<&'static dyn Format>,
    threads: usize,
    kernel: &'static hashslot::Kernel,
}

impl How {
    fn report(&self, sources: Vec<Box<dyn Source>>) -> Outcome {
        let options = Options {
            kernel: self.kernel,
            format: self.format,
            threads: Some(self.threads),
            ..Options::default()
        };
        let found = Found {
            sources,
            ..Default::default()
        };
        let topology = Topology::parse("nodes", NODES.as_bytes()).unwrap();
        let reading = Reading::new(found, options).unwrap();
        let summary = Analysis::new().topology(topology).run_on(reading);
        let summary = summary.map_err(|error| error.to_string())?;
        let mut report = serde_json::to_value(&summary).unwrap();
        report.as_object_mut().unwrap().remove("run").unwrap();
        Ok(report)
    }
}

/// Removes file names and the commands with them.
fn without_names(mut report: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members.iter_mut() {
                    if name == "command" || name == "file" {
                        *value = Value::Null;
                    }
                    walk(value);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut report);
    let input = &mut report["input"];
    for warning in input["warnings"].as_array_mut().unwrap() {
        let text = warning.text();
        *warning = text.split_once(": ").map_or(text, |(_, said)| said).into();
    }
    let files = input["files"].as_array_mut().unwrap();
    files.iter_mut().for_each(|file| file["name"] = Value::Null);
    report
}

/// The part of a report that does not depend on a pipe: without lines of rejected rows, and with bounds for names that
/// are too many to list.
fn as_of_a_pipe(mut report: Value, in_one_pass: bool) -> Value {
    let rejected = report["input"]["rejected"]["first"].as_array_mut().unwrap();
    rejected
        .iter_mut()
        .for_each(|row| row["line"] = Value::Null);
    if !in_one_pass {
        let parts = ["input", "lengths", "sizes", "types", "ttl", "duplicates"];
        let mut kept: serde_json::Map<_, _> = std::mem::take(report.as_object_mut().unwrap());
        kept.retain(|name, _| parts.contains(&name.as_str()) || name == "slots");
        let slots = kept["slots"].as_object_mut().unwrap();
        slots.retain(|name, _| name == "keys" || name == "bytes");
        report = Value::Object(kept);
    }
    report
}

#[track_caller]
fn assert_same(case: &str, way: &str, found: &Outcome, expected: &Outcome) {
    let places = match (found, expected) {
        (Ok(found), Ok(expected)) => differences(found, expected),
        (Err(_), Err(_)) => String::new(),
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => error.clone(),
    };
    assert!(places.is_empty(), "{case}: {way}: {places}");
}

fn check(format: &'static dyn Format, seed: u64) {
    let mut rng = Rng::new(seed);
    let most = if rng.one_in(8) { 9e6 } else { 400e3 };
    let bytes = rng.log_between(70e3, most) as usize;
    let dump = spoiled(forms::dump(format.name(), bytes, &mut rng), &mut rng);
    let case = format!("{} of seed {seed}, {} bytes", format.name(), dump.len());
    let format = rng.one_in(3).then_some(format);
    let kernels: Vec<_> = hashslot::available().collect();
    let mut how = |threads: usize| How {
        format,
        threads,
        kernel: kernels[rng.below(kernels.len())],
    };

    let file = |dump: &[u8]| -> Vec<Box<dyn Source>> { vec![Box::new(Memory::new("dump", dump))] };
    let whole = how(1).report(file(&dump));
    for threads in [2, 4] {
        let found = how(threads).report(file(&dump));
        assert_same(&case, &format!("{threads} threads"), &found, &whole);
    }
    let stream = |bytes: Vec<u8>, step: usize, again: bool| -> Vec<Box<dyn Source>> {
        let bytes = bytes.into();
        vec![Box::new(Trickle::of(bytes, step, again))]
    };
    let level = zstd::encode_all(&dump[..], 1).unwrap();
    for (way, bytes) in [("gzip", gzip(&dump)), ("zstd", level)] {
        let step = [1000, 70_000, 1 << 22][bytes.len() % 3];
        let found = how(2).report(stream(bytes, step, true));
        assert_same(&case, way, &found, &whole);
    }
    let once = how(1).report(stream(dump.clone(), 65_537, false));
    let is_exact =
        |once: &Value| ["tags", "patterns"].map(|part| &once[part]["exact"]) == [true; 2];
    let in_one_pass = once.as_ref().is_ok_and(is_exact);
    let shown = |report: &Outcome| {
        report
            .clone()
            .map(|report| as_of_a_pipe(report, in_one_pass))
    };
    assert_same(&case, "a pipe", &shown(&once), &shown(&whole));
    for step in [4096, 1 << 21] {
        let found = how(3).report(stream(dump.clone(), step, false));
        assert_same(&case, "a pipe in steps", &shown(&found), &shown(&once));
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump");
    for (way, bytes) in [("a file", dump.clone()), ("a gzip file", gzip(&dump))] {
        std::fs::write(&path, bytes).unwrap();
        let found = how(2).report(find(&[&path]).unwrap().sources);
        let nameless = |report: &Outcome| report.clone().map(without_names);
        assert_same(&case, way, &nameless(&found), &nameless(&whole));
    }
}

#[test]
fn a_dump_gives_one_report_however_it_is_read() {
    let cases: u64 = size("SLOTSCOPE_REPORT_CASES", FORMATS.len() as u64);
    for case in 0..cases {
        check(FORMATS[case as usize % FORMATS.len()], case);
    }
}

#[test]
fn names_that_are_too_many_to_count_give_one_report_on_every_run_in_any_order_of_files() {
    let text = many_names(7).join("\n") + "\n";
    let middle = text.len() / 2 + text[text.len() / 2..].find('\n').unwrap() + 1;
    let (a, b) = text.as_bytes().split_at(middle);
    let plain = |part: &[u8]| -> Box<dyn Source> { Box::new(Memory::new("dump", part)) };
    let gzipped =
        |part: &[u8]| -> Box<dyn Source> { Box::new(Trickle::of(gzip(part).into(), 10_000, true)) };
    let report = |threads: usize, sources: Vec<Box<dyn Source>>| {
        let how = How {
            format: None,
            threads,
            kernel: hashslot::best(),
        };
        let mut report = without_names(how.report(sources).unwrap());
        let files = report["input"].as_object_mut().unwrap().remove("files");
        assert!(files.is_some());
        Ok(report)
    };
    let whole = report(1, vec![plain(a), plain(b)]);
    let patterns = json!([{}, {"pattern": "<id>:<n>:{<id>}:<id>", "keys": 12_000}]);
    let tags = json!([{"tag": "common", "keys": 12_000}]);
    let patterns = json!({"exact": true, "coarseness": 4, "top": patterns});
    whole
        .as_ref()
        .unwrap()
        .has(json!({"patterns": patterns, "tags": {"top": tags}}));
    for threads in [2, 4] {
        let ways = [
            ("two files", vec![plain(b), plain(a)]),
            ("one file", vec![plain(text.as_bytes())]),
            ("gzip files", vec![gzipped(a), gzipped(b)]),
        ];
        for (way, sources) in ways {
            let case = format!("{threads} threads");
            assert_same(&case, way, &report(threads, sources), &whole);
        }
    }
}
