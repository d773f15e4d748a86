//! The groups of flags in `--help`, by the order of each group's first flag in a command.

pub const ARGUMENTS: &str = "Arguments";
pub const INPUT: &str = "Input";
pub const FILTERS: &str = "Filters";
pub const RDB_FILES: &str = "RDB files";
pub const OBJECTS: &str = "Object stores";
pub const RUN: &str = "Threads and progress";
pub const CLUSTER: &str = "Cluster";
pub const COUNTING: &str = "Counting";
pub const CHANGES: &str = "What changes";
pub const MOVES: &str = "Moves";
pub const TAGS: &str = "Tags";
pub const OUTPUT: &str = "Output";
pub const LIMITS: &str = "Limits";
#[cfg(feature = "cli")]
pub const SERVERS: &str = "Running servers";
pub const GENERAL: &str = "General";
