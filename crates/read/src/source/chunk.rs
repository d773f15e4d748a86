//! Random-access sources are read in chunks, one at a time into a worker's block.
//!
//! A chunk owns the rows that follow its row ends, and the first chunk also the row at the start of the input. The
//! owned bytes thus extend from after the first row end at or after the chunk's start to the first one at or after its
//! end: adjacent chunks agree on the boundary without communication. A chunk without a row end owns nothing and reads
//! no further, which keeps one endless row linear.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use slotscope_base::block::{Block, Piece};
use slotscope_base::sentence::Sentence;

use crate::source::boundary::{Boundary, Effect, State};
use crate::source::room::Claim;
use crate::source::{MAX_LINE, ReadAt};

/// Chunk size: large enough to make system calls negligible, small enough to leave the L2 cache to the counts
/// (`benches/stages.rs` times other sizes).
pub const CHUNK: usize = 512 << 10;

/// Extra bytes read with a chunk, which usually contain the end of its last line.
const OVERHANG: usize = 4 << 10;

/// The end of a chunk, examined first: it often determines the chunk's effect.
const TAIL: usize = 16 << 10;

/// How an input of `bytes` bytes is split into chunks.
#[derive(Clone)]
pub struct Cutting {
    /// Length of the input in bytes.
    pub bytes: u64,
    /// Chunk size in bytes.
    pub chunk: usize,
    /// How rows end.
    pub boundary: Arc<dyn Boundary>,
    /// The state at the start of each chunk from `first` on, and after the last one; empty if row ends do not depend on
    /// it.
    pub states: Vec<State>,
    /// The first chunk with known state.
    pub first: u64,
}

impl Cutting {
    /// The number of chunks.
    pub fn chunks(&self) -> u64 {
        self.bytes.div_ceil(self.chunk as u64)
    }

    /// The offset of chunk `index`, and the number of its own bytes.
    pub(crate) fn body(&self, index: u64) -> (u64, usize) {
        let offset = index * self.chunk as u64;
        (
            offset,
            (self.chunk as u64).min(self.bytes - offset) as usize,
        )
    }

    fn state(&self, index: u64) -> State {
        let place = index.saturating_sub(self.first) as usize;
        self.states.get(place).copied().unwrap_or_default()
    }
}

/// Why a chunk could not be read.
#[derive(Debug)]
pub enum Trouble {
    /// A line longer than `MAX_LINE` starts at this offset.
    Long(u64),
    /// Reading failed at this offset.
    Read(u64, io::Error),
    /// The bytes from this offset on are invalid.
    Damaged(u64, Sentence),
}

type ChunkResult<T> = std::result::Result<T, Trouble>;

/// The effect of chunk `index` on the boundary state.
///
/// # Errors
/// The chunk cannot be read.
pub fn effect(
    file: &dyn ReadAt,
    cutting: &Cutting,
    index: u64,
    block: &mut Block,
) -> ChunkResult<Effect> {
    let (offset, body) = cutting.body(index);
    let tail = body.min(TAIL);
    fill(file, block, offset + (body - tail) as u64, 0..tail)?;
    if let Some(effect) = cutting.boundary.effect_of_tail(block.content()) {
        return Ok(effect);
    }
    fill(file, block, offset, 0..body)?;
    Ok(cutting.boundary.effect(block.content()))
}

/// Reads chunk `index` and the rest of its last row into `block`, reserving memory through `claim` if it is giant.
/// `None` if the chunk owns no row.
///
/// # Errors
/// The chunk cannot be read, or its last row is longer than a block may be.
pub fn read_chunk(
    file: &dyn ReadAt,
    cutting: &Cutting,
    index: u64,
    (block, claim): (&mut Block, &mut Claim),
) -> ChunkResult<Option<Piece>> {
    let (offset, body) = cutting.body(index);
    let mut chunk = Chunk {
        file,
        cutting,
        offset,
        body,
        block,
        claim,
    };
    chunk.block.shrink(cutting.chunk + OVERHANG);
    chunk.read(0, body + OVERHANG)?;
    let Some(from) = chunk.first_row(index) else {
        return Ok(None);
    };
    let end = chunk.end_of_last_row(index, from)?;
    block.resize(end);
    let last = offset + end as u64 == cutting.bytes;
    Ok(Some(Piece {
        from: from as u32,
        offset,
        first: index == 0,
        last,
        is_rereadable: true,
    }))
}

/// A chunk being read.
struct Chunk<'a> {
    file: &'a dyn ReadAt,
    cutting: &'a Cutting,
    offset: u64,
    /// The number of its own bytes.
    body: usize,
    block: &'a mut Block,
    claim: &'a mut Claim,
}

