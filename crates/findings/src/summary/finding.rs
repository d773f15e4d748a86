//! A finding: what is wrong, how urgent it is, where it is, and which steps are for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::name::Name;

use crate::summary::balance::tidy;
use crate::summary::explanation::Explanation;
use crate::summary::measure::Measure;
use crate::summary::state::{Role, Severity, State};
use crate::summary::worded::Worded;

/// A problem, and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub sentence: Worded<FindingText>,
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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Slots are not served.
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
    /// Most keys of a minute expire together.
    Expiry,
    /// A key that is large, or has many elements.
    BigKey,
    /// A key that gets much of the load.
    HotKey,
    /// A hash tag that is much of a node.
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
    /// Its word in ids and report.json.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FindingKind::Down => "down",
            FindingKind::NearLimit => "near_limit",
            FindingKind::Suspicious => "suspicious",
            FindingKind::Skew => "skew",
            FindingKind::Evicting => "evicting",
            FindingKind::Growth => "growth",
            FindingKind::Suspected => "suspected",
            FindingKind::OpenSlot => "open_slot",
            FindingKind::Expiry => "expiry",
            FindingKind::BigKey => "big_key",
            FindingKind::HotKey => "hot_key",
            FindingKind::CoarseTag => "coarse_tag",
            FindingKind::NoReplica => "no_replica",
            FindingKind::EmptyNode => "empty_node",
            FindingKind::SizesUnknown => "sizes_unknown",
            FindingKind::LoadUnknown => "load_unknown",
            FindingKind::NoLimit => "no_limit",
        }
    }
}

/// The content of a finding's sentence.
#[derive(Debug, Clone, PartialEq)]
pub enum FindingText {
    /// The explanation of a role.
    Role(Explanation),
    /// Slots that are not served: those of primaries that failed, do not answer or refuse, and those without an owner.
    Down {
        /// Failed primaries and how many slots each owns.
        failed: Vec<(Name, u32)>,
        /// Others that do not answer.
        silent: Vec<(Name, u32)>,
        /// Others that say `cluster_state:fail`.
        refusing: Vec<(Name, u32)>,
        /// Slots without an owner.
        unowned: u32,
        /// Primaries that were asked for the state of the cluster, and those that said `fail`.
        said_fail: Option<(u64, u64)>,
    },
    /// A node at its limit of memory.
    Full {
        /// Its name.
        node: Name,
        /// Bytes that count against its limit.
        used: u64,
        /// The limit.
        maxmemory: u64,
        /// Bytes that are not a key, where that is known.
        overhead: Option<u64>,
    },
    /// A node at the limit of a core.
    Busy {
        /// Its name.
        node: Name,
        /// The part of a core that it uses.
        cpu: f64,
    },
    /// A node above its fair share of CPU time, by its process.
    Process {
        /// Its name.
        node: Name,
        /// Its load in fair shares.
        max_over_mean: f64,
        /// The part of a core that it uses.
        cpu: f64,
    },
    /// A node evicts while another has room.
    Evicting {
        /// Its name.
        node: Name,
        /// The node with most room, and how much of its limit that is.
        other: (Name, f64),
    },
    /// A node reaches its limit in this many months.
    Growth {
        /// Its name.
        node: Name,
        /// Months.
        months: f64,
    },
    /// A primary is suspected to have failed.
    Suspected {
        /// Its name.
        node: Name,
        /// Slots that it owns.
        slots: u32,
    },
    /// Slots on their way.
    OpenSlots(Vec<u16>),
    /// Keys expire together.
    Expiry {
        /// Their share of all keys.
        share: f64,
        /// Within how many minutes.
        minutes: u64,
        /// When, in seconds since 1970; and how many seconds after the dump, where that is known.
        at: (u64, Option<u64>),
        /// The pattern that most of them have.
        pattern: Option<Name>,
        /// The node that most of them are on.
        node: Option<Name>,
    },
    /// A key.
    Key(KeyText),
    /// A hash tag, its part of a fair share, and of what.
    Tag(Name, f64, Measure),
    /// A hash tag or key of captures whose nodes are not compared: its name, whether it is a tag, its part of what was captured,
    /// and of what.
    Seen(Name, bool, f64, Measure),
    /// Primaries without a replica; `None`: all of them.
    NoReplica(Option<Name>),
    /// A primary without slots.
    EmptyNode(Name),
    /// The input has no sizes.
    SizesUnknown,
    /// The input has no load, though nodes are uneven by keys.
    LoadUnknown,
    /// Servers have no limit of memory.
    NoLimit,
}

/// The facts about a key in a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyText {
    /// Its name.
    pub name: Name,
    /// Its size.
    pub bytes: Option<u64>,
    /// Its elements.
    pub elements: Option<u64>,
    /// Its part of a fair share, and of what.
    pub share: Option<(f64, Measure)>,
    /// For how many milliseconds MIGRATE and DEL block the node.
    pub block_ms: Option<f64>,
}

impl Finding {
    /// A finding of which nothing is known but its sentence.
    pub(crate) fn new(kind: FindingKind, severity: Severity, text: FindingText) -> Self {
        Finding {
            id: String::new(),
            kind,
            severity,
            role: None,
            metric: None,
            node: None,
            slot: None,
            tag: None,
            key: None,
            pattern: None,
            value: None,
            limit_use: None,
            sentence: text.into(),
            steps: Vec::new(),
            state: None,
            is_chosen: false,
        }
    }

    /// The same with the state that it sets.
    pub fn setting(self, state: State) -> Self {
        Finding {
            state: Some(state),
            ..self
        }
    }

    /// The same with its place in a role.
    pub(crate) fn in_role(self, role: Option<Role>, measure: Measure) -> Self {
        Finding {
            role,
            metric: Some(measure),
            ..self
        }
    }

    /// The same on a node.
    pub(crate) fn on(self, node: &Name) -> Self {
        Finding {
            node: Some(node.clone()),
            ..self
        }
    }

    /// The same with its value.
    pub(crate) fn of(self, value: f64) -> Self {
        Finding {
            value: Some(tidy(value)),
            ..self
        }
    }

    /// The same with its id, which its other members make.
    pub(crate) fn identified(mut self) -> Self {
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

    /// The word that it is shown with; empty for a risk.
    pub fn word(&self) -> &'static str {
        let role = self.role.filter(|_| !self.is_chosen);
        self.state.map_or("", |state| state.word(role))
    }
}
