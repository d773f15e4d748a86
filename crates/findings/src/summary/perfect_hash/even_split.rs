//! How uneven a perfect hash leaves nodes that share the slots evenly: skew below this bound is not a finding.
//!
//! A node owns a whole number of the 16384 slots: of 1,000 nodes, some have 17 slots where the average is 16.4, which
//! alone is 1.04 fair shares. Light units land on these slots at random. With q the tail of a node's load, the fullest
//! of n nodes exceeds x with probability 1 - prod(1 - q_i(x)), treating nodes as independent. Their loads have a fixed
//! sum, hence negative correlation, so the bound is too high by a tiny amount.

use slotscope_base::slot::SLOTS;

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

    /// SplitMix64 (Steele, Lea, Flood 2014).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }

        fn slot(&mut self) -> usize {
            (self.next() >> 50) as usize
        }

        fn unit(&mut self) -> f64 {
            ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            let angle = std::f64::consts::TAU * self.unit();
            (-2.0 * self.unit().ln()).sqrt() * angle.cos()
        }
    }

    /// How often the fullest of `nodes` exceeds `bound` if `weights` land on slots at random.
    fn exceeded(weights: &[f64], nodes: usize, bound: f64, rounds: usize) -> f64 {
        let mut random = Random(nodes as u64);
        let end = |node: usize| (node as f64 * SLOTS as f64 / nodes as f64).round() as usize;
        let mut owner = vec![0; SLOTS];
        (0..nodes).for_each(|node| owner[end(node)..end(node + 1)].fill(node));
        let fair = weights.iter().sum::<f64>() / nodes as f64;
        let mut above = 0;
        for _ in 0..rounds {
            let mut loads = vec![0.0; nodes];
            weights
                .iter()
                .for_each(|weight| loads[owner[random.slot()]] += weight);
            let fullest = loads.into_iter().fold(0.0, f64::max);
            above += usize::from(fullest > bound * fair);
        }
        above as f64 / rounds as f64
    }

    /// Asserts that the fullest of `nodes` exceeds the bound of `light` once in a hundred hashes of `weights`.
    #[track_caller]
    fn check(light: &RandomUnits, weights: &[f64], nodes: usize, rounds: usize) {
        let bound = even_split_p99(light, nodes);
        let above = exceeded(weights, nodes, bound, rounds);
        let chance = 3.0 * (0.01 * 0.99 / rounds as f64).sqrt();
        let is_right = (above - 0.01).abs() < chance + 0.004;
        assert!(is_right, "{nodes}: {bound} {above}");
    }

    #[test]
    fn equal_keys_exceed_the_bound_once_in_a_hundred_hashes() {
        for (keys, nodes, rounds) in [
            (20_000, 3, 2000),
            // 3 of 7 nodes have one more slot: the bound is that of seven nodes, not of three.
            (50_000, 7, 2000),
            (20_000, 30, 2000),
            (60_000, 300, 800),
            (100_000, 1000, 500),
        ] {
            let light = RandomUnits::new(Vec::new(), f64::from(keys), f64::from(keys));
            check(&light, &vec![1.0; keys as usize], nodes, rounds);
        }
    }

    #[test]
    fn sizes_of_which_the_heaviest_are_known_exceed_it_as_rarely() {
        for (keys, nodes, rounds) in [(20_000, 3, 1500), (20_000, 30, 1500), (60_000, 300, 600)] {
            let mut random = Random(99);
            let mut sizes: Vec<f64> = (0..keys).map(|_| (1.5 * random.normal()).exp()).collect();
            sizes.sort_by(|a, b| b.total_cmp(a));
            let heavy = 0.05 * sizes.iter().sum::<f64>() / nodes as f64;
            sizes.retain(|size| *size < heavy);
            let (named, others) = sizes.split_at(1000);
            let squares = others.iter().map(|size| size * size).sum();
            let light = RandomUnits::new(named.to_vec(), others.iter().sum(), squares);
            check(&light, &sizes, nodes, rounds);
        }
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
