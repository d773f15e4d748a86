//! Keys by type and encoding, and the keys with the most elements.

use slotscope_base::LISTED;
use slotscope_base::metric::{Load, PerMetric};
use slotscope_base::name::Name;
use slotscope_count::tally::kinds::{Kind, Kinds};
use slotscope_model::kinds::{EncodingLoad, LargeKey};

/// Keys by type and encoding, most keys first; `None` if no row has a type.
pub(crate) fn encodings(kinds: &Kinds, carried: &PerMetric<u128>) -> Option<Vec<EncodingLoad>> {
    let row = |kind: &Kind| EncodingLoad {
        kind: kind.type_name.clone(),
        encoding: (!kind.encoding.0.is_empty()).then(|| kind.encoding.clone()),
        load: in_metrics(kind.load, carried),
        elements: (kind.counted > 0).then_some(kind.elements),
    };
    let mut rows: Vec<_> = kinds.sorted().iter().map(row).collect();
    rows.sort_by(|a, b| {
        let names = (&a.kind, &a.encoding).cmp(&(&b.kind, &b.encoding));
        b.load.keys.cmp(&a.load.keys).then(names)
    });
    rows.truncate(LISTED);
    (!rows.is_empty()).then_some(rows)
}

/// The keys of each type with the most elements, largest first; `None` if no row has elements.
pub(crate) fn largest(
    kinds: &Kinds,
    shown: &dyn Fn(&Name) -> Name,
    owner: &dyn Fn(u16) -> Option<Name>,
    carried: &PerMetric<u128>,
) -> Option<Vec<LargeKey>> {
    let mut rows = Vec::new();
    for kind in kinds.sorted() {
        rows.extend(kind.largest().into_iter().map(|key| LargeKey {
            key: shown(&key.name),
            kind: kind.type_name.clone(),
            slot: key.slot,
            node: owner(key.slot),
            elements: key.elements,
            load: in_metrics(key.load, carried),
        }));
    }
    rows.sort_by(|a, b| {
        let names = (&a.key, &a.kind, a.slot).cmp(&(&b.key, &b.kind, b.slot));
        b.elements.cmp(&a.elements).then(names)
    });
    rows.truncate(LISTED);
    (!rows.is_empty()).then_some(rows)
}

/// A load in the metrics that names were counted in.
pub(crate) fn in_metrics(load: Load, carried: &PerMetric<u128>) -> PerMetric<u64> {
    carried.map(|metric, _| load[metric])
}
