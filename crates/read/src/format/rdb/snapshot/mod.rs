//! `rdb`: RDB files of all versions of Redis and Valkey. Values are skipped by length; sizes are memory estimates, or
//! bytes in the file.

pub mod allocator;
pub mod elements;
mod header;
mod imported;
mod kind;
mod lzf;
mod memory;
mod module;
mod opcode;
mod packed;
mod plain;
pub mod record;
mod rows;
mod run;
mod run_rows;
mod server;
mod streams;
mod text;
mod tree;
mod value;
pub mod walk;

use crate::format::frame::walk::Walked;
use crate::format::rdb::snapshot::rows::Rows;
use crate::format::{Detected, Format, Head, Opened};

pub(crate) use header::is_snapshot;

/// The format.
pub struct Rdb;

impl Format for Rdb {
    fn name(&self) -> &'static str {
        "rdb"
    }

    fn example(&self) -> &'static str {
        "REDIS0011... (dump.rdb, of any version of Redis or Valkey)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        if is_snapshot(head.bytes) {
            Detected::Yes
        } else {
            Detected::No
        }
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(Opened::Walk {
            format: self.name(),
            walk: |input, walking| Box::new(Walked::new(Rows::new(input, walking))),
        })
    }
}
