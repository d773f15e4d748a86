//! Chooses the state from how uneven the nodes are, and from nothing else.

use crate::summary::cause::{State, limit};
use crate::summary::split::Split;

/// The first row that matches. `keys` is the number of keys; `suspicious` says that the dump is incomplete or damaged.
pub fn judge(split: Option<&Split<'_>>, keys: f64, suspicious: bool) -> State {
    match split {
        None if suspicious => State::Suspicious,
        None => State::Empty,
        Some(_) if suspicious => State::Suspicious,
        Some(split) if has_too_few_keys(split, keys) => State::Balanced,
        Some(split) => state_of(split.max_over_mean),
    }
}

/// What nodes are of which the fullest has so many fair shares.
pub fn state_of(max_over_mean: f64) -> State {
    match max_over_mean {
        ..=limit::BALANCED => State::Balanced,
        ..limit::SKEWED => State::Watch,
        _ => State::Skewed,
    }
}

/// Whether nothing but chance makes the fullest node so full, for want of keys.
pub fn has_too_few_keys(split: &Split<'_>, keys: f64) -> bool {
    keys < limit::FEW_KEYS * split.nodes as f64
        && split.heavy.is_empty()
        && 1.0 + split.by_slots <= limit::BALANCED
        && split.is_rest_by_chance()
}
