//! The fullest node by the key counts that nodes report.

use slotscope_base::name::Name;

use crate::summary::judge::state_of;
use slotscope_model::limit;
use slotscope_model::state::State;

/// The fullest node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FullestCounted {
    /// Its address.
    pub node: Name,
    /// Its share of the slots.
    pub share_of_slots: f64,
    /// The number of nodes with slots.
    pub nodes: usize,
    /// Keys of all nodes.
    pub keys: f64,
    /// Its keys in fair shares.
    pub max_over_mean: f64,
    /// The keys of the emptiest node in fair shares.
    pub min_over_mean: f64,
    /// The excess due to its number of slots, in fair shares.
    pub placement: f64,
    /// The excess that a perfect hash stays below in 9,999 of 10,000 clusters, in fair shares.
    pub by_chance: f64,
    /// Whether chance plausibly accounts for the excess its slots do not.
    pub is_rest_by_chance: bool,
}

impl FullestCounted {
    pub(crate) fn state(&self) -> State {
        if self.has_too_few_keys() {
            State::Unjudged
        } else {
            state_of(self.max_over_mean)
        }
    }

    /// Whether there are so few keys that chance alone explains it.
    pub(crate) fn has_too_few_keys(&self) -> bool {
        self.keys < limit::FEW_KEYS * self.nodes as f64
            && 1.0 + self.placement <= limit::BALANCED
            && self.is_rest_by_chance
    }

    /// The excess not due to its slots, in fair shares.
    pub(crate) fn rest(&self) -> f64 {
        self.max_over_mean - 1.0 - self.placement
    }

    /// Whether its slots add enough to mention.
    pub(crate) fn is_by_slots(&self) -> bool {
        let excess = self.max_over_mean - 1.0;
        self.placement >= limit::NAMED || self.placement >= limit::NAMED_PART * excess
    }
}
