//! Independent units hash as one and stay on one node in any topology: a hash tag with all its keys, or a single
//! untagged key. w_g is the load of unit g, w_k that of key k, W the sum.

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;

use crate::cause::CauseKind;

/// The units in every metric of the input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Units {
    /// In each metric.
    pub per: PerMetric<UnitsBy>,
    /// The number of distinct tags and untagged keys, whatever their weight; 0 if tags were not counted.
    pub count: f64,
    /// Whether the squares are exact rather than estimated.
    pub are_exact: bool,
}

/// The units in one metric.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnitsBy {
    /// W.
    pub total: f64,
    /// sum w_g^2; `None` if tags were not counted.
    pub squares: Option<f64>,
    /// The number of units, whatever their weight; 0 if tags were not counted.
    pub count: f64,
    /// Keys with w_k > 0; 0 if unknown.
    pub positive: f64,
    /// The number of units of each load, as (load, units); `None` where not all were counted.
    pub sizes: Option<Vec<(f64, f64)>>,
    /// The heaviest units with known names, heaviest first.
    pub named: Vec<Unit>,
    /// Upper bound on the weight of any other unit.
    pub unnamed: f64,
}

/// A unit with a known name.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// A tag, or a key.
    pub kind: UnitKind,
    /// Its bytes.
    pub name: Name,
    /// The slot it hashes to.
    pub slot: u16,
    /// The node that owns the slot.
    pub node: Option<Name>,
    /// A lower bound on w_g; equal to it if counted exactly.
    pub load: f64,
    /// An upper bound on w_g.
    pub at_most: f64,
    /// For a tag: the key with nearly all of its load.
    pub main_key: Option<Name>,
    /// The part of its operations that only read, where captures show most of them.
    pub reads: Option<f64>,
}

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// A hash tag with all its keys.
    Tag,
    /// A key without a tag.
    Key,
    /// A channel of sharded Pub/Sub without a tag: it has no value, so no cache helps.
    Channel,
}

impl UnitKind {
    /// Whether a unit of this kind can be heavy in `metric`: a single key cannot, by key count.
    pub fn can_be_heavy(self, metric: Metric) -> bool {
        self == UnitKind::Tag || metric != Metric::Keys
    }

    /// Its noun: of this many.
    pub fn noun(self, count: u32) -> &'static str {
        match (self, count) {
            (UnitKind::Tag, 1) => "hash tag",
            (UnitKind::Tag, _) => "hash tags",
            (UnitKind::Key, 1) => "key",
            (UnitKind::Key, _) => "keys",
            (UnitKind::Channel, 1) => "channel",
            (UnitKind::Channel, _) => "channels",
        }
    }

    /// The kind of cause it makes.
    pub fn as_cause(self) -> CauseKind {
        match self {
            UnitKind::Tag => CauseKind::Tag,
            UnitKind::Key => CauseKind::Key,
            UnitKind::Channel => CauseKind::Channel,
        }
    }
}

impl UnitsBy {
    /// The number of units besides the `heavy` ones: actual tags and keys, not the model's equal units.
    pub fn others(&self, heavy: usize) -> u64 {
        (self.count - heavy as f64).max(0.0).round() as u64
    }
}

/// The number of slots: more parts are pointless.
pub const MOST_PARTS: u32 = SLOTS as u32;

/// The coefficient of variation of slot loads under a perfect hash.
pub fn slot_cv(effective_units: f64) -> f64 {
    ((SLOTS as f64 - 1.0) / effective_units).sqrt()
}
