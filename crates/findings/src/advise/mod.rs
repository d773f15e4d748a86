//! Which part of a key belongs in braces.
//!
//! Names become families of one pattern, whose fields may become a tag (`tokens`, `families`). Batches show which fields are
//! equal among the keys of a command (`joins`). A scheme is a choice for each family; schemes are found (`search`), judged
//! (`groups`), spelled (`spelling`), carried out (`carried_out`, `all_names`) and compared (`decision`).

pub mod all_names;
pub mod batches;
pub mod carried_out;
pub mod decision;
pub mod families;
pub mod findings;
mod groups;
pub mod joins;
pub mod model;
pub mod names;
pub mod reasons;
pub(crate) mod rename_rules;
pub mod scheme;
mod search;
mod seeded;
mod shapes_of_names;
pub mod soundness;
pub mod spelling;
mod tag_loads;
mod together;
pub mod tokens;
