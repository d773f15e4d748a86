//! Independent units hash as one and stay on one node in any topology: a hash tag with all its keys, or a single
//! untagged key. w_g is the load of unit g, w_k that of key k, W the sum.

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_count::tally::tags::TagCounter;
use slotscope_count::tally::weights::Weights;
use slotscope_model::independent_units::{Unit, UnitKind, Units, UnitsBy};
use slotscope_model::keys::{Key, Keys};
use slotscope_model::quantiles::TagSizes;
use slotscope_model::tags::Tags;

use crate::summary::perfect_hash::chance::RandomUnits;
use crate::summary::unit_sizes;

/// Combines known tags and single keys.
pub(crate) fn of(
    tags: Option<&Tags>,
    tag_sizes: Option<&TagSizes>,
    counted: Option<&TagCounter>,
    keys: Option<&Keys>,
    weights: &Weights,
    totals: &PerMetric<u128>,
) -> Units {
    let count = tags.map_or(0.0, |tags| {
        tags.distinct as f64 + totals.keys as f64 - tags.tagged_keys as f64
    });
    let per = totals.map(|metric, total| {
        let weighed = weights.get(metric);
        let total = *total as f64;
        // Captures have no keys, only the names that are operated on.
        let count = if totals.keys == 0 && metric != Metric::Keys {
            let untagged = weighed.map_or(0, |weighed| weighed.untagged_busy);
            count + untagged as f64
        } else {
            count
        };
        // Precomputed sums have no weights of single keys.
        let unweighed = if metric == Metric::Keys { total } else { 0.0 };
        let untagged = |tags: &Tags| match weighed {
            Some(weighed) => weighed.untagged_squares as f64,
            None => total - tags.tagged_keys as f64,
        };
        // Counts by slot have no names.
        let is_by_name = metric == Metric::Keys || weighed.is_some();
        let positive = weighed.map_or(unweighed, |weighed| weighed.positive as f64);
        UnitsBy {
            total,
            squares: tags
                .filter(|_| is_by_name)
                .map(|tags| tags.squares.get(metric).copied().unwrap_or(0.0) + untagged(tags)),
            // At most as many weighted units as weighted keys.
            count: if positive > 0.0 {
                count.min(positive)
            } else {
                count
            },
            positive,
            sizes: match metric {
                Metric::Keys => {
                    tags.and_then(|tags| unit_sizes::of_keys(tags, tag_sizes, total as u64))
                }
                _ => unit_sizes::of_weights(counted, weighed, metric),
            },
            named: named(tags, keys, metric),
            unnamed: tags.map_or(total, |tags| tags.bounds[metric] as f64),
        }
    });
    Units {
        per,
        count,
        are_exact: tags.is_some_and(|tags| tags.distinct_error == 0.0),
    }
}

fn named(tags: Option<&Tags>, keys: Option<&Keys>, metric: Metric) -> Vec<Unit> {
    let keys = keys
        .filter(|_| metric != Metric::Keys)
        .and_then(|keys| keys.heaviest.get(metric))
        .map_or(&[][..], Vec::as_slice);
    let heaviest = tags.and_then(|tags| tags.heaviest.get(metric));
    let tags = heaviest.into_iter().flatten().map(|tag| {
        let load = tag.load.get(metric).map_or(0.0, |load| *load as f64);
        let is_main = |key: &&Key| {
            let is_of_tag = key.tagged && key.slot == tag.slot && tag_of(&key.key) == tag.tag.0;
            is_of_tag && key.weight(metric) as f64 >= NEARLY_ALL * load
        };
        Unit {
            kind: UnitKind::Tag,
            name: tag.tag.clone(),
            slot: tag.slot,
            node: tag.node.clone(),
            load,
            at_most: load + tag.error(metric) as f64,
            main_key: keys.iter().find(is_main).map(|key| key.key.clone()),
            reads: None,
        }
    });
    // A tagged key is part of its tag's unit.
    let untagged = keys.iter().filter(|key| !key.tagged).map(|key| Unit {
        kind: kind_of(key),
        name: key.key.clone(),
        slot: key.slot,
        node: key.node.clone(),
        load: key.weight(metric) as f64,
        at_most: key.weight(metric) as f64,
        main_key: None,
        reads: key.reads,
    });
    // Tags and keys without load in this metric are not units of it.
    let has_load = |unit: &Unit| unit.load > 0.0;
    let mut named: Vec<_> = tags.chain(untagged).filter(has_load).collect();
    named.sort_by(|a, b| b.load.total_cmp(&a.load).then_with(|| a.name.cmp(&b.name)));
    named
}

/// The kind of a key as a unit of its own.
pub fn kind_of(key: &Key) -> UnitKind {
    if key.channel {
        UnitKind::Channel
    } else {
        UnitKind::Key
    }
}

fn tag_of(key: &Name) -> &[u8] {
    hashslot::tag(&key.0).map_or(&[], |tag| &key.0[tag])
}

/// The equivalent number of equal units.
pub(crate) fn effective(units: &UnitsBy) -> Option<f64> {
    let squares = units.squares.filter(|squares| *squares > 0.0)?;
    Some(units.total * units.total / squares)
}

/// The units of the nodes' load `total` that are not `heavy`, as random units; `light` are the weights of the known
/// ones. `None` if tags were not counted.
pub(crate) fn light(
    units: &UnitsBy,
    total: f64,
    heavy: &[&Unit],
    light: impl Iterator<Item = f64>,
) -> Option<RandomUnits> {
    let light: Vec<f64> = light.collect();
    let on_nodes = |unit: &&Unit| unit.node.is_some();
    let named: f64 = units
        .named
        .iter()
        .filter(on_nodes)
        .map(|unit| unit.load)
        .sum();
    let unowned = units.named.iter().filter(|unit| unit.node.is_none());
    let (unowned, unowned_squares) = unowned.fold((0.0, 0.0), |(sum, squares), unit| {
        (sum + unit.load, squares + unit.load * unit.load)
    });
    let squares = |loads: &mut dyn Iterator<Item = f64>| loads.map(|load| load * load).sum::<f64>();
    let known =
        squares(&mut heavy.iter().map(|unit| unit.load)) + squares(&mut light.iter().copied());
    // Unassigned slots are excluded: they take a proportional part of the unnamed units.
    let everywhere = (units.total - unowned).max(total).max(f64::MIN_POSITIVE);
    let unnamed = (total - named).max(0.0);
    let squares = (units.squares? - unowned_squares) * total / everywhere - known;
    // The rest is at least as uneven as if all its keys were equal.
    let evenest = if units.positive > 0.0 {
        unnamed * units.total / units.positive
    } else {
        0.0
    };
    Some(RandomUnits::new(light, unnamed, squares.max(evenest)))
}

/// A key with this fraction of its tag is nearly all of it.
const NEARLY_ALL: f64 = 0.9;
