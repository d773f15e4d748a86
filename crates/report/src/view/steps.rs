//! Steps as rows: the action, every role after it, and the command to type.

/// Bytes of a command that a page shows: one that is cut could not be run.
pub const COMMAND: usize = 4000;

/// The steps of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTable {
    /// The measures, one per column.
    pub heads: Vec<String>,
    /// Today, then the steps, alternatives below their step.
    pub rows: Vec<StepRow>,
    /// The problems that no step cures.
    pub left: Vec<String>,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    /// Its number, or "or" for an alternative; `None` for the state of today.
    pub number: Option<String>,
    /// The step.
    pub what: String,
    /// The fullest node in fair shares after it, by column; absent where that is not known.
    pub ratios: Vec<Option<String>>,
    /// The command to type.
    pub command: Option<String>,
}
