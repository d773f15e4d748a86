//! The verdict in one role: how uneven the compared nodes are, and why.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::bands::Bands;
use crate::cause::Cause;
use crate::independent_units::UnitKind;
use crate::measure::Measure;
use crate::reason::Reason;
use crate::state::{Role, State};

/// The verdict in one role.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RoleVerdict {
    /// The role; null for keys and other measures that the user chose beside it.
    pub role: Option<Role>,
    /// Its measure.
    pub metric: Measure,
    /// Whether the nodes are compared and judged.
    pub judged: bool,
    /// Why not.
    pub reason: Option<Reason>,
    /// How uneven the nodes are.
    pub state: State,
    /// The finding in a sentence.
    pub sentence: String,
    /// From which ratio on the state is `watch`, and from which it is `skewed`.
    pub bands: Bands,
    /// How many nodes are compared.
    pub compared: usize,
    /// Seconds that the load covers, where it is a rate.
    pub span_secs: Option<f64>,
    /// Whether a part of the load is estimated.
    pub estimated: bool,
    /// The fullest node; absent without load.
    pub fullest: Option<FullestNode>,
    /// Why the fullest node is above its fair share, largest first; the excesses add up to max/mean - 1.
    pub causes: Vec<Cause>,
    /// The independent units that the load behaves like.
    pub n_eff: Option<f64>,
    /// 0: exact; else the relative standard error of `n_eff`.
    pub n_eff_error: f64,
    /// No move of slots gets the fullest node below this, in fair shares.
    pub floor: Option<f64>,
    /// 1 / M: with equal nodes the cluster is full when its fullest node is.
    pub usable_capacity: Option<f64>,
    /// Where nodes are not compared, the heaviest tag or key of the load: its name, its kind, and its part.
    #[serde(skip)]
    pub seen: Option<(Name, UnitKind, f64)>,
}

/// The fullest node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FullestNode {
    /// Its id.
    pub node: Name,
    /// Its load in fair shares.
    pub max_over_mean: f64,
    /// The part of its limit that it uses; absent if the limit is not known.
    #[serde(default)]
    pub limit_use: Option<f64>,
}

impl RoleVerdict {
    /// The fullest node's load in fair shares.
    pub fn max_over_mean(&self) -> Option<f64> {
        self.fullest.as_ref().map(|fullest| fullest.max_over_mean)
    }

    /// The fraction of its limit that the fullest node uses.
    pub fn limit_use(&self) -> Option<f64> {
        self.fullest.as_ref()?.limit_use
    }

    /// Whether it is not judged because something was not seen: a node, or values.
    pub fn has_gap(&self) -> bool {
        matches!(
            self.reason,
            Some(Reason::NotSeen | Reason::Unreadable | Reason::Missing)
        )
    }

    /// The name of the role, or of the measure if there is no role.
    pub fn name(&self) -> &'static str {
        self.role.map_or(self.by().name(), Role::name)
    }

    /// Its display name, by measure.
    pub fn called(&self) -> &'static str {
        self.role.map_or(self.by().name(), |_| self.metric.head())
    }

    /// The metric of its tables.
    pub fn by(&self) -> Metric {
        self.metric.metric()
    }
}
