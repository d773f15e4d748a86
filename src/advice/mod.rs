//! What to do about it: findings, keys and wishes come in, advice goes out. Pure: no I/O.

pub mod diff;
pub mod find_tag;
pub mod lint;
