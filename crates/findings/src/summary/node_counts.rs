//! Findings from the key counts of nodes alone, without a dump: how uneven the nodes are, and how many independent
//! units would be that uneven by chance.
//!
//! With p_i the slot share of node i, W the number of keys and x_i = keys_i / (p_i W) - 1, a perfect hash of N units
//! gives E[x_i^2] = (1 - p_i) / (N p_i). The implied N is thus sum((1 - p_i) / p_i) / sum(x_i^2), which for n equal
//! nodes is (n - 1) / CV^2.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_model::balance::tidy;
use slotscope_model::limit;
use slotscope_model::node_counts::{CountedNode, CountedNodes, CountedVerdict, NodeCounts};
use slotscope_model::state::State;
use slotscope_topology::cluster_info::NodeKeys;

use crate::summary::balance;
use crate::summary::fullest_counted::FullestCounted;
use crate::summary::perfect_hash::chance::RandomUnits;
use crate::wording;

/// Judges the nodes by their own key counts.
pub fn of(source: Name, said: &[NodeKeys]) -> NodeCounts {
    let slots: f64 = said.iter().map(|node| f64::from(node.slots)).sum();
    let owning: Vec<&NodeKeys> = said.iter().filter(|node| node.slots > 0).collect();
    let keys = owning.iter().map(|node| node.keys as f64).sum::<f64>();
    let part = |node: &NodeKeys| f64::from(node.slots) / slots;
    let count = owning.len() as f64;
    let over_fair =
        |node: &NodeKeys| (node.slots > 0 && keys > 0.0).then(|| node.keys as f64 * count / keys);
    let over_slots = |node: &NodeKeys| node.keys as f64 / (part(node) * keys);
    let rows = said.iter().map(|node| CountedNode {
        id: Name::from(node.id_start.as_str()),
        address: Name::from(node.address.as_str()),
        slots: node.slots,
        keys: node.keys,
        over_fair: over_fair(node).map(tidy),
    });
    let list: Vec<_> = rows.collect();
    let balance = balance::of(&owning.iter().map(|node| node.keys).collect::<Vec<_>>());

    let expected: f64 = owning
        .iter()
        .map(|node| (1.0 - part(node)) / part(node))
        .sum();
    let observed: f64 = owning
        .iter()
        .map(|node| (over_slots(node) - 1.0).powi(2))
        .sum();
    let n_eff = (keys > 0.0 && observed > 0.0 && owning.len() > 1).then(|| expected / observed);
    // Every key is a unit: how tags group them is unknown.
    let units = RandomUnits::new(Vec::new(), keys, keys);
    let most = |node: &NodeKeys| units.upper_quantile(part(node), limit::CHANCE / count);
    let expected_most = (keys > 0.0).then(|| {
        let most = owning.iter().map(|node| most(node) * count / keys);
        most.fold(0.0, f64::max)
    });
    let fullest = owning
        .iter()
        .rev()
        .max_by_key(|node| node.keys)
        .filter(|_| keys > 0.0)
        .map(|fullest| FullestCounted {
            node: Name::from(fullest.address.as_str()),
            share_of_slots: part(fullest),
            nodes: owning.len(),
            keys,
            max_over_mean: fullest.keys as f64 * count / keys,
            min_over_mean: balance.min as f64 * count / keys,
            placement: part(fullest) * count - 1.0,
            by_chance: most(fullest) * count / keys - part(fullest) * count,
            is_rest_by_chance: {
                let tail = units.tail(part(fullest), fullest.keys as f64 * (1.0 - 1e-12));
                tail * count >= limit::CHANCE
            },
        });
    let verdict = CountedVerdict {
        metric: Metric::Keys,
        state: fullest.as_ref().map_or(State::Empty, FullestCounted::state),
        sentence: wording::node_counts::uneven(fullest.as_ref()),
        n_eff: n_eff.map(tidy),
        expected_max_over_mean: expected_most.map(tidy),
        usable_capacity: balance.max_over_mean.map(|over| tidy(1.0 / over)),
    };
    NodeCounts {
        schema: slotscope_model::SCHEMA.into(),
        nodes: CountedNodes {
            source,
            list,
            keys: balance,
        },
        verdict,
    }
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
        of(
            Name::from("info"),
            &keys.iter().enumerate().map(node).collect::<Vec<_>>(),
        )
    }

    /// redis/redis issue 14087: 1,543,901,950 keys on ten masters with equal slots; only the highest and the lowest
    /// count are known, the others share the rest.
    #[test]
    fn a_cluster_that_asked_why_gets_an_answer_that_claims_no_more_than_the_counts() {
        let (all, highest, lowest) = (1_543_901_950, 170_568_518, 142_747_398);
        let mut keys = vec![(all - highest - lowest) / 8; 10];
        (keys[3], keys[7]) = (highest, lowest);
        let found = counted(&keys);
        assert_eq!(found.verdict.state, State::Watch);
        let n_eff = found.verdict.n_eff.unwrap();
        assert!((1_000.0..10_000.0).contains(&n_eff), "{n_eff}");
        let chance = found.verdict.expected_max_over_mean.unwrap() - 1.0;
        assert!((0.0001..0.001).contains(&chance), "{chance}");
        let sentence = found.verdict.sentence;
        for part in [
            "10.0.0.4:6379 holds 1.10× its share of keys",
            "hash tags",
            "slots that it does not own",
            "expiry",
            "a perfect hash gives up to ",
            "dump",
        ] {
            assert!(sentence.contains(part), "{part} in {sentence}");
        }
    }

    #[test]
    fn even_chancy_and_badly_placed_nodes_are_told_apart() {
        assert_eq!(counted(&[1000, 1010, 990]).verdict.state, State::Balanced);
        let few = counted(&[100, 120, 95]);
        assert_eq!(few.verdict.state, State::Unjudged, "{:?}", few.verdict);
        assert!(few.verdict.sentence.contains("too few to judge"));
        let node = |address: &str, slots, keys| NodeKeys {
            address: address.into(),
            id_start: "a".into(),
            keys,
            slots,
        };
        let unequal = of(
            Name::from("info"),
            &[node("a:1", 12_000, 120_000), node("b:1", 4384, 43_840)],
        );
        assert_eq!(unequal.verdict.state, State::Skewed);
        assert_eq!(counted(&[0, 0, 0]).verdict.state, State::Empty);
        assert_eq!(counted(&[5]).verdict.n_eff, None);
        assert_eq!(counted(&[]).verdict.state, State::Empty);
    }

    #[test]
    fn few_keys_on_many_nodes_are_no_finding() {
        let mut keys = vec![0; 100];
        for (at, many) in [(50, 1), (7, 2), (30, 1), (50, 1)] {
            keys[at] += many;
            assert_eq!(counted(&keys).verdict.state, State::Unjudged, "{keys:?}");
        }
        // More than chance gives.
        keys[50] += 40;
        assert_eq!(counted(&keys).verdict.state, State::Skewed);
    }

    #[test]
    fn the_implied_number_of_units_is_that_of_the_formula() {
        let found = counted(&[90, 100, 110, 100]);
        let cv2: f64 = 0.02 / 4.0;
        assert!((found.verdict.n_eff.unwrap() / (3.0 / cv2) - 1.0).abs() < 1e-6);
    }
}
