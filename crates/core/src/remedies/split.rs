//! Splits of heavy tags or keys: the parts get tags with a number behind them, and the slots are planned anew.

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::remedies::{Cluster, Commands};
use crate::slot::slot_of_part;
use crate::summary::Summary;
use crate::summary::cause::limit;
use crate::summary::independent_units::{Unit, UnitKind, parts_needed};
use crate::summary::remedy::{Remedy, RemedyKind};

/// Tags or keys that one remedy splits at most.
const MOST: usize = 64;
/// The longest name that a command has.
const TYPED: usize = 200;
/// Splits the heaviest tags or keys, as many as it takes; `None` where moves of slots alone reach as much, which is
/// `by_moves`.
pub fn remedy(
    summary: &Summary,
    cluster: &Cluster<'_>,
    by_moves: f64,
    commands: &Commands,
) -> Option<Remedy> {
    let units = summary.units.per.get(cluster.metric)?;
    let total = cluster.total();
    let least = units.least_heavy(total / cluster.owning as f64);
    let on_nodes = units.named.iter().filter(|unit| unit.node.is_some());
    let heavy = on_nodes.filter(|unit| unit.kind.can_be_heavy(cluster.metric));
    let heavy: Vec<&Unit> = heavy.filter(|unit| unit.load >= least).take(MOST).collect();
    let kind = heavy.first()?.kind;
    let heavy: Vec<&Unit> = heavy.into_iter().filter(|unit| unit.kind == kind).collect();
    let parts = parts_needed(heavy.first()?.load, cluster.owning, total);
    let (chosen, outcome) = (0..).map(|power| 1usize << power).find_map(|count| {
        let chosen = &heavy[..count.min(heavy.len())];
        let loads = with_parts(summary, cluster, chosen, parts);
        let outcome = cluster.with(&loads)?.planned(0);
        let is_enough = outcome.max_over_mean <= limit::BALANCED || count >= heavy.len();
        is_enough.then_some((chosen, outcome))
    })?;
    if outcome.max_over_mean >= by_moves - 0.005 {
        return None;
    }
    let names: Vec<Name> = chosen.iter().map(|unit| unit.name.clone()).collect();
    let texts: Option<Vec<String>> = names.iter().map(typed).collect();
    let texts = texts.filter(|_| kind == UnitKind::Tag);
    Some(Remedy {
        unit: Some(kind.as_cause()),
        name: names.first().cloned(),
        names,
        parts: Some(parts),
        estimated: true,
        ..outcome.remedy(
            RemedyKind::Split,
            texts.map(|tags| commands.split(&tags, parts)),
        )
    })
}

/// A name as one types it; `None` where it is long or has bytes that cannot be typed.
fn typed(name: &Name) -> Option<String> {
    let text = std::str::from_utf8(&name.0).ok()?;
    (text.len() <= TYPED && text == name.to_string()).then(|| text.to_owned())
}

/// The loads with `units` split: the keys of a tag that are listed go to the part of their CRC16, as `slotscope whatif`
/// has it, and all other parts are equal.
fn with_parts(
    summary: &Summary,
    cluster: &Cluster<'_>,
    units: &[&Unit],
    parts: u32,
) -> PerMetric<Vec<u64>> {
    cluster.loads.map(|metric, loads| {
        let mut loads = loads.clone();
        for unit in units {
            let load = load_of(summary, metric, unit).min(loads[usize::from(unit.slot)]);
            loads[usize::from(unit.slot)] -= load;
            for (part, load) in parts_of(summary, metric, unit, load, parts)
                .into_iter()
                .enumerate()
            {
                let name = [unit.name.0.as_slice(), format!(":{part}").as_bytes()].concat();
                loads[usize::from(slot_of_part(&name))] += load;
            }
        }
        loads
    })
}

/// What a unit holds of another metric; a key and a tag may have one name.
fn load_of(summary: &Summary, metric: Metric, unit: &Unit) -> u64 {
    if unit.kind == UnitKind::Key && metric == Metric::Keys {
        return 1;
    }
    let is_same = |other: &&Unit| other.kind == unit.kind && other.name == unit.name;
    let units = summary
        .units
        .per
        .get(metric)
        .map(|units| units.named.iter());
    let unit = units.into_iter().flatten().find(is_same);
    unit.map_or(0, |unit| unit.load as u64)
}

/// What each part of a unit holds.
fn parts_of(summary: &Summary, metric: Metric, unit: &Unit, load: u64, parts: u32) -> Vec<u64> {
    let mut of_parts = vec![0; parts as usize];
    let mut rest = load;
    let listed = summary
        .keys
        .as_ref()
        .and_then(|keys| keys.heaviest.get(metric));
    for key in listed
        .into_iter()
        .flatten()
        .filter(|key| key.tagged && key.slot == unit.slot)
    {
        let name = &key.key.0;
        let is_of_unit = hashslot::tag(name).is_some_and(|tag| name[tag] == unit.name.0);
        if is_of_unit && unit.kind == UnitKind::Tag && metric != Metric::Keys {
            let weight = key.weight(metric).min(rest);
            of_parts[usize::from(hashslot::crc16(name)) % parts as usize] += weight;
            rest -= weight;
        }
    }
    let (each, over) = (rest / u64::from(parts), rest % u64::from(parts));
    for (part, load) in of_parts.iter_mut().enumerate() {
        *load += each + u64::from((part as u64) < over);
    }
    of_parts
}
