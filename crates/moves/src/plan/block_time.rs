//! Keys that block a node for long while they migrate.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use slotscope_findings::summary::block_time::{block_time, unlisted_block_time};
use slotscope_model::Summary;

/// A node that stalls longer than this is noticed by clients.
pub(crate) const MAX_BLOCK: Duration = Duration::from_millis(100);

/// A key, and how long its move blocks a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BlockingKey {
    /// Its first 512 bytes.
    pub key: Name,
    /// Its slot.
    pub slot: u16,
    /// Its size, where that is known.
    pub bytes: Option<u64>,
    /// Its elements, where they are known.
    pub elements: Option<u64>,
    /// How long MIGRATE blocks its node, in milliseconds.
    pub block_ms: u64,
}

impl BlockingKey {
    /// How long migrating this key blocks its node.
    pub(crate) fn block_time(&self) -> Duration {
        Duration::from_millis(self.block_ms)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Known big keys, by size or element count; the longest block first.
pub(crate) fn blocking_keys(summary: &Summary) -> Vec<BlockingKey> {
    let heaviest = summary.keys.as_ref().map(|keys| &keys.heaviest);
    let by_size = heaviest.and_then(|heaviest| heaviest.get(Metric::Bytes));
    let largest = summary.largest.as_deref();
    let mut blocking: BTreeMap<(u16, &Name), BlockingKey> = BTreeMap::new();
    let mut add = |(slot, key), bytes, elements, time| {
        let known = BlockingKey {
            key: Name::clone(key),
            slot,
            bytes,
            elements,
            block_ms: millis(time),
        };
        blocking.insert((slot, key), known);
    };
    for key in by_size.into_iter().flatten() {
        let bytes = Some(key.weight(Metric::Bytes));
        let time = unlisted_block_time(bytes, largest);
        add((key.slot, &key.key), bytes, None, time);
    }
    // This list also has element counts.
    for key in summary.largest.iter().flatten() {
        let (bytes, elements) = (key.load.bytes().copied(), Some(key.elements));
        let time = block_time(Some(&key.kind), bytes, elements);
        add((key.slot, &key.key), bytes, elements, time);
    }
    let mut keys: Vec<BlockingKey> = blocking.into_values().collect();
    keys.sort_by(|a, b| {
        let order = b.block_ms.cmp(&a.block_ms).then(a.slot.cmp(&b.slot));
        order.then_with(|| a.key.cmp(&b.key))
    });
    keys
}
