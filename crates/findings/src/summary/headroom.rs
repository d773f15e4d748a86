//! How near each node is to its limits: memory to `maxmemory`, load to one CPU core. An evicting cache is full by
//! design.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_model::capacity::{Capacity, Room};
use slotscope_model::expiry::Expiry;
use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::headroom::{Headroom, MemoryLimit};
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::Nodes;
use slotscope_model::state::{Role, Severity, State};

use crate::summary::observed::{Observed, ServerFacts};
use crate::wording::finding as said;

/// A process without keys uses about this much as a node of a cluster.
const PROCESS: f64 = (3 << 20) as f64;
/// A key takes at most this much in hash tables: two buckets, and an entry of its TTL.
const ENTRY: f64 = 64.0;
/// Memory that is not keys is worth a word from this part of what a node uses on.
const BESIDE_KEYS: f64 = 0.1;

/// All nodes within this part of their limit are at it.
const AT_LIMIT: f64 = 0.95;
/// If this fraction of the bytes has a TTL, a volatile-* eviction policy keeps a node from filling up.
const VOLATILE: f64 = 0.1;

/// How near the nodes are to their limits.
pub(crate) fn of(
    nodes: &Nodes,
    capacity: Option<&Capacity>,
    room: &Room,
    observed: &Observed,
    expiry: Option<&Expiry>,
) -> Headroom {
    let server = |at: usize| observed.server(at);
    let part = |at: usize| {
        let room = capacity?.of_node(&nodes.list[at].id)?;
        (room.maxmemory > 0).then(|| room.used as f64 / room.maxmemory as f64)
    };
    let places = 0..nodes.list.len();
    let owning = places.clone().filter(|at| nodes.list[*at].slots > 0);
    let is_capped = |at: usize| {
        let evicts = server(at).is_some_and(|server| server.evicting);
        evicts && part(at).is_some_and(|part| part >= AT_LIMIT)
    };
    let is_evicting = |at: usize| server(at).is_some_and(|server| evicts(server, expiry));
    let limits = (0..).zip(limits(nodes, capacity, room, observed));
    Headroom {
        limits: limits
            .map(|(at, limit)| limit.filter(|_| !is_evicting(at)))
            .collect(),
        is_capped: owning.clone().count() > 0 && owning.clone().all(is_capped),
        memory: places
            .clone()
            .map(|at| part(at).filter(|_| !is_evicting(at)))
            .collect(),
        load: places.map(|at| server(at)?.cpu).collect(),
    }
}

/// Nodes at a limit, nodes that soon will be, and nodes that evict while others have room.
pub(crate) fn findings(
    headroom: &Headroom,
    nodes: &Nodes,
    capacity: Option<&Capacity>,
    observed: &Observed,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, node) in nodes
        .list
        .iter()
        .enumerate()
        .filter(|(_, node)| node.slots > 0)
    {
        let room = capacity.and_then(|capacity| capacity.of_node(&node.id));
        let server = observed.server(at);
        let memory = headroom.memory[at];
        if let (Some(part), Some(room)) = (memory.filter(|part| *part >= limit::FULL), room) {
            let overhead = headroom.limits[at].and_then(|limit| {
                let is_known = node.load.get(Metric::Bytes).is_some();
                let is_much = limit.constant >= BESIDE_KEYS * room.used as f64;
                (server.is_some() && is_known && is_much).then_some(limit.constant as u64)
            });
            let text = said::full(&node.label(), room.used, room.maxmemory, overhead);
            findings.push(at_limit(
                &node.id,
                Role::Memory,
                Measure::UsedMemory,
                part,
                text,
            ));
        } else if let Some(months) = room.and_then(|room| room.months)
            && memory.is_some_and(|part| part >= limit::CLOSE)
            && months <= limit::SOON_MONTHS
        {
            let text = said::growth(&node.label(), months);
            let growth = Finding::new(FindingKind::Growth, Severity::Warning, text);
            findings.push(Finding {
                limit_use: memory,
                ..watched(growth, &node.id, months)
            });
        }
        if let Some(cpu) = headroom.load[at].filter(|cpu| *cpu >= limit::BUSY) {
            let text = said::busy(&node.label(), cpu);
            findings.push(at_limit(&node.id, Role::Load, Measure::Cpu, cpu, text));
        }
        let is_evicting = server.is_some_and(|server| server.evicting);
        let roomiest = with_room(nodes, at, capacity);
        if let Some((other, free)) = roomiest.filter(|_| is_evicting) {
            let text = said::evicting(&node.label(), (&other, free));
            let evicting = Finding::new(FindingKind::Evicting, Severity::Warning, text);
            let evicted = server.and_then(|server| server.evicted_keys).unwrap_or(0);
            findings.push(watched(evicting, &node.id, evicted as f64));
        }
    }
    findings
}

