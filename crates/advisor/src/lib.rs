//! Advice on the part of a key that belongs in braces: from names and batches of keys to schemes of hash tags.
//!
//! Batches show which segments the keys of a command share (`learned_places`). Names become families with one pattern,
//! whose fields may become a tag (`tokens`, `families`). Batches show which fields are equal among the keys of a
//! command (`joins`). A scheme is a choice for each family; schemes are found (`search`), judged (`groups`), spelled
//! (`spelling`), applied (`carried_out`, `retagged`) and compared (`decision`).
#![deny(missing_docs)]

#[doc(hidden)]
pub mod batches;
#[doc(hidden)]
pub mod carried_out;
pub mod decision;
#[doc(hidden)]
pub mod families;
#[doc(hidden)]
pub mod family;
mod field_kinds;
pub mod findings;
mod groups;
#[doc(hidden)]
pub mod joins;
mod learned_places;
mod matcher;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod owners;
#[doc(hidden)]
pub mod places;
pub mod reasons;
pub mod rename_rules;
pub mod retagged;
pub mod scheme;
mod search;
#[doc(hidden)]
pub mod soundness;
pub mod spelling;
mod tag_loads;
mod together;
#[doc(hidden)]
pub mod tokens;
