//! The heaviest single keys by bytes or operations, and attributes of keys: types, expiry, databases.

use std::collections::{BTreeMap, HashMap};

use crate::summary::kinds::in_metrics;
use slotscope_base::metric::{Load, Metric, PerMetric, PerWeight};
use slotscope_base::name::Name;
use slotscope_count::tally::NameTallies;
use slotscope_count::tally::attributes::Attributes;
use slotscope_count::tally::heaviest::HeavyKey;
use slotscope_model::balance::tidy;
use slotscope_model::keys::{DatabaseLoad, Key, Keys, TypeLoad};

use crate::summary::tags::RowContext;

/// Maximum number of hottest keys listed.
const HOTTEST: usize = 100;

/// The heaviest keys; `None` where the input weighs none.
/// Captures beside a dump weigh keys apart from it.
pub(crate) fn of(names: &NameTallies, context: &RowContext<'_>) -> Option<Keys> {
    let heaviest = &names.heaviest;
    let has_captures = !names.operations.is_empty();
    let asked = Some(context.by).filter(|metric| *metric != Metric::Keys);
    let sorted_by = asked.or_else(|| {
        Metric::WEIGHTS
            .into_iter()
            .find(|metric| context.totals.get(*metric).is_some())
    })?;
    let listed = context.totals.map(|metric, total| {
        let (keys, max_error) = heaviest.keys(metric).unwrap_or_default();
        (
            keys.iter()
                .map(|key| row(key, metric, *total, context))
                .collect::<Vec<_>>(),
            max_error,
        )
    });
    let weighs = |metric: Metric| heaviest.keys(metric).map(|_| has_captures);
    let known: Known = listed.map(|metric, (keys, _)| {
        keys.iter()
            .map(|key| ((key.slot, key.key.clone()), key.weight(metric)))
            .collect()
    });
    let listed = listed.map(|metric, (keys, most)| {
        let keys = completed(keys, metric, &known, weighs);
        (keys, *most)
    });
    let (top, max_error) = listed.get(sorted_by)?.clone();
    let hottest = listed
        .get(Metric::Accesses)
        .filter(|_| sorted_by != Metric::Accesses)
        .map_or(&[][..], |(keys, _)| keys);
    Some(Keys {
        by: Some(sorted_by),
        max_error,
        top,
        hottest: hottest[..hottest.len().min(HOTTEST)].to_vec(),
        heaviest: listed.map(|_, (keys, _)| keys.clone()),
    })
}

/// Weights of listed keys by their slots and names.
type Known = PerMetric<HashMap<(u16, Name), u64>>;

/// Keys that are listed by a metric with what the lists by others show of them. What no list shows is not known, and not 0;
/// `weighs` tells of a metric whether keys have it, and then whether those in this list may have it elsewhere.
fn completed(
    keys: &[Key],
    sorted_by: Metric,
    known: &Known,
    weighs: impl Fn(Metric) -> Option<bool>,
) -> Vec<Key> {
    let complete = |key: &Key| {
        let weight = |metric: Metric| {
            let own = key.weights.get(metric).copied()?;
            if own > 0 || metric == sorted_by || weighs(metric) == Some(false) {
                return Some(own);
            }
            known
                .get(metric)?
                .get(&(key.slot, key.key.clone()))
                .copied()
        };
        Key {
            weights: PerWeight::from_fn(weight),
            ..key.clone()
        }
    };
    keys.iter().map(complete).collect()
}

fn row(key: &HeavyKey, metric: Metric, total: u128, context: &RowContext<'_>) -> Key {
    let load = context.totals.map(|metric, _| key.load[metric]);
    Key {
        key: (context.shown)(&key.name),
        length: key.length,
        slot: key.slot,
        node: (context.owner)(key.slot),
        weights: load.weights,
        reads: key
            .reads
            .map(|reads| tidy(reads as f64 / key.load[Metric::Ops].max(1) as f64)),
        share: if total == 0 {
            0.0
        } else {
            tidy(key.load[metric] as f64 / total as f64)
        },
        channel: key.channel,
        tagged: key.tagged,
    }
}

/// Keys by type, most keys first; `None` if no row has a type.
pub(crate) fn types(attributes: &Attributes, carried: &PerMetric<u128>) -> Option<Vec<TypeLoad>> {
    let mut types: BTreeMap<&Name, Load> = BTreeMap::new();
    for kind in attributes.kinds.sorted() {
        *types.entry(&kind.type_name).or_default() += kind.load;
    }
    let row = |(name, load): (&Name, Load)| TypeLoad {
        kind: name.clone(),
        load: in_metrics(load, carried),
    };
    let mut rows: Vec<_> = types.into_iter().map(row).collect();
    rows.sort_by(|a, b| (b.load.keys, &a.kind).cmp(&(a.load.keys, &b.kind)));
    rows.truncate(slotscope_base::LISTED);
    (!rows.is_empty()).then_some(rows)
}

/// Keys by database, in numeric order; `None` if no row has one.
pub(crate) fn databases(
    attributes: &Attributes,
    carried: &PerMetric<u128>,
) -> Option<Vec<DatabaseLoad>> {
    let databases = attributes
        .databases
        .as_ref()
        .filter(|databases| !databases.is_empty())?;
    let rows = databases.iter().take(slotscope_base::LISTED);
    Some(
        rows.map(|(db, load)| DatabaseLoad {
            db: *db,
            load: in_metrics(*load, carried),
        })
        .collect(),
    )
}
