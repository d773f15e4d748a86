//! Annotates the list of nodes with roles, limits and servers.

use slotscope_model::Summary;
use slotscope_model::balance::tidy;
use slotscope_model::compared::Compared;
use slotscope_model::nodes::{NodeFlag, Nodes};
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::Role;

use crate::summary::observed::{Observed, Outage};
use crate::summary::processes;

/// Records each node's last answer.
pub(crate) fn note_outages(nodes: &mut Nodes, observed: &Observed) {
    for (node, server) in nodes.list.iter_mut().zip(&observed.servers) {
        let outage = server.as_ref().and_then(|server| server.outage);
        node.flags.extend(outage.map(|outage| match outage {
            Outage::Silent => NodeFlag::Silent,
            Outage::Refusing => NodeFlag::Refusing,
        }));
    }
}

/// Records each node's roles, limits and readings.
pub(crate) fn note(summary: &mut Summary, observed: &Observed) {
    let Summary {
        nodes,
        verdict,
        role_loads,
        headroom,
        asked,
        ..
    } = summary;
    for (role, load) in verdict.roles.iter().zip(&*role_loads) {
        let compared = Compared::new(nodes, load);
        let ratios: Vec<f64> = (0..load.compared.len())
            .map(|at| tidy(compared.ratio(at)))
            .collect();
        if role.fullest.is_none() {
            continue;
        }
        for (at, ratio) in load.compared.iter().zip(ratios) {
            let over = &mut nodes.list[*at].over_share;
            match load.measure.role() {
                Role::Memory => over.memory = Some(ratio),
                Role::Load => over.load = Some(ratio),
            }
        }
    }
    let seen: Vec<&[usize]> = role_loads
        .iter()
        .filter(|load| load.measure.role() == Role::Load)
        .map(|load| load.compared.as_slice())
        .collect();
    for (at, node) in nodes.list.iter_mut().enumerate() {
        let server = observed.server(at);
        node.limit_use = headroom.memory.get(at).copied().flatten().map(tidy);
        node.policy = server.and_then(|server| server.policy.clone());
        let is_seen = seen.first().filter(|_| observed.captures.is_some());
        node.captured = is_seen.map(|seen| seen.contains(&at));
    }
    if asked.by.is_empty() {
        note_processes(nodes, &verdict.roles, observed);
    }
}

/// Records process load, if slots do not compare the nodes.
fn note_processes(nodes: &mut Nodes, roles: &[RoleVerdict], observed: &Observed) {
    let loads = processes::of(nodes, observed, roles);
    for (node, load) in nodes.list.iter_mut().zip(loads) {
        node.over_share.load = load.map(|load| load.over_share);
    }
}
