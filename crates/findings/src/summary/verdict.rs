//! The verdict: what is wrong, most urgent first, and the remedies in order.

use slotscope_base::metric::Metric;
use slotscope_model::Summary;
use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::role_load::RoleLoad;
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::{Role, Severity, State};
use slotscope_model::verdict::Verdict;

use crate::summary::judge::Amounts;
use crate::summary::role_verdict::RoleInputs;
use crate::summary::verdict_inputs::VerdictInputs;
use crate::summary::{
    commands, findings, headroom, moving, processes, recency, risk, role_verdict,
};
use crate::wording::finding as said;

/// Judges the nodes in every role and finds other problems; steps are computed later. Also returns the role loads,
/// and those the user did not choose.
pub(crate) fn of(inputs: &VerdictInputs<'_>) -> (Verdict, Vec<RoleLoad>, Vec<RoleLoad>) {
    let Summary { nodes, slots, .. } = inputs.summary;
    let (role_loads, guarded_loads) = inputs.role_loads();
    let roles: Vec<RoleVerdict> = role_loads.iter().map(|load| inputs.role(load)).collect();
    let are_assumed = nodes.are_assumed();
    let findings = findings::ordered(inputs.findings(&roles), are_assumed);
    let first = findings.iter().find(|finding| finding.state.is_some());
    let judged = || roles.iter().filter(|role| role.judged);
    let state = match first.and_then(|finding| finding.state) {
        Some(state) => state,
        // Nodes that look even in the part that was read may not be.
        None if roles.iter().any(RoleVerdict::has_gap) => State::Unjudged,
        None if judged().next().is_some() => State::Balanced,
        None => roles
            .iter()
            .map(|role| role.state)
            .max()
            .unwrap_or_default(),
    };
    let with_gap = roles.iter().find(|role| role.has_gap());
    let headline = with_gap.or(judged().next()).or(roles.first());
    let of_role = || headline.map_or(String::new(), |role| role.sentence.clone());
    let verdict = Verdict {
        state,
        word: first.map_or(state.word(None), Finding::word).into(),
        sentence: first.map_or_else(of_role, |finding| finding.sentence.clone()),
        severity: first.map(|finding| finding.severity),
        assumed: are_assumed,
        memory_known: slots.loads.get(Metric::Bytes).is_some(),
        keys_known: nodes.total(Metric::Keys) > 0 || nodes.total(Metric::Ops) == 0,
        integrity: inputs.signs.to_vec(),
        actionable: false,
        roles,
        findings,
        steps: Vec::new(),
        left: Vec::new(),
    };
    (verdict, role_loads, guarded_loads)
}

