//! Chooses the state of a role solely from how uneven the compared nodes are.

use slotscope_model::bands::Bands;
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::reason::Reason;
use slotscope_model::state::State;

use crate::summary::split::Split;

/// The judged state of a role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judgement {
    /// The state.
    pub state: State,
    /// Why the nodes are not judged.
    pub reason: Option<Reason>,
    /// The bands that the state is from.
    pub bands: Bands,
}

/// The amounts that decide whether a role has enough data.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Amounts {
    /// Keys of the compared nodes.
    pub keys: f64,
    /// Their bytes, if sizes are known.
    pub bytes: Option<f64>,
    /// Operations per second on the busiest node, if known.
    pub ops_per_sec: Option<f64>,
    /// The fraction of a CPU core that the busiest node uses, if known.
    pub cpu: Option<f64>,
    /// The busiest node's CPU, relative to the mean.
    pub cpu_ratio: Option<f64>,
}

/// Judges nodes; `split` is the fullest.
pub(crate) fn judge(
    split: &Split<'_>,
    measure: Measure,
    amounts: Amounts,
    previous: Option<State>,
) -> Judgement {
    let by_chance = split.by_chance();
    let bands = Bands::new(measure, by_chance, previous);
    let state = bands.state(split.max_over_mean);
    let unjudged = |reason| Judgement {
        state: State::Unjudged,
        reason: Some(reason),
        bands,
    };
    let judged = |state| Judgement {
        state,
        reason: None,
        bands,
    };
    if split.nodes() < 2 {
        return judged(State::Balanced);
    }
    match measure {
        Measure::Ops | Measure::Accesses if is_idle(amounts) => unjudged(Reason::Idle),
        Measure::Cpu if is_idle_by_cpu(amounts) => unjudged(Reason::Idle),
        Measure::Ops | Measure::Commands => {
            let (nodes, total) = (split.nodes() as f64, split.total());
            // The fullest node's captured operations are a sample of its work.
            let sigma = (split.max_over_mean * nodes / total).sqrt();
            let surely = bands.state(split.max_over_mean - 3.0 * sigma);
            let is_chance = surely < state && surely == State::Balanced;
            let are_few = total < limit::FEW_OPS * nodes;
            if total < limit::LEAST_OPS * nodes || is_chance && are_few {
                unjudged(Reason::TooFew)
            } else {
                judged(surely)
            }
        }
        Measure::Cpu if state.is_uneven() && is_quiet(amounts) => unjudged(Reason::Idle),
        Measure::Cpu | Measure::Accesses => judged(state),
        Measure::Bytes | Measure::UsedMemory | Measure::Keys => {
            if has_too_few_keys(split, amounts, by_chance) {
                unjudged(Reason::TooFew)
            } else {
                judged(state)
            }
        }
    }
}

fn is_idle(amounts: Amounts) -> bool {
    let is_below = |amount: Option<f64>, least: f64| amount.map(|amount| amount < least);
    let [ops, cpu] = [
        is_below(amounts.ops_per_sec, limit::IDLE_OPS),
        is_below(amounts.cpu, limit::IDLE_CPU),
    ];
    ops.or(cpu).is_some() && ops.unwrap_or(true) && cpu.unwrap_or(true)
}

/// The same of CPU time, however many operations it is for.
fn is_idle_by_cpu(amounts: Amounts) -> bool {
    let is_below = |cpu| cpu < limit::IDLE_CPU;
    amounts.cpu.map_or_else(|| is_idle(amounts), is_below)
}

/// Whether so little is done that one command that the host put off makes slots uneven, and the processes' own clocks, which
/// stand still then, show nothing.
fn is_quiet(amounts: Amounts) -> bool {
    let are_even = amounts.cpu_ratio.is_some_and(|over| over < limit::LOAD[0]);
    are_even && amounts.cpu.is_some_and(|cpu| cpu < limit::QUIET)
}

/// Whether there is too little data: next to nothing, or so little that chance alone explains the fullest node.
fn has_too_few_keys(split: &Split<'_>, amounts: Amounts, by_chance: Option<f64>) -> bool {
    let nodes = split.nodes() as f64;
    let is_small = amounts
        .bytes
        .is_none_or(|bytes| bytes < limit::LEAST_BYTES * nodes);
    let is_nothing = amounts.keys < limit::LEAST_KEYS * nodes && is_small;
    let is_few = amounts.keys < limit::FEW_KEYS * nodes
        && !split.has_heavy_here()
        && by_chance.is_some_and(|by_chance| split.max_over_mean <= by_chance);
    is_nothing || is_few
}

/// The memory state, given only the fullest node's fair shares.
pub(crate) fn state_of(max_over_mean: f64) -> State {
    Bands::new(Measure::Keys, None, None).state(max_over_mean)
}
