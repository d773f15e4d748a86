//! The ways in which a dump is read, and the part of a report that each leaves as it is.

use std::io;
use std::sync::Arc;

use regex::Regex;
use slotscope::Analysis;
use slotscope::options::Listing;
use slotscope::partial::{self, Flags, Plan, Split};
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::source::memory::memory;
use slotscope::source::{Found, Source, SourceFacts, find};
use slotscope::summary::Summary;
use slotscope::topology::Topology;
use testkit::dumps::gzip;
use testkit::forms::NODES;
use testkit::prelude::*;
use testkit::rng::Rng;

use super::Case;

/// How tags are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pass {
    /// All of them, by name.
    Table,
    /// In rows of counters, and the heaviest by name in a second pass.
    Rows,
    /// As far as one pass goes.
    Once,
}

/// Where the bytes come from.
#[derive(Debug, Clone, Copy)]
enum From {
    Memory,
    Files,
    GzipFiles,
    /// Compressed, in reads of at most this many bytes.
    Gzip(usize),
    Zstd(usize),
    Pipe(usize),
    /// Files counted in parts, whose splits and merges are random.
    Parts(u64),
}

#[derive(Debug)]
pub(super) struct Way {
    pub pass: Pass,
    from: From,
    threads: usize,
    chunk: usize,
    kernel: &'static hashslot::Kernel,
    /// Whether the last input comes first.
    is_turned: bool,
}

/// The result of a run.
pub(super) enum Read {
    Whole(Box<Summary>),
    Merged(Value),
    Failed(String),
}

impl Pass {
    fn analysis(self) -> Analysis {
        let topology = Topology::parse("nodes", NODES.as_bytes()).unwrap();
        let analysis = Analysis::new().topology(topology);
        match self {
            Pass::Table => analysis,
            Pass::Rows => analysis.most_tags(0),
            Pass::Once => analysis.most_tags(0).one_pass(true),
        }
    }
}

impl Way {
    /// On one thread, from memory.
    pub(super) fn simple(pass: Pass) -> Self {
        Way {
            pass,
            from: From::Memory,
            threads: 1,
            chunk: 2 << 20,
            kernel: hashslot::best(),
            is_turned: false,
        }
    }

    /// One of several kinds in turn. The order of inputs may be another one where no row is rejected: the first of these are
    /// listed.
    pub(super) fn drawn(rng: &mut Rng, turn: usize, may_turn: bool) -> Self {
        let step = *rng.pick(&[1000, 4096, 65_537, 1 << 22]);
        let from = match turn % 7 {
            0 => From::Files,
            1 => From::GzipFiles,
            2 => From::Gzip(step),
            3 => From::Zstd(step),
            4 => From::Pipe(step),
            5 => From::Parts(rng.next()),
            _ => From::Memory,
        };
        let kernels: Vec<_> = hashslot::available().collect();
        Way {
            pass: match from {
                From::Pipe(_) => Pass::Once,
                From::Parts(_) => Pass::Rows,
                _ => *rng.pick(&[Pass::Table, Pass::Table, Pass::Rows]),
            },
            from,
            threads: *rng.pick(&[1, 2, 4, 16]),
            chunk: rng.log_between(5e3, 2e6) as usize,
            kernel: kernels[rng.below(kernels.len())],
            is_turned: may_turn && rng.one_in(3),
        }
    }

    pub(super) fn read(&self, case: &Case) -> Read {
        let mut dumps: Vec<_> = (0..).map(|i: u32| i.to_string()).zip(&case.dumps).collect();
        if self.is_turned {
            dumps.reverse();
        }
        let scratch = Scratch::new();
        let put = |(name, dump): &(String, &Vec<u8>)| match self.from {
            From::GzipFiles => scratch.file(name, gzip(dump)),
            _ => scratch.file(name, dump),
        };
        let stream = |name: &str, bytes: Vec<u8>, step, is_rereadable| -> Box<dyn Source> {
            let facts = SourceFacts {
                is_rereadable,
                ..SourceFacts::of(name, None)
            };
            Box::new(Steps {
                bytes: bytes.into(),
                step,
                facts,
            })
        };
        let source = |(name, dump): &(String, &Vec<u8>)| match self.from {
            From::Gzip(step) => stream(name, gzip(dump), step, true),
            From::Zstd(step) => stream(name, zstd::encode_all(&dump[..], 1).unwrap(), step, true),
            From::Pipe(step) => stream(name, dump.to_vec(), step, false),
            _ => memory(name, dump),
        };
        let found = match self.from {
            From::Files | From::GzipFiles | From::Parts(_) => {
                find(&dumps.iter().map(put).collect::<Vec<_>>()).unwrap()
            }
            _ => Found {
                sources: dumps.iter().map(source).collect(),
                ..Found::default()
            },
        };
        let options = Options {
            kernel: self.kernel,
            format: case.format,
            threads: Some(self.threads),
            chunk: Some(self.chunk),
            ..Options::default()
        };
        let reading = Reading::new(found, options).unwrap();
        let read = match self.from {
            From::Parts(seed) => {
                in_parts(reading, self.chunk, &mut Rng::new(seed)).map(Read::Merged)
            }
            _ => self
                .pass
                .analysis()
                .run_on(reading)
                .map(|summary| Read::Whole(Box::new(summary))),
        };
        read.unwrap_or_else(|error| Read::Failed(error.to_string()))
    }

