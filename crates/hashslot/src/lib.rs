//! Hash slots of Redis and Valkey Cluster: the CRC16 kernels and the hash tag rule, for one key or for a batch.
//!
//! A cluster divides its keys among 16384 hash slots. The slot of a key is the CRC-16/XMODEM of its hash tag, if it has
//! one, or else of the whole key, modulo 16384, as computed by the server's `CLUSTER KEYSLOT`.
//!
//! # One key
//!
//! ```
//! assert_eq!(hashslot::slot(b"user::10086"), 14982);
//! assert_eq!(hashslot::slot(b"{user}::10086"), hashslot::slot(b"user"));
//! ```
//!
//! # Many keys
//!
//! A [`Kernel`] is an implementation for one instruction set; [`best`] picks the fastest that the CPU supports.
//! Kernels work on a [`Batch`]: keys that lie in one buffer with [`PAD`] readable bytes before and after them, so
//! that vectors may be loaded across the ends of a key.
//!
//! ```
//! use hashslot::{Batch, PAD, Padded};
//!
//! // The keys, with padding around them, and where each starts and ends.
//! let mut buffer = vec![0; PAD];
//! let (mut start, mut end) = (Vec::new(), Vec::new());
//! for key in ["{user1000}.following", "{user1000}.followers", "foo"] {
//!     start.push((buffer.len() - PAD) as u32);
//!     buffer.extend_from_slice(key.as_bytes());
//!     end.push((buffer.len() - PAD) as u32);
//! }
//! buffer.resize(buffer.len() + PAD, 0);
//!
//! let kernel = hashslot::best();
//! let keys = Batch::new(Padded::new(&buffer), &start, &end);
//! let (mut hashed_start, mut hashed_end) = ([0; 3], [0; 3]);
//! kernel.hashed_spans(keys, &mut hashed_start, &mut hashed_end);
//! assert_eq!(keys.with_spans(&hashed_start, &hashed_end).get(0), b"user1000");
//!
//! let mut slots = [0; 3];
//! kernel.slots(keys.with_spans(&hashed_start, &hashed_end), &mut slots);
//! assert_eq!(slots, [3443, 3443, 12182]);
//! ```
//!
//! Keys that are scattered in memory are copied into a padded buffer by [`slots()`], a few KiB at a time.
//!
//! # Features
//!
//! The crate is `no_std` and does not allocate. The default feature `std` detects the CPU's instructions at run time;
//! without it a kernel is supported if the program was compiled for its instructions (`-C target-feature`, `-C
//! target-cpu`).
#![no_std]
#![deny(missing_docs)]

#[cfg(any(feature = "std", test))]
extern crate std;

mod arch;
mod batch;
mod kernel;
mod registry;
pub mod simd;
mod slices;
mod tag;

pub use batch::{Batch, PAD, Padded};
pub use kernel::Kernel;
pub use registry::{KERNELS, UnknownKernel, available, best, named};
pub use tag::{hashed_part, tag};

/// Hash slots of a cluster.
pub const SLOTS: usize = 16384;

/// The hash slot of a key, as the server's `CLUSTER KEYSLOT` returns it.
///
/// ```
/// assert_eq!(hashslot::slot(b"{user1000}.following"), 3443);
/// assert_eq!(hashslot::slot(b""), 0);
/// ```
pub fn slot(key: &[u8]) -> u16 {
    slot_of_part(&key[hashed_part(key)])
}

/// The slot of the hashed part of a key: every byte counts, braces included.
///
/// ```
/// assert_eq!(hashslot::slot_of_part(b"user1000"), hashslot::slot(b"{user1000}.following"));
/// ```
pub fn slot_of_part(part: &[u8]) -> u16 {
    slot_of_crc(crc16(part))
}

/// CRC-16/XMODEM: its value for `123456789` is 0x31C3.
pub fn crc16(bytes: &[u8]) -> u16 {
    arch::scalar::table::crc16(bytes)
}

/// The slot of a key whose hashed part has the CRC `crc`.
#[inline(always)]
const fn slot_of_crc(crc: u16) -> u16 {
    crc & (SLOTS as u16 - 1)
}

/// Writes the slot of each key, with the best kernel of this CPU.
///
/// ```
/// let mut slots = [0; 2];
/// hashslot::slots(&[b"foo", b"{name}3"], &mut slots);
/// assert_eq!(slots, [12182, 5798]);
/// ```
///
/// # Panics
/// If `slots` is not as long as `keys`.
pub fn slots(keys: &[&[u8]], slots: &mut [u16]) {
    slices::slots_of_slices(best(), keys, slots);
}

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
