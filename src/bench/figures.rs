//! The figures of a bench; the fields are those of `slotscope bench --json`.

use serde::Serialize;

use slotscope_base::name::Name;
use slotscope_base::slot::Kernel;

use crate::bench::timing::Rate;

/// Schema name and version.
pub(crate) const SCHEMA: &str = "slotscope.bench/2";

/// A larger spread tells of other programs on the machine.
pub(crate) const BUSY: f64 = 0.1;

/// All figures; the fields are those of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Figures {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// Whether it was built with optimisation: figures of other builds say nothing of a release.
    pub is_optimised: bool,
    /// The name of the processor.
    pub cpu: String,
    /// The kernel that analyze takes here.
    pub kernel: &'static str,
    /// Rounds, in which all rows take turns; the median counts.
    pub rounds: u32,
    /// Rows with a spread of more than 10%, as on a busy machine; null for one round.
    pub busy_rows: Option<u64>,
    /// Kernels on keys of each length; none where a dump was scanned.
    pub kernels: Vec<KernelRate>,
    /// The scan of a dump; null without one.
    pub scan: Option<ScanFigures>,
}

/// One kernel on keys of one length.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct KernelRate {
    /// Its name.
    pub kernel: &'static str,
    /// Whether analyze takes it here.
    pub is_chosen: bool,
    /// How many threads hash at once.
    pub threads: usize,
    /// How long the keys are.
    pub key_bytes: u32,
    /// How fast it is.
    #[serde(flatten)]
    pub rate: Rate,
    /// Times the keys a second of the table loop, on as many threads.
    pub over_table: f64,
}

/// A dump, and how fast the stages of a scan are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ScanFigures {
    /// Its name, or that of its directory.
    pub file: Name,
    /// Its bytes, decompressed.
    pub bytes: u64,
    /// The line ends in them.
    pub line_ends: u64,
    /// Its keys; of a capture, its operations.
    pub keys: u64,
    /// The stages, on one thread and on all.
    pub stages: Vec<StageRate>,
}

/// One stage of a scan, with those before it from `read` on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct StageRate {
    /// The stage.
    pub stage: Stage,
    /// How many threads scan.
    pub threads: usize,
    /// Seconds for the whole dump.
    pub secs: f64,
    /// How fast it is.
    #[serde(flatten)]
    pub rate: Rate,
    /// Times the seconds of counting line ends, on as many threads.
    pub over_line_ends: f64,
}

/// The stages of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// None of a scan: the same bytes are read and their line ends counted, as wc -l does.
    LineEnds,
    /// Bytes get into memory, decompressed.
    Read,
    /// Keys are found in them.
    Cut,
    /// Their slots are computed.
    Hash,
    /// All is counted that analyze counts, in as many passes.
    Count,
}

impl Stage {
    pub(super) const ALL: [Stage; 5] = [
        Stage::LineEnds,
        Stage::Read,
        Stage::Cut,
        Stage::Hash,
        Stage::Count,
    ];

    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Stage::LineEnds => "line ends",
            Stage::Read => "read",
            Stage::Cut => "cut",
            Stage::Hash => "hash",
            Stage::Count => "count",
        }
    }
}

impl Figures {
    pub(super) fn new(rounds: u32, kernel: &'static Kernel) -> Self {
        Figures {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            is_optimised: !cfg!(debug_assertions),
            cpu: cpu(),
            kernel: kernel.name,
            rounds,
            busy_rows: None,
            kernels: Vec::new(),
            scan: None,
        }
    }

    /// Counts the rows that tell of a busy machine.
    pub(super) fn settled(self) -> Self {
        let is_busy = |rate: &&Rate| rate.spread.is_some_and(|spread| spread > BUSY);
        let busy_rows = self.rates().filter(is_busy).count() as u64;
        Figures {
            busy_rows: (self.rounds > 1).then_some(busy_rows),
            ..self
        }
    }

    /// The rates of all rows.
    pub(super) fn rates(&self) -> impl Iterator<Item = &Rate> {
        let stages = self.scan.iter().flat_map(|scan| &scan.stages);
        let kernels = self.kernels.iter().map(|row| &row.rate);
        kernels.chain(stages.map(|row| &row.rate))
    }
}

/// The name of the processor.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| {
        line.strip_prefix("model name")
            .and_then(|rest| rest.split_once(": "))
    });
    model.map_or_else(
        || String::from(std::env::consts::ARCH),
        |(_, name)| name.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_spread_by_more_than_a_tenth_tell_of_a_busy_machine() {
        let row = |spread| KernelRate {
            kernel: "table",
            is_chosen: true,
            threads: 1,
            key_bytes: 8,
            rate: Rate {
                keys_per_sec: 1.0,
                bytes_per_sec: 8.0,
                spread,
            },
            over_table: 1.0,
        };
        let figures = Figures {
            kernels: [None, Some(0.1), Some(0.11)].map(row).into(),
            ..Figures::new(3, hashslot::best())
        };
        assert_eq!(figures.settled().busy_rows, Some(1));
    }
}
