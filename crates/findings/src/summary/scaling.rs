//! The same slots on other numbers of equal nodes: the resulting skew, and whether it matters.

use slotscope_engine::metric::PerMetric;
use slotscope_engine::name::Name;
use slotscope_model::balance::tidy;
use slotscope_model::compared::Compared;
use slotscope_model::independent_units::{Unit, UnitsBy};
use slotscope_model::role_load::RoleLoad;
use slotscope_model::role_verdict::Scaled;
use slotscope_model::state::State;
use slotscope_topology::Topology;

use crate::summary::judge::{Amounts, judge};
use crate::summary::nodes;
use crate::summary::split::Split;

const TRIED: [usize; 6] = [3, 6, 12, 24, 48, 96];

/// The skew of a load on other numbers of equal nodes, for `keys` keys in total.
pub(crate) fn by_node_count(load: &RoleLoad, units: &UnitsBy, keys: f64) -> Vec<Scaled> {
    let loads = PerMetric::of_keys(load.slots.clone());
    let scaled = |count: usize| {
        let topology = Topology::even(count, format!("even {count}")).ok()?;
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
        let even = nodes::of(&topology, &loads);
        let load = RoleLoad {
            compared: (0..count).collect(),
            weights: vec![1.0; count],
            scale: Vec::new(),
            ..load.clone()
        };
        let compared = Compared::new(&even, &load);
        let split = Split::of(&compared, &units, load.measure);
        let amounts = Amounts {
            keys,
            ..Amounts::default()
        };
        let state = split.as_ref().map_or(State::Empty, |split| {
            judge(split, load.measure, amounts, None).state
        });
        Some(Scaled {
            nodes: count,
            max_over_mean: split.as_ref().map(|split| tidy(split.max_over_mean)),
            state,
        })
    };
    TRIED.into_iter().filter_map(scaled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_model::independent_units::UnitKind;

    fn units(loads: &[f64], total: f64) -> UnitsBy {
        let unit = |load: &f64| Unit {
            kind: UnitKind::Tag,
            name: Name::from("t"),
            slot: 7,
            node: None,
            load: *load,
            at_most: *load,
            main_key: None,
            reads: None,
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
    fn a_hot_tag_weighs_more_the_more_nodes_there_are() {
        let mut loads = vec![10; 16_384];
        loads[7] += 20_000;
        let units = units(&[20_000.0], 183_840.0);
        let load = RoleLoad {
            role: None,
            measure: slotscope_model::measure::Measure::Keys,
            slots: loads,
            scale: Vec::new(),
            compared: Vec::new(),
            weights: Vec::new(),
            reason: None,
            span_secs: None,
            is_estimated: false,
        };
        let found = by_node_count(&load, &units, 183_840.0);
        assert_eq!(found[0].state, State::Skewed);
        assert!(
            found
                .windows(2)
                .all(|pair| pair[0].max_over_mean < pair[1].max_over_mean),
            "{found:?}"
        );
    }
}
