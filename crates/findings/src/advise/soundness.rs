//! How sound a scheme is, and what that costs it.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::advise::scheme::Choice;

/// How sound.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Soundness {
    /// Tags stay far below the fair share of a node.
    #[default]
    Good,
    /// Good for a while.
    Limited,
    /// A tag is, or becomes, too heavy for a node.
    Bad,
}

/// What a scheme costs by its groups, and whether the load of one follows a tag.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Penalty {
    /// 1 a bad group, 0.2 a limited one.
    pub sum: f64,
    /// The load follows one tag that changes with time.
    pub is_monotonic: bool,
}

/// Groups that were judged: most groups are the same in most schemes.
pub type Judged = RefCell<HashMap<Vec<(u32, Choice)>, (Soundness, bool)>>;
