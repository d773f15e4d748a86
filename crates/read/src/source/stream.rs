//! Sequential sources, read into blocks of complete rows.
//!
//! Runs on a plain thread, never in the worker pool: a worker waiting for its own reader would deadlock.

use std::io::{self, Read};
use std::sync::Arc;

use slotscope_base::block::{Block, Piece};
use slotscope_base::error::{Error, Result};

use crate::source::boundary::{Boundary, EveryByte, State};
use crate::source::chunk::Trouble;
use crate::source::room::{Claim, Room};
use crate::source::{MAX_LINE, Source, decompress};

/// Opens any source for sequential reading, decompressed.
///
/// # Errors
/// An I/O error.
pub fn open(source: &dyn Source) -> Result<Box<dyn Read + Send>> {
    source
        .open()
        .and_then(decompress::plain)
        .map_err(|error| Error::io(source.path(), error))
}

/// Splits the output of a reader into blocks that end with a row.
pub struct RowReader<R> {
    reader: R,
    boundary: Arc<dyn Boundary>,
    chunk: usize,
    /// The start of an incomplete row.
    rest: Vec<u8>,
    offset: u64,
    /// Nothing more to read: the input ended, or failed as recorded in `trouble`.
    ended: bool,
    trouble: Option<Trouble>,
    /// The memory reservation for a giant row.
    claim: Claim,
}

impl<R: Read + Send + 'static> RowReader<R> {
    /// The whole content: the bytes already read, then the rest.
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        let failure = match self.trouble {
            Some(Trouble::Read(_, error)) => Some(error),
            _ => None,
        };
        let limit = if self.ended { 0 } else { u64::MAX };
        let rest = io::Cursor::new(self.rest).chain(Failing(failure));
        Box::new(rest.chain(self.reader.take(limit)))
    }
}

impl<R: Read> RowReader<R> {
    /// A reader that yields blocks of about `chunk` bytes.
    pub fn new(reader: R, chunk: usize) -> Self {
        RowReader {
            reader,
            boundary: Arc::new(EveryByte(b'\n')),
            chunk,
            rest: Vec::new(),
            offset: 0,
            ended: false,
            trouble: None,
            claim: Claim::default(),
        }
    }

    /// Shares the memory reservation for giant rows with others.
    pub fn sharing(mut self, room: &Arc<Room>) -> Self {
        self.claim = Claim::to(room);
        self
    }

    /// Whether the last row read holds the reservation, which must be released once that row is gone.
    pub fn has_room(&self) -> bool {
        self.claim.is_held()
    }

    /// Releases the reservation, unless the rest of the buffer needs it.
    pub fn leave_room(&mut self) {
        self.claim.keep_for(self.rest.len());
    }

    /// The first `len` bytes, available before the first block is read, and whether that is all: the same as for a
    /// file, however reads are split.
    pub fn head(&mut self, len: usize) -> (&[u8], bool) {
        if self.rest.len() <= len && !self.ended {
            let need = (len + 1 - self.rest.len()) as u64;
            self.claim.take_for(len);
            let result = self.reader.by_ref().take(need).read_to_end(&mut self.rest);
            self.trouble = result
                .err()
                .map(|error| Trouble::Read(self.rest.len() as u64, error));
            self.ended = self.rest.len() <= len || self.trouble.is_some();
        }
        let is_whole = self.ended && self.rest.len() <= len;
        (&self.rest[..len.min(self.rest.len())], is_whole)
    }

    /// Sets how rows end; by default every line is a row.
    pub fn set_boundary(&mut self, boundary: Arc<dyn Boundary>) {
        self.boundary = boundary;
    }

    /// Fills `block` with the next rows; `None` at the end.
    ///
    /// # Errors
    /// `Long` if a line is longer than `MAX_LINE`; `Read` if reading fails, after all complete lines before that were
    /// returned. The reader ends after an error.
    pub fn next(&mut self, block: &mut Block) -> std::result::Result<Option<Piece>, Trouble> {
        if self.ended && self.rest.is_empty() {
            return self.trouble.take().map_or(Ok(None), Err);
        }
        block.shrink(self.chunk);
        block.resize(self.rest.len());
        block.content_mut().copy_from_slice(&self.rest);
        // Free it immediately: it may be a giant row.
        self.rest = Vec::new();
        let end = self.fill(block);
        if !self.ended {
            self.rest.extend_from_slice(&block.content()[end..]);
        }
        block.resize(end);
        let first_row = || {
            self.boundary
                .first_end(block.content(), 0, State::default())
                .map_or(end, |end| end - 1)
        };
        if end > MAX_LINE && first_row() > MAX_LINE {
            (self.ended, self.trouble) = (true, None);
            self.rest.clear();
            return Err(Trouble::Long(self.offset));
        }
        let offset = self.offset;
        self.offset += end as u64;
        if !self.ended && self.rest.is_empty() {
            self.look_ahead();
        }
        let piece = Piece {
            from: 0,
            offset,
            first: offset == 0,
            last: self.ended && self.trouble.is_none(),
            is_rereadable: false,
        };
        match end {
            0 => self.trouble.take().map_or(Ok(None), Err),
            _ => Ok(Some(piece)),
        }
    }

