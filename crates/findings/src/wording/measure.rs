//! The measure of a role, in words.

use crate::summary::measure::Measure;

impl Measure {
    /// The total that a node holds a share of, in words.
    pub fn of_what(self) -> &'static str {
        match self {
            Measure::Bytes | Measure::UsedMemory => "memory",
            Measure::Keys => "the keys",
            Measure::Cpu => "the CPU time",
            Measure::Ops => "the operations",
            Measure::Accesses => "the estimated accesses",
        }
    }

    /// The head of its column.
    pub fn head(self) -> &'static str {
        match self {
            Measure::Bytes | Measure::UsedMemory => "memory",
            Measure::Keys => "keys",
            Measure::Cpu | Measure::Ops | Measure::Accesses => "load",
        }
    }
}
