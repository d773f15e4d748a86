//! The verdict: what is wrong, most urgent first, and the remedies in order.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::Metric;

use crate::finding::Finding;
use crate::integrity::Integrity;
use crate::role_verdict::RoleVerdict;
use crate::state::{Role, Severity, State};
use crate::step::{Left, Step};

/// The verdict and its basis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Verdict {
    /// The state that the most urgent finding sets.
    pub state: State,
    /// It in a word for people.
    pub word: String,
    /// The finding in a sentence.
    pub sentence: String,
    /// How urgent it is; absent where there is no finding.
    pub severity: Option<Severity>,
    /// Whether a step that an operator can take helps.
    pub actionable: bool,
    /// Whether the nodes are assumed.
    pub assumed: bool,
    /// Whether the input has the sizes of keys.
    pub memory_known: bool,
    /// Whether the input has the keys themselves, not only operations on them.
    pub keys_known: bool,
    /// The verdict in each role, memory first.
    pub roles: Vec<RoleVerdict>,
    /// The problems, most urgent first.
    pub findings: Vec<Finding>,
    /// The steps, in the order of doing; each is computed after those before it.
    pub steps: Vec<Step>,
    /// The problems that no step cures.
    pub left: Vec<Left>,
    /// Evidence that the dump is incomplete.
    pub integrity: Vec<Integrity>,
}

impl Verdict {
    /// The verdict in a role.
    pub fn role(&self, role: Role) -> Option<&RoleVerdict> {
        self.roles.iter().find(|verdict| verdict.role == Some(role))
    }

    /// The verdict by a metric.
    pub fn by(&self, metric: Metric) -> Option<&RoleVerdict> {
        self.roles.iter().find(|verdict| verdict.by() == metric)
    }

    /// The role of the first finding that has one, else the first judged role.
    pub fn headline(&self) -> Option<&RoleVerdict> {
        let role_of = |finding: &Finding| {
            let mut roles = self.roles.iter();
            roles.find(|role| {
                finding.metric == Some(role.metric)
                    || finding.role.is_some() && finding.role == role.role
            })
        };
        self.problems()
            .find_map(role_of)
            .or_else(|| self.roles.iter().find(|role| role.judged))
            .or(self.roles.first())
    }

    /// The metric of the tables where the user names none.
    pub fn metric(&self) -> Metric {
        self.headline().map_or(Metric::Keys, RoleVerdict::by)
    }

    /// The findings that set the state.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|issue| issue.state.is_some())
    }

    /// The findings that set no state.
    pub fn risks(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|risk| risk.state.is_none())
    }
}
