//! Load by commands: work that is in no slot is that of a node. It counts where a tenth of all commands have no key.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_model::balance::tidy;
use slotscope_model::bands::Bands;
use slotscope_model::coverage::{Lack, Lacking};
use slotscope_model::finding::Finding;
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::Nodes;
use slotscope_model::state::Role;
use slotscope_read::format::keyless::Names;

use crate::summary::findings;
use crate::summary::observed::{CommandsOf, Observed};
use crate::wording;

/// Commands and operations differ from this part of commands without keys on.
const DIFFER: f64 = 0.1;
/// A client that sends more than this part of them is named.
const MOSTLY: f64 = 0.5;

/// The commands of each node, if they differ from its operations on keys.
fn of(observed: &Observed) -> Option<&[Option<CommandsOf>]> {
    let commands = observed.captures.as_ref()?.commands.as_slice();
    let (keyless, all) = sums(commands);
    (keyless as f64 >= DIFFER * all as f64 && keyless > 0).then_some(commands)
}

/// Commands without keys, and all.
fn sums(commands: &[Option<CommandsOf>]) -> (u64, u64) {
    let known = commands.iter().flatten();
    known.fold((0, 0), |(keyless, all), of| {
        (keyless + of.keyless.count, all + of.all)
    })
}

/// Records the commands of each node.
pub(crate) fn note(nodes: &mut Nodes, observed: &Observed) {
    for (node, of) in nodes.list.iter_mut().zip(of(observed).unwrap_or_default()) {
        node.commands = of.as_ref().map(|of| of.all);
    }
}

/// Commands without keys that are many, and of nodes that are not known.
pub(crate) fn lack(nodes: &Nodes, observed: &Observed) -> Option<Lack> {
    let captures = observed.captures.as_ref()?;
    let (keyless, all) = sums(&captures.commands);
    let (lost, ops) = (
        captures.commands_of_no_node,
        nodes.total(Metric::Ops) as u64,
    );
    let all = all.max(ops + keyless) + lost;
    let is_much = lost > 0 && lost as f64 >= DIFFER * all as f64;
    (is_much && nodes.owning().count() > 1).then(|| Lack {
        of: Lacking::Commands,
        role: Some(Role::Load),
        sentence: wording::coverage::commands_of_no_node(lost, all),
    })
}

/// The node that runs most commands, if that is above its fair share.
pub(crate) fn skew(nodes: &Nodes, observed: &Observed) -> Option<Finding> {
    let commands = of(observed)?;
    let spans = &observed.captures.as_ref()?.spans;
    let owning = nodes
        .list
        .iter()
        .enumerate()
        .filter(|(_, node)| node.slots > 0 && !node.is_lost());
    let known: Option<Vec<_>> = owning
        .map(|(at, node)| {
            Some((
                node,
                commands.get(at)?.as_ref()?,
                spans.get(at).copied().flatten(),
            ))
        })
        .collect();
    // A node that was not captured may have run commands.
    let known = known.filter(|known| known.len() > 1)?;
    let are_timed = known
        .iter()
        .all(|(.., span)| span.is_some_and(|span| span > 0.0));
    let rate = |of: &CommandsOf, span: Option<f64>| match span.filter(|_| are_timed) {
        Some(span) => of.all as f64 / span,
        None => of.all as f64,
    };
    let rates = known.iter().map(|(_, of, span)| rate(of, *span));
    let (sum, most) = rates.fold((0.0, 0.0), |(sum, most), rate| {
        (sum + rate, f64::max(most, rate))
    });
    let (_, all) = sums(commands);
    let are_few = (all as f64) < limit::LEAST_OPS * known.len() as f64;
    if are_few || are_timed && most < limit::IDLE_OPS {
        return None;
    }
    let (node, of, span) = known
        .iter()
        .max_by(|a, b| rate(a.1, a.2).total_cmp(&rate(b.1, b.2)))?;
    let over_share = tidy(rate(of, *span) * known.len() as f64 / sum);
    let state = Bands::new(Measure::Commands, None, None).state(over_share);
    let part = |count: u64, of: u64| count as f64 / of.max(1) as f64;
    let command = first(&of.keyless.commands);
    let client = of.client.as_ref();
    let text = wording::finding::commands(
        &node.label(),
        over_share,
        rate(of, *span) / sum,
        command.map(|(name, count)| (name, part(count, of.all))),
        client
            .filter(|(_, count)| part(*count, of.keyless.count) > MOSTLY)
            .map(|(client, _)| client),
    );
    let skew = findings::skew(state, over_share, None, text);
    let finding = skew
        .in_role(Some(Role::Load), Measure::Commands)
        .on(&node.id);
    state.is_uneven().then_some(finding)
}

/// The name with the largest count, of equals the first.
pub fn first(names: &Names) -> Option<(&Name, u64)> {
    names
        .iter()
        .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0)))
}
