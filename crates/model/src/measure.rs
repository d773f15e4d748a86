//! The measure of a role: a metric of keys, or memory as reported by the servers.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::Metric;

use crate::limit;
use crate::state::Role;

/// The measure of a role.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The sizes of keys.
    Bytes,
    /// `used_memory_dataset` of each node, on its slots by their keys.
    UsedMemory,
    /// The number of keys, where memory is not known.
    #[default]
    Keys,
    /// CPU time.
    Cpu,
    /// Operations.
    Ops,
    /// Accesses, estimated from LFU counters.
    Accesses,
    /// Commands, also those that are in no slot: of nodes alone.
    Commands,
}

impl From<Metric> for Measure {
    fn from(metric: Metric) -> Self {
        match metric {
            Metric::Keys => Measure::Keys,
            Metric::Bytes => Measure::Bytes,
            Metric::Ops => Measure::Ops,
            Metric::Accesses => Measure::Accesses,
            Metric::Cpu => Measure::Cpu,
        }
    }
}

impl Measure {
    /// The metric whose tags and keys account for it.
    pub fn metric(self) -> Metric {
        match self {
            Measure::Bytes => Metric::Bytes,
            Measure::UsedMemory | Measure::Keys => Metric::Keys,
            Measure::Cpu => Metric::Cpu,
            Measure::Ops | Measure::Commands => Metric::Ops,
            Measure::Accesses => Metric::Accesses,
        }
    }

    /// The role it represents by default.
    pub fn role(self) -> Role {
        match self {
            Measure::Bytes | Measure::UsedMemory | Measure::Keys => Role::Memory,
            Measure::Cpu | Measure::Ops | Measure::Accesses | Measure::Commands => Role::Load,
        }
    }

    /// Its lower and upper band before chance widens the lower one.
    pub fn bands(self) -> [f64; 2] {
        match self {
            Measure::Bytes | Measure::UsedMemory | Measure::Keys => {
                [limit::BALANCED, limit::SKEWED]
            }
            Measure::Cpu | Measure::Ops | Measure::Commands => limit::LOAD,
            Measure::Accesses => limit::ACCESSES,
        }
    }

    /// Whether its units are events, of which few are counted: small numbers vary by chance.
    pub fn is_counted(self) -> bool {
        self == Measure::Ops
    }

    /// The noun for it, without an article.
    pub fn noun(self) -> &'static str {
        let of_what = self.of_what();
        of_what.strip_prefix("the ").unwrap_or(of_what)
    }

    /// The verb for a node that has it.
    pub fn verb(self) -> &'static str {
        match self {
            Measure::Bytes | Measure::UsedMemory | Measure::Keys => "holds",
            Measure::Cpu => "uses",
            Measure::Ops => "does",
            Measure::Commands => "runs",
            Measure::Accesses => "gets",
        }
    }

    /// The total that a node's share refers to.
    pub fn of_what(self) -> &'static str {
        match self {
            Measure::Bytes | Measure::UsedMemory => "memory",
            Measure::Keys => "the keys",
            Measure::Cpu => "the CPU time",
            Measure::Ops => "the operations",
            Measure::Commands => "the commands",
            Measure::Accesses => "the estimated accesses",
        }
    }

    /// Its column title.
    pub fn head(self) -> &'static str {
        match self {
            Measure::Bytes | Measure::UsedMemory => "memory",
            Measure::Keys => "keys",
            Measure::Cpu | Measure::Ops | Measure::Commands => "load",
            Measure::Accesses => "accesses",
        }
    }
}
