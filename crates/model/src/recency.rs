//! How recently and how often keys are used, if the dump tells.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::PerMetric;

/// Keys that were not used for a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IdleLoad {
    /// They are idle for less than this many seconds, and not less than the row before; absent: longer.
    pub under_secs: Option<u64>,
    /// Their load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

/// Keys with an LFU counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LfuLoad {
    /// The counter: a logarithm of how often a key was used, which decays by the minute.
    pub counter: u8,
    /// Their load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}
