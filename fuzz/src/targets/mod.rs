//! What the fuzz targets run. A target takes any bytes and returns whether they were accepted; it must not panic, hang,
//! or use memory out of proportion to its input, and it asserts what has to hold for every input.

mod formats;
mod kernels;
mod texts;

/// Inputs are cut to this length, so no target can be made to allocate much by the length of its input.
pub const MAX_INPUT_BYTES: usize = 1 << 16;

/// A target, named as its file in fuzz_targets.
pub struct Target {
    pub name: &'static str,
    /// Runs it on an input of up to `MAX_INPUT_BYTES`.
    pub run: fn(&[u8]) -> bool,
    /// How many times as long as reading a short input as a format it takes.
    pub cost: u64,
    /// Inputs to start from, most of which it accepts.
    pub seeds: fn() -> Vec<&'static [u8]>,
}

macro_rules! of_format {
    ($name:literal) => {
        Target {
            name: $name,
            run: |bytes| formats::read($name, bytes),
            cost: 1,
            seeds: || formats::SEEDS.to_vec(),
        }
    };
}

/// Every target; each format has one.
pub static TARGETS: &[Target] = &[
    of_format!("cluster-call"),
    of_format!("csv"),
    of_format!("hdt-rdb"),
    of_format!("jsonl"),
    of_format!("lines"),
    of_format!("numbered"),
    of_format!("quoted"),
    of_format!("quoted-json"),
    of_format!("rdb-tools"),
    of_format!("redis-csv"),
    of_format!("redis-json"),
    of_format!("redis-rdb-cli"),
    of_format!("resp"),
    Target {
        name: "scan",
        run: formats::scan,
        cost: 20,
        seeds: || formats::SEEDS.to_vec(),
    },
    Target {
        name: "kernels",
        run: kernels::agree,
        cost: 10,
        seeds: || kernels::SEEDS.to_vec(),
    },
    Target {
        name: "topology",
        run: texts::topology,
        cost: 5,
        seeds: || texts::TOPOLOGIES.to_vec(),
    },
    Target {
        name: "report",
        run: texts::report,
        cost: 50,
        seeds: texts::reports,
    },
    Target {
        name: "lint-config",
        run: texts::lint_config,
        cost: 20,
        seeds: || texts::LINT_CONFIGS.to_vec(),
    },
    Target {
        name: "policy",
        run: texts::policy,
        cost: 10,
        seeds: || texts::POLICIES.to_vec(),
    },
];
