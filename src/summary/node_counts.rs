//! What the number of keys of each node tells by itself, where there is no dump: how uneven they are, how many
//! independent units would be that uneven by chance, and what could be behind it. No more than that.
//!
//! With p_i the share of the slots of node i, W keys in all and x_i = keys_i / (p_i W) - 1, a perfect hash of N units
//! gives E[x_i^2] = (1 - p_i) / (N p_i). So the implied N is sum((1 - p_i) / p_i) / sum(x_i^2), which for n equal nodes
//! is (n - 1) / CV^2.

use serde::Serialize;

use super::balance::{Balance, tidy};
use super::expected::node_max_over_mean;
use super::sentence::grouped;
use super::verdict::{Verdict, limit};
use crate::metric::Metric;
use crate::name::Name;
use crate::topology::cluster_info::NodeKeys;

/// The node part of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeCounts {
    /// That of report.json.
    pub schema: &'static str,
    /// The nodes.
    pub nodes: CountedNodes,
    /// The verdict.
    pub skew: CountedSkew,
}

/// The nodes and their balance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountedNodes {
    /// Where the counts are from.
    pub source: Name,
    /// The nodes in the order of the listing.
    pub list: Vec<CountedNode>,
    /// Balance of those that own slots.
    pub keys: Balance,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountedNode {
    /// The start of its id.
    pub id: Name,
    /// Where it listens.
    pub address: Name,
    /// Its slots.
    pub slots: u32,
    /// Its keys.
    pub keys: u64,
    /// Its keys over those that its slots would hold if all slots held as much.
    pub over_fair: Option<f64>,
}

/// The verdict and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountedSkew {
    /// Keys.
    pub by: Metric,
    /// The finding.
    pub verdict: Verdict,
    /// The finding for people.
    pub sentence: String,
    /// The independent units that would be as uneven by chance.
    pub n_eff: Option<f64>,
    /// What max/mean stays below in 9,999 of 10,000 perfect hashes, if every key were a unit of its own.
    pub expected_max_over_mean: Option<f64>,
    /// With equal nodes, the part of the cluster that is full when its fullest node is.
    pub usable_capacity: Option<f64>,
}

impl NodeCounts {
    /// Judges what the nodes say of themselves.
    pub fn of(source: Name, said: &[NodeKeys]) -> Self {
        let slots: f64 = said.iter().map(|node| f64::from(node.slots)).sum();
        let owning: Vec<&NodeKeys> = said.iter().filter(|node| node.slots > 0).collect();
        let keys = owning.iter().map(|node| node.keys as f64).sum::<f64>();
        let part = |node: &NodeKeys| f64::from(node.slots) / slots;
        let over_fair =
            |node: &NodeKeys| (node.slots > 0 && keys > 0.0).then(|| node.keys as f64 / (part(node) * keys));
        let list = said.iter().map(|node| CountedNode {
            id: Name::from(node.id_start.as_str()),
            address: Name::from(node.address.as_str()),
            slots: node.slots,
            keys: node.keys,
            over_fair: over_fair(node).map(tidy),
        });
        let list: Vec<_> = list.collect();
        let balance = Balance::of(&owning.iter().map(|node| node.keys).collect::<Vec<_>>());

        let expected: f64 = owning.iter().map(|node| (1.0 - part(node)) / part(node)).sum();
        let found: f64 = owning.iter().filter_map(|node| over_fair(node)).map(|over| (over - 1.0).powi(2)).sum();
        let n_eff = (keys > 0.0 && found > 0.0 && owning.len() > 1).then(|| expected / found);
        let by_chance = (keys > 0.0).then(|| node_max_over_mean(owning.len(), keys));
        let fullest = owning.iter().rev().max_by_key(|node| node.keys).filter(|_| keys > 0.0);
        let facts = fullest.map(|fullest| Facts {
            fullest,
            nodes: owning.len(),
            keys,
            max_over_mean: fullest.keys as f64 * owning.len() as f64 / keys,
            min_over_mean: balance.min as f64 * owning.len() as f64 / keys,
            placement: part(fullest) * owning.len() as f64 - 1.0,
            by_chance: by_chance.unwrap_or(1.0),
            n_eff,
        });
        let (verdict, sentence) = facts.as_ref().map_or_else(
            || (Verdict::Empty, String::from("no node says that it holds keys, so there is nothing to judge")),
            |facts| (facts.verdict(), facts.sentence()),
        );
        let skew = CountedSkew {
            by: Metric::Keys,
            verdict,
            sentence,
            n_eff: n_eff.map(tidy),
            expected_max_over_mean: by_chance.map(tidy),
            usable_capacity: balance.max_over_mean.map(|over| tidy(1.0 / over)),
        };
        NodeCounts { schema: super::SCHEMA, nodes: CountedNodes { source, list, keys: balance }, skew }
    }
}

struct Facts<'a> {
    fullest: &'a NodeKeys,
    nodes: usize,
    keys: f64,
    max_over_mean: f64,
    min_over_mean: f64,
    placement: f64,
    by_chance: f64,
    n_eff: Option<f64>,
}

