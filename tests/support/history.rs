//! Reports of eight months, as input for `slotscope capacity`.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::run::{Scratch, stderr};
use serde_json::Value;

pub const MONTH_SECS: f64 = 365.25 * 86_400.0 / 12.0;
/// 2024-11-01.
pub const START: u64 = 1_730_419_200;

/// Analyzes a dump with these numbers of keys and tags into a directory; the file's time is `month` months after the
/// start.
pub fn monthly(
    scratch: &Scratch,
    month: u32,
    keys: usize,
    tags: &[(&str, usize)],
    flags: &[&str],
) -> String {
    let users = (0..keys).map(|i| format!("user:{i},{}\n", 90 + i % 21));
    let key = |tag: &str, i| format!("app:{{{tag}}}:{i},100\n");
    let tagged = tags
        .iter()
        .flat_map(|(tag, count)| (0..*count).map(move |i| key(tag, i)));
    let (rows, name): (String, _) = (users.chain(tagged).collect(), format!("{month}.csv"));
    let dump = scratch.file(&name, format!("key,size\n{rows}"));
    set_written(&dump, START + (f64::from(month) * MONTH_SECS) as u64);
    analyze(scratch, &name, &format!("r{month}"), flags)
}

/// The report of a dump in the directory `out`, without the files that are slow to draw.
pub fn analyze(scratch: &Scratch, dump: &str, out: &str, flags: &[&str]) -> String {
    let nodes = ["--nodes", "3"];
    let said = scratch.run(&[&["analyze", dump, "--json"], &nodes[..], flags].concat());
    // A dump without keys yields a report, and an error for cron.
    assert!(!said.stdout.is_empty(), "{}", stderr(&said));
    fs::create_dir_all(scratch.path(out)).unwrap();
    scratch.file(&format!("{out}/report.json"), &said.stdout);
    String::from(out)
}

pub fn set_written(path: &Path, secs: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(secs);
    file.set_modified(at).unwrap();
}

/// Eight months: growth of 6% a month, one tag that appears, one that disappears, one that does both.
pub fn eight_months(scratch: &Scratch) -> Vec<String> {
    let month = |month: u32| {
        let wave = [1.01, 0.99, 1.0, 1.005, 0.99, 1.01, 1.0, 0.995][month as usize];
        let keys = (1000.0 * 1.06f64.powf(f64::from(month)) * wave) as usize;
        let mut tags = vec![("stays", 50)];
        if month >= 5 {
            tags.push(("comes", 40));
        }
        if month < 3 {
            tags.push(("goes", 30));
        }
        if (2..6).contains(&month) {
            tags.push(("visits", 20));
        }
        let flags: &[&str] = match month {
            4 => &["--maxmemory", "100kb", "--growth", "5"],
            _ => &[],
        };
        monthly(scratch, month, keys, &tags, flags)
    };
    (0..8).map(month).collect()
}

pub fn run(scratch: &Scratch, reports: &[String], flags: &[&str]) -> std::process::Output {
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    scratch.run(&[&["capacity"], &reports[..], flags].concat())
}

/// The report in a directory, changed by `change` and written to `name`.
pub fn edited(scratch: &Scratch, from: &str, name: &str, change: impl Fn(&mut Value)) -> String {
    let text = fs::read(scratch.path(from).join("report.json")).unwrap();
    let mut report: Value = serde_json::from_slice(&text).unwrap();
    change(&mut report);
    scratch.file(name, report.to_string());
    String::from(name)
}
