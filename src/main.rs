//! The `slotscope` program: handles signals and the exit code; `cli::run` does the rest.

use std::process::ExitCode;

use slotscope::cli;

/// How long an interrupted run may take to finish once its report is in place.
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

/// Whether the signal was ignored at program start, as under nohup, and must stay so. Only known on Linux.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Removes half-written files if the user or the system ends the run, and exits as shells expect: 128 + signal.
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
    // Beyond `ulimit -f`, writes then fail with an error that names the file.
    let mut signals = signal_hook::iterator::Signals::new(wanted.chain([SIGXFSZ]))?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            let mut ends = signals.forever().filter(|signal| *signal != SIGXFSZ);
            if let Some(signal) = ends.next() {
                #[cfg(feature = "live")]
                slotscope_live::leave_screen();
                if !abandon(false) {
                    // The report is in place: the run's own exit code is the correct one.
                    std::thread::sleep(GRACE);
                    abandon(true);
                }
                std::process::exit(128 + signal);
            }
        })?;
    Ok(())
}
