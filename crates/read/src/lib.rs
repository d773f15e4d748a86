//! Reads keys from bytes: the sources and formats of [slotscope](https://docs.rs/slotscope).
//!
//! A source is one file, directory, pipe or text in memory; a format finds the rows of its bytes and hands their keys on in
//! batches of spans. `examples/custom_format.rs` of slotscope is a format in one screen.
//!
//! - Files are read with positional reads into one buffer a thread, not mapped: a mapped file that is truncated kills
//!   the process. Pipes and compressed input are read by plain threads, never inside a rayon task.
//! - A chunk owns the lines that start in it. Only the owner reads past the end of its chunk, up to 64 MiB for one
//!   line, so hostile input costs no more than other input.
//! - Objects are read by the same positional reads, from ranges that runtime threads prefetch: sequential readers are
//!   scans, others get only the bytes they ask for. No worker of a scan waits for a future.
//! - An RDB file is walked by one thread: values are skipped by length, and without a checksum to verify they are not
//!   even read. Its rows go to the workers in batches of columns (`RowBatch`), which are recycled like blocks. Where
//!   many strings are together, they are skipped by length alone, and the workers read them from the bytes of the file;
//!   the same is done with the commands of an append-only file.
#![deny(missing_docs)]

pub mod format;
pub mod source;