impl Chunk<'_> {
    /// The offset of the first row owned by the chunk.
    fn first_row(&self, index: u64) -> Option<usize> {
        if index == 0 {
            return Some(0);
        }
        let (boundary, state) = (&self.cutting.boundary, self.cutting.state(index));
        let first = boundary.first_end(self.block.content(), 0, state);
        // A row end with nothing after it starts no row: only one piece is the end of the input.
        let owns = |start: &usize| {
            start - 1 < self.body && self.offset + (*start as u64) < self.cutting.bytes
        };
        first.filter(owns)
    }

    /// The offset in the block after the first row end at or after the body; reads on as needed.
    fn end_of_last_row(&mut self, index: u64, from: usize) -> ChunkResult<usize> {
        loop {
            let (boundary, state) = (&self.cutting.boundary, self.cutting.state(index + 1));
            let end = boundary.first_end(self.block.content(), self.body, state);
            if self.block.len() > MAX_LINE {
                self.check_length(from, end)?;
            }
            match end {
                Some(end) => return Ok(end),
                None if !self.read_on()? => return Ok(self.block.len()),
                None => {}
            }
        }
    }

    /// Fails if the last row, which starts at or after `from`, is longer than `MAX_LINE`.
    fn check_length(&self, from: usize, end: Option<usize>) -> ChunkResult<()> {
        let start = from
            + self
                .cutting
                .boundary
                .last_end(&self.block.content()[from..self.body.max(from)], 0)
                .unwrap_or(0);
        if end.map_or(self.block.len(), |end| end - 1) - start > MAX_LINE {
            Err(Trouble::Long(self.offset + start as u64))
        } else {
            Ok(())
        }
    }

    fn is_whole(&self) -> bool {
        self.offset + self.block.len() as u64 == self.cutting.bytes
    }

    /// Doubles the amount read each time, so that a row of n bytes is searched a bounded number of times, but reads no
    /// more than it takes to detect a row that is too long. False at the end of the input.
    fn read_on(&mut self) -> ChunkResult<bool> {
        let has_more = !self.is_whole();
        if has_more {
            let len = self.block.len();
            let enough = self.body + MAX_LINE + OVERHANG;
            self.read(
                len,
                (2 * len).clamp(len + OVERHANG, enough.max(len + OVERHANG)),
            )?;
        }
        Ok(has_more)
    }

    /// Reads the bytes `from..to` of the block, or as many as exist; the block ends there.
    fn read(&mut self, from: usize, to: usize) -> ChunkResult<()> {
        let to = (to as u64).min(self.cutting.bytes - self.offset) as usize;
        self.claim.take_for(to);
        fill(self.file, self.block, self.offset, from..to)
    }
}

/// Reads the bytes `range`, relative to `offset`, to their place in the block; the block ends there.
fn fill(file: &dyn ReadAt, block: &mut Block, offset: u64, range: Range<usize>) -> ChunkResult<()> {
    block.resize(range.end);
    let at = offset + range.start as u64;
    file.read_exact_at(&mut block.content_mut()[range.start..], at)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Trouble::Read(
                at,
                io::Error::new(error.kind(), "the file became shorter while it was read"),
            ),
            _ => Trouble::Read(at, error),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::boundary::EveryByte;
    use crate::source::memory::memory;

    /// Chunks of an input said to have `bytes` bytes.
    fn cutting(bytes: usize, chunk: usize) -> Cutting {
        Cutting {
            bytes: bytes as u64,
            chunk,
            boundary: Arc::new(EveryByte(b'\n')),
            states: Vec::new(),
            first: 0,
        }
    }

    fn read(
        content: &[u8],
        cutting: &Cutting,
        index: u64,
    ) -> (Block, Result<Option<Piece>, Trouble>) {
        let file = memory("test", content).open_at().unwrap().unwrap();
        let mut block = Block::with_capacity(0);
        let room = (&mut block, &mut Claim::default());
        let piece = read_chunk(&*file, cutting, index, room);
        (block, piece)
    }

    /// The lines owned by all chunks, in order.
    fn lines(content: &[u8], chunk: usize) -> Vec<Vec<u8>> {
        let cutting = cutting(content.len(), chunk);
        let (mut owned, mut lasts) = (Vec::new(), 0);
        for index in 0..cutting.chunks() {
            let (block, piece) = read(content, &cutting, index);
            if let Some(piece) = piece.unwrap() {
                owned.extend_from_slice(&block.content()[piece.from as usize..]);
                assert_eq!(piece.first, index == 0);
                assert_eq!(piece.last, owned.len() == content.len());
                lasts += u32::from(piece.last);
            }
        }
        assert_eq!(lasts, 1, "one piece is the end of the input");
        assert_eq!(owned, content, "chunks of {chunk}");
        owned
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    }

    #[test]
    fn every_cut_gives_every_line_to_exactly_one_chunk() {
        for content in [
            &b"a\nbb\n\nccc\n"[..],
            b"no end",
            b"\n",
            b"\n\n\n",
            b"a\nlonger than a chunk of it\nb",
            b"x\r\ny\r\n",
        ] {
            let expected = lines(content, content.len());
            for chunk in 1..content.len() + 2 {
                assert_eq!(lines(content, chunk), expected);
            }
        }
    }

    #[test]
    fn a_line_past_the_limit_is_refused_where_it_starts() {
        let mut content = b"short\n".to_vec();
        content.resize(6 + MAX_LINE, b'x');
        lines(&content, CHUNK);
        content.push(b'x');
        let cutting = cutting(content.len(), CHUNK);
        let refused = read(&content, &cutting, 0).1;
        assert!(matches!(refused, Err(Trouble::Long(6))));
        let other = read(&content, &cutting, 1).1;
        assert!(matches!(other, Ok(None)), "only its owner reads the line");
    }

    #[test]
    fn a_file_that_became_shorter_is_named_at_the_byte() {
        let trouble = read(b"a\nb\n", &cutting(10, CHUNK), 0).1;
        assert!(
            matches!(trouble, Err(Trouble::Read(0, error)) if error.to_string().contains("became shorter"))
        );
    }
}
