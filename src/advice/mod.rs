//! Stage 5, ADVICE: findings come in, what to do about them goes out. Pure numbers, no I/O.

pub mod plan;
