//! The `slotscope` program: parse the flags, run the command, print one error line, choose the exit code.

use std::io::Write;
use std::process::ExitCode;

use anstream::ColorChoice;
use clap::Parser;
use slotscope::cli::{Cli, Color, Ending};
use slotscope::error::Error;

/// A limit that the user set was crossed.
const CROSSED: u8 = 1;
/// Usage, input/output, or bad input.
const FAILED: u8 = 2;
/// What an interrupted run has left to end by itself, once its report is in place.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
    #[cfg(unix)]
    if let Err(error) = clean_up_on_signals() {
        say(&format!(
            "signals: {error}; an interrupted run may leave files"
        ));
    }
    match cli.command.run() {
        Ok(Ending::Done) | Err(Error::BrokenPipe) => ExitCode::SUCCESS,
        Ok(Ending::Crossed) => ExitCode::from(CROSSED),
        Ok(Ending::Incomplete) => ExitCode::from(FAILED),
        Err(error) => {
            say(&error.to_string());
            ExitCode::from(FAILED)
        }
    }
}

/// One line on standard error; a failure to write it is ignored.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "slotscope: {message}");
}

/// Whether the signal was ignored when the program started, as under nohup: then it stays ignored. Known on Linux only.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Removes what is half-written when the user or the system ends the run, and exits as a shell expects it:
/// 128 + the signal.
#[cfg(unix)]
fn clean_up_on_signals() -> std::io::Result<()> {
    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
    };
    use slotscope::report::directory::abandon;
    let ends = [
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM,
    ];
    let wanted = ends.into_iter().filter(|signal| !is_ignored(*signal));
    // Past `ulimit -f` a write then fails, with the name of its file.
    let mut signals = signal_hook::iterator::Signals::new(wanted.chain([SIGXFSZ]))?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            let mut ends = signals.forever().filter(|signal| *signal != SIGXFSZ);
            if let Some(signal) = ends.next() {
                if !abandon(false) {
                    // The report is in place: the exit code of the run is the true one.
                    std::thread::sleep(GRACE);
                    abandon(true);
                }
                std::process::exit(128 + signal);
            }
        })?;
    Ok(())
}
