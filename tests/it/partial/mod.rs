//! A report from parts equals the report of one process: any dumps, any splits, any merge tree.
//!
//! `SLOTSCOPE_PARTIAL_CASES` is the number of cases.

mod commands;
mod files;

use std::path::PathBuf;

use regex::Regex;

use slotscope::Analysis;
use slotscope::format::FORMATS;
use slotscope::partial::job::Job;
use slotscope::partial::{self, Flags, Listing, Plan, Split};
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::source::find;
use slotscope::topology::Topology;

use testkit::dumps::{gzip, many_names, spoiled};
use testkit::env::size;
use testkit::forms::{self, NODES};
use testkit::prelude::*;
use testkit::rng::Rng;

/// Inputs, and the settings for counting them.
struct Case {
    name: String,
    paths: Vec<PathBuf>,
    chunk: usize,
    flags: Flags,
}

fn options(threads: usize) -> Options {
    Options {
        threads: Some(threads),
        ..Options::default()
    }
}

fn json(summary: impl serde::Serialize) -> Value {
    let mut report = serde_json::to_value(summary).unwrap();
    report.as_object_mut().unwrap().remove("run").unwrap();
    report
}

/// A report without the line numbers of rejected rows and unreadable values: in parts only their bytes are known.
fn without_lines(report: &Value) -> Value {
    let lines = Regex::new(r#""line":(?:null|[0-9]+),|,? (?:in |at )?line [0-9,]*[0-9]"#).unwrap();
    serde_json::from_str(&lines.replace_all(&report.to_string(), "")).unwrap()
}

impl Case {
    fn of(path: PathBuf, chunk: usize) -> Self {
        Case {
            name: path.display().to_string(),
            paths: vec![path],
            chunk,
            flags: Flags::default(),
        }
    }

    /// The result of one process.
    fn whole(&self) -> Result<Value, String> {
        let found = find(&self.paths).unwrap();
        let mut own = options(2);
        own.only.database = self.flags.read.db;
        let reading = Reading::new(found, own).unwrap();
        let mut analysis = Analysis::new().most_tags(0);
        if let Some(listing) = &self.flags.listing {
            let topology = Topology::parse(&listing.source, listing.text.as_bytes()).unwrap();
            analysis = analysis.topology(topology);
        }
        let summary = analysis.run_on(reading);
        summary.map(json).map_err(|error| error.to_string())
    }

    fn plan(&self) -> Result<Plan, String> {
        let reading = Reading::new(find(&self.paths).unwrap(), options(2)).unwrap();
        let planned = partial::plan_of(self.flags.clone(), reading, self.chunk);
        planned
            .map(|(plan, _)| plan)
            .map_err(|error| error.to_string())
    }

    /// The report from parts, whose splits and merges are random.
    fn in_parts(&self, rng: &mut Rng) -> Result<Value, String> {
        let plan = self.plan()?;
        let plan = Plan::from_bytes(&plan.to_bytes()).unwrap();
        let told = |error: slotscope::Error| error.to_string();
        let mut tallies = Vec::new();
        for job in jobs(&plan, rng) {
            tallies.push(partial::tally(&plan, &job, &options(1 + rng.below(3))).map_err(told)?);
        }
        let all = merged(tallies.clone(), rng).map_err(told)?;
        let again = merged(tallies.clone(), rng).map_err(told)?;
        assert!(all == again, "{}: equal tallies are equal bytes", self.name);
        if let Some(part) = tallies.first() {
            let twice = partial::merge(&[&all, part]).unwrap_err().to_string();
            twice.says("were counted twice");
        }
        let mut again = Vec::new();
        if partial::needs_recount(&all).map_err(told)? {
            for job in jobs(&plan, rng) {
                again.push(partial::recount(&all, &job, &options(2)).map_err(told)?);
            }
            if rng.one_in(2) {
                again = vec![merged(again, rng).map_err(told)?];
            }
        }
        let summary = partial::report(&Analysis::new(), &all, &again);
        summary.map(json).map_err(told)
    }
}

/// All chunks of a plan in random splits, a few per job.
fn jobs(plan: &Plan, rng: &mut Rng) -> Vec<Vec<Split>> {
    let mut splits = Vec::new();
    let most = [1, 2, 5, 1000][rng.below(4)];
    for (number, input) in plan.inputs.iter().enumerate() {
        let mut from = 0;
        while from < input.chunks {
            let to = (from + 1 + rng.below(most) as u64).min(input.chunks);
            splits.push(Split {
                input: number as u32,
                from,
                to,
                bytes: 0,
            });
            from = to;
        }
    }
    let mut jobs: Vec<Vec<Split>> = vec![Vec::new(); 1 + rng.below(6)];
    for split in splits {
        let at = rng.below(jobs.len());
        jobs[at].push(split);
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

fn check(case: &Case, rng: &mut Rng) {
    match (case.in_parts(rng), case.whole()) {
        (Ok(found), Ok(expected)) => {
            let places = differences(&without_lines(&found), &without_lines(&expected));
            assert!(places.is_empty(), "{}: {places}", case.name);
        }
        (Err(_), Err(_)) => {}
        (found, expected) => panic!("{}: {:?} for {:?}", case.name, found.err(), expected.err()),
    }
}

#[test]
fn any_dumps_in_any_splits_give_the_report_of_one_process() {
    let cases: u64 = size("SLOTSCOPE_PARTIAL_CASES", 2 * FORMATS.len() as u64);
    for seed in 0..cases {
        let mut rng = Rng::new(seed);
        let format = FORMATS[seed as usize % FORMATS.len()].name();
        let scratch = Scratch::new();
        let mut paths = Vec::new();
        for i in 0..1 + rng.below(3) {
            let bytes = rng.log_between(2e3, 150e3) as usize;
            let dump = spoiled(forms::dump(format, bytes, &mut rng), &mut rng);
            let (dump, end) = match rng.below(8) {
                0 => (gzip(&dump), ".gz"),
                1 => (zstd::encode_all(&dump[..], 1).unwrap(), ".zst"),
                _ => (dump, ""),
            };
            paths.push(scratch.file(&format!("{i}{end}"), dump));
        }
        let listing = rng.one_in(2).then(|| Listing {
            source: "nodes".into(),
            text: NODES.into(),
        });
        let case = Case {
            name: format!("{format} of seed {seed}"),
            paths,
            chunk: rng.log_between(300.0, 70e3) as usize,
            flags: Flags {
                listing,
                ..Flags::default()
            },
        };
        check(&case, &mut rng);
    }
}

#[test]
fn names_that_are_too_many_to_count_give_the_report_of_one_process() {
    // They also need a second pass for patterns.
    let scratch = Scratch::with("keys", many_names(11).join("\n") + "\n");
    let case = Case::of(scratch.path("keys"), 50_000);
    let plan = case.plan().unwrap();
    let all = partial::tally(&plan, &plan.splits(1 << 20), &options(2)).unwrap();
    assert!(partial::needs_recount(&all).unwrap());
    check(&case, &mut Rng::new(11));
}

#[test]
fn a_source_of_the_caller_is_read_in_its_place() {
    let scratch = Scratch::with("keys", "a\nb\n");
    let path = scratch.path("keys");
    let plan = partial::plan(Flags::default(), &[&path], &options(1)).unwrap();
    let splits = plan.splits(1);
    let opened = std::cell::Cell::new(0);
    let job = Job::on(&plan, &splits, &options(1), |number, input| {
        opened.set(opened.get() + 1);
        assert_eq!((number, input.path()), (0, path.clone()));
        input.source(&Default::default())
    });
    let tally = job.unwrap().tally(None).unwrap();
    assert_eq!((tally.tallies.slots.total(), opened.get()), (2, 1));
}

/// Counts each chunk on its own.
fn in_chunks(text: &str, chunk: usize) -> (Value, Value) {
    let scratch = Scratch::with("dump", text);
    let case = Case::of(scratch.path("dump"), chunk);
    let plan = case.plan().unwrap();
    assert!(plan.inputs[0].chunks > 40);
    let tally = |split: Split| partial::tally(&plan, &[split], &options(1)).unwrap();
    let mut parts: Vec<_> = plan.splits(1).into_iter().map(tally).collect();
    parts.reverse();
    let all = partial::merge(&parts).unwrap();
    let found = partial::report(&Analysis::new(), &all, &[] as &[Vec<u8>]).unwrap();
    (json(found), case.whole().unwrap())
}

#[test]
fn the_first_row_of_a_list_is_known_in_parts() {
    let late: String = (2..200).map(|i| format!("{i}) \"key:{i}\"\n")).collect();
    let (found, expected) = in_chunks(&late, 30);
    let warnings = expected["input"]["warnings"].to_string();
    warnings.says("first row");
    assert_eq!(found, expected);
}

#[test]
fn rejected_rows_have_their_bytes_and_quoted_rows_their_starts() {
    let row = |i: usize| match i {
        150 | 170 => format!("\"open {i},\n"),
        i => format!("\"key\n{i}\",{i}\n"),
    };
    let text = format!("key,size\n{}", (0..200).map(row).collect::<String>());
    let (found, expected) = in_chunks(&text, 40);
    assert_eq!(expected["input"]["rejected"]["first"][0]["line"], 302);
    assert_eq!(found["input"]["rejected"]["first"][0]["line"], Value::Null);
    assert_eq!(without_lines(&found), without_lines(&expected));
}
