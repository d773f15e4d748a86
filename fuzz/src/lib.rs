//! Fuzz targets of slotscope in the layout of cargo-fuzz: `cargo fuzz run NAME` needs a nightly toolchain and cargo-fuzz.
//! On stable, `tests/fuzz` drives the same targets, and `cargo run --bin NAME FILE...` runs one on inputs in files.

pub mod targets;

#[doc(hidden)]
#[cfg(fuzzing)]
pub use libfuzzer_sys;

use targets::{MAX_INPUT_BYTES, TARGETS};

/// Runs the target `name`.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a known target").run)(name, &bytes[..bytes.len().min(MAX_INPUT_BYTES)]);
}

/// Runs the target `name` on each file on the command line.
///
/// # Errors
/// A file is unreadable.
pub fn run_files(name: &str) -> std::io::Result<()> {
    for file in std::env::args_os().skip(1) {
        run(name, &std::fs::read(file)?);
    }
    Ok(())
}

/// The program of a target.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::run($name, bytes));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            $crate::run_files($name)
        }
    };
}
