//! Stage 1, BYTES that can be read anywhere (a regular file, memory): one chunk into a worker's block.
//!
//! A chunk owns the lines that follow its separators, and the first chunk the line at the file's start. So the
//! owned bytes reach from behind the first separator at or after the chunk's start to the first one at or after
//! its end: two neighbours agree without talking. A chunk without a separator owns nothing and reads no further,
//! which keeps one endless line linear.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::block::{Block, Piece};
use super::{FileState, Input, MAX_LINE};
use crate::error::{Error, Result};
use crate::name::Name;

/// Bytes in a chunk: long enough that a system call costs nothing, short enough for the cache of the next stage
/// (`benches/stages.rs` times other sizes).
pub const CHUNK: usize = 2 << 20;

/// Read along with a chunk, so that its last line is mostly there at once.
const OVERHANG: usize = 4 << 10;

/// An input whose bytes can be read at any place, by several threads at once.
pub enum Positional {
    /// A regular file.
    OnDisk(File),
    /// Bytes in memory.
    InMemory(Arc<[u8]>),
}

impl Positional {
    /// Opens an input found earlier; `None` where it can only be read from front to back.
    ///
    /// # Errors
    /// The file is gone, or no longer the one that was found.
    pub fn open(input: &Input) -> Result<Option<Positional>> {
        match input {
            Input::Stream { .. } => Ok(None),
            Input::Memory { bytes, .. } => Ok(Some(Positional::InMemory(bytes.clone()))),
            Input::File { path, state } => {
                let failed = |error| Error::io(path, error);
                let file = File::open(path).map_err(failed)?;
                if FileState::of(&file.metadata().map_err(failed)?) != *state {
                    let what = "changed while it was read; copy the dump to a file of its own and analyze that";
                    return Err(Error::bad(Name::from(path.as_path()).to_string(), what));
                }
                Ok(Some(Positional::OnDisk(file)))
            }
        }
    }

    /// Fills `into` with the bytes from `offset` on.
    ///
    /// # Errors
    /// What the system says, or `UnexpectedEof` where there are fewer.
    pub fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Positional::OnDisk(file) => file.read_exact_at(into, offset),
            Positional::InMemory(bytes) => {
                let found = bytes.get(offset as usize..offset as usize + into.len());
                into.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// How an input of `bytes` bytes is cut.
#[derive(Debug, Clone, Copy)]
pub struct Cutting {
    /// Length of the input in bytes.
    pub bytes: u64,
    /// Bytes in a chunk.
    pub chunk: usize,
    /// What ends a line.
    pub separator: u8,
}

impl Cutting {
    /// How many chunks there are.
    pub fn chunks(&self) -> u64 {
        self.bytes.div_ceil(self.chunk as u64)
    }
}

/// Why a chunk could not be read.
#[derive(Debug)]
pub enum Trouble {
    /// A line longer than `MAX_LINE` starts at this offset.
    Long(u64),
    /// Reading failed at this offset.
    Read(u64, io::Error),
}

type Outcome<T> = std::result::Result<T, Trouble>;

/// Reads chunk `index` and the rest of its last line into `block`. `None`: no line is owned by it.
pub fn read_chunk(file: &Positional, cutting: Cutting, index: u64, block: &mut Block) -> Outcome<Option<Piece>> {
    let offset = index * cutting.chunk as u64;
    let left = cutting.bytes - offset;
    let body = (cutting.chunk as u64).min(left) as usize;
    let with_overhang = ((body + OVERHANG) as u64).min(left) as usize;
    block.shrink(cutting.chunk + OVERHANG);
    fill(file, block, offset, 0..with_overhang)?;

    let from = match memchr::memchr(cutting.separator, &block.content()[..body]) {
        _ if index == 0 => 0,
        Some(at) => at + 1,
        None => return Ok(None),
    };
    let end = end_of_last_line(file, cutting, offset, body, block)?;
    block.resize(end);
    let last = offset + end as u64 == cutting.bytes;
    Ok(Some(Piece { from: from as u32, offset, first: index == 0, last }))
}

/// Offset in the block behind the first separator at or after `body`; reads on as far as it must.
fn end_of_last_line(
    file: &Positional,
    cutting: Cutting,
    offset: u64,
    body: usize,
    block: &mut Block,
) -> Outcome<usize> {
    let line = memchr::memrchr(cutting.separator, &block.content()[..body]).map_or(0, |at| at + 1);
    let long = || Trouble::Long(offset + line as u64);
    let mut searched = body;
    loop {
        let found = memchr::memchr(cutting.separator, &block.content()[searched..]);
        let end = found.map_or(block.len(), |at| searched + at);
        if end - line > MAX_LINE {
            return Err(long());
        }
        if found.is_some() {
            return Ok(end + 1);
        }
        let left = cutting.bytes - offset - end as u64;
        if left == 0 {
            return Ok(end);
        }
        searched = end;
        // Doubling: a line of n bytes is copied a bounded number of times, however long it is.
        let more = (searched.max(OVERHANG) as u64).min(left) as usize;
        fill(file, block, offset, searched..searched + more)?;
    }
}

/// Reads the bytes `range`, counted from `offset`, to their place in the block; the block ends with them.
fn fill(file: &Positional, block: &mut Block, offset: u64, range: Range<usize>) -> Outcome<()> {
    block.resize(range.end);
    let at = offset + range.start as u64;
    file.read_exact_at(&mut block.content_mut()[range.start..], at).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Trouble::Read(at, io::Error::new(error.kind(), "the file became shorter while it was read"))
        }
        _ => Trouble::Read(at, error),
    })
}

