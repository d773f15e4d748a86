//! The same slots on other numbers of equal nodes: how uneven they would be, and whether that matters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::summary::balance::tidy;
use crate::summary::cause::State;
use crate::summary::independent_units::{Unit, UnitsBy};
use crate::summary::judge::judge;
use crate::summary::nodes::Nodes;
use crate::summary::split::Split;
use crate::topology::Topology;

/// The numbers of nodes that are tried.
const TRIED: [usize; 6] = [3, 6, 12, 24, 48, 96];

/// An even split over so many nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaled {
    /// How many.
    pub nodes: usize,
    /// The fullest in fair shares.
    pub max_over_mean: Option<f64>,
    /// How uneven that is.
    pub state: State,
}

/// On more nodes than this the heaviest unit of those that hold `total` exceeds a fair share alone.
pub fn most_nodes(total: f64, units: &UnitsBy) -> Option<u64> {
    let mut on_nodes = units.named.iter().filter(|unit| unit.node.is_some());
    let heaviest = on_nodes.next().filter(|unit| unit.load > 0.0)?;
    Some((total / heaviest.load) as u64)
}

/// What the load of `by` comes to on other numbers of nodes; `keys` is the number of all keys.
pub fn by_node_count(loads: &[u64], units: &UnitsBy, by: Metric, keys: f64) -> Vec<Scaled> {
    // Only this metric is looked at, whatever it is: keys are always there.
    let loads = PerMetric::of_keys(loads.to_vec()).with(by, loads.to_vec());
    let scaled = |nodes: usize| {
        let topology = Topology::even(nodes, format!("even {nodes}")).ok()?;
        let owner = |slot: u16| {
            topology
                .owner(slot)
                .map(|node| Name::from(topology.nodes[node].id.as_str()))
        };
        let named = units
            .named
            .iter()
            .map(|unit| Unit {
                node: owner(unit.slot),
                ..unit.clone()
            })
            .collect();
        let units = UnitsBy {
            named,
            ..units.clone()
        };
        let even = Nodes::of(&topology, &loads);
        let split = Split::of(&even, &units, by);
        Some(Scaled {
            nodes,
            max_over_mean: split.as_ref().map(|split| tidy(split.max_over_mean)),
            state: judge(split.as_ref(), keys, false),
        })
    };
    TRIED.into_iter().filter_map(scaled).collect()
}

/// No move of whole units gets the fullest of `nodes` nodes below this, in fair shares: the heaviest unit is somewhere,
/// and of the n + 1 heaviest two are on one node. Units that are not known by name are no heavier than those.
pub fn floor(units: &UnitsBy, metric: Metric, nodes: usize) -> Option<f64> {
    if units.total <= 0.0 || units.squares.is_none() {
        return None;
    }
    let n = nodes as f64;
    // A unit that is not listed has a key at least.
    let least = |i: usize| f64::from(u8::from(metric == Metric::Keys && (i as f64) < units.count));
    let unit = |i: usize| units.named.get(i).map_or(least(i), |unit| unit.load);
    let first = unit(0) * n / units.total;
    let pair = (unit(nodes.saturating_sub(1)) + unit(nodes)) * n / units.total;
    Some(tidy(first.max(pair).max(1.0)))
}

/// How much more uneven 1024 ranges of 16 slots are than a perfect hash would have them: CV^2 N_eff / 1023. Clean
/// dumps stay below 3.2.
pub fn hash_ratio(loads: &[u64], effective_units: f64) -> Option<f64> {
    let ranges: Vec<f64> = loads
        .chunks(16)
        .map(|slots| slots.iter().map(|load| *load as f64).sum())
        .collect();
    let n = ranges.len() as f64;
    let total: f64 = ranges.iter().sum();
    let squares: f64 = ranges.iter().map(|load| load * load).sum();
    (total > 0.0 && n > 1.0)
        .then(|| tidy((squares * n / (total * total) - 1.0).max(0.0) * effective_units / (n - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::independent_units::UnitKind;

    fn units(loads: &[f64], total: f64) -> UnitsBy {
        let unit = |load: &f64| Unit {
            kind: UnitKind::Tag,
            name: Name::from("t"),
            slot: 7,
            node: None,
            load: *load,
            at_most: *load,
        };
        let squares = Some(
            loads.iter().map(|load| load * load).sum::<f64>() + total - loads.iter().sum::<f64>(),
        );
        UnitsBy {
            total,
            squares,
            count: total,
            positive: total,
            named: loads.iter().map(unit).collect(),
            ..UnitsBy::default()
        }
    }

    #[test]
    fn the_floor_is_the_heaviest_unit_or_two_that_must_share_a_node() {
        assert_eq!(floor(&units(&[500.0], 1000.0), Metric::Keys, 3), Some(1.5));
        assert_eq!(
            floor(
                &units(&[300.0, 300.0, 300.0, 300.0], 1200.0),
                Metric::Keys,
                3
            ),
            Some(1.5)
        );
        assert_eq!(floor(&units(&[1.0], 1000.0), Metric::Keys, 3), Some(1.0));
        assert_eq!(floor(&units(&[], 0.0), Metric::Keys, 3), None);
    }

    #[test]
    fn one_key_is_on_one_node() {
        let one = UnitsBy {
            count: 1.0,
            ..units(&[], 1.0)
        };
        assert_eq!(floor(&one, Metric::Keys, 50), Some(50.0));
    }

    #[test]
    fn a_hot_tag_weighs_more_the_more_nodes_there_are() {
        let mut loads = vec![10; 16_384];
        loads[7] += 20_000;
        let units = units(&[20_000.0], 183_840.0);
        let found = by_node_count(&loads, &units, Metric::Keys, 183_840.0);
        assert_eq!(found[0].state, State::Skewed);
        assert!(
            found
                .windows(2)
                .all(|pair| pair[0].max_over_mean < pair[1].max_over_mean),
            "{found:?}"
        );
    }

    #[test]
    fn a_perfect_hash_has_a_ratio_of_one() {
        let mut state = 1u64;
        let mut loads = vec![0u64; 16_384];
        for _ in 0..1_000_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            loads[(state >> 50) as usize] += 1;
        }
        let ratio = hash_ratio(&loads, 1_000_000.0).unwrap();
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
        assert_eq!(hash_ratio(&[0; 16_384], 1.0), None);
    }
}
