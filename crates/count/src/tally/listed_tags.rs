//! The tags that are known by name, in whatever way they were counted.

use slotscope_base::metric::Load;
use slotscope_base::name::Name;

/// A tag with bounds on its load.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded {
    /// Its name.
    pub name: Name,
    /// Lower bound.
    pub load: Load,
    /// Upper bound.
    pub ceiling: Load,
}

/// The tags that are known by name, unordered.
pub struct ListedTags {
    /// Their loads: all tags, or the heaviest.
    pub tags: Vec<Bounded>,
    /// An upper bound on any other tag.
    pub bound: Load,
    /// Whether their loads are exact.
    pub is_exact: bool,
}
