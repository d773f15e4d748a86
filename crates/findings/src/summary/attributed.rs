//! CPU time by name. Servers count CPU time per slot, not per name. If captures show a slot's operations, its names
//! share the CPU time in proportion. Otherwise the time goes to the slot's only key, or to a tag with nearly all of its
//! keys.

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_read::source::collection::load::HotSlotKeys;

use crate::summary::hot_slots::Shown;
use crate::summary::observed::Observed;
use slotscope_model::independent_units::{Unit, UnitKind, Units};

/// A tag with this fraction of a slot's keys gets its CPU time.
const NEARLY_ALL: f64 = 0.9;

/// Distributes the CPU time of each slot over its names; `loads` are by slot.
pub(crate) fn share_cpu_time(
    units: &mut Units,
    loads: &PerMetric<Vec<u64>>,
    observed: &Observed,
    shown: Shown<'_>,
) {
    let Some(cpu) = loads.get(Metric::Cpu) else {
        return;
    };
    let is_by_name = |unit: &Unit| unit.load > 0.0;
    let by_name = units.per.get(Metric::Cpu);
    if by_name.is_none_or(|by_name| by_name.named.iter().any(is_by_name)) {
        return;
    }
    let by_ops = units.per.get(Metric::Ops);
    let is_captured = by_ops.is_some_and(|units| units.total > 0.0);
    let metric = if is_captured {
        Metric::Ops
    } else {
        Metric::Keys
    };
    let (Some(basis), Some(in_slots)) = (units.per.get(metric), loads.get(metric)) else {
        return;
    };
    let in_slot =
        |loads: &[u64], slot: u16| loads.get(usize::from(slot)).copied().unwrap_or(0) as f64;
    let with_time = |unit: &Unit| {
        let whole = in_slot(in_slots, unit.slot);
        let part = if whole > 0.0 {
            (unit.load / whole).min(1.0)
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
        let mut known = known_to_servers(observed, cpu, shown);
        named.retain_mut(|unit| {
            let Some(at) = known.iter().position(|known| known.slot == unit.slot) else {
                return true;
            };
            // Servers list only a few keys: a tag that fills the slot gets its time whatever they are.
            let is_its_key = known[at].kind == unit.kind && known[at].name == unit.name;
            if is_its_key {
                let known = known.remove(at);
                let is_nearly_all = known.load >= NEARLY_ALL * unit.load;
                unit.main_key = known.main_key.filter(|_| is_nearly_all);
            }
            is_its_key
        });
        named.extend(known);
    }
    named.sort_by(|a, b| b.load.total_cmp(&a.load).then_with(|| a.name.cmp(&b.name)));
    if let Some(of_cpu) = units.per.get_mut(Metric::Cpu) {
        of_cpu.named = named;
    }
}

/// Keys whose time servers report: those of HOTKEYS, and the only key of a hot slot.
fn known_to_servers(observed: &Observed, cpu: &[u64], shown: Shown<'_>) -> Vec<Unit> {
    let of_slot = |slot: u16| cpu.get(usize::from(slot)).copied().unwrap_or(0) as f64;
    let timed = &observed.hot_keys.keys;
    let by_key = timed
        .iter()
        .map(|key| (&key.key, key.slot, key.cpu_usec as f64));
    let is_untimed = |slot: u16| timed.iter().all(|key| key.slot != slot);
    let is_only = |hot: &&HotSlotKeys| hot.keys == 1 && is_untimed(hot.slot);
    let lone = observed.hot_slots.iter().filter(is_only);
    let only = lone.filter_map(|hot| Some((&hot.listed.first()?.key, hot.slot, of_slot(hot.slot))));

    let mut units: Vec<Unit> = Vec::new();
    for (key, slot, time) in by_key.chain(only).filter(|(.., time)| *time > 0.0) {
        let tag = hashslot::tag(&key.0).map(|tag| (shown.name)(&Name::from(&key.0[tag])));
        let key = (shown.name)(key);
        let (kind, name, main_key) = match tag {
            Some(tag) => (UnitKind::Tag, tag, Some(key)),
            None => (UnitKind::Key, key, None),
        };
        let is_same =
            |unit: &&mut Unit| unit.slot == slot && unit.kind == kind && unit.name == name;
        match units.iter_mut().find(is_same) {
            // The first key listed of a tag is its hottest.
            Some(unit) => {
                let is_nearly_all = unit.load >= NEARLY_ALL * (unit.load + time);
                unit.load += time;
                unit.main_key = unit.main_key.take().filter(|_| is_nearly_all);
            }
            None => units.push(Unit {
                kind,
                name,
                slot,
                node: (shown.owner)(slot),
                load: time,
                at_most: of_slot(slot),
                main_key,
                reads: None,
            }),
        }
    }
    for unit in &mut units {
        unit.load = unit.load.min(unit.at_most);
    }
    units.retain(|unit| unit.load > 0.0);
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_model::independent_units::UnitsBy;
    use slotscope_read::source::collection::load::{HotKey, HotKeys, TimedKey};

    fn unit(kind: UnitKind, name: &str, slot: u16, load: f64) -> Unit {
        Unit {
            kind,
            name: Name::from(name),
            slot,
            node: None,
            load,
            at_most: load,
            main_key: None,
            reads: None,
        }
    }

    /// The names that share the time of slots with these loads, their times, and the keys that have most of it.
    fn shared(
        metrics: &[(Metric, [u64; 3], Vec<Unit>)],
        observed: &Observed,
    ) -> Vec<(String, f64, Option<String>)> {
        let (mut units, mut loads) = (Units::default(), PerMetric::default());
        for (metric, of, named) in metrics {
            *loads.get_or_insert_with(*metric, Vec::new) = of.to_vec();
            *units.per.get_or_insert_with(*metric, UnitsBy::default) = UnitsBy {
                total: of.iter().sum::<u64>() as f64,
                named: named.clone(),
                ..UnitsBy::default()
            };
        }
        let shown = Shown {
            name: &Name::clone,
            owner: &|_| None,
        };
        share_cpu_time(&mut units, &loads, observed, shown);
        let named = units.per.get(Metric::Cpu).unwrap().named.iter();
        let text = |unit: &Unit| {
            let main_key = unit.main_key.as_ref().map(Name::to_string);
            (unit.name.to_string(), unit.load, main_key)
        };
        named.map(text).collect()
    }

    fn only(name: &str, load: f64) -> (String, f64, Option<String>) {
        (name.to_owned(), load, None)
    }

    #[test]
    fn names_share_the_time_of_a_slot_as_they_share_its_operations() {
        let ops = vec![
            unit(UnitKind::Key, "k", 0, 75.0),
            unit(UnitKind::Tag, "t", 0, 25.0),
            unit(UnitKind::Key, "idle", 1, 0.0),
        ];
        let metrics = [
            (Metric::Keys, [2, 1, 1], Vec::new()),
            (Metric::Cpu, [1000, 8, 9], Vec::new()),
            (Metric::Ops, [100, 0, 0], ops),
        ];
        let found = shared(&metrics, &Observed::default());
        assert_eq!(found, [only("k", 750.0), only("t", 250.0)]);
    }

    #[test]
    fn without_captures_a_tag_that_fills_a_slot_has_its_time_and_no_other_name_has_any() {
        let keys = vec![
            unit(UnitKind::Tag, "hot", 0, 50.0),
            unit(UnitKind::Tag, "half", 1, 10.0),
        ];
        let metrics = [
            (Metric::Keys, [51, 20, 1], keys),
            (Metric::Cpu, [1000, 500, 9], Vec::new()),
        ];
        let found = shared(&metrics, &Observed::default());
        assert_eq!(found, [only("hot", 1000.0)]);
    }

    #[test]
    fn the_only_key_of_a_hot_slot_has_its_time_with_a_tag_or_without() {
        let hot = |slot, keys, listed: &str| HotSlotKeys {
            slot,
            cpu_share: 0.3,
            keys,
            listed: vec![HotKey {
                key: Name::from(listed),
                bytes: None,
            }],
        };
        let observed = Observed {
            hot_slots: vec![
                hot(0, 1, "cart:{t}"),
                hot(1, 1, "plain"),
                hot(2, 5, "one of five"),
            ],
            ..Observed::default()
        };
        let of_keys = vec![unit(UnitKind::Tag, "t", 0, 1.0)];
        let metrics = [
            (Metric::Keys, [1, 1, 5], of_keys),
            (Metric::Cpu, [1000, 400, 300], Vec::new()),
        ];
        let of_tag = ("t".to_owned(), 1000.0, Some("cart:{t}".to_owned()));
        assert_eq!(shared(&metrics, &observed), [of_tag, only("plain", 400.0)]);
    }

    #[test]
    fn the_time_that_servers_count_by_key_is_that_of_tags_and_keys() {
        let timed = |key: &str, slot, cpu_usec| TimedKey {
            key: Name::from(key),
            slot,
            cpu_usec,
        };
        let observed = Observed {
            hot_keys: HotKeys {
                nodes: 1,
                cpu_usec: 2000,
                keys: vec![
                    timed("{t}:1", 0, 600),
                    timed("plain", 1, 500),
                    timed("{t}:2", 0, 300),
                    timed("{u}:1", 2, 280),
                    timed("{u}:2", 2, 10),
                ],
            },
            ..Observed::default()
        };
        let of_keys = vec![unit(UnitKind::Tag, "t", 0, 2.0)];
        let metrics = [
            (Metric::Keys, [2, 5, 5], of_keys),
            (Metric::Cpu, [1000, 400, 300], Vec::new()),
        ];
        let of_tag = ("u".to_owned(), 290.0, Some("{u}:1".to_owned()));
        let expected = [only("t", 1000.0), only("plain", 400.0), of_tag];
        assert_eq!(shared(&metrics, &observed), expected);
    }
}
