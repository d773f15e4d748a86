//! The resource usage of a run of the program: peak resident memory, CPU time, and its messages.

use std::io::{Read, Seek};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A run that takes longer is killed and fails.
const PATIENCE: Duration = Duration::from_secs(600);
/// Clock ticks per second for CPU time on Linux, on all common machines.
const TICKS: f64 = 100.0;

/// The resource usage of a run.
#[derive(Debug, Clone)]
pub struct Usage {
    /// The exit code; `None` if it was killed.
    pub code: Option<i32>,
    /// Its standard error.
    pub stderr: String,
    /// Peak resident memory; `None` if the system does not report it.
    pub peak_kib: Option<u64>,
    /// CPU time in seconds, user and system.
    pub cpu_secs: f64,
    /// Wall clock time in seconds.
    pub secs: f64,
}

impl Usage {
    /// The peak in MiB, rounded up; 0 if unknown.
    pub fn peak_mib(&self) -> u64 {
        self.peak_kib.unwrap_or(0).div_ceil(1024)
    }
}

/// Runs it without input, polling until it exits; its output is discarded.
pub fn of(mut command: Command) -> Usage {
    let mut said = tempfile::tempfile().unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(said.try_clone().unwrap());
    let (start, mut child) = (Instant::now(), command.spawn().unwrap());
    let (mut peak_kib, mut cpu_secs) = (None, 0.0_f64);
    let code = loop {
        peak_kib = peak_kib.max(peak(child.id()));
        cpu_secs = cpu_secs.max(cpu(child.id()).unwrap_or(0.0));
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        // Often enough to see the peak near the end.
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut stderr = String::new();
    said.rewind().unwrap();
    said.read_to_string(&mut stderr).unwrap();
    Usage {
        code,
        stderr,
        peak_kib,
        cpu_secs,
        secs: start.elapsed().as_secs_f64(),
    }
}

/// The peak resident memory of a process in KiB; `None` if the system does not report it, or while the process is a
/// copy of this one.
pub fn peak(process: u32) -> Option<u64> {
    // Until exec, its memory is that of the tests.
    let program = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
    let is_copy = program == std::env::current_exe().ok()?;
    memory(process, "VmHWM:").filter(|_| !is_copy)
}

/// A field of a process's status, in KiB.
pub fn memory(process: u32, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
/// The fields after the name, which ends with a parenthesis: the 12th and 13th are the times.
fn cpu(process: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS)
}