/// Line number, from 1, of byte `at` of an input; for messages, so it may read all that lies before.
pub fn line_of(input: &Input, at: u64, separator: u8) -> Option<u64> {
    let file = Positional::open(input).ok()??;
    let mut buffer = vec![0; CHUNK];
    let mut lines = 1;
    let mut offset = 0;
    while offset < at {
        let len = (CHUNK as u64).min(at - offset) as usize;
        file.read_exact_at(&mut buffer[..len], offset).ok()?;
        lines += memchr::memchr_iter(separator, &buffer[..len]).count() as u64;
        offset += len as u64;
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that all chunks own, in order, and how many bytes were read for them.
    fn lines(content: &[u8], chunk: usize) -> Vec<Vec<u8>> {
        let input = Input::memory("test", content);
        let file = Positional::open(&input).unwrap().unwrap();
        let cutting = Cutting { bytes: content.len() as u64, chunk, separator: b'\n' };
        let mut block = Block::with_capacity(0);
        let mut owned = Vec::new();
        for index in 0..cutting.chunks() {
            if let Some(piece) = read_chunk(&file, cutting, index, &mut block).unwrap() {
                owned.extend_from_slice(&block.content()[piece.from as usize..]);
                assert_eq!(piece.first, index == 0);
                assert_eq!(piece.last, owned.len() == content.len());
            }
        }
        assert_eq!(owned, content, "chunks of {chunk}");
        owned.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn every_cut_gives_every_line_to_exactly_one_chunk() {
        for content in
            [&b"a\nbb\n\nccc\n"[..], b"no end", b"\n", b"\n\n\n", b"a\nlonger than a chunk of it\nb", b"x\r\ny\r\n"]
        {
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
        let file = Positional::InMemory(content.as_slice().into());
        let cutting = Cutting { bytes: content.len() as u64, chunk: CHUNK, separator: b'\n' };
        let mut block = Block::with_capacity(CHUNK);
        assert!(matches!(read_chunk(&file, cutting, 0, &mut block), Err(Trouble::Long(6))));
        assert!(
            matches!(read_chunk(&file, cutting, 1, &mut block), Ok(None)),
            "an endless line is read by its owner alone"
        );
    }

    #[test]
    fn a_file_that_became_shorter_is_named_at_the_byte() {
        let file = Positional::InMemory((&b"a\nb\n"[..]).into());
        let cutting = Cutting { bytes: 10, chunk: CHUNK, separator: b'\n' };
        let trouble = read_chunk(&file, cutting, 0, &mut Block::with_capacity(0));
        assert!(matches!(trouble, Err(Trouble::Read(0, error)) if error.to_string().contains("became shorter")));
    }

    #[test]
    fn the_line_of_a_byte_counts_from_one() {
        let input = Input::memory("test", b"a\nb\nc");
        assert_eq!([0, 1, 2, 4].map(|at| line_of(&input, at, b'\n').unwrap()), [1, 1, 2, 3]);
    }
}
