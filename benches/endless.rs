//! A MONITOR capture of any length, generated while it is read: memory must not grow with it.
//!
//! `SLOTSCOPE_BENCH_COMMANDS=1_000_000_000 cargo bench -p benches --bench endless` prints the reading speed and the
//! peak memory of the process; it fails above the limit stated in docs/limits.md.

use std::io::{self, Read};
use std::time::Instant;

use slotscope::Analysis;
use slotscope::error::Result;
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::source::{Found, ReadAt, Source, SourceFacts};

const COMMANDS: u64 = 200_000;
const THREADS: u64 = 2;
/// The limits stated in docs/limits.md, in MiB: a base, and an amount per thread.
const BASE: u64 = 64;
const OF_A_THREAD: u64 = 144;

/// All lines have the same length, so that any part can be generated on its own.
const LINE: &[u8] = b"1795216373.000000 [0 10.0.0.7:50000] \"GET\" \"user:{0000000000}:profile\"\n";
const SECONDS: usize = 0;
const MICROS: usize = 11;
const KEY: usize = 50;
const EACH_SECOND: u64 = 50_000;
const START: u64 = 1_795_216_373;
/// Number of distinct keys: more than fit into any table.
const KEYS: u64 = 50_000_000;

/// A capture of this many commands.
#[derive(Debug, Clone, Copy)]
struct Endless(u64);

/// The capture as a source.
#[derive(Debug)]
struct EndlessSource(Endless, SourceFacts);

impl Source for EndlessSource {
    fn facts(&self) -> &SourceFacts {
        &self.1
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        Ok(Some(Box::new(self.0)))
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(FromFront(self.0, 0)))
    }
}

/// A sequential reader of the capture, and its position.
struct FromFront(Endless, u64);

impl Read for FromFront {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.0.0 * LINE.len() as u64 - self.1;
        let count = into.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.0.read_exact_at(&mut into[..count], self.1)?;
        self.1 += count as u64;
        Ok(count)
    }
}

impl ReadAt for Endless {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let len = LINE.len() as u64;
        let (mut number, mut skipped) = (offset / len, (offset % len) as usize);
        let mut rest = into;
        let mut line = LINE.to_vec();
        while !rest.is_empty() {
            spell(&mut line, number);
            let part = &line[skipped..];
            let count = part.len().min(rest.len());
            rest[..count].copy_from_slice(&part[..count]);
            rest = &mut rest[count..];
            (number, skipped) = (number + 1, 0);
        }
        Ok(())
    }
}

fn spell(line: &mut [u8], number: u64) {
    let key = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    digits(
        &mut line[SECONDS..SECONDS + 10],
        START + number / EACH_SECOND,
    );
    let micros = number % EACH_SECOND * (1_000_000 / EACH_SECOND);
    digits(&mut line[MICROS..MICROS + 6], micros);
    digits(&mut line[KEY..KEY + 10], key % KEYS);
}

fn digits(into: &mut [u8], mut number: u64) {
    for byte in into.iter_mut().rev() {
        *byte = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The peak memory of this process in MiB; `None` if the system does not report it.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

fn main() {
    let text = std::env::var("SLOTSCOPE_BENCH_COMMANDS").unwrap_or_else(|_| COMMANDS.to_string());
    let commands: u64 = text.replace('_', "").parse().expect("a number of commands");
    let facts = SourceFacts::of("endless.monitor", Some(commands * LINE.len() as u64));
    let found = Found {
        sources: vec![Box::new(EndlessSource(Endless(commands), facts))],
        ..Found::default()
    };
    let options = Options {
        threads: Some(THREADS as usize),
        ..Options::default()
    };
    let start = Instant::now();
    let reading = Reading::new(found, options).expect("two threads");
    let summary = Analysis::new().run_on(reading).expect("a report");
    let secs = start.elapsed().as_secs_f64();
    let operations = summary.operations.expect("operations");
    assert_eq!(operations.ops, commands);
    let bytes = commands * LINE.len() as u64;
    println!(
        "{commands} commands, {:.1} GB, in {secs:.1} s: {:.2} GB/s with all passes and the making of the lines",
        bytes as f64 / 1e9,
        bytes as f64 / 1e9 / secs
    );
    if let Some(peak) = peak_mib() {
        println!("peak memory {peak} MiB");
        assert!(peak <= BASE + THREADS * OF_A_THREAD, "{peak} MiB");
    }
}
