//! The effect of the reach of a batch on its latency: it waits for the slowest of its nodes.
//!
//! Nodes count as slow independently of each other, and the parts of a batch go to all of its nodes at once, as clients
//! send those that the cluster refuses as a whole.

use serde::Serialize;

use slotscope_count::tally::sketch::histogram::Histogram;
use slotscope_model::balance::tidy;

/// The share of a node's replies that count as slow, unless the user sets another.
pub const SLOW: f64 = 0.01;
/// The share of batches that a limit on latency is for.
const WITHIN: f64 = 0.99;

/// The latency of batches, from the tail of one node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Latency {
    /// The share of a node's replies that count as slow: its slowest ones.
    pub slow_replies: f64,
    /// The share of batches that meet at least one of these: the mean of 1 - (1 - `slow_replies`)^n, a batch having n nodes.
    pub slow_batches: f64,
    /// The share of batches that are to meet a limit on latency.
    pub within: f64,
    /// The share of its replies that each node has to meet the limit in: the q for which the mean of q^n is `within`.
    pub node_quantile: f64,
    /// The same for the batches with the most nodes.
    pub widest: WidestLatency,
}

/// The latency of the batches with the most nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WidestLatency {
    /// n.
    pub nodes: u64,
    /// How many batches have that many.
    pub batches: u64,
    /// The share of them that meet a slow reply: 1 - (1 - `slow_replies`)^n.
    pub slow_batches: f64,
    /// `within`^(1/n).
    pub node_quantile: f64,
}

impl Latency {
    /// From the number of nodes of each batch; `None` if none reaches a node.
    pub(super) fn of(nodes: &Histogram, slow: f64) -> Option<Latency> {
        let reached: Vec<(u64, u64)> = nodes.pairs().filter(|(nodes, _)| *nodes > 0).collect();
        let (most, widest) = *reached.last()?;
        Some(Latency {
            slow_replies: tidy(slow),
            slow_batches: tidy(mean(&reached, |nodes| meets_slow(slow, nodes))),
            within: WITHIN,
            node_quantile: tidy(node_quantile(&reached)),
            widest: WidestLatency {
                nodes: most,
                batches: widest,
                slow_batches: tidy(meets_slow(slow, most as f64)),
                node_quantile: tidy(WITHIN.powf(1.0 / most as f64)),
            },
        })
    }
}

/// The mean over batches of a function of their nodes.
fn mean(reached: &[(u64, u64)], of: impl Fn(f64) -> f64) -> f64 {
    let batches: u64 = reached.iter().map(|(_, batches)| batches).sum();
    let weighed = reached
        .iter()
        .map(|(nodes, batches)| *batches as f64 * of(*nodes as f64));
    weighed.sum::<f64>() / batches as f64
}

/// 1 - (1 - slow)^nodes, also where `slow` is tiny.
fn meets_slow(slow: f64, nodes: f64) -> f64 {
    -((-slow).ln_1p() * nodes).exp_m1()
}

/// The q for which the mean of q^n is `WITHIN`, by bisection: between those of the batches with the fewest and the most nodes.
fn node_quantile(reached: &[(u64, u64)]) -> f64 {
    let of = |(nodes, _): &(u64, u64)| WITHIN.powf(1.0 / *nodes as f64);
    let [mut low, mut high] = [reached.first(), reached.last()].map(|row| row.map_or(WITHIN, of));
    for _ in 0..f64::MANTISSA_DIGITS {
        let middle = f64::midpoint(low, high);
        if mean(reached, |nodes| middle.powf(nodes)) < WITHIN {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(nodes: &[u64], slow: f64) -> Option<Latency> {
        let mut histogram = Histogram::default();
        histogram.add(nodes.iter().copied());
        Latency::of(&histogram, slow)
    }

    #[test]
    fn ten_nodes_have_to_meet_a_limit_in_p99_9_for_a_p99_of_the_batch() {
        let found = latency(&[10, 10], SLOW).unwrap();
        let expected = (0.095_617_925, 0.998_995_471);
        assert_eq!((found.slow_batches, found.node_quantile), expected);
        let WidestLatency {
            nodes,
            batches,
            slow_batches,
            node_quantile,
        } = found.widest;
        assert_eq!((nodes, batches), (10, 2));
        assert_eq!((slow_batches, node_quantile), expected);
    }

    #[test]
    fn batches_without_a_node_do_not_count_and_extreme_shares_are_exact() {
        assert_eq!(latency(&[0, 0], SLOW), None);
        let slow = |nodes: &[u64], slow| latency(nodes, slow).unwrap().slow_batches;
        assert_eq!(slow(&[0, 1, 3], 0.1), tidy((0.1 + 0.271) / 2.0));
        assert_eq!(slow(&[1, 2], 1.0), 1.0);
        assert_eq!(slow(&[4], 1e-15), 4e-15);
    }
}
