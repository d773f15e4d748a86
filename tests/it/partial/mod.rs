//! Reports from parts: what is known there of rows and lines, files, and commands. That they equal the report of one process
//! for any splits and merges is part of the law.

mod commands;
mod files;

use std::path::PathBuf;

use slotscope::Analysis;
use slotscope::partial::job::Job;
use slotscope::partial::{self, Flags, Plan, Split};
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::source::find;
use testkit::prelude::*;

use crate::law::ways::without_lines;

/// An input, and the bytes of a chunk of it.
struct Case {
    path: PathBuf,
    chunk: usize,
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

impl Case {
    fn reading(&self) -> Reading {
        Reading::new(find(&[&self.path]).unwrap(), options(2)).unwrap()
    }

    /// The result of one process.
    fn whole(&self) -> Value {
        json(Analysis::new().most_tags(0).run_on(self.reading()).unwrap())
    }

    fn plan(&self) -> Plan {
        let planned = partial::plan_of(Flags::default(), self.reading(), self.chunk);
        planned.unwrap().0
    }
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
    let path = scratch.path("dump");
    let case = Case { path, chunk };
    let plan = case.plan();
    assert!(plan.inputs[0].chunks > 40);
    let tally = |split: Split| partial::tally(&plan, &[split], &options(1)).unwrap();
    let mut parts: Vec<_> = plan.splits(1).into_iter().map(tally).collect();
    parts.reverse();
    let all = partial::merge(&parts).unwrap();
    let found = partial::report(&Analysis::new(), &all, &[] as &[Vec<u8>]).unwrap();
    (json(found), case.whole())
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
