//! The fuzz targets of fuzz/ on stable Rust: each runs on mutated seeds, deterministically.
//!
//! `SLOTSCOPE_FUZZ_CASES` is the number of inputs per format, or `SLOTSCOPE_FUZZ_MINUTES` the time for all of them
//! together, with new inputs every time (`tests/fuzz MINUTES`); `SLOTSCOPE_FUZZ_TARGET` selects one. A failure prints
//! the case and leaves its input in target/tmp/fuzz/; the other targets continue. `SLOTSCOPE_FUZZ_TABLE` is a file for
//! a table of the results.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use slotscope::detect::FORMATS;
use testkit::env::{cases, size};
use testkit::rng::Rng;
use testkit::run::root;

#[expect(
    unreachable_pub,
    reason = "the targets are pub for the programs of fuzz/"
)]
#[path = "../../fuzz/src/targets/mod.rs"]
pub(crate) mod targets;

use targets::{MAX_INPUT_BYTES, TARGETS, Target};

/// Inputs per format unless the environment sets a number; slower targets get fewer.
const CASES: u64 = 4_000;

/// Bytes that are special to some parser.
const HOSTILE: &[u8] = b"\"\\\n\r,;:{}[]()*$-0129 \x00\x1b\xff\xef\xbb\xbf\tux";

/// The files in fuzz/seeds: inputs that once broke a target, or might.
fn seed_files() -> &'static [&'static [u8]] {
    static FILES: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
        let entries = std::fs::read_dir(root().join("fuzz/seeds")).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let read = |path: PathBuf| &*std::fs::read(path).unwrap().leak();
        paths.into_iter().map(read).collect()
    });
    &FILES
}

/// The tokens of fuzz/dictionary.
fn dictionary() -> &'static [Vec<u8>] {
    static TOKENS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let text = std::fs::read_to_string(root().join("fuzz/dictionary")).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(token).collect()
    });
    &TOKENS
}

/// The token in a line of a dictionary: double-quoted with `\\`, `\"` and `\xNN`.
fn token(line: &str) -> Vec<u8> {
    let inner = line
        .strip_prefix('"')
        .and_then(|line| line.strip_suffix('"'));
    let mut rest = inner.expect("a token is in double quotes").bytes();
    let mut token = Vec::new();
    while let Some(byte) = rest.next() {
        token.push(match byte {
            b'\\' => match rest.next().expect("an escape has two bytes") {
                b'x' => {
                    let digits: Vec<u8> = rest.by_ref().take(2).collect();
                    let digits = std::str::from_utf8(&digits).unwrap();
                    u8::from_str_radix(digits, 16).expect("two hexadecimal digits")
                }
                escaped => escaped,
            },
            byte => byte,
        });
    }
    token
}

/// A seed with a few mutations: truncated, flipped, spliced from two, repeated, with tokens from the dictionary.
fn mutated(rng: &mut Rng, seeds: &[&[u8]]) -> Vec<u8> {
    let repeats = if rng.one_in(4) { 2 + rng.below(2) } else { 1 };
    let faults = if rng.one_in(2) { 1 } else { 1 + rng.below(4) };
    let mut input = rng.pick(seeds).repeat(repeats);
    for _ in 0..faults {
        let (at, len) = (rng.below(input.len() + 1), rng.below(12));
        match rng.below(10) {
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
            // Another digit keeps sizes, counts and slots well-formed.
            5 => {
                if let Some(digit) = input[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                    *digit = b'0' + rng.below(10) as u8;
                }
            }
            6 => drop(input.drain(at..(at + len).min(input.len()))),
            7 => input.extend_from_within(at..),
            8 => drop(input.splice(at..at, rng.pick(dictionary()).iter().copied())),
            _ => input
                .splice(at..(at + len).min(input.len()), rng.bytes(len))
                .for_each(drop),
        }
    }
    input.truncate(MAX_INPUT_BYTES);
    input
}

/// Saves the input of a panicking case.
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
        let (name, number) = (self.target.name, self.number);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
        let file = folder.join(format!("{name}-{number}"));
        let written =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, self.input));
        eprintln!("target {name}, case {number}: {file:?} ({written:?})");
    }
}

