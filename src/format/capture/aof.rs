//! `aof`: append-only files, and what clients sent as RESP: commands as arrays of bulk strings. A key of a command is an
//! operation. A value may have hundreds of megabytes and is passed over.

use crate::format::capture::commands::CommandSteps;
use crate::format::resp;
use crate::format::row_boundary::RowBoundary;
use crate::format::walked::{self, Walked};
use crate::format::{Columns, Detected, Format, Head, Reader, Seen, Sink};
use crate::source::block::{Block, Padded, Piece};

/// The format.
pub struct Aof;

impl Format for Aof {
    fn name(&self) -> &'static str {
        "aof"
    }

    fn example(&self) -> &'static str {
        r"*3\r\n$3\r\nSET\r\n$6\r\nuser:1\r\n$1\r\nv\r\n (appendonly.aof.1.incr.aof)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        match resp::is_commands(head.bytes) {
            true => Detected::Yes,
            false => Detected::No,
        }
    }

    fn note(&self) -> Option<&'static str> {
        Some(
            "an append-only file has writes that took effect; reads and failed commands are not in it",
        )
    }

    fn open(&self, _: Head<'_>) -> Result<Box<dyn Reader>, String> {
        Ok(Box::new(Aof))
    }
}

impl Reader for Aof {
    fn format(&self) -> &'static str {
        self.name()
    }

    fn boundary(&self) -> RowBoundary {
        RowBoundary::Walked(|input, _| Box::new(Walked::new(CommandSteps::new(input))))
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
