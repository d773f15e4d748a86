//! Signs of a damaged dump: keys that are missing, truncated, duplicated, foreign, or from another time.
//!
//! `of_loads` finds those in slot and node loads, `of_files` those in the files read.

use slotscope_base::name::Name;

pub mod of_files;

pub(crate) mod of_loads;

/// (e) Tolerated fraction of repeated keys.
pub const TWICE: f64 = 0.2;
/// The part of them above which rows are requests: no cluster has as many copies of a key.
pub(crate) const REQUESTS: f64 = 0.75;

/// Files written at different times.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesApart {
    /// The oldest, and when it was written, in seconds since 1970.
    pub oldest: (Name, u64),
    /// The newest.
    pub newest: (Name, u64),
}
