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
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use testkit::prelude::*;

/// The flags for two reports with different files: each removes files of the other.
const KINDS: [&str; 2] = ["--only slots", "--maxmemory 1gb"];

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
        let line = self.next_line();
        self.scratch.command(&words(&line))
    }

    /// Its command line.
    fn next_line(&mut self) -> String {
        self.runs += 1;
        self.scratch.file("dump.csv", dump(self.runs));
        let flags = KINDS[self.runs as usize % KINDS.len()];
        format!(
            "analyze dump.csv --out out --title {} {flags}",
            title(self.runs)
        )
    }

    /// The same run, started by `bash` after `setup`.
    fn next_after(&mut self, setup: &str) -> Output {
        let line = self.next_line();
        self.scratch.shell(format!("{setup}exec slotscope {line}"))
    }

    /// Sends a signal to a run after some time, and waits for its end; returns the report then, and the output.
    fn disturb(&mut self, mut run: Command, after: Duration, signal: &str) -> (Report, Output) {
        run.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = run.spawn().unwrap();
        thread::sleep(after);
        let mut kill = Command::new("kill");
        kill.args(["-s", signal, &child.id().to_string()]);
        let _ = kill.stderr(Stdio::null()).status();
        let _ = child.try_wait();
        let run = child.wait_with_output().unwrap();
        let outcome = self.outcome(&run);
        (
            outcome.unwrap_or_else(|what| panic!("{signal}: {what}")),
            run,
        )
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

/// A dump of this many keys.
fn dump(keys: u64) -> String {
    let rows = (0..keys).map(|i| format!("{{tag}}:{i},7\n"));
    format!("key,size\n{}", rows.collect::<String>())
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
    let read = |name: &str| {
        let bytes = fs::read(directory.join(name)).map_err(|error| format!("{name}: {error}"));
        bytes.map(|bytes| (String::from_utf8_lossy(&bytes).into_owned(), bytes))
    };
    let json: Value = serde_json::from_str(&read("report.json")?.0)
        .map_err(|error| format!("report.json: {error}"))?;
    let keys = json["input"]["keys"].as_u64();
    for (name, column, rows) in [("slots.csv", 2, 16384), ("nodes.csv", 4, 3)] {
        let text = read(name)?.0;
        let counts = text
            .lines()
            .skip(1)
            .map(|row| row.split(',').nth(column)?.parse().ok());
        let counts: Option<Vec<u64>> = counts.collect();
        let sums = counts.map(|counts| (counts.len(), Some(counts.iter().sum())));
        if sums != Some((rows, keys)) {
            return Err(format!(
                "{name} has {sums:?} rows and keys, report.json {keys:?}"
            ));
        }
    }
    let keys = keys.ok_or("report.json without keys")?;
    let (html, said) = (read("report.html")?.0, title(keys));
    if !html.ends_with("</html>") || !html.contains(&said) {
        return Err(format!("report.html is not whole, or not called {said}"));
    }
    let expected = files_of(&json);
    let entries = fs::read_dir(directory).map_err(|error| error.to_string())?;
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<_> = names.collect();
    found.sort();
    for name in found.iter().filter(|name| name.ends_with(".png")) {
        if !read(name)?.1.ends_with(b"IEND\xae\x42\x60\x82") {
            return Err(format!("{name} is not whole"));
        }
    }
    let is_it = found == expected;
    is_it
        .then_some(keys)
        .ok_or(format!("there are {found:?} and not {expected:?}"))
}
