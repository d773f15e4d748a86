//! Load by process CPU time: all there is for servers that do not count by slot. Times of a node by its process and by its
//! slots need not agree.

use crate::summary::findings;
use crate::summary::observed::Observed;
use crate::wording;
use slotscope_base::metric::Metric;
use slotscope_model::Summary;
use slotscope_model::balance::tidy;
use slotscope_model::bands::Bands;
use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::Nodes;
use slotscope_model::reason::Reason;
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::{Role, State};

/// A node's load by process CPU time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessLoad {
    /// In fair shares.
    pub over_share: f64,
    /// Balanced if the busiest node is idle.
    pub state: State,
    /// The fraction of a CPU core.
    cpu: f64,
}

/// Each node's load by CPU time per second; 1 is one core.
pub fn loads(cpu: &[Option<f64>]) -> Vec<Option<ProcessLoad>> {
    let known = || cpu.iter().flatten();
    let mean = known().sum::<f64>() / known().count().max(1) as f64;
    let are_idle = known().all(|cpu| *cpu < limit::IDLE_CPU);
    let bands = Bands::new(Measure::Cpu, None, None);
    let of_node = |cpu: f64| {
        let over_share = tidy(cpu / mean);
        ProcessLoad {
            over_share,
            state: if are_idle {
                State::Balanced
            } else {
                bands.state(over_share)
            },
            cpu,
        }
    };
    cpu.iter()
        .map(|cpu| cpu.filter(|_| mean > 0.0).map(of_node))
        .collect()
}

/// The load of each node in the list; empty if slots compare the nodes, or if too few answering nodes are known.
pub(crate) fn of(
    nodes: &Nodes,
    observed: &Observed,
    roles: &[RoleVerdict],
) -> Vec<Option<ProcessLoad>> {
    if roles.iter().any(is_compared_by_slots) {
        return Vec::new();
    }
    let is_answering = |at: &usize| nodes.list[*at].slots > 0 && !nodes.list[*at].is_lost();
    let places = 0..nodes.list.len();
    let cpu: Vec<Option<f64>> = places
        .map(|at| of_process(observed, at).filter(|_| is_answering(&at)))
        .collect();
    let answering = (0..cpu.len()).filter(is_answering).count();
    let known = cpu.iter().flatten().count();
    if known < 2 || (known as f64) < limit::COVERED * answering as f64 {
        return Vec::new();
    }
    loads(&cpu)
}

/// The fair shares of the busiest node, and the state of the load, where processes compare the nodes.
pub fn judged(summary: &Summary) -> Option<(f64, State)> {
    if summary.verdict.roles.iter().any(is_compared_by_slots) {
        return None;
    }
    let nodes = summary.nodes.list.iter();
    let shares = nodes.filter_map(|node| node.over_share.load);
    let busiest = shares.max_by(f64::total_cmp)?;
    let state = skewed(summary).and_then(|skew| skew.state);
    Some((busiest, state.unwrap_or(State::Balanced)))
}

/// The finding of an uneven load, where processes compare the nodes.
pub fn skewed(summary: &Summary) -> Option<&Finding> {
    let verdict = &summary.verdict;
    let is_skew =
        |finding: &&Finding| finding.kind == FindingKind::Skew && finding.role == Some(Role::Load);
    if verdict.roles.iter().any(is_compared_by_slots) {
        return None;
    }
    verdict.findings.iter().find(is_skew)
}

fn is_compared_by_slots(role: &RoleVerdict) -> bool {
    role.role == Some(Role::Load) && role.fullest.is_some() && role.reason != Some(Reason::NotSeen)
}

/// The busiest node, if it is above its fair share.
pub(crate) fn skew(
    nodes: &Nodes,
    observed: &Observed,
    loads: &[Option<ProcessLoad>],
) -> Option<Finding> {
    let listed = loads.iter().zip(&nodes.list).enumerate();
    let known = listed.filter_map(|(at, (load, node))| Some((load.as_ref()?, node, at)));
    let (load, node, at) =
        known.max_by(|(a, ..), (b, ..)| a.over_share.total_cmp(&b.over_share))?;
    let server = observed.server(at);
    let text = wording::finding::process(
        &node.label(),
        load.over_share,
        load.cpu,
        server.and_then(|server| server.busiest.as_ref()),
        of_slots(nodes, observed, at).map(|slots| (1.0 - slots / load.cpu).max(0.0)),
    );
    let skew = findings::skew(load.state, load.over_share, Some(load.cpu), text);
    let finding = skew.in_role(Some(Role::Load), Measure::Cpu).on(&node.id);
    load.state.is_uneven().then_some(finding)
}

/// CPU time of a node's slots, as a fraction of a core, where servers count it.
pub(crate) fn of_slots(nodes: &Nodes, observed: &Observed, at: usize) -> Option<f64> {
    let counters = observed.counters.as_ref()?;
    let span = counters.spans.get(at).copied().flatten()?;
    let micros = nodes.list.get(at)?.load_by(Metric::Cpu) as f64;
    (span > 0.0).then_some(micros / span / 1e6)
}

/// CPU time of a node's process, as a fraction of a core.
pub(crate) fn of_process(observed: &Observed, at: usize) -> Option<f64> {
    observed.server(at)?.cpu
}

/// Whether the slots of these nodes hide how busy a process is: servers count scripts and transactions in no slot. Time in
/// network and parsing is in no slot either, but follows the commands.
pub(crate) fn are_hidden_by_slots(nodes: &Nodes, observed: &Observed, compared: &[usize]) -> bool {
    let shares = |used: &dyn Fn(usize) -> Option<f64>| -> Option<Vec<f64>> {
        let known: Option<Vec<f64>> = compared.iter().map(|at| used(*at)).collect();
        let cpu = known?;
        let mean = cpu.iter().sum::<f64>() / cpu.len().max(1) as f64;
        (mean > 0.0).then(|| cpu.iter().map(|cpu| cpu / mean).collect())
    };
    let by_slots = shares(&|at| of_slots(nodes, observed, at));
    let by_process = shares(&|at| of_process(observed, at));
    let Some((by_slots, by_process)) = by_slots.zip(by_process) else {
        return false;
    };
    let pairs = by_process.iter().zip(&by_slots);
    let busiest = pairs.max_by(|(a, _), (b, _)| a.total_cmp(b));
    let [uneven, _] = Measure::Cpu.bands();
    busiest.is_some_and(|(process, slots)| *process > uneven && *process > uneven * slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_uneven_by_the_bands_of_cpu_time_unless_all_are_idle() {
        let states = |cpu: &[Option<f64>]| {
            let loads = loads(cpu).into_iter();
            let loads = loads.map(|load| load.map(|load| (load.over_share, load.state)));
            loads.collect::<Vec<_>>()
        };
        assert_eq!(
            states(&[Some(0.75), None, Some(0.25)]),
            [
                Some((1.5, State::Skewed)),
                None,
                Some((0.5, State::Balanced))
            ]
        );
        let state = |busiest: f64| states(&[Some(busiest), Some(busiest / 4.0)])[0].unwrap().1;
        // A load that varies around a tenth of a core has one state.
        assert_eq!(
            [0.12, 0.08, 0.019].map(state),
            [State::Skewed, State::Skewed, State::Balanced]
        );
        assert_eq!(states(&[Some(0.0), None]), [None, None]);
    }
}
