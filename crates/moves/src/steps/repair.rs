//! Steps that precede any move: unserved slots, incomplete dumps, nodes at their limit.

use slotscope_base::metric::Metric;
use slotscope_base::text::counted;

use crate::plan::placement::Placement;
use crate::steps::commands::Commands;
use crate::wording as said;
use slotscope_findings::summary::floor::largest_useful_nodes;
use slotscope_findings::summary::observed::Observed;
use slotscope_model::Summary;
use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::limit;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::state::{Role, State};
use slotscope_model::step::{Actor, After, Frees, Step, StepKind};
use slotscope_topology::Topology;

/// At or above this fraction of a node's memory, non-key memory is worth a step.
const BUFFERS: f64 = 0.1;
/// A pattern with this fraction of keys without TTL may be missing one.
const NO_TTL: f64 = 0.5;
/// A limit is raised to whole MiB.
const MIB: f64 = (1 << 20) as f64;
/// And which hold this part of all bytes.
const LARGE: f64 = 0.05;

/// A step without a forecast.
pub(super) fn step(kind: StepKind, sentence: impl Into<String>, after: &After) -> Step {
    Step {
        kind,
        by: match kind {
            StepKind::Split | StepKind::Untag | StepKind::RenameTags | StepKind::Cache => {
                Actor::Application
            }
            _ => Actor::Operator,
        },
        sentence: sentence.into(),
        after: after.clone(),
        keys_moved: Some(0),
        bytes_moved: Some(0),
        ..Step::default()
    }
}

/// Restores unserved slots and completes interrupted migrations.
pub(super) fn repairs(
    summary: &Summary,
    topology: &Topology,
    commands: &Commands,
    today: &After,
) -> Vec<Step> {
    let repair = |text: String| step(StepKind::Repair, text, today);
    let mut steps = Vec::new();
    let lost = summary.nodes.owning().filter(|node| node.is_lost());
    let failed: Vec<_> = lost.map(NodeLoad::label).collect();
    let down = ids_of_kind(summary, FindingKind::Down);
    if !failed.is_empty() {
        let bring_back = repair(said::bring_back(&failed));
        // Only a replica can take over a failed primary.
        let owning = summary.nodes.owning();
        let with_replica = owning.filter(|node| node.is_lost() && node.replicas != Some(0));
        let replaceable: Vec<_> = with_replica.map(NodeLoad::label).collect();
        let promote = (!replaceable.is_empty()).then(|| said::fail_over(&replaceable));
        steps.push(Step {
            findings: down.clone(),
            // A managed service promotes replicas itself.
            alternatives: match commands.service() {
                Some(_) => Vec::new(),
                None => promote.map(repair).into_iter().collect(),
            },
            ..bring_back
        });
    }
    let unowned = summary.nodes.unowned.slots;
    if unowned > 0 && !down.is_empty() {
        steps.push(Step {
            findings: down.clone(),
            // With a failed primary, it would reassign slots empty.
            command: commands.fix(topology).filter(|_| steps.is_empty()),
            ..repair(format!(
                "assign the {} without an owner",
                counted(u64::from(unowned), "slot")
            ))
        });
    }
    if steps.is_empty() && !down.is_empty() {
        let nodes = summary.nodes.owning().filter(|node| node.is_suspected());
        let suspected: Vec<_> = nodes.map(NodeLoad::label).collect();
        let text = if suspected.is_empty() {
            "compare CLUSTER NODES of all primaries: the listing has neither a failed primary nor a slot without an owner".into()
        } else {
            said::bring_back(&suspected)
        };
        steps.push(Step {
            findings: down,
            ..repair(text)
        });
    }
    let open = summary.nodes.open_slots();
    if !open.is_empty() {
        let is_up = summary.verdict.state != State::Down;
        steps.push(Step {
            findings: ids_of_kind(summary, FindingKind::OpenSlot),
            command: commands.fix(topology).filter(|_| is_up),
            ..repair(said::end_move(&open))
        });
    }
    steps
}

/// Ids of the findings of a kind.
fn ids_of_kind(summary: &Summary, kind: FindingKind) -> Vec<String> {
    let findings = summary.verdict.findings.iter();
    let of_kind = findings.filter(|finding| finding.kind == kind);
    of_kind.map(|finding| finding.id.clone()).collect()
}

/// Whether a node is near its limit of memory.
fn is_memory_limit(finding: &&Finding) -> bool {
    finding.kind == FindingKind::NearLimit && finding.role == Some(Role::Memory)
}

pub(super) fn take_again(summary: &Summary, today: &After) -> Step {
    let text = "take the dump again from every primary, with the topology of the same moment, then run this again";
    Step {
        findings: ids_of_kind(summary, FindingKind::Suspicious),
        ..step(StepKind::TakeAgain, text, today)
    }
}

