//! The fuzz targets. A target takes any bytes and returns whether they were accepted; it must not panic, hang, or use
//! memory out of proportion to its input, and it asserts the invariants for every input.

mod formats;
mod kernels;
pub mod snapshots;
mod tallies;
mod texts;

use std::sync::LazyLock;

use slotscope::detect::FORMATS;
use slotscope::format::Format;

/// Inputs are truncated to this length, so that no target allocates much because of the length of its input.
pub const MAX_INPUT_BYTES: usize = 1 << 16;

/// A target.
pub struct Target {
    pub name: &'static str,
    /// Runs the target with this name on an input of up to `MAX_INPUT_BYTES`.
    pub run: fn(&str, &[u8]) -> bool,
    /// Its run time relative to reading a short input in a format.
    pub cost: u64,
    /// Initial inputs, most of which it accepts.
    pub seeds: fn() -> Vec<&'static [u8]>,
}

/// Every target: one for each format, and the others.
pub static TARGETS: LazyLock<Vec<Target>> = LazyLock::new(|| {
    let of_format = |format: &&dyn Format| Target {
        name: format.name(),
        run: formats::read,
        cost: 1,
        seeds: formats::seeds,
    };
    FORMATS.iter().map(of_format).chain(OTHERS).collect()
});

/// The targets that are not formats.
const OTHERS: [Target; 9] = [
    Target {
        name: "shapes",
        run: |_, bytes| formats::shape(bytes),
        cost: 3,
        seeds: formats::seeds,
    },
    Target {
        name: "snapshots",
        run: |_, bytes| snapshots::walk(bytes),
        cost: 2,
        seeds: snapshots::seeds,
    },
    Target {
        name: "scan",
        run: |_, bytes| formats::scan(bytes),
        cost: 20,
        seeds: formats::seeds,
    },
    Target {
        name: "tallies",
        run: |_, bytes| tallies::read(bytes),
        cost: 10,
        seeds: tallies::seeds,
    },
    Target {
        name: "kernels",
        run: |_, bytes| kernels::agree(bytes),
        cost: 10,
        seeds: || kernels::SEEDS.to_vec(),
    },
    Target {
        name: "topology",
        run: |_, bytes| texts::topology(bytes),
        cost: 5,
        seeds: || texts::TOPOLOGIES.to_vec(),
    },
    Target {
        name: "report",
        run: |_, bytes| texts::report(bytes),
        cost: 50,
        seeds: texts::reports,
    },
    Target {
        name: "lint-config",
        run: |_, bytes| texts::lint_config(bytes),
        cost: 20,
        seeds: || texts::LINT_CONFIGS.to_vec(),
    },
    Target {
        name: "policy",
        run: |_, bytes| texts::policy(bytes),
        cost: 10,
        seeds: || texts::POLICIES.to_vec(),
    },
];
