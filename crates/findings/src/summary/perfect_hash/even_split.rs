//! How uneven a perfect hash leaves nodes that share the slots evenly: skew below this bound is not a finding.
//!
//! A node owns a whole number of the 16384 slots: of 1,000 nodes, some have 17 slots where the average is 16.4, which
//! alone is 1.04 fair shares. Light units land on these slots at random. With q the tail of a node's load, the fullest
//! of n nodes exceeds x with probability 1 - prod(1 - q_i(x)), treating nodes as independent. Their loads have a fixed
//! sum, hence negative correlation, so the bound is too high by a tiny amount.

use slotscope_engine::slot::SLOTS;

use crate::summary::perfect_hash::chance::RandomUnits;

/// The fullest node is below the bound with this probability.
const LEVEL: f64 = 0.99;
/// Bisection steps; the range starts a few percent wide.
const HALVINGS: usize = 10;
/// Shares that differ relatively by less than this are merged.
const ALIKE: f64 = 1e-3;

/// Nodes with the same number of slots.
struct Alike {
    /// Each node's fraction of the slots.
    p: f64,
    /// Each node's share of the load.
    share: f64,
    /// The number of nodes.
    count: f64,
}

/// E: the 99% quantile of the fullest node, in fair shares of the `light` units, for nodes that are meant to hold
/// `shares` of the load (in any unit) and own the nearest whole number of slots; 1 without load.
pub(crate) fn p99_of_shares(light: &RandomUnits, shares: &[f64]) -> f64 {
    let total = light.total();
    let groups = alike(shares);
    if total <= 0.0 || groups.is_empty() {
        return 1.0;
    }
    let nodes: f64 = groups.iter().map(|group| group.count).sum();
    let ratio =
        |group: &Alike, tail: f64| light.upper_quantile(group.p, tail) / (group.share * total);
    // Lower bound: each group alone. Upper bound: all nodes in the worst group.
    let tail_of = |count: f64| 1.0 - LEVEL.powf(1.0 / count);
    let highest = |tail: &dyn Fn(&Alike) -> f64| {
        let bounds = groups.iter().map(|group| ratio(group, tail(group)));
        bounds.fold(1.0, f64::max)
    };
    let mut low = highest(&|group| tail_of(group.count));
    if let [_] = groups.as_slice() {
        return low;
    }
    let mut high = highest(&|_| tail_of(nodes));
    let is_within = |bound: f64| {
        let log = groups.iter().map(|group| {
            let tail = light.tail(group.p, bound * group.share * total);
            group.count * (-tail).ln_1p()
        });
        log.sum::<f64>() >= LEVEL.ln()
    };
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if is_within(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Groups nodes by number of slots and share.
fn alike(shares: &[f64]) -> Vec<Alike> {
    let total: f64 = shares.iter().sum();
    if !(total.is_finite() && total > 0.0) || shares.len() > SLOTS {
        return Vec::new();
    }
    let mut groups: Vec<Alike> = Vec::new();
    let (mut before, mut first) = (0.0, 0.0);
    for share in shares {
        before += share;
        let end = (before / total * SLOTS as f64).round();
        let (p, share) = ((end - first) / SLOTS as f64, share / total);
        first = end;
        let is_same =
            |group: &&mut Alike| group.p == p && (group.share - share).abs() <= ALIKE * share;
        if let Some(group) = groups.iter_mut().find(is_same) {
            group.count += 1.0;
            group.share = group.share.min(share);
        } else if p > 0.0 && share > 0.0 {
            groups.push(Alike {
                p,
                share,
                count: 1.0,
            });
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even_split_p99(light: &RandomUnits, nodes: usize) -> f64 {
        p99_of_shares(light, &vec![1.0; nodes])
    }

    #[test]
    fn whole_slots_alone_are_uneven_and_shares_are_kept() {
        let many = RandomUnits::new(Vec::new(), 1e12, 1e12);
        assert!((even_split_p99(&many, 1000) - 17.0 * 1000.0 / 16_384.0).abs() < 3e-4);
        assert!((even_split_p99(&many, 4) - 1.0).abs() < 1e-4);
        assert!((p99_of_shares(&many, &[3.0, 1.0]) - 1.0).abs() < 1e-4);
        assert_eq!(even_split_p99(&RandomUnits::default(), 3), 1.0);
        assert_eq!(even_split_p99(&many, 0), 1.0);
    }
}
