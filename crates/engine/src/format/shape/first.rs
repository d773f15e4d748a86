//! The first key of an input as its reader takes it out of the line: a warning that shows it shows a misreading, too.

use crate::format::batch::{KeyBatch, Spans, Values};
use crate::format::lfu::LfuRule;
use crate::format::shape::lines::LOOKED_AT;
use crate::format::{Columns, Head, Opened, ReadStats, Reader, Sink};
use crate::name::Name;
use crate::source::block::{Block, Piece};

/// The first key that `opened` reads in the complete lines of `head`.
pub(super) fn key(opened: &Opened, head: Head<'_>) -> Option<Name> {
    let Opened::Blocks { reader, .. } = opened else {
        return None;
    };
    let start = &head.bytes[..head.bytes.len().min(LOOKED_AT)];
    let end = memchr::memrchr(b'\n', start).map_or(start.len(), |end| end + 1);
    let mut first = First(None);
    read(&**reader, &start[..end], false, &mut first);
    first.0
}

/// Reads `content`, a whole input.
pub(in crate::format) fn read(
    reader: &dyn Reader,
    content: &[u8],
    with_attributes: bool,
    sink: &mut dyn Sink,
) -> ReadStats {
    let mut columns = Columns {
        keys: &mut Spans::default(),
        values: &mut Values::default(),
        sink,
        kernel: hashslot::best(),
        lfu: LfuRule::default(),
        command_times: None,
        written_ms: 0,
        with_attributes,
    };
    let piece = Piece {
        from: 0,
        offset: 0,
        first: true,
        last: true,
        is_rereadable: false,
    };
    reader.read(&mut Block::from_bytes(content), piece, &mut columns)
}

/// Keeps the first key.
struct First(Option<Name>);

impl Sink for First {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        self.0
            .get_or_insert_with(|| Name::from(batch.keys.get(batch.base, 0)));
    }

    fn reject(&mut self, _: usize, _: &str) {}

    fn reject_at(&mut self, _: u64, _: &str) {}
}
