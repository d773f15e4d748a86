//! Stage 1, BYTES from a pipe: read from front to back into blocks of whole lines.
//!
//! It runs on a plain thread, never in the worker pool: a worker waiting for its own reader would wait for ever.

use std::fs::File;
use std::io::{self, Read};

use super::block::{Block, Piece};
use super::file::Trouble;
use super::{Input, MAX_LINE};
use crate::error::{Error, Result};

/// Opens a stream; `-` is standard input.
///
/// # Errors
/// What the system says.
pub fn open(input: &Input) -> Result<Box<dyn Read + Send>> {
    match input.path() {
        path if path.as_os_str() == "-" => Ok(Box::new(io::stdin())),
        path => Ok(Box::new(File::open(path).map_err(|error| Error::io(path, error))?)),
    }
}

/// Cuts what a reader gives into blocks that end with a line.
pub struct LineReader<R> {
    reader: R,
    separator: u8,
    chunk: usize,
    /// The start of a line whose end is not read yet.
    rest: Vec<u8>,
    offset: u64,
    /// There is nothing more to read: the input ended, or failed for the reason in `trouble`.
    ended: bool,
    trouble: Option<Trouble>,
}

impl<R: Read> LineReader<R> {
    /// A reader that fills blocks of about `chunk` bytes.
    pub fn new(reader: R, separator: u8, chunk: usize) -> Self {
        LineReader { reader, separator, chunk, rest: Vec::new(), offset: 0, ended: false, trouble: None }
    }

    /// Fills `block` with the next lines; `None` at the end.
    ///
    /// # Errors
    /// `Long` where a line is longer than `MAX_LINE`; `Read` where reading fails, once all whole lines before that
    /// are given out. After an error there is no more.
    pub fn next(&mut self, block: &mut Block) -> std::result::Result<Option<Piece>, Trouble> {
        if self.ended {
            return self.trouble.take().map_or(Ok(None), Err);
        }
        block.shrink(self.chunk);
        block.resize(self.rest.len());
        block.content_mut().copy_from_slice(&self.rest);
        let end = self.fill(block);
        self.rest.clear();
        self.rest.extend_from_slice(&block.content()[end..]);
        block.resize(end);
        if end > MAX_LINE && memchr::memchr(self.separator, block.content()).unwrap_or(end) > MAX_LINE {
            (self.ended, self.trouble) = (true, None);
            return Err(Trouble::Long(self.offset));
        }
        let last = self.ended && self.trouble.is_none();
        let piece = Piece { from: 0, offset: self.offset, first: self.offset == 0, last };
        self.offset += end as u64;
        match end {
            0 => self.trouble.take().map_or(Ok(None), Err),
            _ => Ok(Some(piece)),
        }
    }

    /// Reads until `block` holds about a chunk and the end of a line; returns where its whole lines end.
    fn fill(&mut self, block: &mut Block) -> usize {
        let mut searched = 0;
        loop {
            self.read_more(block);
            let whole = memchr::memrchr(self.separator, &block.content()[searched..]).map(|at| searched + at + 1);
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

    /// Appends what there is, at most a chunk.
    fn read_more(&mut self, block: &mut Block) {
        let mut end = block.len();
        block.resize(end + self.chunk.saturating_sub(end).max(self.chunk / 4).max(1));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out `content` in small pieces, then ends or fails.
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

    fn blocks(reader: &mut LineReader<Trickle<'_>>) -> Vec<Vec<u8>> {
        let mut block = Block::with_capacity(0);
        let mut blocks = Vec::new();
        while let Ok(Some(piece)) = reader.next(&mut block) {
            assert_eq!(piece.first, blocks.is_empty());
            blocks.push(block.content().to_vec());
        }
        blocks
    }

    #[test]
    fn every_block_ends_with_a_line_whatever_the_pipe_gives() {
        let content = b"a\nbb\n\na longer line than a chunk\nlast";
        for chunk in 1..40 {
            for step in 1..10 {
                let reader = Trickle { content, step, fails: false };
                let blocks = blocks(&mut LineReader::new(reader, b'\n', chunk));
                assert_eq!(blocks.concat(), content);
                let (last, whole) = blocks.split_last().unwrap();
                assert!(whole.iter().all(|block| block.ends_with(b"\n")), "{chunk} {step}");
                assert!(last.ends_with(b"last"));
            }
        }
    }

    #[test]
    fn a_failure_comes_after_the_lines_before_it() {
        let reader = Trickle { content: b"a\nb\nhalf", step: 3, fails: true };
        let mut reader = LineReader::new(reader, b'\n', 100);
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
        let reader = Trickle { content: &content, step: 1 << 20, fails: false };
        let mut reader = LineReader::new(reader, b'\n', 2);
        let mut block = Block::with_capacity(0);
        assert!(reader.next(&mut block).unwrap().is_some());
        reader.chunk = 1 << 20;
        assert!(matches!(reader.next(&mut block), Err(Trouble::Long(3))));
    }

    #[test]
    fn an_empty_stream_has_no_block() {
        let reader = Trickle { content: b"", step: 1, fails: false };
        assert!(blocks(&mut LineReader::new(reader, b'\n', 10)).is_empty());
    }
}
