//! An input walked sequentially that is mostly skipped: a file is not read there, a stream is read and discarded. With
//! a checksum, every byte is read.

use std::io::{self, Read};

use crc_fast::{CrcAlgorithm, Digest};

use slotscope_base::block::Block;
use slotscope_base::error::Result;

use crate::source::{ReadAt, Source, stream};

/// Maximum bytes per read.
const BUFFER: usize = 256 << 10;

/// Bytes of the first read at the start or after a jump; doubled each time reading continues.
const FIRST_READ: usize = 8 << 10;

/// An input and the position in it.
pub struct Forward {
    bytes: Bytes,
    /// Bytes `..end` are valid.
    buffer: Block,
    end: usize,
    /// The position in the buffer.
    at: usize,
    /// Offset in the input of the buffer's first byte.
    base: u64,
    /// The size of the next read.
    next_read: usize,
    /// Over all bytes walked over: CRC-64 with the Jones polynomial, as servers write it at the end of an RDB file.
    checksum: Option<Digest>,
    /// Bytes of the buffer already added to the checksum.
    summed: usize,
}

enum Bytes {
    /// A file, and its length.
    Anywhere(Box<dyn ReadAt>, u64),
    Once(Box<dyn Read + Send>),
}

impl Forward {
    /// Opens a source: with random access if possible, else as a decompressed stream.
    ///
    /// # Errors
    /// An I/O error.
    pub fn open(source: &dyn Source) -> Result<Self> {
        match Forward::open_at(source)? {
            Some(forward) => Ok(forward),
            None => Ok(Forward::stream(stream::open(source)?)),
        }
    }

    /// Opens a random-access source; `None` for others.
    ///
    /// # Errors
    /// The source is gone or has changed.
    pub fn open_at(source: &dyn Source) -> Result<Option<Self>> {
        let Some(len) = source.size_bytes() else {
            return Ok(None);
        };
        let file = source.open_at()?;
        Ok(file.map(|file| Forward::file(file, len)))
    }

    /// A random-access input of this length.
    pub(crate) fn file(bytes: Box<dyn ReadAt>, len: u64) -> Self {
        Forward::new(Bytes::Anywhere(bytes, len))
    }

    /// A stream.
    pub fn stream(reader: Box<dyn Read + Send>) -> Self {
        Forward::new(Bytes::Once(reader))
    }

    fn new(bytes: Bytes) -> Self {
        Forward {
            bytes,
            buffer: Block::default(),
            end: 0,
            at: 0,
            base: 0,
            next_read: FIRST_READ,
            checksum: None,
            summed: 0,
        }
    }

    /// Starts computing a checksum from here, or stops.
    pub(crate) fn set_checksum(&mut self, is_wanted: bool) {
        self.checksum = is_wanted.then(|| Digest::new(CrcAlgorithm::Crc64Redis));
        self.summed = self.at;
    }

    /// The checksum of all bytes since it was set, if one is computed.
    pub fn checksum(&mut self) -> Option<u64> {
        self.sum_up();
        self.checksum.as_ref().map(Digest::finalize)
    }

    /// The offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The length of the input, if known.
    pub fn total_bytes(&self) -> Option<u64> {
        match self.bytes {
            Bytes::Anywhere(_, len) => Some(len),
            Bytes::Once(_) => None,
        }
    }

