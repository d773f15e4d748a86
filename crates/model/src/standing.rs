//! A single node in the verdict: its rows and colours must agree with the headline.

use std::cmp::Reverse;

use crate::bands::Bands;
use crate::finding::{Finding, FindingKind};
use crate::nodes::{NodeFlag, NodeLoad};
use crate::state::{Role, State};
use crate::verdict::Verdict;

/// The worst problem of a node, the first of several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The index of the problem in the verdict.
    pub place: usize,
    /// The state that the problem sets, or this node's own lower one if another node is the fullest.
    pub state: State,
    /// The role concerned.
    pub role: Option<Role>,
}

impl Verdict {
    /// The worst problem of a node, if any.
    pub fn standing(&self, node: &NodeLoad) -> Option<Standing> {
        let problems = self.problems().enumerate();
        let own = problems.filter_map(|(place, finding)| {
            let state = self.state_of(node, finding)?;
            let role = finding.role;
            Some(Standing { place, state, role })
        });
        own.max_by_key(|standing| (standing.state, Reverse(standing.place)))
    }

    /// The state of a node by a finding that may be about other nodes.
    fn state_of(&self, node: &NodeLoad, finding: &Finding) -> Option<State> {
        let is_own = finding.node.as_ref() == Some(&node.id);
        let is_down = node.is_lost() || node.flags.contains(&NodeFlag::Refusing);
        let by_band = || {
            let measure = finding.metric?;
            let mut roles = self.roles.iter();
            let role = roles.find(|role| (role.role, role.metric) == (finding.role, measure));
            // Load by process is not a role.
            let bands = role.map_or_else(|| Bands::new(measure, None, None), |role| role.bands);
            let share = node.over_share.of(finding.role?)?;
            Some(bands.state(share)).filter(|state| state.is_uneven())
        };
        match finding.kind {
            _ if is_own => finding.state,
            FindingKind::Down => finding.state.filter(|_| is_down),
            FindingKind::Skew => by_band().min(finding.state),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measure;
    use crate::nodes::OverShare;
    use crate::role_verdict::RoleVerdict;
    use crate::state::Severity;
    use slotscope_base::name::Name;

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
        let finding = Finding::new(kind, Severity::Warning, "");
        finding
            .in_role(
                (kind != FindingKind::Down).then_some(Role::Load),
                Measure::Cpu,
            )
            .on(&Name::from(node))
            .setting(state)
    }

    #[test]
    fn a_node_has_the_worst_problem_that_is_its_own_or_the_state_of_its_band() {
        let verdict = Verdict {
            roles: vec![RoleVerdict {
                role: Some(Role::Load),
                metric: Measure::Cpu,
                bands: Bands::new(Measure::Cpu, None, None),
                ..RoleVerdict::default()
            }],
            findings: vec![
                found(FindingKind::Down, State::Down, "gone"),
                found(FindingKind::Suspected, State::Watch, "hot"),
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
        assert_eq!(standing(node("hot", 2.0, &[])), Some((2, State::Skewed)));
        assert_eq!(standing(node("warm", 1.3, &[])), Some((2, State::Watch)));
        assert_eq!(standing(node("full", 0.5, &[])), Some((3, State::Limit)));
        assert_eq!(standing(node("fine", 1.1, &[])), None);
    }
}