impl Facts<'_> {
    fn is_chance(&self) -> bool {
        self.max_over_mean - self.placement <= self.by_chance
    }

    fn verdict(&self) -> Verdict {
        match self.max_over_mean {
            m if m < limit::BALANCED => Verdict::Balanced,
            m if self.placement >= (m - 1.0) / 2.0 => Verdict::Placement,
            _ if self.is_chance() => Verdict::Balanced,
            m if m < limit::SKEWED => Verdict::Watch,
            _ => Verdict::Skewed,
        }
    }

    fn sentence(&self) -> String {
        let name = Name::from(self.fullest.address.as_str());
        let m = self.max_over_mean;
        let holds = format!("node {name} holds {m:.3} times its fair share, the emptiest {:.3}", self.min_over_mean);
        let keys = grouped(self.keys as u64);
        match self.verdict() {
            Verdict::Placement => format!(
                "{holds}; it owns {} slots where {} would be its part: moving slots is enough",
                grouped(u64::from(self.fullest.slots)),
                grouped((f64::from(self.fullest.slots) / (1.0 + self.placement)).round() as u64)
            ),
            Verdict::Balanced if m < limit::BALANCED => format!("{holds}: nothing to do"),
            Verdict::Balanced => format!("{holds}, which is chance for {keys} keys: nothing to do"),
            _ => {
                let chance = self.by_chance - 1.0;
                let chance = if chance >= 0.0005 { format!("{chance:.3}") } else { format!("{chance:.5}") };
                let like = self.n_eff.map_or(String::new(), |n_eff| {
                    format!(": {keys} keys are as uneven as {} independent ones would be", rounded(n_eff))
                });
                format!(
                    "{holds}, where chance would allow {chance} above{like}; hash tags that bind many keys, keys left on nodes that no longer own their slots, and unequal eviction or expiry all fit, and counts of {} nodes cannot tell which: dump the keys to see",
                    self.nodes
                )
            }
        }
    }
}

/// Two digits and zeros: more of an estimate from a few nodes would be pretended.
fn rounded(value: f64) -> String {
    let unit = 10f64.powf(value.max(1.0).log10().floor() - 1.0).max(1.0);
    format!("about {}", grouped(((value / unit).round() * unit) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(keys: &[u64]) -> NodeCounts {
        let ends = |i: usize| (i * 16384 + keys.len() / 2) / keys.len();
        let node = |(i, keys): (usize, &u64)| NodeKeys {
            address: format!("10.0.0.{}:6379", i + 1),
            id_start: format!("{i:08x}"),
            keys: *keys,
            slots: (ends(i + 1) - ends(i)) as u32,
        };
        NodeCounts::of(Name::from("info"), &keys.iter().enumerate().map(node).collect::<Vec<_>>())
    }

    /// redis/redis issue 14087: 1,543,901,950 keys on ten masters of equal slots, of which the highest and the lowest
    /// are told; the others share the rest.
    #[test]
    fn a_cluster_that_asked_why_gets_an_answer_that_claims_no_more_than_the_counts() {
        let (all, highest, lowest) = (1_543_901_950, 170_568_518, 142_747_398);
        let mut keys = vec![(all - highest - lowest) / 8; 10];
        (keys[3], keys[7]) = (highest, lowest);
        let found = counted(&keys);
        assert_eq!(found.skew.verdict, Verdict::Watch);
        let n_eff = found.skew.n_eff.unwrap();
        assert!((1_000.0..10_000.0).contains(&n_eff), "{n_eff}");
        let chance = found.skew.expected_max_over_mean.unwrap() - 1.0;
        assert!((0.0001..0.001).contains(&chance), "{chance}");
        let sentence = &found.skew.sentence;
        for part in
            ["10.0.0.4:6379 holds 1.105", "emptiest 0.925", "independent", "hash tags", "left on", "evict", "dump"]
        {
            assert!(sentence.contains(part), "{part} in {sentence}");
        }
    }

    #[test]
    fn even_chancy_and_badly_placed_nodes_are_told_apart() {
        assert_eq!(counted(&[1000, 1010, 990]).skew.verdict, Verdict::Balanced);
        let few = counted(&[100, 120, 95]);
        assert_eq!(few.skew.verdict, Verdict::Balanced, "{}", few.skew.sentence);
        assert!(few.skew.sentence.contains("chance"), "{}", few.skew.sentence);
        let node = |address: &str, slots, keys| NodeKeys { address: address.into(), id_start: "a".into(), keys, slots };
        let unequal = NodeCounts::of(Name::from("info"), &[node("a:1", 12_000, 120_000), node("b:1", 4384, 43_840)]);
        assert_eq!(unequal.skew.verdict, Verdict::Placement, "{}", unequal.skew.sentence);
        assert_eq!(counted(&[0, 0, 0]).skew.verdict, Verdict::Empty);
        assert_eq!(counted(&[5]).skew.n_eff, None);
        assert_eq!(counted(&[]).skew.verdict, Verdict::Empty);
    }

    #[test]
    fn the_implied_number_of_units_is_that_of_the_formula() {
        let found = counted(&[90, 100, 110, 100]);
        let cv2: f64 = 0.02 / 4.0;
        assert!((found.skew.n_eff.unwrap() / (3.0 / cv2) - 1.0).abs() < 1e-6);
    }
}
