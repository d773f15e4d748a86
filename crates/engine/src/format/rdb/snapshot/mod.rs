//! `rdb`: RDB files as Redis and Valkey write them, all versions. Values are passed over by their lengths; sizes are
//! bytes in the file.

pub mod allocator;
mod checksum;
pub mod elements;
mod header;
mod kind;
mod lzf;
mod memory;
mod module;
mod opcode;
mod packed;
mod plain;
pub mod record;
mod rows;
mod server;
mod slots;
mod streams;
mod text;
mod tree;
mod value;
pub mod walk;

use crate::format::rdb::snapshot::rows::Rows;
use crate::format::row_boundary::RowBoundary;
use crate::format::walked::{self, Walked};
use crate::format::{Columns, Detected, Format, Head, Reader, Seen, Sink};
use crate::source::block::{Block, Padded, Piece};

pub use header::is_snapshot;

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
        match is_snapshot(head.bytes) {
            true => Detected::Yes,
            false => Detected::No,
        }
    }

    fn open(&self, _: Head<'_>) -> Result<Box<dyn Reader>, String> {
        Ok(Box::new(Rdb))
    }
}

impl Reader for Rdb {
    fn format(&self) -> &'static str {
        self.name()
    }

    fn boundary(&self) -> RowBoundary {
        RowBoundary::Walked(|input, walking| Box::new(Walked::new(Rows::new(input, walking))))
    }

    fn read(
        &self,
        block: &mut Block,
        piece: Piece,
        columns: &mut Columns<'_>,
        sink: &mut dyn Sink,
    ) -> Seen {
        walked::read(block, piece.from as usize, columns, sink)
    }

    fn place(&self, rows: Padded<'_>, at: u32, offset: u64) -> u64 {
        walked::offset_of(rows.bytes(), at as usize).unwrap_or(offset)
    }
}
