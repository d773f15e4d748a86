//! The loads that nodes are judged by, and the compared nodes. Load is a rate: captured counts are divided by the captured
//! seconds, per node.

use slotscope_base::metric::Metric;

use crate::balance::sum;
use crate::coverage::Seen;
use crate::independent_units::{Unit, UnitsBy};
use crate::measure::Measure;
use crate::nodes::Nodes;
use crate::reason::Reason;
use crate::state::{Role, State};

/// The user's settings of the verdict.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// Metrics to judge, in order; empty: the roles found in the input.
    pub by: Vec<Metric>,
    /// Relative capacities by node index; empty: all equal.
    pub weights: Vec<f64>,
    /// States in the previous report, by measure.
    pub previous: Vec<(Measure, State)>,
}

impl From<Metric> for Asked {
    fn from(metric: Metric) -> Self {
        Asked {
            by: vec![metric],
            ..Asked::default()
        }
    }
}

/// The load that a role is judged by.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleLoad {
    /// The role; absent for keys, and for further measures of the same role that the user chose.
    pub role: Option<Role>,
    /// Its measure.
    pub measure: Measure,
    /// Load by slot. Rates are counts over the longest span of any node.
    pub slots: Vec<u64>,
    /// By node index: the real load per counted unit; empty: 1.
    pub scale: Vec<f64>,
    /// By node index: how much of it was seen.
    pub seen: Vec<Seen>,
    /// Indices of the compared nodes: those that were seen whole.
    pub compared: Vec<usize>,
    /// Relative capacities by node index.
    pub weights: Vec<f64>,
    /// Why the nodes cannot be compared.
    pub reason: Option<Reason>,
    /// Seconds covered by the load.
    pub span_secs: Option<f64>,
    /// Whether part of it is estimated.
    pub is_estimated: bool,
}

impl RoleLoad {
    /// Whether it is memory by key sizes, or by key count because too few keys have a size.
    pub fn is_of_sizes(&self) -> bool {
        self.role == Some(Role::Memory) && matches!(self.measure, Measure::Bytes | Measure::Keys)
    }

    /// The units as this role weighs them: on compared nodes, as rates.
    pub fn units(&self, nodes: &Nodes, units: &UnitsBy) -> UnitsBy {
        let is_compared = |at: usize| self.compared.contains(&at);
        let is_as_counted = self.scale.is_empty() && self.compared.len() == nodes.owning().count();
        if is_as_counted {
            return units.clone();
        }
        let scaled = |unit: &Unit| {
            let at = unit.node.as_ref().and_then(|node| nodes.place(node));
            let factor = at.and_then(|at| self.scale.get(at)).copied().unwrap_or(1.0);
            Unit {
                node: unit.node.clone().filter(|_| at.is_some_and(is_compared)),
                load: unit.load * factor,
                at_most: unit.at_most * factor,
                ..unit.clone()
            }
        };
        let mut named: Vec<Unit> = units.named.iter().map(scaled).collect();
        named.sort_by(|a, b| b.load.total_cmp(&a.load).then_with(|| a.name.cmp(&b.name)));
        let total = sum(&self.slots) as f64;
        let factor = if units.total > 0.0 {
            total / units.total
        } else {
            1.0
        };
        UnitsBy {
            total,
            squares: units.squares.map(|squares| squares * factor * factor),
            unnamed: units.unnamed * factor,
            named,
            ..units.clone()
        }
    }
}
