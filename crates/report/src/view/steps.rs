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

impl StepTable {
    /// The table without measures that no step changes.
    pub(crate) fn new(heads: Vec<String>, mut rows: Vec<StepRow>, left: Vec<String>) -> Self {
        let has_turns = |at: usize| rows.iter().any(|row| row.turns[at].is_some());
        let is_changed: Vec<bool> = (0..heads.len()).map(has_turns).collect();
        for row in &mut rows {
            row.turns = kept(std::mem::take(&mut row.turns), &is_changed);
        }
        StepTable {
            heads: kept(heads, &is_changed),
            rows,
            left,
        }
    }
}

/// The items of the columns that are kept.
fn kept<T>(items: Vec<T>, is_kept: &[bool]) -> Vec<T> {
    let items = items.into_iter().zip(is_kept);
    items
        .filter_map(|(item, is_kept)| is_kept.then_some(item))
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_that_no_step_changes_has_no_column() {
        let turn = |from: &str| {
            Some(Turn {
                from: from.into(),
                to: "1.00".into(),
            })
        };
        let row = |turns: [Option<Turn>; 2]| StepRow {
            number: "1".into(),
            what: "move".into(),
            turns: turns.into(),
            command: None,
        };
        let heads = || vec!["memory".to_owned(), "load".to_owned()];
        let table = StepTable::new(
            heads(),
            vec![row([None, None]), row([None, turn("2.00")])],
            Vec::new(),
        );
        assert_eq!(table.heads, ["load"]);
        assert_eq!(table.rows[0].turns, [None]);
        assert_eq!(table.rows[1].turns, [turn("2.00")]);
        let both = StepTable::new(heads(), vec![row([turn("3.00"), turn("2.00")])], Vec::new());
        assert_eq!(both.heads, heads());
    }
}
