//! How RDB files are read.

use serde::{Deserialize, Serialize};

use slotscope_read::format::rdb::snapshot::allocator::Allocator;

#[cfg(feature = "cli")]
use crate::options::headings::RDB_FILES;

/// What memory is estimated for, and whether bytes are verified.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = RDB_FILES))]
#[serde(default)]
pub struct MemorySpec {
    /// The server's allocator, for estimated sizes in memory; INFO memory names it
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_enum,
            value_name = "NAME",
            default_value_t,
            hide_short_help = true
        )
    )]
    pub allocator: Allocator,
    /// Do not verify the checksum: values are then skipped unread
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true))]
    pub no_verify: bool,
}

/// What the sizes of keys are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Estimated bytes in memory
    #[default]
    Memory,
    /// Bytes in the file
    Serialized,
}
