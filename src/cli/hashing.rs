//! The flag that says what part of a key is hashed, shared by all commands that compute slots.

use clap::Args;

use crate::error::Result;
use crate::slot::policy::Policy;

/// What part of a key is hashed.
#[derive(Args, Debug, Clone, Default)]
pub struct HashingArgs {
    /// What part of a key is hashed: oss (Redis, Valkey), enterprise (Redis Enterprise and Cloud) or regex:PATTERN with
    /// a group named tag, which must match all of the key; may be repeated, the first that matches decides
    /// [default: oss]
    #[arg(long, value_name = "POLICY")]
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
