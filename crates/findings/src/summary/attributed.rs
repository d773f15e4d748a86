//! CPU time by name. Servers count it by slot and say nothing of names: the names of a slot share its CPU time as they
//! share its operations, where captures beside it show these, and a tag that has nearly all keys of a slot has its time.

use slotscope_engine::metric::{Metric, PerMetric};

use crate::summary::independent_units::{Unit, UnitKind, Units};

/// A tag with this part of a slot's keys is taken for what uses its time.
const NEARLY_ALL: f64 = 0.9;

/// Gives the CPU time of each slot to its names; `loads` are those of all slots.
pub(crate) fn share_cpu_time(units: &mut Units, loads: &PerMetric<Vec<u64>>) {
    let Some(cpu) = loads.get(Metric::Cpu) else {
        return;
    };
    let is_by_name = |of: &Unit| of.load > 0.0;
    let by_name = units.per.get(Metric::Cpu);
    if by_name.is_none_or(|by_name| by_name.named.iter().any(is_by_name)) {
        return;
    }
    let is_captured = units.per.get(Metric::Ops).is_some_and(|of| of.total > 0.0);
    let by = if is_captured {
        Metric::Ops
    } else {
        Metric::Keys
    };
    let (Some(basis), Some(in_slots)) = (units.per.get(by), loads.get(by)) else {
        return;
    };
    let in_slot =
        |loads: &[u64], slot: u16| loads.get(usize::from(slot)).copied().unwrap_or(0) as f64;
    let with_time = |unit: &Unit| {
        let all = in_slot(in_slots, unit.slot);
        let part = if all > 0.0 {
            (unit.load / all).min(1.0)
        } else {
            0.0
        };
        let is_known = is_captured || unit.kind == UnitKind::Tag && part >= NEARLY_ALL;
        let time = in_slot(cpu, unit.slot);
        let load = if is_captured { part * time } else { time };
        (is_known && load > 0.0).then(|| Unit {
            load,
            at_most: time,
            ..unit.clone()
        })
    };
    let mut named: Vec<Unit> = basis.named.iter().filter_map(with_time).collect();
    named.sort_by(|a, b| b.load.total_cmp(&a.load).then_with(|| a.name.cmp(&b.name)));
    if let Some(of_cpu) = units.per.get_mut(Metric::Cpu) {
        of_cpu.named = named;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::independent_units::UnitsBy;
    use slotscope_engine::name::Name;

    fn unit(kind: UnitKind, name: &str, slot: u16, load: f64) -> Unit {
        Unit {
            kind,
            name: Name::from(name),
            slot,
            node: None,
            load,
            at_most: load,
            main_key: None,
        }
    }

    fn loads(metrics: &[(Metric, [u64; 3])]) -> PerMetric<Vec<u64>> {
        let mut loads = PerMetric::default();
        for (metric, of) in metrics {
            *loads.get_or_insert_with(*metric, Vec::new) = of.to_vec();
        }
        loads
    }

    fn shared(metrics: &[(Metric, [u64; 3], Vec<Unit>)]) -> Vec<(String, f64)> {
        let mut units = Units::default();
        for (metric, of, named) in metrics {
            *units.per.get_or_insert_with(*metric, UnitsBy::default) = UnitsBy {
                total: of.iter().sum::<u64>() as f64,
                named: named.clone(),
                ..UnitsBy::default()
            };
        }
        let of: Vec<(Metric, [u64; 3])> = metrics
            .iter()
            .map(|(metric, of, _)| (*metric, *of))
            .collect();
        share_cpu_time(&mut units, &loads(&of));
        let named = &units.per.get(Metric::Cpu).unwrap().named;
        named
            .iter()
            .map(|unit| (unit.name.to_string(), unit.load))
            .collect()
    }

    #[test]
    fn names_share_the_time_of_a_slot_as_they_share_its_operations() {
        let ops = vec![
            unit(UnitKind::Key, "k", 0, 75.0),
            unit(UnitKind::Tag, "t", 0, 25.0),
            unit(UnitKind::Key, "idle", 1, 0.0),
        ];
        let found = shared(&[
            (Metric::Keys, [2, 1, 1], Vec::new()),
            (Metric::Cpu, [1000, 8, 9], Vec::new()),
            (Metric::Ops, [100, 0, 0], ops),
        ]);
        assert_eq!(found, [("k".to_owned(), 750.0), ("t".to_owned(), 250.0)]);
    }

    #[test]
    fn without_captures_a_tag_that_fills_a_slot_has_its_time_and_no_other_name_has_any() {
        let keys = vec![
            unit(UnitKind::Tag, "hot", 0, 50.0),
            unit(UnitKind::Tag, "half", 1, 10.0),
        ];
        let found = shared(&[
            (Metric::Keys, [51, 20, 1], keys),
            (Metric::Cpu, [1000, 500, 9], Vec::new()),
        ]);
        assert_eq!(found, [("hot".to_owned(), 1000.0)]);
    }
}
