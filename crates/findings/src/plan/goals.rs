//! The loads that a plan evens out, their order, and the loads that it only may not worsen.

use slotscope_engine::metric::{Metric, PerMetric};

use crate::summary::Summary;
use crate::summary::role_verdict::RoleVerdict;
use crate::summary::state::State;

/// How far above its fair share of memory a node may be: below the band that a report calls balanced, so that a little
/// growth asks for no second plan.
pub(crate) const MEMORY_TOLERANCE: f64 = 0.03;
/// The same of load, which varies more.
pub(crate) const LOAD_TOLERANCE: f64 = 0.10;
/// Fair shares of an estimated load that a guard lets any node reach.
const ESTIMATED_BAND: f64 = 1.50;
/// Bytes are a goal where this part of the keys has a size.
const SIZED: f64 = 0.99;
/// Operations are a goal from this many a node on, and a guard from this many.
const OPS_OF_A_GOAL: u128 = 10_000;
const OPS_OF_A_GUARD: u128 = 40;

/// The goals and guards of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Goals {
    /// The loads to even out, with their tolerances, in the order in which they are met.
    pub goals: Vec<(Metric, f64)>,
    /// The loads that may not get worse, with the shares that any node may reach.
    pub guards: Vec<(Metric, f64)>,
}

/// Facts about the input, for the choice of goals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carried<'a> {
    /// The load of each slot.
    pub loads: &'a PerMetric<Vec<u64>>,
    /// All keys, and how many of them have a size.
    pub keys: u64,
    /// Keys whose size is known.
    pub sized: u64,
    /// Nodes that stay.
    pub nodes: usize,
}

impl Goals {
    /// Memory, by bytes or else by keys, and then load, by operations. `by` narrows the goals to its metrics, those of more
    /// weight first; `tolerance` is that of the first goal.
    pub(crate) fn of(carried: &Carried<'_>, by: &[(Metric, f64)], tolerance: Option<f64>) -> Self {
        let memory = memory(carried);
        let load = load(carried);
        let mut goals: Vec<(Metric, f64)> = match by {
            [] => {
                let is_measured = |metric: &Metric| {
                    *metric == Metric::Cpu
                        || *metric == Metric::Ops && carried.of_a_node(*metric) >= OPS_OF_A_GOAL
                };
                let both = memory.into_iter().chain(load.filter(is_measured));
                let mut goals: Vec<Metric> = both.collect();
                if goals.is_empty() {
                    goals.extend(load);
                }
                goals
                    .into_iter()
                    .map(|metric| (metric, tolerance_of(metric)))
                    .collect()
            }
            _ => {
                let mut by = by.to_vec();
                by.sort_by(|a, b| b.1.total_cmp(&a.1));
                by.into_iter()
                    .map(|(metric, _)| (metric, tolerance_of(metric)))
                    .collect()
            }
        };
        if let (Some((_, first)), Some(tolerance)) = (goals.first_mut(), tolerance) {
            *first = tolerance;
        }
        let is_goal = |metric: Metric| goals.iter().any(|(goal, _)| *goal == metric);
        let guarded = [memory, load].into_iter().flatten();
        let guards = guarded
            .filter(|metric| !is_goal(*metric))
            .filter(|metric| !metric.is_of_use() || carried.of_a_node(*metric) >= OPS_OF_A_GUARD)
            .map(|metric| (metric, band_of(metric)))
            .collect();
        Goals { goals, guards }
    }

    /// The goals by the verdict of a report: the roles that are above their bands for more than slots that fill a node, and
    /// the others as guards; `None` if there is no role that a plan can be made for.
    pub(crate) fn of_verdict(summary: &Summary, tolerance: Option<f64>) -> Option<Self> {
        let owning = summary.nodes.owning().count();
        let judged = summary.verdict.roles.iter();
        let judged = judged.filter(|role| role.judged && role.compared == owning);
        let is_goal = |role: &&RoleVerdict| is_movable(role) && can_be_goal(summary, role.by());
        let goals = judged.clone().filter(is_goal);
        let mut goals: Vec<(Metric, f64)> = goals
            .map(|role| (role.by(), tolerance_of(role.by())))
            .collect();
        if let (Some((_, first)), Some(tolerance)) = (goals.first_mut(), tolerance) {
            *first = tolerance;
        }
        let guards = judged.filter(|role| !is_goal(role));
        let guards = guards.map(|role| (role.by(), band_of(role.by()))).collect();
        (!goals.is_empty()).then_some(Goals { goals, guards })
    }

    /// One goal and no guards.
    pub fn only(metric: Metric, tolerance: f64) -> Self {
        Goals {
            goals: vec![(metric, tolerance)],
            guards: Vec::new(),
        }
    }
}

impl<'a> Carried<'a> {
    /// The facts about the input of a summary.
    pub(crate) fn of(summary: &'a Summary) -> Self {
        Carried {
            loads: &summary.slots.loads,
            keys: summary.input.keys,
            sized: summary
                .input
                .weights
                .get(Metric::Bytes)
                .copied()
                .unwrap_or(0),
            nodes: summary.nodes.owning().count(),
        }
    }
}