    /// The next `count` bytes without consuming them, fewer at the end of the input.
    ///
    /// # Errors
    /// An I/O error.
    #[inline]
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.ahead().len() < count {
            while self.ahead().len() < count && self.read_more()? {}
        }
        let end = self.end.min(self.at + count);
        Ok(&self.buffer.content()[self.at..end])
    }

    /// The bytes buffered ahead.
    #[inline]
    pub fn ahead(&self) -> &[u8] {
        &self.buffer.content()[self.at..self.end]
    }

    /// Consumes `count` of the buffered bytes.
    #[inline]
    pub(crate) fn pass(&mut self, count: usize) {
        debug_assert!(count <= self.ahead().len());
        self.at += count;
    }

    /// The last `count` bytes consumed, all of which must have been buffered.
    #[inline]
    pub fn behind(&self, count: usize) -> &[u8] {
        &self.buffer.content()[self.at - count..self.at]
    }

    /// Consumes `count` buffered bytes and moves them to `into`; returns their offset there. If that is more than half
    /// of the buffered bytes, the buffers are swapped, so that no byte is copied twice.
    pub(crate) fn take(&mut self, count: usize, into: &mut Block) -> usize {
        let rest = self.ahead().len() - count;
        if count < rest {
            if into.len() < count {
                into.resize(count);
            }
            into.content_mut()[..count].copy_from_slice(&self.ahead()[..count]);
            self.at += count;
            return 0;
        }
        let start = self.at;
        self.at += count;
        self.sum_up();
        std::mem::swap(&mut self.buffer, into);
        if self.buffer.len() < rest {
            self.buffer.resize(rest);
        }
        let behind = &into.content()[self.at..self.end];
        self.buffer.content_mut()[..rest].copy_from_slice(behind);
        self.base += self.at as u64;
        (self.at, self.end, self.summed) = (0, rest, 0);
        start
    }

    /// The next byte.
    ///
    /// # Errors
    /// `UnexpectedEof` at the end of the input, else an I/O error.
    #[inline]
    pub fn byte(&mut self) -> io::Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next few bytes.
    ///
    /// # Errors
    /// As for `byte`.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let chunk = self.peek(N)?.first_chunk();
        let bytes = *chunk.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.at += N;
        Ok(bytes)
    }

    /// Appends the next `count` bytes to `into`, which grows only as they actually arrive.
    ///
    /// # Errors
    /// As for `byte`.
    #[inline]
    pub(crate) fn read(&mut self, into: &mut Vec<u8>, count: u64) -> io::Result<()> {
        if count <= self.ahead().len() as u64 {
            into.extend_from_slice(&self.ahead()[..count as usize]);
            self.at += count as usize;
            return Ok(());
        }
        self.read_far(into, count)
    }

    fn read_far(&mut self, into: &mut Vec<u8>, count: u64) -> io::Result<()> {
        let mut left = count;
        while left > 0 {
            let most = left.min(BUFFER as u64) as usize;
            let bytes = self.peek(1)?.len();
            if bytes == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let end = self.end.min(self.at + most);
            into.extend_from_slice(&self.buffer.content()[self.at..end]);
            left -= (end - self.at) as u64;
            self.at = end;
        }
        Ok(())
    }

    /// Skips `count` bytes.
    ///
    /// # Errors
    /// As for `byte`.
    #[inline]
    pub fn skip(&mut self, count: u64) -> io::Result<()> {
        if count <= self.ahead().len() as u64 {
            self.at += count as usize;
            return Ok(());
        }
        self.skip_far(count)
    }

    fn skip_far(&mut self, count: u64) -> io::Result<()> {
        let end = self.offset().checked_add(count);
        let to = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        match self.bytes {
            Bytes::Anywhere(_, len) if to > len => Err(io::ErrorKind::UnexpectedEof.into()),
            Bytes::Anywhere(..) if self.checksum.is_none() => {
                // A short jump is one of many: the bytes read after it are needed.
                if to - self.offset() > BUFFER as u64 {
                    self.next_read = FIRST_READ;
                }
                (self.base, self.at, self.end) = (to, 0, 0);
                Ok(())
            }
            _ => {
                while self.offset() < to {
                    if self.peek(1)?.is_empty() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    let left = to - self.offset();
                    self.at += left.min(self.ahead().len() as u64) as usize;
                }
                Ok(())
            }
        }
    }

    /// Skips the rest of the input; returns its length.
    ///
    /// # Errors
    /// An I/O error.
    pub(crate) fn skip_rest(&mut self) -> io::Result<u64> {
        let from = self.offset();
        if let Bytes::Anywhere(_, len) = self.bytes {
            self.skip(len.saturating_sub(from))?;
        }
        while !self.peek(1)?.is_empty() {
            self.at = self.end;
        }
        Ok(self.offset() - from)
    }

    /// Adds the consumed bytes to the checksum.
    fn sum_up(&mut self) {
        if let Some(checksum) = &mut self.checksum {
            checksum.update(&self.buffer.content()[self.summed..self.at]);
        }
        self.summed = self.at;
    }

    /// Reads more after the buffered bytes, dropping consumed ones; false at the end of the input.
    #[cold]
    fn read_more(&mut self) -> io::Result<bool> {
        self.sum_up();
        let content = self.buffer.content_mut();
        content.copy_within(self.at..self.end, 0);
        self.base += self.at as u64;
        self.end -= self.at;
        (self.at, self.summed) = (0, 0);
        let behind = self.base + self.end as u64;
        let want = match self.bytes {
            Bytes::Anywhere(_, len) => (self.next_read as u64).min(len - behind.min(len)) as usize,
            Bytes::Once(_) => self.next_read,
        };
        self.next_read = (2 * self.next_read).min(BUFFER);
        if self.buffer.len() < self.end + want {
            self.buffer.resize(self.end + want);
        }
        let into = &mut self.buffer.content_mut()[self.end..][..want];
        let count = fill(&mut self.bytes, into, behind)?;
        self.end += count;
        Ok(count > 0)
    }
}

