//! CPU time by name. Servers count it by slot and say nothing of names: the names of a slot share its CPU time as they
//! share its operations, where captures beside it show these. Else the only key of a slot has its time, and a tag that has
//! nearly all keys of a slot.

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::name::Name;
use slotscope_engine::source::collection::load::HotSlotKeys;

use crate::summary::independent_units::{Unit, UnitKind, Units};

/// A tag with this part of a slot's keys is taken for what uses its time.
const NEARLY_ALL: f64 = 0.9;

/// The only keys of hot slots, as servers list them.
#[derive(Clone, Copy)]
pub(crate) struct OnlyKeys<'a> {
    /// The hot slots.
    pub(crate) listed: &'a [HotSlotKeys],
    /// A name as it may be shown.
    pub(crate) shown: &'a dyn Fn(&Name) -> Name,
    /// The node that owns a slot.
    pub(crate) owner: &'a dyn Fn(u16) -> Option<Name>,
}

impl OnlyKeys<'_> {
    /// Each as a unit, which has all the CPU time of its slot.
    fn units(self, cpu: &[u64]) -> impl Iterator<Item = Unit> {
        self.listed.iter().filter_map(move |hot| {
            let [only] = hot.listed.as_slice() else {
                return None;
            };
            let load = *cpu.get(usize::from(hot.slot))? as f64;
            let key = (self.shown)(&only.key);
            let tag =
                hashslot::tag(&only.key.0).map(|tag| (self.shown)(&Name::from(&only.key.0[tag])));
            let (kind, name, main_key) = match tag {
                Some(tag) => (UnitKind::Tag, tag, Some(key)),
                None => (UnitKind::Key, key, None),
            };
            let unit = Unit {
                kind,
                name,
                slot: hot.slot,
                node: (self.owner)(hot.slot),
                load,
                at_most: load,
                main_key,
            };
            (hot.keys == 1 && load > 0.0).then_some(unit)
        })
    }
}

/// Gives the CPU time of each slot to its names; `loads` are those of all slots.
pub(crate) fn share_cpu_time(
    units: &mut Units,
    loads: &PerMetric<Vec<u64>>,
    only_keys: OnlyKeys<'_>,
) {
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
    if !is_captured {
        let only: Vec<Unit> = only_keys.units(cpu).collect();
        named.retain(|unit| only.iter().all(|only| only.slot != unit.slot));
        named.extend(only);
    }
    named.sort_by(|a, b| b.load.total_cmp(&a.load).then_with(|| a.name.cmp(&b.name)));
    if let Some(of_cpu) = units.per.get_mut(Metric::Cpu) {
        of_cpu.named = named;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::independent_units::UnitsBy;
    use slotscope_engine::source::collection::load::HotKey;

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
        let named = shared_with(metrics, &[]);
        let named = named.iter();
        named
            .map(|unit| (unit.name.to_string(), unit.load))
            .collect()
    }

    fn shared_with(metrics: &[(Metric, [u64; 3], Vec<Unit>)], listed: &[HotSlotKeys]) -> Vec<Unit> {
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
        let only_keys = OnlyKeys {
            listed,
            shown: &Name::clone,
            owner: &|_| None,
        };
        share_cpu_time(&mut units, &loads(&of), only_keys);
        units.per.get(Metric::Cpu).unwrap().named.clone()
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

    #[test]
    fn the_only_key_of_a_hot_slot_has_its_time_with_a_tag_or_without() {
        let hot = |slot, keys, listed: &[&str]| HotSlotKeys {
            slot,
            cpu_share: 0.3,
            keys,
            listed: listed
                .iter()
                .map(|key| HotKey {
                    key: Name::from(*key),
                    bytes: None,
                })
                .collect(),
        };
        let of_keys = (
            Metric::Keys,
            [1, 1, 5],
            vec![unit(UnitKind::Tag, "t", 0, 1.0)],
        );
        let of_cpu = (Metric::Cpu, [1000, 400, 300], Vec::new());
        let listed = [
            hot(0, 1, &["cart:{t}"]),
            hot(1, 1, &["plain"]),
            hot(2, 5, &["one of five"]),
        ];
        let found = shared_with(&[of_keys, of_cpu], &listed);
        let found: Vec<_> = found
            .iter()
            .map(|unit| {
                (
                    &unit.name.0[..],
                    unit.load,
                    unit.main_key.as_ref().map(|key| &key.0[..]),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (&b"t"[..], 1000.0, Some(&b"cart:{t}"[..])),
                (b"plain", 400.0, None),
            ]
        );
    }
}
