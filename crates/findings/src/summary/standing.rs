//! How one node stands in the verdict: rows and colours that agree with the headline.

use crate::summary::finding::{Finding, FindingKind};
use crate::summary::limit;
use crate::summary::measure::Measure;
use crate::summary::nodes::{NodeFlag, NodeLoad};
use crate::summary::state::{Role, State};
use crate::summary::verdict::Verdict;

/// The first problem of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Its place among the problems of the verdict.
    pub place: usize,
    /// The state that it sets, or the lower one that the node is in where another node is the fullest.
    pub state: State,
    /// The role that is concerned.
    pub role: Option<Role>,
}

impl Verdict {
    /// The first problem of a node; absent if it has no problem.
    pub fn standing(&self, node: &NodeLoad) -> Option<Standing> {
        let problems = self.problems().enumerate();
        let mut own = problems.filter_map(|(place, found)| {
            let state = self.state_of(node, found)?;
            let role = found.role;
            Some(Standing { place, state, role })
        });
        own.next()
    }

    /// The state of a node by a finding that may be about others.
    fn state_of(&self, node: &NodeLoad, found: &Finding) -> Option<State> {
        let is_own = found.node.as_ref() == Some(&node.id);
        let is_down = node.is_lost() || node.flags.contains(&NodeFlag::Refusing);
        let by_band = || {
            let role = self.roles.iter().find(|role| role.role == found.role)?;
            let share = node.over_share.of(found.role?)?;
            Some(role.bands.state(share)).filter(|state| state.is_uneven())
        };
        match found.kind {
            _ if is_own => found.state,
            FindingKind::Down => found.state.filter(|_| is_down),
            FindingKind::Skew => by_band().min(found.state),
            _ => None,
        }
    }
}

/// The load of a node by the CPU time of its process, where servers do not count it by slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessLoad {
    /// In fair shares.
    pub over_share: f64,
    /// Balanced where the busiest node has next to nothing to do.
    pub state: State,
}

/// The load of each node by CPU time a second: 1 is one core.
pub fn by_processes(cpu: &[Option<f64>]) -> Vec<Option<ProcessLoad>> {
    let known = || cpu.iter().flatten();
    let mean = known().sum::<f64>() / known().count().max(1) as f64;
    let is_quiet = known().all(|cpu| *cpu < limit::QUIET);
    let [watched, skewed] = Measure::Cpu.bands();
    let of_node = |cpu: f64| {
        let over_share = cpu / mean;
        let state = match over_share {
            _ if is_quiet => State::Balanced,
            share if share >= skewed => State::Skewed,
            share if share > watched => State::Watch,
            _ => State::Balanced,
        };
        ProcessLoad { over_share, state }
    };
    cpu.iter()
        .map(|cpu| cpu.filter(|_| mean > 0.0).map(of_node))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::finding::FindingText;
    use crate::summary::judge::Bands;
    use crate::summary::nodes::OverShare;
    use crate::summary::role_verdict::RoleVerdict;
    use crate::summary::state::Severity;
    use slotscope_engine::name::Name;

    fn node(id: &str, load: f64, flags: &[NodeFlag]) -> NodeLoad {
        let over_share = OverShare {
            memory: None,
            load: Some(load),
        };
        let json = serde_json::json!({
            "id": id, "address": null, "slots": 1, "over_share": over_share, "flags": flags,
            "keys": 0,
        });
        serde_json::from_value(json).unwrap()
    }

    fn found(kind: FindingKind, state: State, node: &str) -> Finding {
        let finding = Finding::new(kind, Severity::Warning, FindingText::NoLimit);
        finding
            .in_role(
                (kind != FindingKind::Down).then_some(Role::Load),
                Measure::Cpu,
            )
            .on(&Name::from(node))
            .setting(state)
    }

    #[test]
    fn a_node_has_the_first_problem_that_is_its_own_or_the_state_of_its_band() {
        let verdict = Verdict {
            roles: vec![RoleVerdict {
                role: Some(Role::Load),
                bands: Bands::new(Measure::Cpu, None, None),
                ..RoleVerdict::default()
            }],
            findings: vec![
                found(FindingKind::Down, State::Down, "gone"),
                found(FindingKind::Skew, State::Skewed, "hot"),
                found(FindingKind::NearLimit, State::Limit, "full"),
            ],
            ..Verdict::default()
        };
        let standing = |of: NodeLoad| {
            let standing = verdict.standing(&of)?;
            Some((standing.place, standing.state))
        };
        assert_eq!(standing(node("gone", 0.0, &[])), Some((0, State::Down)));
        assert_eq!(
            standing(node("refuses", 0.0, &[NodeFlag::Refusing])),
            Some((0, State::Down))
        );
        assert_eq!(standing(node("hot", 2.0, &[])), Some((1, State::Skewed)));
        assert_eq!(standing(node("warm", 1.3, &[])), Some((1, State::Watch)));
        assert_eq!(standing(node("full", 0.5, &[])), Some((2, State::Limit)));
        assert_eq!(standing(node("fine", 1.1, &[])), None);
    }

    #[test]
    fn processes_are_uneven_by_the_bands_of_cpu_time_unless_all_are_quiet() {
        let states = |cpu: &[Option<f64>]| {
            let loads = by_processes(cpu).into_iter();
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
        assert_eq!(
            states(&[Some(0.06), Some(0.02)])[0].unwrap().1,
            State::Balanced
        );
        assert_eq!(states(&[Some(0.0), None]), [None, None]);
    }
}
