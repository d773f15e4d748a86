//! The slots that took most CPU time while load was measured, and keys in them: what servers count by slot gets names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::name::Name;
use slotscope_engine::source::collection::load::HotSlotKeys;
use slotscope_engine::tally::operations::Operations;

/// A slot that took much of the CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlotAtWork {
    /// The slot.
    pub slot: u16,
    /// The node that owns it.
    pub node: Option<Name>,
    /// The part of the CPU time of all slots that it took.
    pub cpu_share: f64,
    /// How many keys it had.
    pub keys: u64,
    /// Some of them: the busiest first where captures show operations, else the largest; all where they are few.
    pub listed: Vec<KeyAtWork>,
}

/// A key in such a slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyAtWork {
    /// Its first 512 bytes.
    pub key: Name,
    /// MEMORY USAGE; absent where the server does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Operations that captures show of it; absent where it is not among the busiest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
}

/// The hot slots that servers named, with what captures show of their keys.
pub(crate) fn of(
    named: &[HotSlotKeys],
    operations: Option<&Operations>,
    shown: &dyn Fn(&Name) -> Name,
    owner: &dyn Fn(u16) -> Option<Name>,
) -> Vec<SlotAtWork> {
    if named.is_empty() {
        return Vec::new();
    }
    let busiest = operations.map(|of| of.busy_keys().keys).unwrap_or_default();
    let ops_of = |key: &Name| {
        let found = busiest.iter().find(|busy| busy.name[..] == key.0[..]);
        found.map(|busy| busy.ops)
    };
    let slot = |hot: &HotSlotKeys| {
        let keys = hot.listed.iter().map(|listed| KeyAtWork {
            key: shown(&listed.key),
            bytes: listed.bytes,
            ops: ops_of(&listed.key),
        });
        let mut listed: Vec<KeyAtWork> = keys.collect();
        // Stable: among equals the order is that of their sizes.
        listed.sort_by_key(|key| std::cmp::Reverse(key.ops));
        SlotAtWork {
            slot: hot.slot,
            node: owner(hot.slot),
            cpu_share: hot.cpu_share,
            keys: hot.keys,
            listed,
        }
    };
    named.iter().map(slot).collect()
}
