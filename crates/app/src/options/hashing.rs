//! The hash policy, shared by all commands that compute slots.

use serde::{Deserialize, Serialize};

use slotscope_base::error::Result;
use slotscope_base::slot::policy::Policy;

#[cfg(feature = "cli")]
use crate::options::headings::CLUSTER;

/// What part of a key is hashed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct HashSpec {
    /// Which part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
    ///
    /// `regex:PATTERN` has a group named `tag` and must match the whole key; it may be repeated, the first that matches decides.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "POLICY", help_heading = CLUSTER, hide_short_help = true)
    )]
    pub policy: Vec<String>,
}

impl HashSpec {
    /// The policy.
    ///
    /// # Errors
    /// As `Policy::parse`.
    pub fn policy(&self) -> Result<Policy> {
        Policy::parse(&self.policy)
    }
}
