//! Signs of a damaged dump: keys that are missing, truncated, duplicated, foreign, or from another time.
//!
//! `of_loads` finds those in slot and node loads, `of_files` those in the files read.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

use crate::nodes::NodeLoad;

/// The damage of a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Damage {
    /// The input could not be read to its end.
    Incomplete,
    /// Keys of a node, or a part of them, are missing.
    MissingNode,
    /// A server has no keys: it may have lost its data.
    EmptyServer,
    /// Names were truncated.
    Truncated,
    /// Keys occur twice.
    Duplicates,
    /// Keys are from elsewhere.
    Foreign,
    /// The files are of different times: slots moved between them.
    Mixed,
}

/// A sign that the dump is incomplete or damaged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Integrity {
    /// The damage.
    pub kind: Damage,
    /// The node that is concerned.
    pub node: Option<Name>,
    /// The evidence in a sentence.
    #[serde(default)]
    pub sentence: String,
    /// Whether slot and node loads alone show it.
    #[serde(skip)]
    pub is_of_loads: bool,
    /// Whether it is only a warning: the dump is not suspicious, but should not be used for a plan.
    #[serde(skip)]
    pub is_doubt: bool,
}

impl Integrity {
    /// A sign that the files or the counts of the input show.
    pub fn new(kind: Damage, sentence: String) -> Self {
        Integrity {
            kind,
            node: None,
            sentence,
            is_of_loads: false,
            is_doubt: false,
        }
    }

    /// A sign that slot and node loads show.
    pub fn of_loads(kind: Damage, sentence: String) -> Self {
        Integrity {
            is_of_loads: true,
            ..Integrity::new(kind, sentence)
        }
    }

    /// Whether it adds anything to the counts shown for the input.
    pub fn is_news(&self) -> bool {
        matches!(
            self.kind,
            Damage::MissingNode | Damage::EmptyServer | Damage::Truncated | Damage::Mixed
        )
    }

    /// The same of a node.
    pub fn on(self, node: &NodeLoad) -> Self {
        Integrity {
            node: Some(node.id.clone()),
            ..self
        }
    }
}
