//! CPU time of a node by its process and by its slots, which need not agree.

use slotscope_engine::metric::Metric;

use crate::summary::observed::Observed;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::Nodes;

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
