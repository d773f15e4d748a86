//! The user's request as plain values: what is read, which keys, and what is counted.
//!
//! The doc comment of a member is its help text, its entry in the manual and the comment of the Python option.
//! Command-line words and differences between specs are derived from the JSON of a spec (`words`, `difference`).

pub(crate) mod counting;
pub(crate) mod filter;
pub(crate) mod hashing;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod headings;
pub(crate) mod members;
pub(crate) mod nodes;
pub(crate) mod reading;
pub mod sizes;
#[doc(hidden)]
pub mod storage;
pub mod times;
pub(crate) mod walking;

pub use counting::CountSpec;
#[doc(hidden)]
pub use counting::Part;
pub use filter::FilterSpec;
pub use hashing::HashSpec;
pub use members::{difference, words};
pub use nodes::{Listing, ListingSpec, NodeSpec};
pub use reading::ReadSpec;
pub use storage::StorageSpec;
pub use walking::MemorySpec;
