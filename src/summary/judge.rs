//! Chooses the verdict from the split of the fullest node's excess.

use crate::summary::cause::{Verdict, limit};
use crate::summary::split::Split;

/// The first row that matches; `suspicious` says that the dump is incomplete or damaged.
pub fn judge(load: f64, split: Option<&Split<'_>>, tag_ratio: f64, suspicious: bool) -> Verdict {
    let even = if tag_ratio < limit::TAGGED {
        Verdict::Balanced
    } else {
        Verdict::Tagged
    };
    let Some(split) = split.filter(|_| load > 0.0) else {
        return if suspicious {
            Verdict::Suspicious
        } else {
            Verdict::Empty
        };
    };
    match split.max_over_mean {
        _ if suspicious => Verdict::Suspicious,
        m if m < limit::BALANCED => even,
        m if split.placement >= (m - 1.0) / 2.0 && split.owns_more_slots() => Verdict::Placement,
        _ if split.is_chance() => even,
        m if m < limit::SKEWED => Verdict::Watch,
        _ => Verdict::Skewed,
    }
}
