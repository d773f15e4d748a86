//! The state of a cluster in one word, the severity of findings, and the two roles that nodes are judged by.

use serde::{Deserialize, Serialize};

/// The overall state of the findings, from the least urgent to the most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There are no keys and no operations.
    #[default]
    Empty,
    /// No node holds more than the lower band allows.
    Balanced,
    /// There is too little to judge.
    Unjudged,
    /// A node is above the lower band, or on its way to a limit.
    Watch,
    /// A node is above the upper band.
    Skewed,
    /// The dump is incomplete or damaged.
    Suspicious,
    /// A node is at its limit of memory or of CPU time.
    Limit,
    /// Slots are not served.
    Down,
}

impl State {
    /// All states in order.
    pub const ALL: [State; 8] = [
        State::Empty,
        State::Balanced,
        State::Unjudged,
        State::Watch,
        State::Skewed,
        State::Suspicious,
        State::Limit,
        State::Down,
    ];

    /// Its name in report.json.
    pub fn name(self) -> &'static str {
        match self {
            State::Empty => "empty",
            State::Balanced => "balanced",
            State::Unjudged => "unjudged",
            State::Watch => "watch",
            State::Skewed => "skewed",
            State::Suspicious => "suspicious",
            State::Limit => "limit",
            State::Down => "down",
        }
    }

    /// Its place in the order of all states, as metrics have it.
    pub fn rank(self) -> f64 {
        f64::from(self as u8)
    }

    /// Whether the nodes are uneven.
    pub fn is_uneven(self) -> bool {
        matches!(self, State::Watch | State::Skewed)
    }

    /// The first word of a report; roles have their own words for limit and skew.
    pub fn word(self, role: Option<Role>) -> &'static str {
        match (self, role) {
            (State::Down, _) => "DOWN",
            (State::Limit | State::Skewed, Some(Role::Load)) => "HOT",
            (State::Limit, _) => "FULL",
            (State::Suspicious, _) => "SUSPICIOUS",
            (State::Skewed, _) => "SKEWED",
            (State::Watch, _) => "WATCH",
            (State::Unjudged, _) => "UNJUDGED",
            (State::Balanced, _) => "BALANCED",
            (State::Empty, _) => "EMPTY",
        }
    }
}

/// How urgent a finding is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Notice,
    /// To be looked at in the next days.
    Warning,
    /// To be acted on now.
    Critical,
}

impl Severity {
    /// A warning, or else a notice.
    pub fn warning_if(is_so: bool) -> Self {
        if is_so {
            Severity::Warning
        } else {
            Severity::Notice
        }
    }
}

/// The resource that a node can run out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Memory: a node is full.
    Memory,
    /// Load: a node is hot.
    Load,
}

impl Role {
    /// Both roles; by default the first is named first.
    pub const ALL: [Role; 2] = [Role::Memory, Role::Load];

    /// Its name in report.json.
    pub fn name(self) -> &'static str {
        match self {
            Role::Memory => "memory",
            Role::Load => "load",
        }
    }
}