/// Runs cases while `goes_on` returns true; returns the number of cases and of accepted inputs.
fn campaign(target: &Target, first: u64, goes_on: impl Fn(u64) -> bool) -> (u64, u64) {
    let mut seeds = (target.seeds)();
    if reads_dumps(target) {
        seeds.extend(seed_files());
    }
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

fn reads_dumps(target: &Target) -> bool {
    ["scan", "shapes"].contains(&target.name)
        || FORMATS.iter().any(|format| format.name() == target.name)
}

#[test]
fn mutated_inputs_break_no_target() {
    let minutes: f64 = size("SLOTSCOPE_FUZZ_MINUTES", 0.0);
    let mut broken = Vec::new();
    let mut table = String::from(
        "| target | inputs | inputs a second | minutes | accepted | broken |\n|---|--:|--:|--:|--:|--:|\n",
    );
    let only = std::env::var("SLOTSCOPE_FUZZ_TARGET").ok();
    let is_wanted = |target: &&Target| only.as_deref().is_none_or(|name| name == target.name);
    let wanted: Vec<&Target> = TARGETS.iter().filter(is_wanted).collect();
    let share = Duration::from_secs_f64(minutes * 60.0 / wanted.len().max(1) as f64);
    let most: u64 = cases("SLOTSCOPE_FUZZ_CASES", CASES);
    for target in wanted {
        let start = Instant::now();
        let run = || {
            if share.is_zero() {
                return campaign(target, 0, |cases| cases < most / target.cost);
            }
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            campaign(target, now.as_nanos() as u64, |_| start.elapsed() < share)
        };
        let Ok((cases, accepted)) = std::panic::catch_unwind(run) else {
            broken.push(target.name);
            table += &format!("| {} | | | | | yes |\n", target.name);
            continue;
        };
        let secs = start.elapsed().as_secs_f64();
        let (name, a_second, minutes) = (target.name, cases as f64 / secs, secs / 60.0);
        println!("{name}: {cases} inputs, {accepted} accepted, {secs:.1} s");
        let percent = 100.0 * accepted as f64 / cases.max(1) as f64;
        table +=
            &format!("| {name} | {cases} | {a_second:.0} | {minutes:.1} | {percent:.0}% | 0 |\n");
        // A target that rejects nearly everything tests nothing.
        assert!(
            cases < 1000 || accepted * 50 >= cases,
            "{name}: {accepted} of {cases}"
        );
    }
    if let Some(file) = std::env::var_os("SLOTSCOPE_FUZZ_TABLE") {
        let how = "# Fuzzing on stable Rust\n\nMade by `SLOTSCOPE_FUZZ_TABLE=reports/fuzz.md tests/fuzz MINUTES`, on one \
                   core. An input of a format is read as one block; one\nin 32 of them, and each of `scan`, is scanned in one \
                   piece, in chunks on three threads, from a pipe and from gzip as well.\n\n";
        std::fs::write(file, [how, &table].concat()).unwrap();
    }
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn the_files_of_seeds_break_no_target() {
    for target in TARGETS.iter() {
        for seed in seed_files() {
            (target.run)(target.name, seed);
        }
    }
}

#[test]
fn a_token_is_written_as_the_dictionaries_of_fuzzers_are() {
    assert_eq!(token(r#""a\\\"\x0A""#), b"a\\\"\n");
    assert!(dictionary().iter().all(|token| !token.is_empty()));
}

#[test]
fn seeds_are_accepted_where_they_belong() {
    for target in TARGETS.iter() {
        let (seeds, name) = ((target.seeds)(), target.name);
        let longest = seeds.iter().map(|seed| seed.len()).max();
        assert!(longest <= Some(MAX_INPUT_BYTES), "{name}: {longest:?}");
        let accepted = seeds.iter().filter(|seed| (target.run)(name, seed)).count();
        // Formats share their seeds; every other target accepts all of its own.
        let least = if reads_dumps(target) { 1 } else { seeds.len() };
        assert!(
            accepted >= least,
            "{name}: {accepted} of {} seeds",
            seeds.len()
        );
    }
}
