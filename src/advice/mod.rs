//! Stage 5, FINDINGS: what to do about it. Keys, tallies and summaries come in, advice goes out. No I/O.

pub mod fanout;
pub mod whatif;
