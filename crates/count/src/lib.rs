//! Counts keys from the bytes of a dump: the part of [slotscope](https://docs.rs/slotscope) that reads every key.
//!
//! ```text
//! source -> format -> slot -> tally
//! bytes     keys      u16     counts
//! ```
//!
//! # How the fast path works
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
//! - Keys go through in batches that stay in the first caches: find the line ends, find the hash tags, hash, add. A
//!   batch without a brace is not searched for tags.
//! - Tags: a plain table of names while they fit. Beyond that, one table of 8 bytes a tag that all threads share
//!   (`tally/tag_table`): a seeded hash, the slot, a place and a count in one word, in huge pages. Each thread counts
//!   the tags that it met last by itself, and hands the others over by partition, under its lock, with the lines
//!   prefetched. The names that are listed are read again from the block where a key of the tag starts. Counts, squares
//!   and sizes are exact, and as the table depends on no order, so is everything that is listed.
//! - With more tags than that table holds, and in tally files, tags are counted in a Count-Min sketch with fixed
//!   hashing, whose merge is addition: order and threads do not matter. Those that may be heavy are counted by name in a
//!   second pass over the files.
//! - Distinct tags past the tables: HyperLogLog, whose merge is the maximum.
//! - Patterns: the rule of keyname looks at where digits and letters are, not at their values, so keys that agree in
//!   that share a pattern. A key is compared with one that was met before and has digits, or letters and digits, in the
//!   same places: its template. Where all but the ids is equal, so is the pattern. Only for a key without a template
//!   a shape is made, a hash that ignores its ids and how long they are, and only for a shape that is new a name. Where few keys have a template, none is looked for. Keys and weights are added up by pattern
//!   in columns that stay in the first cache, and slots are noted only of patterns that do not have all of them yet.
//! - What concerns few keys of a batch, such as those with a tag, is listed first, 64 keys at a time (`simd/rows.rs`):
//!   flags become a mask, and its bits numbers, without a branch a key.
#![deny(missing_docs)]

#[doc(hidden)]
pub mod pattern;
pub mod scan;
pub mod tally;
