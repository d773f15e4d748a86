//! The groups of flags in `--help`, in the order in which a command's first flag of each comes.

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
#[cfg(feature = "live")]
pub const SERVERS: &str = "Running servers";
pub const GENERAL: &str = "General";
