//! The program of all targets: SLOTSCOPE_FUZZ_TARGET names the one to run.

#![cfg_attr(fuzzing, no_main)]

use std::sync::LazyLock;

static NAME: LazyLock<String> = LazyLock::new(|| {
    std::env::var("SLOTSCOPE_FUZZ_TARGET").expect("SLOTSCOPE_FUZZ_TARGET names a target")
});

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slotscope_fuzz::run(&NAME, bytes));

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    for file in std::env::args_os().skip(1) {
        slotscope_fuzz::run(&NAME, &std::fs::read(file)?);
    }
    Ok(())
}
