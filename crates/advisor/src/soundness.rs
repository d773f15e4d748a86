//! The soundness of a scheme, and its cost.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::scheme::Choice;

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
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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

/// The cost of a limited group; a bad one costs 1.
pub(crate) const LIMITED: f64 = 0.2;

/// The cost of a scheme by its groups, and whether the load of a group follows a tag.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Penalty {
    /// 1 per bad group, 0.2 per limited one.
    pub sum: f64,
    /// The load follows one tag that changes with time.
    pub is_monotonic: bool,
}

/// Cached judgements: most schemes share most of their groups.
#[derive(Debug, Default)]
pub struct Judged(Mutex<HashMap<Vec<(u32, Choice)>, Judgement>>);

/// The soundness of a group, and whether its load follows a tag.
pub(crate) type Judgement = (Soundness, bool);

impl Judged {
    /// The cached judgement of a group, or else the result of `judge`.
    pub(crate) fn of(
        &self,
        group: Vec<(u32, Choice)>,
        judge: impl FnOnce(&[(u32, Choice)]) -> Judgement,
    ) -> Judgement {
        // The map is consistent even if a thread panicked while holding the lock.
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let judgement = known().get(&group).copied();
        judgement.unwrap_or_else(|| {
            let judged = judge(&group);
            known().insert(group, judged);
            judged
        })
    }
}
