//! The heaviest single keys by bytes or operations, and what else rows say of keys: types, expiry, databases.

use serde::Serialize;

use super::balance::tidy;
use super::tags::Wanted;
use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::tally::attributes::Attributes;
use crate::tally::heaviest::{Heaviest, HeavyKey};

/// The heaviest keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Keys {
    /// The metric that they are listed by.
    pub by: Option<Metric>,
    /// No key that is not listed weighs more than this.
    pub max_error: u64,
    /// The heaviest, ties by name.
    pub top: Vec<Key>,
    /// The heaviest by each metric that weighs keys.
    #[serde(skip)]
    pub heaviest: PerMetric<Vec<Key>>,
}

/// A key and what it weighs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Key {
    /// Its first 512 bytes.
    pub key: Name,
    /// Its length in bytes.
    pub length: u64,
    /// Its slot.
    pub slot: u16,
    /// The node that owns the slot.
    pub node: Option<Name>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Operations on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
    /// Its share of the load of all keys.
    pub share: f64,
    /// Whether it has a hash tag: then it moves with all keys of the tag.
    #[serde(skip)]
    pub tagged: bool,
}

impl Key {
    /// What it weighs in `metric`.
    pub fn weight(&self, metric: Metric) -> u64 {
        match metric {
            Metric::Keys => 1,
            Metric::Bytes => self.bytes.unwrap_or(0),
            Metric::Ops => self.ops.unwrap_or(0),
        }
    }
}

impl Keys {
    /// The heaviest keys; `None` where the input weighs none.
    pub fn of(heaviest: &Heaviest, wanted: &Wanted<'_>) -> Option<Self> {
        let by = Some(wanted.by).filter(|by| *by != Metric::Keys);
        let by = by.or_else(|| Metric::WEIGHTS.into_iter().find(|metric| wanted.totals.get(*metric).is_some()))?;
        let listed = wanted.totals.map(|metric, total| {
            let (keys, max_error) = heaviest.keys(metric).unwrap_or_default();
            (keys.iter().map(|key| row(key, metric, *total, wanted)).collect::<Vec<_>>(), max_error)
        });
        let (top, max_error) = listed.get(by)?.clone();
        Some(Keys { by: Some(by), max_error, top, heaviest: listed.map(|_, (keys, _)| keys.clone()) })
    }
}

fn row(key: &HeavyKey, metric: Metric, total: u128, wanted: &Wanted<'_>) -> Key {
    let load = wanted.totals.map(|metric, _| key.load[metric]);
    Key {
        key: (wanted.shown)(&key.name),
        length: key.length,
        slot: key.slot,
        node: (wanted.owner)(key.slot),
        bytes: load.bytes,
        ops: load.ops,
        share: if total == 0 { 0.0 } else { tidy(key.load[metric] as f64 / total as f64) },
        tagged: key.tagged,
    }
}

/// Keys of a type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TypeLoad {
    /// The type, as the input calls it.
    #[serde(rename = "type")]
    pub kind: Name,
    /// What its keys hold.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

/// Keys of a database.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatabaseKeys {
    /// Its number.
    pub db: u64,
    /// Its keys.
    pub keys: u64,
}

/// Keys by type, most keys first; `None` where no row tells a type.
pub fn types(attributes: &Attributes, carried: &PerMetric<u128>) -> Option<Vec<TypeLoad>> {
    let types = attributes.types.as_ref().filter(|types| !types.is_empty())?;
    let row = |(name, _, load): (&[u8], u64, crate::metric::Load)| TypeLoad {
        kind: Name::from(name),
        load: carried.map(|metric, _| load[metric]),
    };
    let mut rows: Vec<_> = types.iter().map(row).collect();
    rows.sort_by(|a, b| (b.load.keys, &a.kind).cmp(&(a.load.keys, &b.kind)));
    rows.truncate(super::tags::LISTED);
    Some(rows)
}

/// Keys by database, in the order of their numbers; `None` where no row tells one.
pub fn databases(attributes: &Attributes) -> Option<Vec<DatabaseKeys>> {
    let databases = attributes.databases.as_ref().filter(|databases| !databases.is_empty())?;
    let rows = databases.iter().take(super::tags::LISTED);
    Some(rows.map(|(db, keys)| DatabaseKeys { db: *db, keys: *keys }).collect())
}