    /// Reads one more byte: whether a block is the last must be known before it is returned.
    fn look_ahead(&mut self) {
        let result = self.reader.by_ref().take(1).read_to_end(&mut self.rest);
        self.ended = self.rest.is_empty();
        if let Err(error) = result {
            self.trouble = Some(Trouble::Read(self.offset, error));
        }
    }

    /// Reads until `block` has about a chunk and the end of a line; returns the end of its complete rows.
    fn fill(&mut self, block: &mut Block) -> usize {
        let mut searched = 0;
        loop {
            self.read_more(block);
            let whole = self.boundary.last_end(block.content(), searched);
            match whole {
                _ if self.ended && self.trouble.is_none() => return block.len(),
                _ if self.ended => return whole.unwrap_or(0),
                Some(end) if block.len() >= self.chunk => return end,
                Some(_) => {}
                None if block.len() > MAX_LINE => return block.len(),
                None => searched = block.len(),
            }
        }
    }

    /// Appends the available bytes, at most a chunk.
    fn read_more(&mut self, block: &mut Block) {
        let mut end = block.len();
        // No row end within a chunk: double the size each time, so that a row is searched a bounded number of times,
        // but read no more than needed to detect a row that is too long.
        let growth = if end < self.chunk {
            (self.chunk - end).max(self.chunk / 4)
        } else {
            end.min((MAX_LINE + self.chunk).saturating_sub(end))
        };
        self.claim.take_for(end + growth);
        block.resize(end + growth.max(1));
        while end < block.len() && !self.ended {
            match self.reader.read(&mut block.content_mut()[end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.trouble = Some(Trouble::Read(self.offset + end as u64, error));
                }
            }
        }
        block.resize(end);
    }
}

/// Fails once, or is empty.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields `content` in small pieces, then ends or fails.
    struct Trickle<'a> {
        content: &'a [u8],
        step: usize,
        fails: bool,
    }

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.step.min(into.len()).min(self.content.len());
            if count == 0 && self.fails {
                return Err(io::Error::other("the line went dead"));
            }
            let (now, later) = self.content.split_at(count);
            into[..count].copy_from_slice(now);
            self.content = later;
            Ok(count)
        }
    }

    fn reader(content: &[u8], step: usize, fails: bool, chunk: usize) -> RowReader<Trickle<'_>> {
        let trickle = Trickle {
            content,
            step,
            fails,
        };
        RowReader::new(trickle, chunk)
    }

    #[test]
    fn every_block_ends_with_a_line_whatever_the_pipe_gives() {
        let content = b"a\nbb\n\na longer line than a chunk\nlast\n";
        let unended = &content[..content.len() - 1];
        for (content, chunk, step) in [&content[..], unended]
            .into_iter()
            .flat_map(|content| (1..40).map(move |chunk| (content, chunk)))
            .flat_map(|(content, chunk)| (1..10).map(move |step| (content, chunk, step)))
        {
            let mut reader = reader(content, step, false, chunk);
            let mut block = Block::with_capacity(0);
            let (mut all, mut is_last) = (Vec::new(), false);
            while let Ok(Some(piece)) = reader.next(&mut block) {
                assert!(!is_last, "{chunk} {step}: a block behind the last");
                assert_eq!(piece.first, all.is_empty());
                all.extend_from_slice(block.content());
                is_last = piece.last;
                assert!(is_last || all.ends_with(b"\n"), "{chunk} {step}");
            }
            assert!(is_last && all == content, "{chunk} {step}");
        }
        let empty = reader(b"", 1, false, 10).next(&mut Block::default());
        assert!(matches!(empty, Ok(None)), "an empty stream has no block");
    }

    #[test]
    fn a_failure_comes_after_the_lines_before_it() {
        let mut reader = reader(b"a\nb\nhalf", 3, true, 100);
        let mut block = Block::with_capacity(0);
        let piece = reader.next(&mut block).unwrap().unwrap();
        assert_eq!((block.content(), piece.last), (&b"a\nb\n"[..], false));
        assert!(matches!(reader.next(&mut block), Err(Trouble::Read(8, _))));
        assert!(matches!(reader.next(&mut block), Ok(None)));
    }

    #[test]
    fn a_line_past_the_limit_is_refused_where_it_starts() {
        let mut content = b"ab\n".to_vec();
        content.resize(3 + MAX_LINE + 1, b'x');
        let mut reader = reader(&content, 1 << 20, false, 2);
        let mut block = Block::with_capacity(0);
        assert!(reader.next(&mut block).unwrap().is_some());
        reader.chunk = 1 << 20;
        assert!(matches!(reader.next(&mut block), Err(Trouble::Long(3))));
    }
}