impl VerdictInputs<'_> {
    fn role(&self, load: &RoleLoad) -> RoleVerdict {
        let Summary { nodes, units, .. } = self.summary;
        let metric = load.measure.metric();
        let empty = Default::default();
        let weighed = load.units(nodes, units.per.get(metric).unwrap_or(&empty));
        let moving = moving::of(load, nodes);
        role_verdict::of(&RoleInputs {
            verdict: self,
            load,
            units: &weighed,
            amounts: self.amounts(load),
            moving: moving.as_ref(),
        })
    }

    fn amounts(&self, load: &RoleLoad) -> Amounts {
        let observed = self.observed;
        let Summary {
            nodes,
            units,
            slots,
            lfu,
            ..
        } = self.summary;
        let keys = match nodes.total(Metric::Keys) {
            0 => units
                .per
                .get(load.measure.metric())
                .map_or(0.0, |units| units.positive),
            keys => keys as f64,
        };
        let bytes = slots.loads.get(Metric::Bytes);
        let servers = || observed.servers.iter().flatten();
        let most = |values: &mut dyn Iterator<Item = f64>| values.max_by(f64::total_cmp);
        let metric = load.measure.metric();
        let spans = observed.of_load(metric).map(|captures| &captures.spans);
        let spans = spans.into_iter().flatten().zip(&nodes.list);
        let mut rates = spans.filter_map(|(span, node)| {
            let span = span.filter(|span| *span > 0.0)?;
            Some(node.load_by(metric) as f64 / span)
        });
        let loads = nodes.list.iter().map(|node| node.load_by(metric) as f64);
        let rate = match load.measure {
            Measure::Ops | Measure::Cpu => most(&mut rates),
            Measure::Accesses if recency::are_accesses_known(lfu.as_deref()) => {
                most(&mut loads.map(|load| load / 60.0))
            }
            _ => None,
        };
        let rate_of = |measure: Measure| rate.filter(|_| load.measure == measure);
        // These clocks stop while the host runs something else; those of slots do not. A capture comes after their readings, and
        // may have another load.
        let used: Vec<f64> = servers().filter_map(|server| server.cpu).collect();
        let busiest = most(&mut used.iter().copied());
        Amounts {
            keys,
            bytes: bytes.map(|_| nodes.total(Metric::Bytes) as f64),
            ops_per_sec: rate_of(Measure::Ops)
                .or_else(|| most(&mut servers().filter_map(|server| server.ops_per_sec)))
                .or(rate_of(Measure::Accesses)),
            cpu: busiest
                .or(rate_of(Measure::Cpu).map(|micros| micros / 1e6))
                .filter(|_| !load.is_estimated),
            cpu_ratio: busiest
                .map(|busiest| busiest * used.len() as f64 / used.iter().sum::<f64>()),
        }
    }

    fn findings(&self, roles: &[RoleVerdict]) -> Vec<Finding> {
        let observed = self.observed;
        let Summary {
            nodes,
            asked,
            headroom,
            capacity,
            ..
        } = self.summary;
        let has_listing = !nodes.is_even() && !nodes.are_files();
        let mut findings = Vec::new();
        findings.extend(findings::down(nodes, observed, has_listing));
        findings.extend(headroom::findings(
            headroom,
            nodes,
            capacity.as_ref(),
            observed,
        ));
        findings.extend(findings::suspicious(self.signs, roles));
        let is_chosen = !asked.by.is_empty();
        let skews = findings::skews(roles);
        findings.extend(skews.map(|skew| Finding { is_chosen, ..skew }));
        if !is_chosen {
            findings.extend(commands::skew(nodes, observed));
            let loads = processes::of(nodes, observed, roles);
            findings.extend(processes::skew(nodes, observed, &loads));
        }
        findings.extend(findings::suspected(nodes));
        findings.extend(findings::hot_of_seen(roles));
        findings.extend(risk::risks(self));
        findings.extend(self.no_limit());
        if asked.by.is_empty() {
            findings.extend(self.load_unknown(roles));
        }
        findings
    }

    /// Servers without a memory limit: their headroom is unknown.
    fn no_limit(&self) -> Option<Finding> {
        let servers = self.observed.servers.iter().flatten();
        let mut limits = servers.filter_map(|server| server.maxmemory).peekable();
        limits.peek()?;
        let is_unlimited = limits.all(|limit| limit == 0) && self.summary.capacity.is_none();
        is_unlimited.then(|| Finding::new(FindingKind::NoLimit, Severity::Notice, said::NO_LIMIT))
    }

    /// If keys are uneven while memory is even, load may be uneven too, but nobody has measured it.
    fn load_unknown(&self, roles: &[RoleVerdict]) -> Option<Finding> {
        let has_load = roles.iter().any(|role| role.metric.role() == Role::Load);
        let has_bytes = roles
            .iter()
            .any(|role| role.metric == Measure::Bytes && role.state == State::Balanced);
        let keys = self.summary.nodes.balance.keys.max_over_mean.unwrap_or(0.0);
        (!has_load && has_bytes && keys >= limit::SKEWED).then(|| {
            Finding::new(
                FindingKind::LoadUnknown,
                Severity::Notice,
                if self.observed.is_load_measured {
                    said::LOAD_IDLE
                } else {
                    said::LOAD_UNKNOWN
                },
            )
            .of(keys)
        })
    }
}
