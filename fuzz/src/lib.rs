//! Fuzz targets of slotscope in the layout of cargo-fuzz: `SLOTSCOPE_FUZZ_TARGET=NAME cargo fuzz run any` needs a nightly
//! toolchain and cargo-fuzz. On stable, `tests/fuzz` drives the same targets, and `cargo run FILE...` runs one on files.

pub mod targets;

use targets::{MAX_INPUT_BYTES, TARGETS};

/// Runs the target `name`.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a known target").run)(name, &bytes[..bytes.len().min(MAX_INPUT_BYTES)]);
}
