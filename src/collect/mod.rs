//! A live cluster as a directory of files: what `slotscope collect` writes, and what reads it.
//!
//! Every slot is read from one node while it stays there. A slot that moves meanwhile, or whose primary fails, is read
//! again from its new owner, and its earlier rows are taken out; so each key that is there all the time is in the files
//! once.

#[cfg(feature = "live")]
pub mod acl;
#[cfg(feature = "live")]
pub mod address;
#[cfg(feature = "live")]
mod clock;
#[cfg(feature = "live")]
mod cluster;
#[cfg(feature = "live")]
pub mod connection;
#[cfg(feature = "live")]
mod crew;
#[cfg(feature = "live")]
mod cursors;
#[cfg(feature = "live")]
mod discovery;
#[cfg(feature = "live")]
mod endpoints;
#[cfg(feature = "live")]
mod heaviest;
#[cfg(feature = "live")]
mod key_facts;
#[cfg(feature = "live")]
mod large_replies;
#[cfg(feature = "live")]
mod listings;
#[cfg(feature = "live")]
mod members;
#[cfg(feature = "live")]
mod moves;
#[cfg(feature = "live")]
mod node_file;
#[cfg(feature = "live")]
mod pace;
#[cfg(feature = "live")]
mod readers;
#[cfg(feature = "live")]
mod readings;
#[cfg(feature = "live")]
mod recent;
#[cfg(feature = "live")]
mod resp;
#[cfg(feature = "live")]
mod rounds;
#[cfg(feature = "live")]
pub mod run;
#[cfg(feature = "live")]
mod scan;
#[cfg(all(test, feature = "live"))]
mod scripted;
#[cfg(feature = "live")]
mod series;
#[cfg(feature = "live")]
mod server;
#[cfg(feature = "live")]
mod task;
#[cfg(feature = "live")]
pub mod tls;
#[cfg(feature = "live")]
mod transport;
#[cfg(feature = "live")]
mod watch;

pub use slotscope_engine::source::collection::{manifest, servers};
