//! Turns a live cluster into a directory of files: written by `slotscope collect`, and read by other commands.
//!
//! Every slot is read from one node while it stays there. A slot that moves meanwhile, or whose primary fails, is
//! reread from its new owner, and its earlier rows are removed; so each key that exists throughout is in the files
//! exactly once. (Unless its slot leaves a node and comes back between two looks at the owners, while the node also gets
//! another slot. Looks are half a second apart, or twenty times as long as one takes.)
#![deny(missing_docs)]

#[doc(hidden)]
pub mod acl;
#[doc(hidden)]
pub mod address;
mod arenas;
mod clock;
mod cluster;
mod command_logs;
#[doc(hidden)]
pub mod connection;
mod counts_file;
mod crew;
mod cursors;
mod discovery;
mod endpoints;
mod heaviest;
mod hot_keys;
mod hot_slots;
mod key_facts;
mod large_replies;
mod listings;
#[doc(hidden)]
pub mod live;
#[doc(hidden)]
pub mod load;
mod members;
#[doc(hidden)]
pub mod monitor;
mod moves;
mod node_file;
mod pace;
#[doc(hidden)]
pub mod probe;
mod readers;
mod readings;
mod recent;
mod resp;
mod rounds;
pub mod run;
mod scan;
#[cfg(test)]
mod scripted;
mod series;
mod server;
#[doc(hidden)]
pub mod silent;
#[doc(hidden)]
pub mod slot_keys;
mod slot_stats;
mod stripped;
mod task;
#[doc(hidden)]
pub mod tls;
mod tls_errors;
mod transport;
mod unreachable;
mod watch;
#[doc(hidden)]
pub mod work;
mod wrong_port;
