//! The figures of a bench; the fields are those of `slotscope bench --json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::bench::timing::Rate;

/// Schema name and version.
pub(crate) const SCHEMA: &str = "slotscope.bench/1";

/// All figures; the fields are those of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Figures {
    /// The name and version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The name of the processor.
    pub cpu: String,
    /// Kernels on keys of each length.
    pub kernels: Vec<KernelRate>,
}

/// One kernel on keys of one length.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct KernelRate {
    /// Its name.
    pub kernel: &'static str,
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
