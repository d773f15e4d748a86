//! Every sentence a report states about its findings, without initial capital or full stop, from numbers and names.

pub(crate) mod capacity;
pub(crate) mod coverage;
pub mod evidence;
pub mod finding;
pub(crate) mod integrity;
pub(crate) mod node_counts;
pub mod verdict;
