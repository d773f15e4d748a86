//! A finding: what is wrong, where, how urgent it is, and the steps that address it.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

use crate::balance::tidy;
use crate::measure::Measure;
use crate::state::{Role, Severity, State};

/// A problem, and its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// `kind/role/node/subject`: the same in every run.
    pub id: String,
    /// Its kind.
    pub kind: FindingKind,
    /// How urgent it is.
    pub severity: Severity,
    /// The role that is concerned.
    pub role: Option<Role>,
    /// The measure of its value.
    pub metric: Option<Measure>,
    /// The node.
    pub node: Option<Name>,
    /// The slot.
    pub slot: Option<u16>,
    /// The hash tag.
    pub tag: Option<Name>,
    /// The key.
    pub key: Option<Name>,
    /// The pattern of keys.
    pub pattern: Option<Name>,
    /// For a skew the fullest node in fair shares; for a key or tag its part of a fair share; otherwise a count.
    pub value: Option<f64>,
    /// The part of its limit that the node uses.
    pub limit_use: Option<f64>,
    /// The finding in a sentence.
    #[serde(default)]
    pub sentence: String,
    /// The places of the steps that are for it.
    #[serde(default)]
    pub steps: Vec<usize>,
    /// The state that it sets; null for a risk.
    #[serde(default)]
    pub state: Option<State>,
    /// Whether the user chose the metrics to judge by.
    #[serde(skip)]
    pub is_chosen: bool,
}

/// The kind of a finding, from the most urgent to the least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Slots are not served.
    #[default]
    Down,
    /// A node is at its limit.
    NearLimit,
    /// The dump is incomplete or damaged.
    Suspicious,
    /// A node is above its fair share.
    Skew,
    /// A node evicts keys while another has room.
    Evicting,
    /// A node reaches its limit soon.
    Growth,
    /// A primary is suspected to have failed.
    Suspected,
    /// A slot is being moved, or was left open.
    OpenSlot,
    /// A minute in which 10% of the keys expire.
    Expiry,
    /// A node refuses commands, as with CROSSSLOT.
    Refused,
    /// A key with half a fair share of the bytes, of 100 MiB, or with a million elements.
    BigKey,
    /// A key with half a fair share of the load, or a fifth of it where nodes are not compared.
    HotKey,
    /// A hash tag with half a fair share, or a fifth of the load where nodes are not compared.
    CoarseTag,
    /// A primary without a replica.
    NoReplica,
    /// A primary without slots.
    EmptyNode,
    /// The input has no sizes.
    SizesUnknown,
    /// The input has no load.
    LoadUnknown,
    /// Servers have no limit of memory.
    NoLimit,
}

impl FindingKind {
    /// Its name in ids and report.json.
    fn name(self) -> String {
        let name = serde_json::to_value(self).unwrap_or_default();
        name.as_str().unwrap_or_default().to_owned()
    }
}

impl Finding {
    /// A finding without any fields except its sentence.
    pub fn new(kind: FindingKind, severity: Severity, sentence: impl Into<String>) -> Self {
        Finding {
            kind,
            severity,
            sentence: sentence.into(),
            ..Finding::default()
        }
    }

    /// Sets the state that it causes.
    pub fn setting(self, state: State) -> Self {
        Finding {
            state: Some(state),
            ..self
        }
    }

    /// Sets its role and measure.
    pub fn in_role(self, role: Option<Role>, measure: Measure) -> Self {
        Finding {
            role,
            metric: Some(measure),
            ..self
        }
    }

    /// Sets its node.
    pub fn on(self, node: &Name) -> Self {
        Finding {
            node: Some(node.clone()),
            ..self
        }
    }

    /// Sets its value.
    pub fn of(self, value: f64) -> Self {
        Finding {
            value: Some(tidy(value)),
            ..self
        }
    }

    /// Sets its id, derived from the other fields.
    pub fn identified(mut self) -> Self {
        let name = |name: &Option<Name>| name.as_ref().map(ToString::to_string);
        let subject = name(&self.key)
            .or_else(|| name(&self.tag))
            .or_else(|| name(&self.pattern))
            .or_else(|| self.slot.map(|slot| slot.to_string()));
        let role = self.role.map(Role::name);
        self.id = format!(
            "{}/{}/{}/{}",
            self.kind.name(),
            role.unwrap_or_default(),
            name(&self.node).unwrap_or_default(),
            subject.unwrap_or_default()
        );
        self
    }

    /// The word shown in front of it; empty for a risk.
    pub fn word(&self) -> &'static str {
        let role = self.role.filter(|_| !self.is_chosen);
        self.state.map_or("", |state| state.word(role))
    }
}
