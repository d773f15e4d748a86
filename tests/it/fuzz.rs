//! The fuzz targets of fuzz/ on stable Rust: each runs on mutated seeds, the same ones every time.
//!
//! `SLOTSCOPE_FUZZ_CASES` is how many inputs a format gets, or `SLOTSCOPE_FUZZ_MINUTES` how long all of them take
//! together, with other inputs every time (`tests/fuzz MINUTES`). A failure prints the case and leaves its input in
//! target/tmp/fuzz/.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::support::env::size;
use crate::support::rng::Rng;
use slotscope::format::FORMATS;

#[path = "../../fuzz/src/targets/mod.rs"]
pub mod targets;

use targets::{MAX_INPUT_BYTES, TARGETS, Target};

/// Inputs for each format where the environment names no number; slower targets get fewer.
const CASES: u64 = 100_000;

/// Bytes that mean something to some parser.
const HOSTILE: &[u8] = b"\"\\\n\r,;:{}[]()*$-0129 \x00\x1b\xff\xef\xbb\xbf\tux";

/// A seed with a few faults: cut, flipped, spliced from two, repeated.
fn mutated(rng: &mut Rng, seeds: &[&[u8]]) -> Vec<u8> {
    let repeats = if rng.one_in(4) { 2 + rng.below(2) } else { 1 };
    let faults = if rng.one_in(2) { 1 } else { 1 + rng.below(4) };
    let mut input = rng.pick(seeds).repeat(repeats);
    for _ in 0..faults {
        let (at, len) = (rng.below(input.len() + 1), rng.below(12));
        match rng.below(9) {
            0 => input.truncate(at),
            1 => drop(input.drain(..at)),
            2 if at < input.len() => input[at] ^= 1 << rng.below(8),
            3 => {
                let other = rng.pick(seeds);
                input.splice(at..at, other[rng.below(other.len())..].iter().copied());
            }
            4 => {
                let bytes: Vec<u8> = (0..len).map(|_| *rng.pick(HOSTILE)).collect();
                input.splice(at..at, bytes);
            }
            // Another digit: sizes, counts and slots that are still well-formed.
            5 => {
                if let Some(digit) = input[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                    *digit = b'0' + rng.below(10) as u8;
                }
            }
            6 => drop(input.drain(at..(at + len).min(input.len()))),
            7 => input.extend_from_within(at..),
            _ => input
                .splice(at..(at + len).min(input.len()), rng.bytes(len))
                .for_each(drop),
        }
    }
    input.truncate(MAX_INPUT_BYTES);
    input
}

/// Writes the input of the case that panics.
struct Case<'a> {
    target: &'a Target,
    number: u64,
    input: &'a [u8],
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
        let file = folder.join(format!("{}-{}", self.target.name, self.number));
        let written =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, self.input));
        eprintln!(
            "target {}, case {}: {} ({written:?})",
            self.target.name,
            self.number,
            file.display()
        );
    }
}

/// Runs case after case while `goes_on` says so; how many there were, and how many inputs were accepted.
fn campaign(target: &Target, first: u64, goes_on: impl Fn(u64) -> bool) -> (u64, u64) {
    let seeds = (target.seeds)();
    let (mut cases, mut accepted) = (0, 0);
    while goes_on(cases) {
        let number = first + cases;
        let input = mutated(&mut Rng::new(number), &seeds);
        let case = Case {
            target,
            number,
            input: &input,
        };
        accepted += u64::from((target.run)(target.name, &input));
        drop(case);
        cases += 1;
    }
    (cases, accepted)
}

#[test]
fn mutated_inputs_break_no_target() {
    let minutes: f64 = size("SLOTSCOPE_FUZZ_MINUTES", 0.0);
    let share = Duration::from_secs_f64(minutes * 60.0 / TARGETS.len() as f64);
    let most: u64 = size("SLOTSCOPE_FUZZ_CASES", CASES);
    for target in TARGETS.iter() {
        let start = Instant::now();
        let (cases, accepted) = if share.is_zero() {
            campaign(target, 0, |cases| cases < most / target.cost)
        } else {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            campaign(target, now.as_nanos() as u64, |_| start.elapsed() < share)
        };
        println!(
            "{}: {cases} inputs, {accepted} accepted, {:.1?}",
            target.name,
            start.elapsed()
        );
        // A target that refuses nearly everything tests nothing.
        assert!(
            cases < 1000 || accepted * 50 >= cases,
            "{}: {accepted} of {cases}",
            target.name
        );
    }
}

#[test]
fn seeds_are_accepted_where_they_belong() {
    for target in TARGETS.iter() {
        let seeds = (target.seeds)();
        let accepted = seeds
            .iter()
            .filter(|seed| (target.run)(target.name, seed))
            .count();
        // The formats share their seeds; every other target accepts all of its seeds.
        let shares =
            target.name == "scan" || FORMATS.iter().any(|format| format.name() == target.name);
        let least = if shares { 1 } else { seeds.len() };
        assert!(
            accepted >= least,
            "{}: {accepted} of {} seeds",
            target.name,
            seeds.len()
        );
    }
}

#[test]
fn every_target_has_a_file() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for name in &names {
        let path = format!("fuzz_targets/{name}.rs");
        let code = std::fs::read_to_string(folder.join(&path)).unwrap_or_default();
        assert!(code.contains(&format!("target!(\"{name}\")")), "{path}");
        let entry = format!("name = \"{name}\"\npath = \"{path}\"\n");
        assert!(manifest.contains(&entry), "no [[bin]] for {name}");
    }
    let files = std::fs::read_dir(folder.join("fuzz_targets")).unwrap();
    assert_eq!(files.count(), names.len());
}
