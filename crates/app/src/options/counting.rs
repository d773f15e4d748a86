//! The counts to take, in one process or in parts.

use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};

#[cfg(feature = "cli")]
use crate::options::headings::COUNTING;

/// What is counted besides slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = COUNTING))]
#[serde(default, deny_unknown_fields)]
pub struct CountSpec {
    /// The separator between the segments of a key
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "STR", default_value = SEPARATOR, allow_hyphen_values = true, hide_short_help = true)
    )]
    pub separator: String,
    /// Levels of prefixes; 0: no prefixes and no patterns, which is faster
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", default_value_t = DEPTH, hide_short_help = true)
    )]
    pub depth: usize,
    /// Only this part: the fastest, without tags
    ///
    /// A report without tags seldom says why a node is full.
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "PART"))]
    pub only: Option<Part>,
    /// Never read a file to its end twice: past 65,536 tags, those of RDB and compressed files have bounds
    ///
    /// Tags of other files have bounds past 5,000,000.
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true))]
    pub one_pass: bool,
}

const SEPARATOR: &str = ":";
const DEPTH: usize = 4;

/// A part of the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Slots, nodes and their balance
    Slots,
}

impl Default for CountSpec {
    fn default() -> Self {
        CountSpec {
            separator: SEPARATOR.into(),
            depth: DEPTH,
            only: None,
            one_pass: false,
        }
    }
}

impl CountSpec {
    /// Whether only slots are counted.
    pub fn slots_only(&self) -> bool {
        self.only == Some(Part::Slots)
    }

    /// Whether patterns are counted.
    pub(crate) fn has_patterns(&self) -> bool {
        self.depth > 0
    }

    /// The settings that affect counts: every depth except 0 counts the same.
    ///
    /// # Errors
    /// The separator is empty.
    pub fn of_counts(&self) -> Result<CountSpec> {
        self.check()?;
        Ok(CountSpec {
            depth: self.depth.min(1) * DEPTH,
            ..self.clone()
        })
    }

    /// Refuses an empty separator.
    ///
    /// # Errors
    /// The separator is empty.
    pub fn check(&self) -> Result<()> {
        if self.separator.is_empty() {
            return Err(Error::option("separator", "", "must not be empty"));
        }
        Ok(())
    }
}
