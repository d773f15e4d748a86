//! Stage 5, FINDINGS: what to do about it. Keys, tallies and summaries come in, advice goes out. No I/O.

pub mod diff;
pub mod fanout;
pub mod find_tag;
pub mod lint;
pub mod plan;
pub mod whatif;