/// Frees memory on nodes at their limit, largest consumer first.
pub(super) fn frees(
    summary: &Summary,
    observed: &Observed,
    commands: &Commands,
    today: &After,
) -> Vec<Step> {
    let Some(full) = summary.verdict.findings.iter().find(is_memory_limit) else {
        return Vec::new();
    };
    let free = |frees: Frees, text: String| Step {
        findings: vec![full.id.clone()],
        frees: Some(frees),
        ..step(StepKind::Free, text, today)
    };
    let mut sized = Vec::new();
    let total = summary
        .slots
        .loads
        .bytes()
        .map_or(0, |bytes| slotscope_model::balance::sum(bytes));
    let patterns = summary.patterns.iter().flat_map(|patterns| &patterns.top);
    let lacking = patterns
        .filter_map(|row| {
            let part = row.kind.no_expiry_share.filter(|part| *part >= NO_TTL)?;
            Some((row, part, row.kind.load.get(Metric::Bytes).copied()?))
        })
        .filter(|(.., size)| *size as f64 >= LARGE * total as f64);
    if let Some((row, part, size)) = lacking.max_by_key(|(.., size)| *size) {
        let text = said::expire(&row.pattern, part, size);
        sized.push((size, Frees::Data, text));
    }
    let node = full.node.as_ref().and_then(|id| summary.nodes.place(id));
    let server = node.and_then(|at| observed.server(at));
    let buffers = server.and_then(|server| {
        let part = server.buffers? as f64 / server.used_memory?.max(1) as f64;
        (part >= BUFFERS).then_some(server.buffers?)
    });
    sized.extend(buffers.map(|size| (size, Frees::Buffers, said::buffers(size))));
    sized.sort_by_key(|(size, ..)| std::cmp::Reverse(*size));
    let service = commands.service();
    let raise = Step {
        command: service.and_then(|service| Some(service.larger_nodes?.into())),
        ..free(
            Frees::Limit,
            service.map_or(said::RAISE_LIMIT.into(), |service| {
                format!("scale up to a larger node type of {}", service.title)
            }),
        )
    };
    let others = sized.into_iter().map(|(_, frees, text)| free(frees, text));
    others.chain([raise]).collect()
}

/// The limit of memory that a step raises.
pub(super) struct Raise {
    pub step: Step,
    /// The node; `None`: all.
    pub node: Option<usize>,
    pub maxmemory: u64,
}

/// Raises the limit of the fullest node that is at it, so that three quarters are used, and with it those of equal nodes; says
/// which slot no node has room for.
pub(super) fn raise_to(
    summary: &Summary,
    today: &Placement<'_>,
    topology: &Topology,
    commands: &Commands,
) -> Option<Raise> {
    let parts = today.parts_of_limit().into_iter().enumerate();
    let limited = parts.filter_map(|(at, part)| Some((at, part?)));
    let (full, part) = limited.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let node = summary.nodes.list.get(full)?;
    let mut findings = summary.verdict.findings.iter().filter(is_memory_limit);
    let finding = findings.find(|finding| finding.node.as_ref() == Some(&node.id))?;
    let limit = |at: usize| summary.headroom.limit_of(at);
    let taken = today.taken()?;
    let slots = (0..taken.len()).filter(|slot| today.owner[*slot] == Some(full));
    let heaviest = slots.max_by_key(|slot| taken[*slot])?;
    let needed = |at: usize| {
        let constant = limit(at)?.constant;
        Some((constant + taken[heaviest] as f64) / limit::BELOW_FULL)
    };
    let nodes = summary.nodes.owning().count();
    let fits = |at: usize| {
        needed(at).is_none_or(|needed| needed <= limit(at).map_or(0.0, |limit| limit.maxmemory))
    };
    let others = (0..summary.nodes.list.len()).filter(|at| *at != full);
    let is_half =
        taken[heaviest] as f64 >= 0.5 * (part * limit(full)?.maxmemory - limit(full)?.constant);
    let is_nowhere = nodes > 1 && is_half && !others.clone().any(fits);
    let least = others.filter_map(needed).fold(f64::INFINITY, f64::min);
    let most = (part * limit(full)?.maxmemory / limit::CLOSE / MIB).ceil() * MIB;
    let slot = is_nowhere.then_some((heaviest as u16, least as u64));
    // One node with a larger limit than the others would be due a larger share of the keys.
    let maxmemory = limit(full)?.maxmemory;
    let is_equal =
        |at: usize| limit(at).is_some_and(|limit| (limit.maxmemory / maxmemory - 1.0).abs() < 0.05);
    let of_all = nodes > 1 && (0..summary.nodes.list.len()).all(is_equal);
    let label = (!of_all).then(|| node.label());
    let text = said::raise_to(label.as_ref(), most as u64, slot);
    Some(Raise {
        step: Step {
            findings: vec![finding.id.clone()],
            command: commands.raise(topology.nodes.get(full)?, of_all, most as u64),
            ..step(StepKind::Free, text, &After::default())
        },
        node: (!of_all).then_some(full),
        maxmemory: most as u64,
    })
}

/// Primaries to be added, so that the fullest is at three quarters of its limit; `None` if no primary is near it.
pub(super) fn more_nodes(summary: &Summary, commands: &Commands) -> Option<Step> {
    let findings = summary.verdict.findings.iter();
    let near: Vec<&Finding> = findings
        .filter(|finding| finding.kind == FindingKind::NearLimit)
        .collect();
    let role = near.first()?.role?;
    let parts: Vec<f64> = summary
        .headroom
        .of(Some(role))
        .iter()
        .flatten()
        .copied()
        .collect();
    let nodes = summary.nodes.owning().count();
    // Evenly filled nodes would each use the mean.
    let needed = (parts.iter().sum::<f64>() / limit::CLOSE).ceil() as usize;
    let count = needed.saturating_sub(nodes) as u64;
    if count == 0 {
        return None;
    }
    let load = summary
        .role_loads
        .iter()
        .find(|load| load.role == Some(role));
    let most = load.and_then(|load| largest_useful_nodes(&load.slots));
    let text = said::add_nodes(count, most.filter(|most| *most < 1000));
    Some(Step {
        findings: near.iter().map(|finding| finding.id.clone()).collect(),
        command: commands
            .service()
            .is_none()
            .then(|| commands.plan_with_more(count))
            .flatten(),
        keys_moved: None,
        bytes_moved: None,
        estimated: true,
        ..step(StepKind::AddNodes, text, &After::default())
    })
}
