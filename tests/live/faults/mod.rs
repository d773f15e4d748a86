//! Faults while a report is made: signals, a full disk, failing system calls, scarce resources, concurrent runs. In any
//! case, the directory contains the complete old or new report, and nothing else.

mod disturbed;
mod limited;
mod signals;
#[cfg(feature = "cloud")]
mod threads;
mod together;
mod traced;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use testkit::prelude::*;

/// The flags for two reports with different files: each removes files of the other.
const KINDS: [&[&str]; 2] = [&["--only", "slots"], &["--maxmemory", "1gb"]];

/// A directory with a report, and the means to make the next one.
struct Rig {
    scratch: Scratch,
    runs: u64,
}

impl Rig {
    fn new() -> Rig {
        let scratch = Scratch::new();
        let mut rig = Rig { scratch, runs: 0 };
        let first = rig.next().output().unwrap();
        assert_eq!(rig.outcome(&first), Ok(Report::New));
        rig
    }

    /// The next run: one more key than before, and other files.
    fn next(&mut self) -> Command {
        let arguments = self.next_arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.scratch.command(&arguments)
    }

    /// Its arguments.
    fn next_arguments(&mut self) -> Vec<String> {
        self.runs += 1;
        let rows = (0..self.runs).map(|i| format!("{{tag}}:{i},7\n"));
        let dump = format!("key,size\n{}", rows.collect::<String>());
        self.scratch.file("dump.csv", dump);
        let flags = KINDS[self.runs as usize % KINDS.len()];
        let words = ["analyze", "dump.csv", "--out", "out", "--title"];
        let words = words.iter().chain(flags).map(|word| (*word).to_owned());
        let mut words: Vec<String> = words.collect();
        words.insert(5, title(self.runs));
        words
    }

    /// The same run, started by `bash` after `setup`.
    fn next_after(&mut self, setup: &str) -> Command {
        let program = env!("CARGO_BIN_EXE_slotscope");
        let arguments = self.next_arguments().join(" ");
        let mut command = Command::new("bash");
        command.args(["-c", &format!("{setup}exec {program} {arguments}")]);
        command.current_dir(self.scratch.path("."));
        command
    }

    /// The report present after a run; an error if it is neither of them, or incomplete.
    fn outcome(&mut self, run: &Output) -> Result<Report, String> {
        let about = |what: &str| format!("run {}: {what}: {run:?}", self.runs);
        if run.status.code() == Some(101) {
            return Err(about("a panic"));
        }
        let keys = keys_of_whole(&self.scratch.path("out")).map_err(|what| about(&what))?;
        let report = match keys {
            keys if keys == self.runs => Report::New,
            keys if keys + 1 == self.runs => Report::Old,
            _ => return Err(about(&format!("a report of {keys} keys"))),
        };
        // The old one is that of the previous run: their numbers of keys differ by one, and so do the kinds of their
        // files.
        self.runs = keys;
        Ok(report)
    }
}

/// The title of the report on this many keys.
fn title(keys: u64) -> String {
    format!("report-of-{keys}-keys")
}

/// The report present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    Old,
    New,
}

/// The number of keys in the report in `directory`, if its files are complete, from one run, and the only ones.
fn keys_of_whole(directory: &Path) -> Result<u64, String> {
    let read =
        |name: &str| fs::read(directory.join(name)).map_err(|error| format!("{name}: {error}"));
    let json: Value = serde_json::from_slice(&read("report.json")?)
        .map_err(|error| format!("report.json: {error}"))?;
    let keys = json["input"]["keys"]
        .as_u64()
        .ok_or("report.json without keys")?;
    for (name, column, rows) in [("slots.csv", 2, 16384), ("nodes.csv", 4, 3)] {
        let text = String::from_utf8(read(name)?).map_err(|error| error.to_string())?;
        let counts = text.lines().skip(1).map(|row| {
            let count = row.split(',').nth(column);
            count.and_then(|count| count.parse::<u64>().ok())
        });
        let counts: Option<Vec<u64>> = counts.collect();
        let sums = counts.map(|counts| (counts.len(), counts.iter().sum()));
        if sums != Some((rows, keys)) {
            return Err(format!(
                "{name} has {sums:?} rows and keys, report.json {keys} keys"
            ));
        }
    }
    let html = String::from_utf8(read("report.html")?).map_err(|error| error.to_string())?;
    let said = title(keys);
    if !html.ends_with("</html>") || !html.contains(&said) {
        return Err(format!("report.html is not whole, or not called {said}"));
    }
    let expected = files_of(&json);
    let entries = fs::read_dir(directory).map_err(|error| error.to_string())?;
    let mut found: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    for name in found.iter().filter(|name| name.ends_with(".png")) {
        if !read(name)?.ends_with(b"IEND\xae\x42\x60\x82") {
            return Err(format!("{name} is not whole"));
        }
    }
    if found == expected {
        Ok(keys)
    } else {
        Err(format!("there are {found:?} and not {expected:?}"))
    }
}
