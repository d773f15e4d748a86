//! The measure of a role, in words.

use crate::summary::measure::Measure;

impl Measure {
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
            Measure::Accesses => "gets",
        }
    }

    /// The total that a node's share refers to.
    pub(crate) fn of_what(self) -> &'static str {
        match self {
            Measure::Bytes | Measure::UsedMemory => "memory",
            Measure::Keys => "the keys",
            Measure::Cpu => "the CPU time",
            Measure::Ops => "the operations",
            Measure::Accesses => "the estimated accesses",
        }
    }

    /// Its column title.
    pub fn head(self) -> &'static str {
        match self {
            Measure::Bytes | Measure::UsedMemory => "memory",
            Measure::Keys => "keys",
            Measure::Cpu | Measure::Ops => "load",
            Measure::Accesses => "accesses",
        }
    }
}
