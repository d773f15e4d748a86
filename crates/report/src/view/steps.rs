//! Steps as rows: the action, what it changes, and the command to type.

/// Bytes of a command that a page shows: one that is cut could not be run.
pub const COMMAND: usize = 4000;

/// The steps of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTable {
    /// The measures, one per column.
    pub heads: Vec<String>,
    /// The steps, alternatives below their step.
    pub rows: Vec<StepRow>,
    /// The problems that no step cures.
    pub left: Vec<String>,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    /// Its number, or "or" for an alternative.
    pub number: String,
    /// The step.
    pub what: String,
    /// The fullest node in fair shares before and after it, by column; absent where it changes nothing, or that is not known.
    pub turns: Vec<Option<Turn>>,
    /// The command to type.
    pub command: Option<String>,
}

/// A ratio before and after a step, `≈` in front of estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
}

impl Turn {
    /// Both with an arrow between them.
    pub(crate) fn with(&self, arrow: &str) -> String {
        format!("{} {arrow} {}", self.from, self.to)
    }
}
