//! Counts the keys of dumps: the scan drives the sources and formats of slotscope-read on all cores, in bounded memory, and
//! hands every batch of keys to the tallies. For [slotscope](https://docs.rs/slotscope).
//!
//! ```text
//! source -> format -> slot -> tally
//! bytes     keys      u16     counts
//! ```
//!
//! # How the fast path works
//!
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
//! - What concerns few keys of a batch, such as those with a tag, is listed first, 64 keys at a time (`rows.rs` of slotscope-base):
//!   flags become a mask, and its bits numbers, without a branch a key.
#![deny(missing_docs)]

#[doc(hidden)]
pub mod pattern;
pub mod scan;
pub mod tally;