/// Reads bytes at `offset` into `into`; returns their number.
fn fill(bytes: &mut Bytes, into: &mut [u8], offset: u64) -> io::Result<usize> {
    match bytes {
        _ if into.is_empty() => Ok(0),
        Bytes::Anywhere(file, _) => match file.read_exact_at(into, offset) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(io::Error::other(
                "the file became shorter while it was read",
            )),
            result => result.map(|()| into.len()),
        },
        Bytes::Once(reader) => loop {
            match reader.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::memory::memory;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// A file of zeros that counts the bytes read.
    struct Zeros(Arc<AtomicU64>);

    impl ReadAt for Zeros {
        fn read_exact_at(&self, into: &mut [u8], _: u64) -> io::Result<()> {
            self.0.fetch_add(into.len() as u64, Relaxed);
            into.fill(0);
            Ok(())
        }
    }

    /// The checksum, bit by bit.
    fn defined(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0u64, |crc, byte| {
            (0..8).fold(crc ^ u64::from(*byte), |crc, _| {
                (crc >> 1) ^ ((crc & 1) * 0xad93d23594c935a9u64.reverse_bits())
            })
        })
    }

    /// The same content as a file and as a stream.
    fn both(content: &[u8]) -> [Forward; 2] {
        let file = Forward::open(&*memory("test", content)).unwrap();
        assert_eq!(file.total_bytes(), Some(content.len() as u64));
        let stream = Forward::stream(Box::new(io::Cursor::new(content.to_vec())));
        [file, stream]
    }

    #[test]
    fn a_file_is_not_read_where_it_is_passed_over() {
        let read = Arc::new(AtomicU64::new(0));
        let ten_gib = 10 << 30;
        let mut input = Forward::new(Bytes::Anywhere(Box::new(Zeros(read.clone())), ten_gib));
        input.byte().unwrap();
        input.skip(ten_gib - 2).unwrap();
        assert_eq!((input.byte().unwrap(), input.offset()), (0, ten_gib));
        assert!(input.byte().is_err());
        assert!(read.load(Relaxed) <= 2 * FIRST_READ as u64);
    }

    #[test]
    fn the_checksum_is_that_which_servers_write() {
        for mut input in both(b"123456789") {
            input.set_checksum(true);
            input.skip(9).unwrap();
            assert_eq!(input.checksum(), Some(0xe9c6d914c4b8d9ca));
        }
    }

    #[test]
    fn a_stream_and_a_file_give_the_same_bytes_at_the_same_offsets() {
        let content: Vec<u8> = (0..1_000_000u32).map(|i| (i / 7) as u8).collect();
        for sums in [false, true] {
            for mut input in both(&content) {
                input.set_checksum(sums);
                let mut at = 0;
                for step in (1..).map(|i: usize| i * i * 3) {
                    if at + 12 + step > content.len() {
                        break;
                    }
                    assert_eq!(input.offset(), at as u64);
                    assert_eq!(input.array::<4>().unwrap(), content[at..][..4]);
                    assert_eq!(input.peek(8).unwrap(), &content[at + 4..][..8]);
                    input.skip(step as u64).unwrap();
                    at += 4 + step;
                }
                let mut rest = Vec::new();
                input.read(&mut rest, (content.len() - at) as u64).unwrap();
                assert!(rest == content[at..]);
                assert_eq!(input.checksum(), sums.then(|| defined(&content)));
                assert!(input.peek(1).unwrap().is_empty());
            }
        }
    }

    #[test]
    fn what_is_taken_is_what_is_ahead_and_is_in_the_checksum() {
        let content: Vec<u8> = (0..2_000_000u32).map(|i| (i / 7) as u8).collect();
        for mut input in both(&content) {
            input.set_checksum(true);
            let (mut block, mut at) = (Block::default(), 0);
            for share in (1..=8).cycle() {
                let ahead = input.peek(100_000).unwrap().len();
                if ahead == 0 {
                    break;
                }
                // From one in eight bytes to all of them; more may be buffered.
                let count = (input.ahead().len() * share / 8).max(1);
                let start = input.take(count, &mut block);
                assert!(block.content()[start..start + count] == content[at..at + count]);
                at += count;
                assert_eq!(input.offset(), at as u64);
            }
            let all = Some(defined(&content));
            assert_eq!((at, input.checksum()), (content.len(), all));
        }
    }

    #[test]
    fn the_end_is_an_error_whatever_is_asked_for() {
        for wanted in [4, 1 << 40, u64::MAX] {
            for mut input in both(b"abc") {
                input.byte().unwrap();
                assert!(input.skip(wanted).is_err());
            }
            for mut input in both(b"abc") {
                let error = input.read(&mut Vec::new(), wanted).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
                assert!(input.array::<4>().is_err());
            }
        }
    }
}
