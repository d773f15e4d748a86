//! Which part of a key belongs in braces.

pub mod batches;
pub mod carried_out;
pub mod decision;
pub mod families;
pub mod findings;
pub mod joins;
pub mod model;
pub mod names;
pub mod reasons;
pub mod rename_rules;
pub mod scheme;
mod search;
mod seeded;
mod shapes_of_names;
pub mod soundness;
pub mod spelling;
mod tag_loads;
mod together;
pub mod tokens;
