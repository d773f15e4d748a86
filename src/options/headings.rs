//! The groups of flags in `--help`, by the order of each group's first flag in a command.

pub(crate) const ARGUMENTS: &str = "Arguments";
pub(crate) const INPUT: &str = "Input";
pub(crate) const FILTERS: &str = "Filters";
pub(crate) const RDB_FILES: &str = "RDB files";
pub(crate) const OBJECTS: &str = "Object stores";
pub(crate) const RUN: &str = "Threads and progress";
pub(crate) const CLUSTER: &str = "Cluster";
pub(crate) const COUNTING: &str = "Counting";
pub(crate) const CHANGES: &str = "What changes";
pub(crate) const MOVES: &str = "Moves";
pub(crate) const TAGS: &str = "Tags";
pub(crate) const OUTPUT: &str = "Output";
pub(crate) const LIMITS: &str = "Limits";
#[cfg(feature = "cli")]
pub(crate) const SERVERS: &str = "Running servers";
pub(crate) const GENERAL: &str = "General";
