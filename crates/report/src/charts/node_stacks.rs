//! The content of nodes.png: for each judged role, every node's load in fair shares, divided into big keys, hot tags
//! and the rest.

use slotscope_base::metric::Metric;
use slotscope_base::text::short;
use slotscope_model::Summary;
use slotscope_model::compared::Compared;
use slotscope_model::independent_units::{Unit, UnitKind, UnitsBy};
use slotscope_model::limit;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::role_load::RoleLoad;
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::{Role, State};
use slotscope_model::words::times;

use crate::plot::loads::Loads;

/// The nodes in one role.
pub(super) struct RoleStacks<'s> {
    /// `memory`, `load`; `None` for an additional metric chosen by the user.
    pub role: Option<Role>,
    /// The loads of its metric.
    pub loads: Loads<'s>,
    /// By node index; `None` if the node is not compared.
    pub stacks: Vec<Option<Stack>>,
    /// The fullest node, the first of equals.
    pub fullest: usize,
    /// The emptiest one.
    pub emptiest: usize,
    /// A fair share in the metric, if the same for all nodes.
    pub fair: Option<f64>,
    /// Whether the nodes are uneven.
    pub is_uneven: bool,
}

/// The load of a node in one role.
pub(super) struct Stack {
    /// In fair shares.
    pub ratio: f64,
    /// Its parts, which sum to at most `ratio`.
    pub keys: f64,
    /// See `keys`.
    pub tags: f64,
    /// The amount, and in fair shares: `2.80 M`, `3.24×`.
    pub words: [String; 2],
    /// Whether it is above the upper band of the role.
    pub is_too_full: bool,
    /// The heaviest key or tag: its name, and its load in fair shares.
    pub heaviest: Option<(String, f64)>,
}

impl<'s> RoleStacks<'s> {
    /// The stacks of every role, in order.
    pub(super) fn of(summary: &'s Summary) -> Vec<Self> {
        let roles = summary.verdict.roles.iter().zip(&summary.role_loads);
        roles
            .filter_map(|(verdict, load)| RoleStacks::new(summary, verdict, load))
            .collect()
    }

    fn new(summary: &'s Summary, verdict: &RoleVerdict, load: &RoleLoad) -> Option<Self> {
        let metric = verdict.by();
        let nodes = &summary.nodes;
        let compared = Compared::new(nodes, load);
        let fullest = compared.fullest()?;
        let ratios: Vec<f64> = (0..compared.nodes.len())
            .map(|at| compared.ratio(at))
            .collect();
        let emptiest = (0..ratios.len()).min_by(|a, b| ratios[*a].total_cmp(&ratios[*b]))?;
        let loads = Loads::by(summary, metric);
        let counted = summary.units.per.get(metric);
        let units = counted
            .map(|units| load.units(nodes, units))
            .unwrap_or_default();
        let mut stacks: Vec<Option<Stack>> = nodes.list.iter().map(|_| None).collect();
        for (at, place) in load.compared.iter().enumerate() {
            let node = compared.nodes[at];
            let heavy = heavy_units(&units, node, metric, compared.fair(at));
            let mut stack = Stack::new(&heavy, (compared.loads[at], compared.fair(at)));
            stack.words = [loads.short(node.load_by(metric) as f64), times(stack.ratio)];
            stack.is_too_full = verdict.judged && stack.ratio >= verdict.bands.upper;
            stacks[*place] = Some(stack);
        }
        let fairs = (0..ratios.len()).map(|at| compared.fair(at));
        let is_one_fair = fairs
            .clone()
            .all(|fair| (fair - compared.fair(0)).abs() < 0.5);
        Some(RoleStacks {
            role: verdict.role,
            // Rates and server memory are not in counted units.
            fair: Some(compared.fair(0)).filter(|_| is_one_fair && load.scale.is_empty()),
            fullest: load.compared[fullest],
            emptiest: load.compared[emptiest],
            is_uneven: verdict.judged && verdict.state != State::Balanced,
            loads,
            stacks,
        })
    }

    /// The stack of the fullest node.
    pub(super) fn fullest(&self) -> Option<&Stack> {
        self.stacks[self.fullest].as_ref()
    }

    /// The largest ratio.
    pub(super) fn most(&self) -> f64 {
        self.fullest().map_or(1.0, |stack| stack.ratio)
    }
}

/// The units of a node that are heavy relative to a fair share of `fair`.
fn heavy_units<'u>(
    units: &'u UnitsBy,
    node: &NodeLoad,
    metric: Metric,
    fair: f64,
) -> Vec<&'u Unit> {
    let is_on_it = |unit: &&Unit| unit.node.as_ref() == Some(&node.id);
    let is_heavy = |unit: &&Unit| {
        unit.kind.can_be_heavy(metric) && fair > 0.0 && unit.load >= limit::HEAVY * fair
    };
    units
        .named
        .iter()
        .filter(is_on_it)
        .filter(is_heavy)
        .collect()
}

impl Stack {
    fn new(heavy: &[&Unit], (load, fair): (f64, f64)) -> Self {
        let share = |load: f64| if fair > 0.0 { load / fair } else { 0.0 };
        let ratio = share(load);
        let is_key = |unit: &Unit| unit.kind != UnitKind::Tag || unit.main_key.is_some();
        let sum = |of_keys: bool| {
            let of_it = heavy.iter().filter(|unit| is_key(unit) == of_keys);
            share(of_it.map(|unit| unit.load).sum())
        };
        let keys = sum(true).min(ratio);
        Stack {
            ratio,
            keys,
            tags: sum(false).min(ratio - keys),
            words: Default::default(),
            is_too_full: false,
            heaviest: heavy.first().map(|unit| (spelled(unit), share(unit.load))),
        }
    }

    /// The part that is neither big keys nor hot tags.
    pub(super) fn rest(&self) -> f64 {
        self.ratio - self.keys - self.tags
    }
}

/// `key leaderboard`, `tag {flash-sale}`.
fn spelled(unit: &Unit) -> String {
    match (&unit.main_key, unit.kind) {
        (Some(key), _) => format!("key {}", short(key)),
        (None, kind @ (UnitKind::Key | UnitKind::Channel)) => {
            format!("{} {}", kind.noun(1), short(&unit.name))
        }
        (None, UnitKind::Tag) => format!("hash tag {{{}}}", unit.name),
    }
}