    /// The first places where a report differs from that of its pass, except for what this way cannot know.
    pub(super) fn differences(&self, found: &Read, expected: &Read) -> String {
        let (found, expected) = match (found, expected) {
            (Read::Failed(_), Read::Failed(_)) => return String::new(),
            (Read::Failed(error), _) | (_, Read::Failed(error)) => return error.clone(),
            (found, expected) => (found.json(), expected.json()),
        };
        let shown = |report: Value| match self.from {
            From::Pipe(_) => as_of_a_pipe(report),
            From::Parts(_) => without_lines(&report),
            _ => report,
        };
        let shown = |report| {
            let shown = shown(report);
            if self.is_turned {
                without_files(shown)
            } else {
                shown
            }
        };
        differences(&shown(found), &shown(expected))
    }
}

impl Read {
    /// The report without the names of files.
    fn json(&self) -> Value {
        let report = match self {
            Read::Whole(summary) => serde_json::to_value(summary).unwrap(),
            Read::Merged(report) => report.clone(),
            Read::Failed(error) => panic!("{error}"),
        };
        without_names(report)
    }
}

/// The report from parts.
fn in_parts(reading: Reading, chunk: usize, rng: &mut Rng) -> slotscope::Result<Value> {
    let mut flags = Flags {
        listing: Some(Listing {
            source: "nodes".into(),
            text: NODES.into(),
        }),
        ..Flags::default()
    };
    let options = reading.options.clone();
    if let Some(format) = options.format {
        flags.read.format = format.name().into();
    }
    let (plan, _) = partial::plan_of(flags, reading, chunk)?;
    let plan = Plan::from_bytes(&plan.to_bytes())?;
    let tally = |job: Vec<Split>| partial::tally(&plan, &job, &options);
    let tallies: Vec<_> = jobs(&plan, rng)
        .into_iter()
        .map(tally)
        .collect::<Result<_, _>>()?;
    let all = merged(tallies.clone(), rng)?;
    assert!(
        all == merged(tallies.clone(), rng)?,
        "equal tallies are equal bytes"
    );
    if let Some(part) = tallies.first() {
        let twice = partial::merge(&[&all, part]).unwrap_err().to_string();
        twice.says("were counted twice");
    }
    let recount = |job: Vec<Split>| partial::recount(&all, &job, &options);
    let mut again = Vec::new();
    if partial::needs_recount(&all)? {
        again = jobs(&plan, rng)
            .into_iter()
            .map(recount)
            .collect::<Result<_, _>>()?;
        if rng.one_in(2) {
            again = vec![merged(again, rng)?];
        }
    }
    let summary = partial::report(&Analysis::new(), &all, &again)?;
    Ok(serde_json::to_value(summary).unwrap())
}

/// All chunks of a plan in random splits, a few for each job.
fn jobs(plan: &Plan, rng: &mut Rng) -> Vec<Vec<Split>> {
    let most = *rng.pick(&[1, 2, 5, 1000]);
    let mut jobs: Vec<Vec<Split>> = vec![Vec::new(); 1 + rng.below(6)];
    for (input, of_input) in (0..).zip(&plan.inputs) {
        let mut from = 0;
        while from < of_input.chunks {
            let to = (from + 1 + rng.below(most) as u64).min(of_input.chunks);
            let at = rng.below(jobs.len());
            jobs[at].push(Split {
                input,
                from,
                to,
                bytes: 0,
            });
            from = to;
        }
    }
    jobs.retain(|job| !job.is_empty());
    jobs
}

/// Merges random pairs of files until one is left.
fn merged(mut files: Vec<Vec<u8>>, rng: &mut Rng) -> slotscope::Result<Vec<u8>> {
    while files.len() > 1 {
        let a = files.swap_remove(rng.below(files.len()));
        let b = files.swap_remove(rng.below(files.len()));
        files.push(partial::merge(&[a, b])?);
    }
    partial::merge(&files)
}

/// Without the run and the names of files, and the commands with them.
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
    report.as_object_mut().unwrap().remove("run").unwrap();
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

fn without_files(mut report: Value) -> Value {
    report["input"].as_object_mut().unwrap().remove("files");
    report
}

/// Without the line numbers of rejected rows and unreadable values: in parts only their bytes are known.
pub(crate) fn without_lines(report: &Value) -> Value {
    let lines = Regex::new(r#""line":(?:null|[0-9]+),|,? (?:in |at )?line [0-9,]*[0-9]"#).unwrap();
    serde_json::from_str(&lines.replace_all(&report.to_string(), "")).unwrap()
}

/// The part that does not depend on how often names are read, without lines of rejected rows.
fn as_of_a_pipe(mut report: Value) -> Value {
    let rejected = report["input"]["rejected"]["first"].as_array_mut().unwrap();
    rejected
        .iter_mut()
        .for_each(|row| row["line"] = Value::Null);
    let parts = [
        "input",
        "lengths",
        "sizes",
        "types",
        "ttl",
        "duplicates",
        "slots",
    ];
    let members = report.as_object_mut().unwrap();
    members.retain(|name, _| parts.contains(&name.as_str()));
    let slots = members["slots"].as_object_mut().unwrap();
    slots.retain(|name, _| name == "keys" || name == "bytes");
    report
}

/// A source that is read at most `step` bytes at a time.
#[derive(Debug)]
struct Steps {
    bytes: Arc<[u8]>,
    step: usize,
    facts: SourceFacts,
}

impl Source for Steps {
    fn facts(&self) -> &SourceFacts {
        &self.facts
    }

    fn open(&self) -> io::Result<Box<dyn io::Read + Send>> {
        Ok(Box::new(Stepping(self.bytes.clone(), 0, self.step)))
    }
}

struct Stepping(Arc<[u8]>, usize, usize);

impl io::Read for Stepping {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Stepping(bytes, at, step) = self;
        let len = into.len().min(*step).min(bytes.len() - *at);
        into[..len].copy_from_slice(&bytes[*at..*at + len]);
        *at += len;
        Ok(len)
    }
}
