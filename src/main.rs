//! The `slotscope` program: what ends a run from outside, and the exit code; `cli::run` is the rest.

use std::process::ExitCode;

use slotscope::cli;

/// The time that an interrupted run has to end by itself, once its report is in place.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

fn main() -> ExitCode {
    #[cfg(unix)]
    if let Err(error) = clean_up_on_signals() {
        cli::say(&format!(
            "signals: {error}; an interrupted run may leave files"
        ));
    }
    ExitCode::from(cli::run(std::env::args_os()))
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
    use slotscope::output::abandon;
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
                cli::leave_screen();
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
