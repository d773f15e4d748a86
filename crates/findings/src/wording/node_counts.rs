//! The verdict on the key counts that nodes report, in one sentence.

use slotscope_base::text::grouped;

use crate::summary::explanation::{Fullest, Why};
use crate::summary::fullest_counted::FullestCounted;
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::words::times;

/// How uneven they are; without a fullest node, none has keys.
pub(crate) fn uneven(fullest: Option<&FullestCounted>) -> String {
    let Some(fullest) = fullest else {
        return "no node says that it holds keys, so there is nothing to judge".into();
    };
    let m = fullest.max_over_mean;
    let without_cause = |reason| Fullest {
        assumed_nodes: None,
        node: fullest.node.clone(),
        measure: Measure::Keys,
        max_over_mean: m,
        reason,
        compared: None,
        shorter: None,
        memory_is_unknown: false,
        is_estimated: false,
        are_writes: false,
    };
    if m <= limit::BALANCED {
        return without_cause(Why::Even).in_words();
    }
    if fullest.has_too_few_keys() {
        let few = Why::TooFew {
            counted: fullest.keys as u64,
            nodes: fullest.nodes,
        };
        return without_cause(few).in_words();
    }
    let has = without_cause(Why::Causes(Vec::new(), None)).in_words();
    let by_slots = fullest
        .is_by_slots()
        .then(|| format!("{:.0}% of the slots", 100.0 * fullest.share_of_slots));
    let cause = match fullest.is_rest_by_chance {
        true if by_slots.is_some() => None,
        true => Some(format!(
            "random variation of {} keys",
            grouped(fullest.keys as u64)
        )),
        false => {
            Some("heavy hash tags, uneven expiry, or keys in slots that it does not own".into())
        }
    };
    let rest = cause.map(|cause| {
        format!(
            "{cause} ({}; a perfect hash gives up to {})",
            times(fullest.rest()),
            times(fullest.by_chance)
        )
    });
    let causes: Vec<String> = by_slots.into_iter().chain(rest).collect();
    let what_next = if fullest.is_rest_by_chance {
        "; redis-cli --cluster rebalance evens out their numbers"
    } else {
        "; dump the keys to see which"
    };
    format!("{has}, because of {}{what_next}", causes.join(" and "))
}
