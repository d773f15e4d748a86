//! Simulates nodes under a perfect hash: heavy units are placed one by one, light ones in aggregate. A few heavy units
//! determine the fullest node, and their maximum has no closed form.

use std::f64::consts::TAU;

use crate::summary::balance::tidy;
use crate::summary::independent_units::UnitsBy;
use crate::summary::model::expected::Expectation;

/// Number of simulated hashes: the tenth fullest is the 99% quantile.
const ROUNDS: usize = 1000;
/// Maximum number of units placed individually, and their minimum size as a fraction of a node's fair share.
const SINGLE: usize = 500;
const LEAST: f64 = 0.002;
/// Up to this many light units are placed individually too.
const FEW: f64 = 2000.0;

/// The spread of `nodes` nodes with equal slots; `None` if tags were not counted.
pub(crate) fn of_nodes(nodes: usize, units: &UnitsBy) -> Option<Expectation> {
    let effective = units.effective()?;
    let n = nodes as f64;
    let fair = units.total / n;
    let loads = units.named.iter().map(|unit| unit.load);
    let single: Vec<f64> = loads
        .take(SINGLE)
        .take_while(|load| *load >= LEAST * fair)
        .collect();
    let rest = (units.total - single.iter().sum::<f64>()).max(0.0);
    let squares = units.squares? - single.iter().map(|load| load * load).sum::<f64>();
    let evenest = rest * units.total / units.positive.max(1.0);
    let weight = if rest > 0.0 {
        squares.max(evenest) / rest
    } else {
        0.0
    };
    let mut random = Random(nodes as u64);
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut loads = light(&mut random, nodes, rest, weight);
            for load in &single {
                loads[random.below(nodes)] += load;
            }
            loads.into_iter().fold(0.0, f64::max) / fair
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    Some(Expectation {
        cv: tidy(((n - 1.0) / effective).sqrt()),
        max_over_mean_p50: tidy(ratios[ROUNDS / 2]),
        max_over_mean_p99: tidy(ratios[ROUNDS * 99 / 100]),
        gini: None,
        empty: None,
    })
}

/// Node loads from light units of equal `weight`, `rest` in total.
fn light(random: &mut Random, nodes: usize, rest: f64, weight: f64) -> Vec<f64> {
    let n = nodes as f64;
    let units = if weight > 0.0 { rest / weight } else { 0.0 };
    if units <= FEW {
        let mut loads = vec![0.0; nodes];
        (0..units.round() as usize).for_each(|_| loads[random.below(nodes)] += weight);
        return loads;
    }
    // Normal deviates minus their mean approximate a multinomial distribution of many units.
    let sigma = (rest * weight / n).sqrt();
    let deviates: Vec<f64> = (0..nodes).map(|_| random.normal()).collect();
    let mean = deviates.iter().sum::<f64>() / n;
    deviates
        .into_iter()
        .map(|z| rest / n + sigma * (z - mean))
        .collect()
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), seeded the same in
/// every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// Uniform in (0, 1].
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Box and Muller (Annals of Mathematical Statistics 29, 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::independent_units::{Unit, UnitKind};
    use slotscope_engine::name::Name;

    fn units(loads: &[f64], light: f64) -> UnitsBy {
        let unit = |load: &f64| Unit {
            kind: UnitKind::Tag,
            name: Name::from("t"),
            slot: 0,
            node: None,
            load: *load,
            at_most: *load,
            main_key: None,
            reads: None,
        };
        let total = loads.iter().sum::<f64>() + light;
        UnitsBy {
            total,
            squares: Some(loads.iter().map(|load| load * load).sum::<f64>() + light),
            positive: total,
            named: loads.iter().map(unit).collect(),
            ..UnitsBy::default()
        }
    }

    #[test]
    fn many_equal_units_are_as_even_as_the_table_has_it() {
        for (keys, nodes, p99) in [(1e5, 3, 1.012), (1e5, 10, 1.029), (1e6, 100, 1.037)] {
            let found = of_nodes(nodes, &units(&[], keys)).unwrap();
            let off = found.max_over_mean_p99 - p99;
            assert!(
                off.abs() < 0.15 * (p99 - 1.0),
                "{keys} on {nodes}: {found:?}"
            );
            assert!(found.max_over_mean_p50 < found.max_over_mean_p99);
        }
    }

    #[test]
    fn a_heavy_unit_is_on_some_node_and_one_key_on_one() {
        let found = of_nodes(10, &units(&[500_000.0], 500_000.0)).unwrap();
        assert!((5.4..5.6).contains(&found.max_over_mean_p50), "{found:?}");
        assert_eq!(
            of_nodes(50, &units(&[], 1.0)).unwrap().max_over_mean_p50,
            50.0
        );
        // Two units on two nodes collide half of the time.
        let two = of_nodes(2, &units(&[1000.0, 1000.0], 0.0)).unwrap();
        assert_eq!(two.max_over_mean_p99, 2.0);
    }
}
