//! Annotates the list of nodes with roles, limits and servers.

use crate::summary::balance::tidy;
use crate::summary::compared::Compared;
use crate::summary::headroom::Headroom;
use crate::summary::nodes::{NodeFlag, Nodes};
use crate::summary::observed::{Observed, Outage};
use crate::summary::processes;
use crate::summary::role_load::RoleLoad;
use crate::summary::state::Role;
use crate::summary::verdict::Verdict;

impl Nodes {
    /// Records each node's last answer.
    pub(crate) fn note_outages(&mut self, observed: &Observed) {
        for (node, server) in self.list.iter_mut().zip(&observed.servers) {
            let outage = server.as_ref().and_then(|server| server.outage);
            node.flags.extend(outage.map(|outage| match outage {
                Outage::Silent => NodeFlag::Silent,
                Outage::Refusing => NodeFlag::Refusing,
            }));
        }
    }

    /// Records process load, if slots do not compare the nodes.
    pub(crate) fn note_processes(&mut self, verdict: &Verdict, observed: &Observed) {
        let loads = processes::of(self, observed, &verdict.roles);
        for (node, load) in self.list.iter_mut().zip(loads) {
            node.over_share.load = load.map(|load| load.over_share);
        }
    }

    /// Records each node's roles, limits and readings.
    pub(crate) fn note(
        &mut self,
        verdict: &Verdict,
        roles: &[RoleLoad],
        headroom: &Headroom,
        observed: &Observed,
    ) {
        for (role, load) in verdict.roles.iter().zip(roles) {
            let compared = Compared::new(self, load);
            let ratios: Vec<f64> = (0..load.compared.len())
                .map(|at| tidy(compared.ratio(at)))
                .collect();
            if role.fullest.is_none() {
                continue;
            }
            for (at, ratio) in load.compared.iter().zip(ratios) {
                let over = &mut self.list[*at].over_share;
                match load.measure.role() {
                    Role::Memory => over.memory = Some(ratio),
                    Role::Load => over.load = Some(ratio),
                }
            }
        }
        let seen: Vec<&[usize]> = roles
            .iter()
            .filter(|load| load.measure.role() == Role::Load)
            .map(|load| load.compared.as_slice())
            .collect();
        for (at, node) in self.list.iter_mut().enumerate() {
            let server = observed.server(at);
            node.limit_use = headroom.memory.get(at).copied().flatten().map(tidy);
            node.policy = server.and_then(|server| server.policy.clone());
            let is_seen = seen.first().filter(|_| observed.captures.is_some());
            node.captured = is_seen.map(|seen| seen.contains(&at));
        }
    }
}