/// The other node with the most room, if that is at least a tenth of its limit.
fn with_room(nodes: &Nodes, at: usize, capacity: Option<&Capacity>) -> Option<(Name, f64)> {
    let placed = nodes.list.iter().enumerate();
    let others = placed.filter(|(place, node)| *place != at && node.slots > 0);
    let room = others.filter_map(|(_, node)| {
        let room = capacity?.of_node(&node.id)?;
        let free = room.headroom as f64 / room.maxmemory.max(1) as f64;
        (free >= 1.0 - limit::FULL).then(|| (node.label(), free))
    });
    room.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The limits of memory of all nodes, also of those without slots. The keys take as much of what is used as they do where they
/// take least. What a node uses beside them are its buffers, the process, and hash tables; more than these can be is a
/// constant too.
fn limits(
    nodes: &Nodes,
    capacity: Option<&Capacity>,
    room: &Room,
    observed: &Observed,
) -> Vec<Option<MemoryLimit>> {
    let keys = |at: usize| {
        nodes.list[at]
            .load
            .get(Metric::Bytes)
            .map(|bytes| *bytes as f64)
    };
    let limit_and_use = |at: usize| -> Option<(f64, f64)> {
        if let Some(known) = capacity.and_then(|capacity| capacity.of_node(&nodes.list[at].id)) {
            return Some((known.maxmemory as f64, known.used as f64));
        }
        if nodes.list[at].slots > 0 {
            return None;
        }
        let server = observed.server(at);
        let limit = room.maxmemory.or_else(|| server?.limit())?;
        let used = server.and_then(ServerFacts::counted_memory).unwrap_or(0);
        Some((limit as f64, used as f64))
    };
    let known: Vec<Option<(f64, f64)>> = (0..nodes.list.len()).map(limit_and_use).collect();
    let parts = known.iter().enumerate().filter_map(|(at, known)| {
        let (keys, (_, used)) = (keys(at)?, (*known)?);
        (keys > 0.0 && used > 0.0).then(|| used / keys)
    });
    let of_keys = parts.fold(1.0, f64::min);
    let limit = |(at, known): (usize, &Option<(f64, f64)>)| {
        let (maxmemory, used) = (*known)?;
        let beside = (used - of_keys * keys(at).unwrap_or(0.0)).max(0.0);
        let server = observed.server(at);
        let buffers = server.and_then(|server| server.buffers).unwrap_or(0) as f64;
        let count = nodes.list[at].load.keys as f64;
        let tables = (beside - buffers - PROCESS).clamp(0.0, ENTRY * count);
        (maxmemory > 0.0).then_some(MemoryLimit {
            maxmemory,
            constant: beside - tables,
            of_keys,
            entry: if count > 0.0 { tables / count } else { 0.0 },
        })
    };
    known.iter().enumerate().map(limit).collect()
}

fn at_limit(id: &Name, role: Role, measure: Measure, part: f64, text: String) -> Finding {
    Finding {
        limit_use: Some(part),
        ..Finding::new(FindingKind::NearLimit, Severity::Critical, text)
            .in_role(Some(role), measure)
            .on(id)
            .of(part)
            .setting(State::Limit)
    }
}

fn watched(finding: Finding, id: &Name, value: f64) -> Finding {
    finding
        .in_role(Some(Role::Memory), Measure::UsedMemory)
        .on(id)
        .of(value)
        .setting(State::Watch)
}

/// Whether a full server evicts rather than refusing writes.
fn evicts(server: &ServerFacts, expiry: Option<&Expiry>) -> bool {
    let volatile = || {
        expiry.is_some_and(|expiry| {
            let bytes = |load: &slotscope_base::metric::PerMetric<u64>| {
                load.get(Metric::Bytes).copied().unwrap_or(load.keys) as f64
            };
            let (expiring, never) = (bytes(&expiry.expiring), bytes(&expiry.never));
            expiring >= VOLATILE * (expiring + never)
        })
    };
    match server.policy.as_deref() {
        Some(policy) if policy.starts_with("allkeys-") => true,
        Some(policy) if policy.starts_with("volatile-") => volatile(),
        _ => false,
    }
}