impl Carried<'_> {
    fn total(&self, metric: Metric) -> u128 {
        let loads = self.loads.get(metric).into_iter().flatten();
        loads.map(|load| u128::from(*load)).sum()
    }

    fn of_a_node(&self, metric: Metric) -> u128 {
        self.total(metric) / self.nodes.max(1) as u128
    }
}

/// The metric of memory.
fn memory(carried: &Carried<'_>) -> Option<Metric> {
    let is_sized = carried.sized as f64 >= SIZED * carried.keys as f64;
    if is_sized && carried.total(Metric::Bytes) > 0 {
        Some(Metric::Bytes)
    } else {
        (carried.total(Metric::Keys) > 0).then_some(Metric::Keys)
    }
}

/// The metric of load.
fn load(carried: &Carried<'_>) -> Option<Metric> {
    let measured = [Metric::Cpu, Metric::Ops, Metric::Accesses].into_iter();
    measured
        .into_iter()
        .find(|metric| carried.total(*metric) > 0)
}

/// Whether moves can bring an uneven role nearer to its bands.
fn is_movable(role: &RoleVerdict) -> bool {
    let rest = role.rest_max_over_mean;
    let is_filled = rest.is_some_and(|rest| role.bands.state(rest) == State::Balanced);
    role.state.is_uneven() && !is_filled
}

/// Whether plans are made for a metric: a load of few operations is not known well enough, and one that is estimated never
/// is, unless the user asks for it.
pub(crate) fn can_be_goal(summary: &Summary, metric: Metric) -> bool {
    let nodes = summary.nodes.owning().count().max(1) as u128;
    match metric {
        Metric::Accesses => false,
        Metric::Ops => {
            let ops = summary.slots.loads.get(Metric::Ops).into_iter().flatten();
            let ops: u128 = ops.map(|ops| u128::from(*ops)).sum();
            ops >= OPS_OF_A_GOAL * nodes
        }
        _ => true,
    }
}

/// How far above its fair share a node may be.
pub(crate) fn tolerance_of(metric: Metric) -> f64 {
    if metric.is_of_use() {
        LOAD_TOLERANCE
    } else {
        MEMORY_TOLERANCE
    }
}

/// The fair shares that a guard lets any node reach: what a plan for it would aim at, so that no plan asks for another one.
pub(crate) fn band_of(metric: Metric) -> f64 {
    match metric {
        Metric::Accesses => ESTIMATED_BAND,
        _ => 1.0 + tolerance_of(metric),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(ops: u64, sized: u64, by: &[(Metric, f64)]) -> (Vec<Metric>, Vec<Metric>) {
        let loads = PerMetric::of_keys(vec![50, 50])
            .with(Metric::Bytes, vec![1000, 1000])
            .with(Metric::Ops, vec![ops, 0]);
        let carried = Carried {
            loads: &loads,
            keys: 100,
            sized,
            nodes: 2,
        };
        let Goals { goals, guards } = Goals::of(&carried, by, Some(0.01));
        assert_eq!(goals[0].1, 0.01, "the tolerance is that of the first goal");
        assert!(
            goals[1..]
                .iter()
                .all(|(metric, of)| *of == tolerance_of(*metric))
        );
        let names = |of: Vec<(Metric, f64)>| of.into_iter().map(|(metric, _)| metric).collect();
        (names(goals), names(guards))
    }

    #[test]
    fn memory_is_bytes_where_nearly_all_keys_have_them_and_comes_first() {
        use Metric::{Bytes, Keys, Ops};
        assert_eq!(chosen(0, 99, &[]), (vec![Bytes], vec![]));
        assert_eq!(chosen(0, 98, &[]), (vec![Keys], vec![]));
        assert_eq!(chosen(20_000, 100, &[]), (vec![Bytes, Ops], vec![]));
    }

    #[test]
    fn few_operations_are_a_guard_and_very_few_say_nothing() {
        use Metric::{Bytes, Ops};
        assert_eq!(chosen(19_999, 100, &[]), (vec![Bytes], vec![Ops]));
        assert_eq!(chosen(79, 100, &[]), (vec![Bytes], vec![]));
    }

    #[test]
    fn what_the_user_names_is_the_goal_and_the_other_role_a_guard() {
        use Metric::{Bytes, Keys, Ops};
        assert_eq!(chosen(20_000, 100, &[(Ops, 1.0)]), (vec![Ops], vec![Bytes]));
        assert_eq!(
            chosen(20_000, 100, &[(Keys, 1.0)]),
            (vec![Keys], vec![Bytes, Ops])
        );
        let mix = [(Ops, 1.0), (Bytes, 2.0)];
        assert_eq!(chosen(20_000, 100, &mix), (vec![Bytes, Ops], vec![]));
    }

    #[test]
    fn a_capture_alone_is_planned_for_its_operations() {
        let loads = PerMetric::of_keys(vec![0, 0]).with(Metric::Ops, vec![30, 20]);
        let carried = Carried {
            loads: &loads,
            keys: 0,
            sized: 0,
            nodes: 2,
        };
        assert_eq!(
            Goals::of(&carried, &[], None).goals,
            [(Metric::Ops, LOAD_TOLERANCE)]
        );
    }
}
