//! Why a report's counts may be too low to compare.

use std::fmt;

use serde::Serialize;

use slotscope_model::Summary;
use slotscope_model::state::State;

/// Why a report's counts may be too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Doubt {
    /// Its input could not be read to its end.
    Incomplete,
    /// Its input has no keys.
    Empty,
    /// Its input is suspicious.
    Suspicious,
}

impl Doubt {
    /// All of them.
    pub(crate) const ALL: [Doubt; 3] = [Doubt::Incomplete, Doubt::Empty, Doubt::Suspicious];

    /// The doubt about a report, if any.
    pub(crate) fn of(summary: &Summary) -> Option<Doubt> {
        match () {
            () if !summary.input.incomplete.is_empty() => Some(Doubt::Incomplete),
            () if summary.input.keys == 0 => Some(Doubt::Empty),
            () if summary.verdict.state == State::Suspicious => Some(Doubt::Suspicious),
            () => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Doubt::Incomplete => "incomplete",
            Doubt::Empty => "empty",
            Doubt::Suspicious => "suspicious",
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::Incomplete => "its input could not be read to the end, so counts are too small",
            Doubt::Empty => "its input has no keys; if the cluster has some, the scan failed",
            Doubt::Suspicious => "its input is suspicious, so counts may be too small",
        })
    }
}
