//! The speed of each kernel relative to the best peer: all take turns, medians of seven rounds in CPU time.
//!
//! `cargo bench -p benches --no-default-features --bench ratios` prints all with their spreads; `-- markdown` the table of
//! docs/performance.md, `-- every-length` times each length from 4 to 64 bytes, `-- passes` the search for hash tags.

mod contestants;

use contestants::{Contestant, Keys, assert_answers, kernels, peers};
use hashslot::available;
use std::time::Duration;

/// Rounds in which all contestants take turns, so that a disturbance affects all of them.
const ROUNDS: usize = 7;

/// Time per contestant and round: long enough to hide the clock's resolution, short enough that turns are close
/// together.
const TURN: Duration = Duration::from_millis(8);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "every-length") {
        every_length();
    } else if args.iter().any(|arg| arg == "markdown") {
        markdown();
    } else if args.iter().any(|arg| arg == "passes") {
        passes();
    } else {
        table();
    }
}

/// Work to be timed.
type Run<'a> = Box<dyn FnMut() + 'a>;

/// Nanoseconds per run: minimum, median and maximum of the rounds.
struct Time {
    min: f64,
    median: f64,
    max: f64,
}

/// The time that this thread has had a core: waiting for one, where others want it too, is not the work's.
#[cfg(unix)]
fn now() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec that lives until the call returns.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0, "this system has no clock of a thread's CPU time");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

fn time_in_turn(runs: &mut [Run<'_>]) -> Vec<Time> {
    let mut times = vec![Vec::new(); runs.len()];
    for round in 0..=ROUNDS {
        for (run, times) in runs.iter_mut().zip(&mut times) {
            let (start, mut done) = (now(), 0);
            while now() - start < TURN {
                (0..8).for_each(|_| run());
                done += 8;
            }
            if round > 0 {
                times.push((now() - start).as_secs_f64() * 1e9 / f64::from(done)); // round 0 warms up
            }
        }
    }
    let summarise = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        Time {
            min: times[0],
            median: times[ROUNDS / 2],
            max: times[ROUNDS - 1],
        }
    };
    times.into_iter().map(summarise).collect()
}

fn time_slots(all: &[Contestant], keys: &Keys) -> Vec<Time> {
    assert_answers(all, keys);
    let mut runs: Vec<Run<'_>> = Vec::new();
    for contestant in all {
        let mut slots = Vec::new();
        runs.push(Box::new(move || {
            (contestant.run)(keys, &mut slots);
            std::hint::black_box(&slots);
        }));
    }
    time_in_turn(&mut runs)
}

fn all() -> Vec<Contestant> {
    kernels().into_iter().chain(peers()).collect()
}

/// The fastest peer, and its time.
fn best_peer(all: &[Contestant], times: &[Time]) -> (usize, f64) {
    let peers = (kernels().len()..all.len()).map(|i| (i, times[i].median));
    peers.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

fn table() {
    let all = all();
    let mut sets = vec![("8..64".to_string(), Keys::new(8..=64))];
    sets.extend([4, 8, 16, 32, 64, 256].map(|len| (len.to_string(), Keys::new(len..=len))));
    for (name, keys) in &sets {
        let times = time_slots(&all, keys);
        let (peer, peer_time) = best_peer(&all, &times);
        println!("\nkeys of {name} bytes; best peer: {}", all[peer].name);
        println!("{:>12} {:>9}  {:>6}  spread", "", "Mkeys/s", "ratio");
        for (contestant, time) in all.iter().zip(&times) {
            println!(
                "{:>12} {:>9.3}  {:>6.2}  {:.2}..{:.2}",
                contestant.name,
                keys.batch().len() as f64 * 1e3 / time.median,
                peer_time / time.median,
                time.min / time.median,
                time.max / time.median,
            );
        }
    }
}

/// GB/s of kernels and peers, with the CPU and how busy the machine was, as a Markdown table.
fn markdown() {
    const LENGTHS: [usize; 5] = [8, 16, 32, 64, 256];
    let (load, all) = (load(), all());
    let mut rows: Vec<String> = all
        .iter()
        .map(|contestant| format!("| `{}` |", contestant.name))
        .collect();
    let mut spread: f64 = 0.0;
    for len in LENGTHS {
        let keys = Keys::new(len..=len);
        let bytes = (len * keys.batch().len()) as f64;
        for (row, time) in rows.iter_mut().zip(time_slots(&all, &keys)) {
            *row += &format!(" {:.2} |", bytes / time.median);
            spread = spread.max((time.max - time.min) / time.median);
        }
    }
    println!(
        "{}, one core; medians of {ROUNDS} rounds in turn, in CPU time, which spread by up to {:.1}%; load before: {load}\n",
        cpu(),
        spread * 100.0
    );
    let heads = LENGTHS.map(|len| format!(" {len} B |")).concat();
    println!(
        "| GB/s, keys of |{heads}\n|---|{}",
        "--:|".repeat(LENGTHS.len())
    );
    rows.iter().for_each(|row| println!("{row}"));
}

/// The name of the processor, as Linux tells it.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| Some(line.split_once(": ")?.1.to_owned()));
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// How many threads wanted a core in the last minute, as Linux tells it.
fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let minute = load.split(' ').next().filter(|load| !load.is_empty());
    minute.unwrap_or("unknown").to_owned()
}

fn every_length() {
    let all = all();
    let mut worst = (f64::INFINITY, 0);
    println!(
        "{:>6} {:>12} {:>12}  ratio of the best kernel",
        "bytes", "Mkeys/s", "best peer"
    );
    for len in 4..=64 {
        let keys = Keys::new(len..=len);
        let times = time_slots(&all, &keys);
        let (peer, peer_time) = best_peer(&all, &times);
        let ratio = peer_time / times[0].median;
        worst = if ratio < worst.0 { (ratio, len) } else { worst };
        let rate = |time| keys.batch().len() as f64 * 1e3 / time;
        println!(
            "{len:>6} {:>12.1} {:>12.1}  {ratio:.2} of {}",
            rate(times[0].median),
            rate(peer_time),
            all[peer].name
        );
    }
    println!("worst: {:.2} at {} bytes", worst.0, worst.1);
}

fn passes() {
    for lens in [33..=33, 8..=64] {
        let keys = Keys::new(lens.clone());
        let batch = keys.batch();
        let mut runs: Vec<Run<'_>> = Vec::new();
        for kernel in available() {
            let (mut start, mut end) = (vec![0; batch.len()], vec![0; batch.len()]);
            kernel.hashed_spans(batch, &mut start, &mut end);
            assert_eq!((&start[..], &end[..]), (batch.starts(), batch.ends()));
            runs.push(Box::new(move || {
                kernel.hashed_spans(batch, &mut start, &mut end);
                std::hint::black_box((&start, &end));
            }));
        }
        println!("\nhashed spans of keys of {lens:?} bytes");
        for (kernel, time) in available().zip(time_in_turn(&mut runs)) {
            let per_key = |time: f64| time / batch.len() as f64;
            println!(
                "{:>16} {:>6.2} ns a key, {:.2}..{:.2}",
                kernel.name,
                per_key(time.median),
                per_key(time.min),
                per_key(time.max)
            );
        }
    }
}
