//! Steps as rows: the action, its effect, and the command.

/// Maximum bytes of a command shown on a page: a truncated one could not be run.
pub const COMMAND: usize = 4000;

/// The steps of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTable {
    /// The measures, one per column.
    pub heads: Vec<String>,
    /// The steps, with alternatives below their step.
    pub rows: Vec<StepRow>,
    /// The problems that no step fixes.
    pub left: Vec<String>,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    /// Its number, or "or" for an alternative.
    pub number: String,
    /// The step.
    pub what: String,
    /// The fullest node in fair shares before and after, by column; absent without a known effect.
    pub turns: Vec<Option<Turn>>,
    /// The command.
    pub command: Option<String>,
}

/// A ratio before and after a step, prefixed by `≈` if estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
}

impl Turn {
    /// Both, joined by an arrow.
    pub(crate) fn with(&self, arrow: &str) -> String {
        format!("{} {arrow} {}", self.from, self.to)
    }
}
