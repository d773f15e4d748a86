//! The `slotscope` program: parse the flags, run the command, print one error line, choose the exit code.

use std::process::ExitCode;

use anstream::ColorChoice;
use clap::Parser;
use slotscope::command::{Cli, Color, Ending};
use slotscope::error::Error;

/// Usage, input/output, or bad input.
const FAILED: u8 = 2;

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
        eprintln!("slotscope: signals: {error}; an interrupted run may leave files");
    }
    match cli.command.run() {
        Ok(Ending::Done) | Err(Error::BrokenPipe) => ExitCode::SUCCESS,
        Ok(Ending::Incomplete) => ExitCode::from(FAILED),
        Err(error) => {
            eprintln!("slotscope: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// Removes what is half-written when the user or the system ends the run, and exits as a shell expects it:
/// 128 + the signal.
#[cfg(unix)]
fn clean_up_on_signals() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            slotscope::report::directory::discard_unfinished();
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}
