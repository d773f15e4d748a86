//! `slotscope bench`: how fast this machine computes slots, kernel by kernel, and how fast it scans a dump.
//!
//! Every answer is checked before it is timed. Kernels are timed in turn, round after round, so that a machine that
//! slows down slows all of them; the median round counts and the spread is shown.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use super::Ending;
use crate::error::{Error, Result};
use crate::report::chart::throughput::{self, Line};
use crate::report::directory::{Directory, Written};
use crate::slot::kernel::{self, Kernel};

mod keys;
mod scanning;
mod table;
mod timing;

use keys::{Batch, KeyBytes};
use timing::{Rate, in_turn};

/// The name and version of the form of `--json`.
const SCHEMA: &str = "slotscope.bench/1";
/// What is written with `--out`.
const JSON_FILE: &str = "bench.json";
const CHART_FILE: &str = "bench.png";

/// CRC16 throughput of every kernel on this machine.
#[derive(Args, Debug)]
pub struct Bench {
    /// Rounds; the median counts
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Threads of the second measurement [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Keys of the dump that is scanned in memory
    #[arg(long, value_name = "N", default_value = "2M", value_parser = super::generate::count)]
    pub keys: u64,
    /// The figures as JSON in place of the table
    #[arg(long)]
    pub json: bool,
    /// Also write bench.json and bench.png here
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// All figures.
#[derive(Debug, Serialize)]
struct Figures {
    schema: &'static str,
    cpu: String,
    kernels: Vec<KernelRate>,
    scan: Vec<ScanRate>,
}

/// One kernel on keys of one length.
#[derive(Debug, Serialize)]
struct KernelRate {
    kernel: &'static str,
    threads: usize,
    key_bytes: KeyBytes,
    #[serde(flatten)]
    rate: Rate,
    /// Times the keys a second of the table loop, on as many threads.
    over_table: f64,
}

/// One kind of scan.
#[derive(Debug, Serialize)]
struct ScanRate {
    part: &'static str,
    threads: usize,
    #[serde(flatten)]
    rate: Rate,
}

impl Bench {
    /// Checks, times, and prints.
    ///
    /// # Errors
    /// A kernel that gives a wrong slot, or an output that cannot be written.
    pub fn run(&self) -> Result<Ending> {
        let all = self.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
        let mut thread_counts = vec![1, all];
        thread_counts.dedup();
        let open = |path: &std::path::Path| Directory::open(path, [JSON_FILE, CHART_FILE]);
        let directory = self.out.as_deref().map(open).transpose()?;

        let mut kernels = Vec::new();
        for key_bytes in keys::LENGTHS {
            let batch = Batch::of(*key_bytes);
            for threads in &thread_counts {
                kernels.extend(self.time_kernels(&batch, *threads)?);
            }
        }
        let mut scan = Vec::new();
        for threads in thread_counts {
            scan.extend(scanning::time(self.keys, threads, self.rounds)?);
        }
        let figures = Figures { schema: SCHEMA, cpu: cpu(), kernels, scan };
        let printed = self.print(&figures);
        if let Some(directory) = directory {
            directory.publish(|name, out| figures.write(name, out))?;
        }
        printed?;
        Ok(Ending::Done)
    }

    /// Times every kernel on `batch`, each thread with its own copy of the columns.
    fn time_kernels(&self, batch: &Batch, threads: usize) -> Result<Vec<KernelRate>> {
        let kernels: Vec<&'static Kernel> = kernel::available().collect();
        kernels.iter().try_for_each(|kernel| batch.check(kernel))?;
        let built = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = built.map_err(|error| Error::bad(format!("--threads {threads}"), error.to_string()))?;
        let runs: Vec<_> = kernels.iter().map(|kernel| batch.runner(kernel, &pool)).collect();
        let rates = in_turn(self.rounds, &runs);
        let table = rates.last().map_or(1.0, |rate| rate.keys_per_sec);
        let row = |(kernel, rate): (&&'static Kernel, Rate)| KernelRate {
            kernel: kernel.name,
            threads,
            key_bytes: batch.key_bytes,
            over_table: crate::summary::balance::tidy(rate.keys_per_sec / table),
            rate,
        };
        Ok(kernels.iter().zip(rates).map(row).collect())
    }

    fn print(&self, figures: &Figures) -> Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        let printed = if self.json { figures.write_json(&mut out) } else { table::write(figures, &mut out) };
        printed.and_then(|()| out.flush()).map_err(Error::stdout)
    }
}

impl Figures {
    fn write(&self, name: &str, out: &mut dyn Write) -> io::Result<Written> {
        match name {
            CHART_FILE => throughput::write(&self.title(), &self.cpu, &self.lines(), out)?,
            _ => self.write_json(out)?,
        }
        Ok(Written::Whole)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// The finding: the best kernel on real lengths.
    fn title(&self) -> String {
        let mixed = self.kernels.iter().find(|row| row.key_bytes == KeyBytes::Mixed && row.threads == 1);
        mixed.map_or(String::new(), |best| {
            format!(
                "{}: {:.0} M keys/s on one core, {:.1}× the table loop",
                best.kernel,
                best.rate.keys_per_sec / 1e6,
                best.over_table
            )
        })
    }

    /// One line a kernel, of the single-core rates.
    fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for row in self.kernels.iter().filter(|row| row.threads == 1) {
            let KeyBytes::Each(bytes) = row.key_bytes else { continue };
            let point = (f64::from(bytes), row.rate.keys_per_sec);
            match lines.iter_mut().find(|line| line.name == row.kernel) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name: row.kernel.into(), points: vec![point] }),
            }
        }
        lines
    }
}

/// What the processor calls itself.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name").and_then(|rest| rest.split_once(": ")));
    model.map_or_else(|| String::from(std::env::consts::ARCH), |(_, name)| name.to_string())
}
