//! WHAT IS ASKED: what is read, which keys of it, and what is counted, as plain values.
//!
//! The doc comment of a member is its help, its entry in the manual, the description in its schema and the comment of
//! Python's option. A value that is the default is not serialized, so a spec as JSON has the user's choices; the words of
//! a command line and the difference of two specs are made from that (`words`, `difference`).

pub mod counting;
pub mod filter;
pub mod hashing;
#[cfg(feature = "cli")]
pub(crate) mod headings;
mod members;
pub mod nodes;
pub mod reading;
pub mod sizes;
pub mod storage;
pub mod times;
pub mod walking;

pub use counting::CountSpec;
pub use filter::FilterSpec;
pub use hashing::HashSpec;
pub use members::{difference, words};
pub use nodes::{Listing, ListingSpec, NodeSpec};
pub use reading::ReadSpec;
pub use storage::StorageSpec;
pub use walking::MemorySpec;

/// Whether a member has its default value, which is not serialized.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
