//! The target named by SLOTSCOPE_FUZZ_TARGET: a campaign over all targets builds only this program.

#![cfg_attr(fuzzing, no_main)]

use std::sync::LazyLock;

static NAME: LazyLock<String> = LazyLock::new(|| {
    std::env::var("SLOTSCOPE_FUZZ_TARGET").expect("SLOTSCOPE_FUZZ_TARGET names a target")
});

#[cfg(fuzzing)]
slotscope_fuzz::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slotscope_fuzz::run(&NAME, bytes));

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    slotscope_fuzz::run_files(&NAME)
}
