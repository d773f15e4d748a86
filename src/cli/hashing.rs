//! The flag that says what part of a key is hashed, shared by all commands that compute slots.

use clap::Args;

use crate::cli::headings::CLUSTER;
use crate::error::Result;
use crate::slot::policy::Policy;

/// What part of a key is hashed.
#[derive(Args, Debug, Clone, Default)]
pub struct HashingArgs {
    /// What part of a key is hashed: oss, enterprise or regex:PATTERN [default: oss]
    ///
    /// `oss` is that of Redis and Valkey, `enterprise` that of Redis Enterprise and Cloud. `regex:PATTERN` has a group named
    /// `tag` and must match all of the key; it may be repeated, the first that matches decides.
    #[arg(long, value_name = "POLICY", help_heading = CLUSTER, hide_short_help = true)]
    pub policy: Vec<String>,
}

impl HashingArgs {
    /// The policy.
    ///
    /// # Errors
    /// As `Policy::parse`.
    pub fn policy(&self) -> Result<Policy> {
        Policy::parse(&self.policy)
    }

    /// The flags as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let flags = self.policy.iter();
        flags
            .flat_map(|policy| ["--policy".into(), policy.clone()])
            .collect()
    }
}
